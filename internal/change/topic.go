package change

import (
	"cmp"
	"strings"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/judge"
)

// A word before a colon is a speaker in "Ana: I'm late" and the topic in "Coach: Berndt". Names cannot be listed, so a head is a speaker if it
// is a role or the user's name, or if it heads other messages of a conversation. The decider about notes reads other heads as part of the
// note. The other deciders read all heads as speakers.

const (
	sessionDeep = 64 // chunks read of a session
	manyHeaded  = 5  // memories with one head from which on it is a speaker
)

// roles are the heads of chat messages that are no names.
var roles = words("user human me usuario usuaria usuário utilisateur utilisatrice utente benutzer nutzer gebruiker kullanıcı użytkownik пользователь 用户 assistant asistente assistente assistent ассистент 助手 ai bot system")

// topicHead returns the head of a short memory that may be its topic, empty if there is none.
func topicHead(doc *item.Doc, text string) string {
	if doc.Pairs || len(doc.Turns) > 0 || len(text) > maxNote {
		return ""
	}
	head := speakerOf(text)
	if low := strings.ToLower(head); roles[low] || labels[low] || low == strings.ToLower(doc.UserName) {
		return ""
	}
	return head
}

// readNote sets how the decider about notes reads a statement whose head is its topic: with the head, and as the owner's.
func (s *statement) readNote(text string) {
	s.topical = &statement{src: s.src, chunk: s.chunk, ordinal: s.ordinal, user: s.user, text: strings.TrimSpace(cut(text)), own: true, vector: s.vector}
}

// asNote returns a statement as the decider about notes reads it.
func (s *statement) asNote() *statement {
	if s.topical == nil {
		return s
	}
	s.topical.vector, s.topical.like = s.vector, s.like
	return s.topical
}

// narrow reports whether there is a judge for which the decider about notes stands in.
func (e *Engine) narrow() bool {
	n, ok := e.Judge.(judge.Narrow)
	return ok && n.Narrow()
}

// headed names a head in a session.
type headed struct {
	part    backend.Partition
	head    string
	session int64
}

// topics finds out which heads of the versions' statements are topics.
func (r *run) topics(versions []*version) error {
	for _, v := range versions {
		for _, s := range v.statements {
			if err := r.topic(s); err != nil {
				return err
			}
		}
	}
	return nil
}

// topic finds out whether the head of a statement is its topic.
func (r *run) topic(s *statement) error {
	if s.head == "" || !r.narrow() {
		return nil
	}
	stand, err := r.Graph.Neighbours(r.ctx, s.src.Part, []int64{s.chunk})
	if err != nil {
		return err
	}
	k := headed{part: s.src.Part, head: strings.ToLower(s.head)}
	if len(stand) > 0 {
		k.session = stand[0].Session
	}
	speaks, ok := r.speakers[k]
	if !ok {
		if speaks, err = r.speaks(k, s.user); err != nil {
			return err
		}
		if r.speakers == nil {
			r.speakers = map[headed]bool{}
		}
		r.speakers[k] = speaks
	}
	if !speaks {
		s.readNote(s.head + s.behind)
	}
	return nil
}

// speaks reports whether a head is a speaker. user is the name of the memory's user.
func (r *run) speaks(k headed, user string) (bool, error) {
	if k.session != 0 {
		chunks, err := r.Graph.SessionChunks(r.ctx, k.part, k.session, sessionDeep)
		if err != nil {
			return false, err
		}
		session, err := r.Graph.Neighbours(r.ctx, k.part, chunks)
		if err != nil {
			return false, err
		}
		if converses(k.head, user, session) {
			return true, nil
		}
	}
	hits, err := r.Keywords.SearchKeywords(r.ctx, backend.KeywordQuery{Part: k.part, Text: k.head, K: searchDeep})
	if err != nil || len(hits) == 0 {
		return false, err
	}
	nums := make([]int64, len(hits))
	for i, h := range hits {
		nums[i] = h.Chunk
	}
	all, err := r.Graph.Neighbours(r.ctx, k.part, nums)
	if err != nil {
		return false, err
	}
	return says(k.head, all), nil
}

// converses reports whether a head is a speaker in a session: it heads several messages, and the heads recur. In a list, most heads occur once.
func converses(head, user string, session []backend.Neighbours) bool {
	turns, all := map[string]int{}, 0
	for i := range session {
		if name := strings.ToLower(session[i].Speaker); name != "" && name != strings.ToLower(user) {
			turns[name]++
			all++
		}
	}
	return turns[head] > 1 && 3*len(turns) <= 2*all
}

// says reports whether a head is a speaker, by the memories that it heads: they are many, or several of which one asks, addresses somebody or
// says "I". A topic may head two notes, of which the later one replaces the earlier one.
func says(head string, all []backend.Neighbours) bool {
	n, talks := 0, false
	for i := range all {
		if m := &all[i]; strings.ToLower(m.Speaker) == head {
			n++
			talks = talks || m.Question || m.Asks || m.First || m.Second
		}
	}
	return n >= manyHeaded || n > 1 && talks
}

// told returns the statements that all deciders compare with another. Those after them are compared as notes alone.
func told(near []*statement) []*statement {
	for i, n := range near {
		if n.aside {
			return near[:i]
		}
	}
	return near
}

// asides orders the statements that are compared as notes alone behind the others.
func asides(a, b *statement) int { return cmp.Compare(flag(a.aside), flag(b.aside)) }

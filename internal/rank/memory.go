package rank

import (
	"math"
	"strings"
	"unicode"

	"github.com/contextmem/contextmem/backend"
)

// Weights of the context of a memory. They were fitted on conversations; see docs/recall.md, "Memories".
const (
	speakerWeight   = .2  // for a memory whose speaker the question names
	timeWeight      = .2  // for a memory of a date that the question names
	lateWeight      = .4  // of late interaction for a perfect match
	askPenalty      = .2  // maximal penalty of a memory that is only a question
	contextTerms    = 25  // mean length of a memory, in terms, up to which its context counts in full
	contextFloor    = .2  // share of the context that counts for any length of memories
	lateCandidates  = 100 // best candidates that late interaction scores
	talkAnswer      = .7  // in chats of short messages: factor for the words of an assistant
	talkOther       = .6  // there: weight of the other side of the exchange
	talkInstead     = .8  // there: share of the rest of the context that the other side replaces
	talkAsked       = .4  // there: weight of the assistant's question before a message
	besideBest      = 50  // best candidates of the searches whose neighbours become candidates; lateCandidates in thinking
	sessionsWidened = 3   // best sessions whose memories all become candidates
	widenedThinking = 5   // the same in thinking
	sessionSpan     = 300 // maximal number of memories read of one session
)

// memory adds the context of memories to their scores.
func (q *work) memory() error {
	if err := q.readSurroundings(); err != nil {
		return err
	}
	q.lap("around")
	if err := q.scoreSessions(); err != nil {
		return err
	}
	q.lap("sessions")
	q.scoreOwn()
	q.context()
	q.lap("context")
	// Long replies of an assistant have a word similar to any word.
	if q.out.Thinking && q.Words != nil && !q.replies && !q.late("late interaction") {
		if err := q.interact(); err != nil {
			return err
		}
		q.context()
		q.lap("late")
	}
	q.spread()
	return nil
}

// scoreSessions scores sessions as documents, and makes the memories of the best ones candidates.
func (q *work) scoreSessions() error {
	if q.whole && !q.filtered() && q.w < 1 && len(q.sessions) <= 1 {
		q.scoreOne()
		return nil
	}
	hits, err := q.bestSessions()
	if err != nil || len(hits) == 0 {
		return err
	}
	widened := sessionsWidened
	if q.out.Thinking {
		widened = widenedThinking
	}
	for i, h := range hits {
		q.sessions[q.sessionOf(h.Source)-1].score = float64(h.Score) / float64(hits[0].Score)
		if i < widened && q.docs > surveyMost {
			chunks, err := q.Graph.SessionChunks(q.ctx, q.req.Part, h.Source, sessionSpan)
			if err != nil {
				return err
			}
			for _, c := range chunks {
				q.admit(c)
			}
		}
	}
	return q.describe()
}

// scoreOne is scoreSessions for a partition with at most one session. The session has the best score if any of
// its memories has a word of the question.
func (q *work) scoreOne() {
	if len(q.sessions) == 0 {
		return
	}
	for i := range q.rows {
		if q.cand[i].session != 0 && q.rows[i].Keyword > 0 {
			q.sessions[0].score = 1
			return
		}
	}
}

// scoreOwn sets the parts Speaker and Time, which depend on the memory alone.
func (q *work) scoreOwn() {
	var named map[string]bool
	var known map[int32]speakerTraits
	last, as := int32(0), speakerTraits{}
	for i := range q.cand {
		c, r := &q.cand[i], &q.rows[i]
		if !c.in {
			continue
		}
		if len(q.cues.Dates) > 0 {
			c.Time = timeWeight * q.fits(r.Time)
		}
		if n := r.Speaker; n != last {
			var ok bool
			if as, ok = known[n]; !ok {
				if known == nil {
					known, named = map[int32]speakerTraits{}, q.names()
				}
				s := q.speakers[n]
				as = speakerTraits{named: speaks(named, s), reply: assistant(s)}
				known[n] = as
			}
			last = n
		}
		if as.named {
			c.Speaker = speakerWeight
		}
		c.reply = as.reply
		q.replies = q.replies || as.reply
		q.asks = q.asks || r.Marks&backend.MarkAsks != 0
	}
}

// speakerTraits holds properties of a speaker.
type speakerTraits struct {
	named bool // the question names the speaker
	reply bool // the speaker is an assistant
}

// names returns the words of the question in lower case, to compare names of speakers with.
func (q *work) names() map[string]bool {
	m := map[string]bool{}
	for _, w := range q.asked.words() {
		m[w] = true
		m[strings.TrimSuffix(strings.TrimSuffix(w, "'s"), "’s")] = true
	}
	return m
}

func speaks(named map[string]bool, speaker string) bool {
	s := strings.ToLower(speaker)
	if s == "" {
		return false
	}
	if named[s] {
		return s != "user" && s != "assistant"
	}
	first, _, ok := strings.Cut(s, " ")
	return ok && len(first) > 2 && named[first]
}

// words splits a text into lower-case words. An apostrophe is part of a word.
func words(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '\'' && r != '’'
	})
}

// fits returns how well a time matches the dates that the question names. It is 1 inside a named
// month or year, and decreases with the number of days from a named day.
func (q *work) fits(at backend.Micros) float64 {
	t := at.Time()
	if t.IsZero() {
		return 0
	}
	best := 0.0
	for _, d := range q.cues.Dates {
		v := 0.0
		switch {
		case !t.Before(d.From) && t.Before(d.To):
			v = 1
		case d.Precision == "day":
			days := min(math.Abs(t.Sub(d.From).Hours()), math.Abs(t.Sub(d.To).Hours())) / 24
			v = math.Exp(-days / 4)
		}
		best = max(best, v)
	}
	return best
}

// closeness returns the share of a memory's context that counts, contextFloor to 1. It is smaller if memories are
// longer, since long memories contain their context.
func (q *work) closeness() float64 {
	return math.Min(1, math.Max(contextFloor, contextTerms/math.Max(q.avg, 1)))
}

// context computes the final scores of memories from their own scores and their context.
func (q *work) context() {
	w := q.contextWeights()
	brief := (q.closeness() - contextFloor) / (1 - contextFloor) // 1: memories are short
	c := q.closeness() * q.near * (1 + w.short*brief)
	asked, penalty := q.replies && q.asksAssistant(), q.asks && q.answersOnly()
	talk := 0.0
	if q.replies && !asked {
		talk = w.talk * brief
	}
	q.talk = talk
	answer, around := w.answer+talk*(talkAnswer-w.answer), c*(1-talk*talkInstead)
	for i := range q.sessions {
		q.sessions[i].top = 0
	}
	top := 0.0 // best own score
	for i := range q.cand {
		x := &q.cand[i]
		if !x.in {
			continue
		}
		x.own = x.s0 + x.Late + x.Speaker + x.Time
		if !asked && x.reply {
			x.own *= answer
		}
		if x.session != 0 {
			s := &q.sessions[x.session-1]
			s.top = max(s.top, x.own)
		}
		top = max(top, x.own)
	}
	for i := range q.cand {
		x, r := &q.cand[i], &q.rows[i]
		if !x.in {
			continue
		}
		x.Context = 0
		if x.session != 0 {
			s := &q.sessions[x.session-1]
			prev := q.ownOf(r.Prev[0])
			lift := w.near1*max(prev, q.ownOf(r.Next[0])) + w.near2*max(q.ownOf(r.Prev[1]), q.ownOf(r.Next[1])) + w.session*s.score + w.sessionMax*s.top
			if prev != 0 && q.rows[r.Prev[0]-1].Marks&backend.MarkQuestion != 0 {
				lift += w.reply * prev
			}
			if r.Marks&backend.MarkOpens != 0 {
				lift += w.opening
			}
			if x.reply && talk > 0 {
				x.Context = c * (1 - talk) * lift
			} else {
				x.Context = around * lift
			}
			if talk > 0 {
				x.Context += talk * (talkOther*q.other(x, r) + talkAsked*q.askedBefore(x, r))
			}
		}
		if !q.replies {
			if r.Marks&backend.MarkFirst != 0 {
				x.Context += c * w.first
			}
			if r.Marks&backend.MarkSecond != 0 {
				x.Context -= min(c*w.second, (x.own+x.Context)/2)
			}
		}
		if q.cues.When && r.Marks&backend.MarkHasTime != 0 {
			x.Context += w.when
		}
		if penalty && r.Marks&backend.MarkAsks != 0 {
			x.Context -= min(askPenalty, (x.own+x.Context)/2)
		}
		x.Score = x.own + x.Context
		if x.reply { // parts must add up to the score, so the loss of a reply counts as context
			x.Context = x.Score - (x.s0 + x.Late + x.Speaker + x.Time)
		}
	}
	q.humble(top)
}

const (
	exactShare = .9  // share of the best own score from which on a memory counts as an exact match
	aloneTilt  = .02 // scores of memories that have their session alone stay so far below those of exact matches, to preserve their order
)

// humble takes scores of memories that have nothing of the question below those of all exact matches: nothing wins by its session alone. top is the best own
// score.
func (q *work) humble(top float64) {
	limit := math.Inf(1)
	for i := range q.cand {
		if x := &q.cand[i]; x.in && x.s0 > 0 && x.own >= exactShare*top {
			limit = min(limit, x.Score)
		}
	}
	for i := range q.cand {
		x := &q.cand[i]
		if !x.in || x.Score < limit || x.s0+x.Speaker+x.Time != 0 {
			continue
		}
		below := limit - aloneTilt/(1+x.Score-limit)
		x.Context -= x.Score - below
		x.Score = below
	}
}

// other returns the own score of the other side of an exchange. A reply refers to the user's message, and often has more words in common with a question.
func (q *work) other(x *cand, r *backend.Surveyed) float64 {
	at := r.Next[0]
	if x.reply {
		at = r.Prev[0]
	}
	if at == 0 || q.cand[at-1].reply == x.reply {
		return 0
	}
	return q.cand[at-1].own
}

// askedBefore returns the own score of the assistant's question before a user's message. "96 and a parking space" has no word of a later question
// about a salary, while what the assistant asked may have one.
func (q *work) askedBefore(x *cand, r *backend.Surveyed) float64 {
	at := r.Prev[0]
	if x.reply || at == 0 || !q.cand[at-1].reply || q.rows[at-1].Marks&backend.MarkQuestion == 0 {
		return 0
	}
	return q.cand[at-1].own
}

// contextWeights returns the weights that fit the embedder.
func (q *work) contextWeights() *contextWeights {
	if q.Unrelated != nil {
		return &calibratedContext
	}
	return &plainContext
}

// ownOf returns the own score of the candidate in a row, counted from 1. It returns 0 if the row is no
// candidate, and for row 0.
func (q *work) ownOf(place int32) float64 {
	if place == 0 {
		return 0
	}
	return q.cand[place-1].own
}

// answersOnly reports whether memories that only ask a question get a penalty, since they state
// no facts. They do not if the user talks to an assistant, where requests are the user's
// statements, or if the question is about a question.
func (q *work) answersOnly() bool {
	if q.replies {
		return false
	}
	for _, w := range q.asked.words() {
		switch w {
		case "ask", "asks", "asked", "asking", "question", "questions", "wonder", "wonders", "wondered", "inquire", "inquired", "curious":
			return false
		}
	}
	return true
}

// assistant reports whether a speaker is the assistant of a chat. Its messages are long and
// repeat the user's words, while later questions are mostly about the user's own messages.
func assistant(speaker string) bool {
	switch strings.ToLower(speaker) {
	case "assistant", "ai", "bot", "system", "model", "chatbot":
		return true
	}
	return false
}

// asksAssistant reports whether a question is about what the assistant said: "what did
// you suggest", "your advice".
func (q *work) asksAssistant() bool {
	ws := q.asked.words()
	for i, w := range ws {
		switch w {
		case "assistant":
			return true
		case "you":
			for _, v := range ws[i+1 : min(i+4, len(ws))] {
				switch v {
				case "say", "said", "suggest", "suggested", "recommend", "recommended", "tell", "told", "give", "gave", "given", "advise", "advised",
					"mention", "mentioned", "explain", "explained", "propose", "proposed", "answer", "answered", "reply", "replied", "provide", "provided", "list", "listed":
					return i > 0 && ws[i-1] != "can" && ws[i-1] != "could" && ws[i-1] != "would" && ws[i-1] != "will"
				}
			}
		case "your":
			for _, v := range ws[i+1 : min(i+3, len(ws))] {
				switch v {
				case "suggestion", "suggestions", "recommendation", "recommendations", "advice", "answer", "reply", "response", "explanation", "list", "plan":
					return true
				}
			}
		}
	}
	return false
}

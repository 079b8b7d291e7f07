package contextmem

import (
	"slices"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/extract/rules"
	"github.com/contextmem/contextmem/internal/lexical"
)

// nameMemories finds the entities that the question names in memories, which ranking does not need.
func (g *graphRun) nameMemories() error {
	var cues *rules.Cues
	self := "" // the key of the user, if the question speaks of them
	for i := range g.ents {
		named := &g.ents[i]
		if named.part.Class != backend.Memory || len(named.ents) > 0 {
			continue
		}
		if cues == nil {
			cues = g.cuesAt(g.recallRun.now)
			for w := range cues.EachGram {
				g.grams, g.keys = append(g.grams, w), append(g.keys, w.Key)
			}
			if speaksOfSelf(g.q.Query) {
				self = extract.Key(defaultUserName)
				g.keys = append(g.keys, self)
			}
		}
		if len(g.keys) == 0 {
			return nil
		}
		found, err := g.held.ws.Graph().MatchEntities(g.ctx, named.part, g.keys)
		if err != nil {
			return err
		}
		name := func(key string) bool {
			at := slices.IndexFunc(found, func(m backend.EntityMatch) bool { return m.Key == key }) // a few are found
			if at >= 0 && !slices.Contains(named.ents, found[at].Entity) {
				named.ents = append(named.ents, found[at].Entity)
			}
			return at >= 0
		}
		end := 0 // of the words that are taken: grams come by start, longest first
		for i := range g.grams {
			w := &g.grams[i]
			if w.Start < end || w.Words == 1 && (lexical.IsStopWord(w.Key) || lexical.IsQuestionWord(w.Key)) {
				continue
			}
			if name(w.Key) {
				end = w.End
			}
		}
		if self != "" {
			name(self)
		}
	}
	return nil
}

// speaksOfSelf tells whether a question speaks in the first person, or of the user.
func speaksOfSelf(query string) bool {
	for i := 0; i < len(query); i++ {
		var word [4]byte // in lower case, as far as it fits
		n := 0
		for ; i < len(query); i++ {
			c := query[i] | 0x20
			if (c < 'a' || c > 'z') && query[i] != '\'' {
				break
			}
			if n < len(word) {
				word[n] = c
			}
			n++
		}
		if n == 0 || n > len(word) {
			continue
		}
		switch string(word[:n]) {
		case "i", "i'm", "i've", "i'd", "my", "me", "mine", "we", "our", "us", "user":
			return true
		}
	}
	return false
}

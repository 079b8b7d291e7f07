package graph

import (
	"slices"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/lexical"
)

// nameMemories finds the entities in memories that the question names. Ranking does not need them, so recall does not pass them.
func (g *builder) nameMemories() error {
	grams, keys := g.grams, g.keys // keys of grams, then of the user
	self := false                  // whether the question speaks of the user
	for i := range g.Named {
		named := &g.Named[i]
		if named.Part.Class != backend.Memory || len(named.Entities) > 0 {
			continue
		}
		if len(keys) == 0 {
			for w := range g.Cues().EachGram {
				grams, keys = append(grams, w), append(keys, w.Key)
			}
			if self = speaksOfSelf(g.Query); self {
				keys = append(keys, g.UserKey)
			}
			g.grams, g.keys = grams, keys
		}
		if len(keys) == 0 {
			return nil
		}
		found, err := g.Graph.MatchEntities(g.ctx, named.Part, keys)
		if err != nil {
			return err
		}
		name := func(key string) bool {
			at := slices.IndexFunc(found, func(m backend.EntityMatch) bool { return m.Key == key }) // linear search: found is short
			if at >= 0 && !slices.Contains(named.Entities, found[at].Entity) {
				named.Entities = append(named.Entities, found[at].Entity)
			}
			return at >= 0
		}
		end := 0 // end of the words taken so far; grams are sorted by start, longest first
		for i := range grams {
			w := &grams[i]
			if w.Start < end || w.Words == 1 && (lexical.IsStopWord(w.Key) || lexical.IsQuestionWord(w.Key)) {
				continue
			}
			if name(w.Key) {
				end = w.End
			}
		}
		if self {
			name(g.UserKey)
		}
	}
	return nil
}

// speaksOfSelf reports whether a question speaks in the first person, or of the user.
func speaksOfSelf(query string) bool {
	for i := 0; i < len(query); i++ {
		var word [4]byte // the word in lower case, cut to four bytes
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

package mcpserver

import (
	"context"
	"strings"
	"sync"
	"unicode"

	"github.com/contextmem/contextmem"
)

// Bounds of what is kept of texts that a client was shown.
const (
	maxPlaces   = 1000
	maxPassages = 256     // of a place, the latest
	maxChars    = 1 << 16 // of a passage
	minEcho     = 12      // letters and digits; shorter lines are too common to be an echo
)

// seen remembers what clients were shown, so that it is recognised when it comes back as a memory.
type seen struct {
	mu     sync.Mutex
	places map[string]*[]shown
}

// shown is a text in plain form, without what a rendering changes.
type shown struct{ id, text string }

func newSeen() *seen { return &seen{places: map[string]*[]shown{}} }

// normal is a text as letters and digits in lower case, with single spaces between words.
func normal(s string) string {
	var b strings.Builder
	gap := false
	for _, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) {
			gap = true
			continue
		}
		if gap && b.Len() > 0 {
			b.WriteByte(' ')
		}
		gap = false
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

func (s *seen) note(place, id, text string) {
	n := normal(text)
	if len(n) < minEcho || len(n) > maxChars {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.places[place]
	if list == nil {
		if len(s.places) >= maxPlaces {
			for k := range s.places { // any one: a client of it recognises less
				delete(s.places, k)
				break
			}
		}
		list = new([]shown)
		s.places[place] = list
	}
	for _, x := range *list {
		if x.id == id && x.text == n {
			return
		}
	}
	if len(*list) >= maxPassages {
		*list = append((*list)[:0], (*list)[1:]...)
	}
	*list = append(*list, shown{id, n})
}

// drop forgets what was shown of an item that was deleted.
func (s *seen) drop(place, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if list := s.places[place]; list != nil {
		kept := (*list)[:0]
		for _, x := range *list {
			if x.id != id {
				kept = append(kept, x)
			}
		}
		*list = kept
	}
}

// holder is the item of which a line in plain form was shown, if there is one.
func (s *seen) holder(place, line string) (string, bool) {
	if len(line) < minEcho {
		return "", false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if list := s.places[place]; list != nil {
		for _, x := range *list {
			if within(x.text, line) {
				return x.id, true
			}
		}
	}
	return "", false
}

// within reports whether a text holds a line, both in plain form, at the borders of words.
func within(text, line string) bool {
	return strings.Contains(" "+text+" ", " "+line+" ")
}

// news is what of a text is new: without lines that the client was shown, and empty with the id of the memory that says it
// when nothing is left, or a memory that is stored and holds says the same.
func (s *server) news(ctx context.Context, p Place, text string) (rest, known string) {
	var lines []string
	for line := range strings.Lines(text) {
		if id, ok := s.seen.holder(p.Name, normal(line)); ok && !superseded(ctx, p, id, line) {
			known = id
			continue
		}
		lines = append(lines, line)
	}
	rest = strings.TrimSpace(strings.Join(lines, ""))
	n := normal(rest)
	if known != "" && n == "" {
		return "", known
	}
	if known == "" {
		rest = text
	}
	query := []rune(rest)
	if p.NoRead || n == "" {
		return rest, ""
	}
	res, err := p.Memories.Recall(ctx, contextmem.Recall{Query: string(query[:min(len(query), 4000)]), Class: contextmem.ClassMemory, MaxResults: 3})
	if err != nil {
		return rest, "" // what can't be looked up is stored
	}
	for _, c := range res.Chunks {
		if !c.Inferred && c.SupersededBy == nil && within(normal(c.Text), n) {
			return "", c.SourceID
		}
	}
	return rest, ""
}

// superseded reports whether a memory that says a line holds no longer: told again, the line is news.
func superseded(ctx context.Context, p Place, id, line string) bool {
	if p.NoRead {
		return false
	}
	query := []rune(line)
	res, err := p.Memories.Recall(ctx, contextmem.Recall{Query: string(query[:min(len(query), 4000)]), Class: contextmem.ClassMemory, IDs: []string{id}, MaxResults: 1})
	return err == nil && len(res.Chunks) > 0 && res.Chunks[0].SupersededBy != nil
}

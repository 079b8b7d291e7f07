package mcpserver

import (
	"context"
	"strings"
	"sync"
	"unicode"

	"github.com/contextmem/contextmem"
)

// Bounds of the remembered texts.
const (
	maxPlaces   = 1000
	maxPassages = 256     // passages kept for each place; older ones are dropped
	maxChars    = 1 << 16 // maximal length of a passage
	minEcho     = 12      // minimal number of letters and digits; shorter lines are too common to be an echo
)

// seen remembers the texts that clients were shown, to recognise them when a client stores them as a memory.
type seen struct {
	mu     sync.Mutex
	places map[string]*[]shown
}

// shown is a shown text in normal form, which does not depend on formatting.
type shown struct{ id, text string }

func newSeen() *seen { return &seen{places: map[string]*[]shown{}} }

// normal returns a text as lower-case letters and digits, with single spaces between words.
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
			for k := range s.places { // evicts an arbitrary place, whose clients' echoes are then recognised less often
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

// drop removes the texts that were shown of a deleted item.
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

// holder returns the item whose shown text contains a line in normal form, if there is one.
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

// within reports whether a text contains a line at word boundaries. Both are in normal form.
func within(text, line string) bool {
	return strings.Contains(" "+text+" ", " "+line+" ")
}

// news returns the text without the lines that the client was shown. If no line is left, or a valid stored memory contains the rest,
// news returns an empty text and the id of that item.
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
		return rest, "" // if the lookup fails, the text is stored
	}
	for _, c := range res.Chunks {
		if !c.Inferred && c.SupersededBy == nil && within(normal(c.Text), n) {
			return "", c.SourceID
		}
	}
	return rest, ""
}

// superseded reports whether the memory that contains a line is superseded. Such a line counts as new.
func superseded(ctx context.Context, p Place, id, line string) bool {
	if p.NoRead {
		return false
	}
	query := []rune(line)
	res, err := p.Memories.Recall(ctx, contextmem.Recall{Query: string(query[:min(len(query), 4000)]), Class: contextmem.ClassMemory, IDs: []string{id}, MaxResults: 1})
	return err == nil && len(res.Chunks) > 0 && res.Chunks[0].SupersededBy != nil
}

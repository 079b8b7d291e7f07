package rules

import (
	"slices"
	"strings"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// aliases makes a first or family name alone stand for the only person of the text whose full name contains it: "Riemann" is then also
// a mention of "bernhard riemann", and its relations belong to that person.
func (d *doc) aliases() {
	var full map[string]string
	for i := range d.Mentions {
		m := &d.Mentions[i]
		if m.Type != extract.TypePerson || m.Part {
			continue
		}
		first, last, ok := nameWords(m.Key)
		if !ok {
			continue
		}
		if full == nil {
			full = make(map[string]string)
		}
		for _, w := range [...]string{first, last} {
			if other, known := full[w]; w != "" && known && other != m.Key {
				full[w] = "" // two people have that name
			} else if w != "" {
				full[w] = m.Key
			}
		}
	}
	if full == nil {
		return
	}
	for i := range d.Mentions { // "Paris Hilton" does not make Paris a person
		if m := &d.Mentions[i]; full[m.Key] != "" && m.Type != extract.TypePerson && m.Type != extract.TypeConcept {
			full[m.Key] = ""
		}
	}
	meant := func(key string) string {
		if f := full[key]; f != "" {
			return f
		}
		return key
	}
	for i, n := 0, len(d.Mentions); i < n; i++ {
		m := &d.Mentions[i]
		key := full[m.Key]
		if key == "" || m.Phrase || m.Type != extract.TypePerson && m.Type != extract.TypeConcept {
			continue
		}
		m.Part, m.Weak, m.Type = true, false, extract.TypePerson
		fuller := *m
		fuller.Key, fuller.Part = key, false
		if len(d.Mentions) < language.MaxMentions {
			d.AddToChunk(fuller)
		}
	}
	changed := false
	for i := range d.out.Relations {
		r := &d.out.Relations[i]
		if s, t := meant(r.Source), meant(r.Target); s != t && (s != r.Source || t != r.Target) {
			r.Source, r.Target, changed = s, t, true
		}
	}
	if !changed {
		return
	}
	type statement struct {
		source, predicate, target, context string
		chunk                              int
	}
	seen := make(map[statement]bool, len(d.out.Relations))
	d.out.Relations = slices.DeleteFunc(d.out.Relations, func(r extract.Relation) bool {
		k := statement{r.Source, r.Predicate, r.Target, r.Context, r.Chunk}
		again := seen[k]
		seen[k] = true
		return again
	})
}

// nameWords returns the first and the last word of a name of two to four words; first is empty after a title.
func nameWords(key string) (first, last string, ok bool) {
	n := strings.Count(key, " ")
	if n < 1 || n > 3 || strings.ContainsAny(key, "0123456789") {
		return "", "", false
	}
	first, last = key[:strings.IndexByte(key, ' ')], key[strings.LastIndexByte(key, ' ')+1:]
	if language.Lookup(first).Flags&language.PersonTitle != 0 || len(first) < 3 {
		first = ""
	}
	return first, last, len(last) > 2 && last != "and"
}

package llm

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/contextmem/contextmem/extract"
)

// Limits of one item's answer; the rest is cut off. The lengths of names and predicates are the API's limits for supplied graphs.
const (
	maxEntities  = 200
	maxRelations = 300
	maxFacts     = 100
	maxName      = 256
	maxPredicate = 64
	maxFactText  = 1000
)

// itemAnswer is the validated answer for one item.
type itemAnswer struct {
	entities  []entityAnswer
	relations []relationAnswer
	facts     []factAnswer
}

type entityAnswer struct {
	Name *string `json:"name"`
	Type *string `json:"type"`

	start, end int // in the title if inTitle, else in the text
	inTitle    bool
	key        string
}

// validity is shared by relations and facts.
type validity struct {
	Evidence   *string  `json:"evidence"`
	Confidence *float64 `json:"confidence"`
	ValidFrom  *string  `json:"valid_from"`
	ValidTo    *string  `json:"valid_to"`
	Negated    *bool    `json:"negated"`

	from, to   time.Time
	prec       string
	start, end int
}

type relationAnswer struct {
	Source    *string `json:"source"`
	Target    *string `json:"target"`
	Predicate *string `json:"predicate"`
	Raw       *string `json:"raw"`
	validity
}

type factAnswer struct {
	Subject    *string `json:"subject"`
	Predicate  *string `json:"predicate"`
	Object     *string `json:"object"`
	Kind       *string `json:"kind"`
	Text       *string `json:"text"`
	Functional *bool   `json:"functional"`
	Retracts   *bool   `json:"retracts"`
	validity
}

// parseAnswer reads the model's text. It drops items of the wrong shape and items that were not requested. Inside an item it drops
// entries that break the schema or name something that is not in the text. It fails only when no item can be read.
func parseAnswer(content string, n int, in []extract.Input, batch []int) ([]*itemAnswer, string) {
	var root struct {
		Items []json.RawMessage `json:"items"`
	}
	raw, ok := findObject(content)
	if !ok || json.Unmarshal(raw, &root) != nil || root.Items == nil {
		return nil, reasonMalformed
	}
	out := make([]*itemAnswer, n)
	found := 0
	for pos, r := range root.Items {
		if pos >= 4*n {
			break
		}
		var item struct {
			Index     *int              `json:"index"`
			Entities  *[]entityAnswer   `json:"entities"`
			Relations *[]relationAnswer `json:"relations"`
			Facts     *[]factAnswer     `json:"facts"`
		}
		if json.Unmarshal(r, &item) != nil || item.Index == nil || item.Entities == nil || item.Relations == nil {
			continue
		}
		k := *item.Index
		if k < 0 || k >= n || out[k] != nil {
			continue
		}
		a := &itemAnswer{entities: *item.Entities, relations: *item.Relations}
		if item.Facts != nil {
			a.facts = *item.Facts
		}
		a.check(&in[batch[k]])
		out[k] = a
		found++
	}
	if found == 0 {
		return nil, reasonMalformed
	}
	return out, ""
}

// findObject returns the first JSON object in a text; words or a code fence may surround it.
func findObject(s string) (json.RawMessage, bool) {
	k := strings.IndexByte(s, '{')
	if k < 0 {
		return nil, false
	}
	var raw json.RawMessage
	err := json.NewDecoder(strings.NewReader(s[k:])).Decode(&raw)
	return raw, err == nil
}

// check drops entries that the schema or the text does not allow.
func (a *itemAnswer) check(in *extract.Input) {
	f, title := newFinder(in.Text), newFinder(in.Title)
	known := map[string]bool{}
	a.entities = keep(a.entities, maxEntities, func(e *entityAnswer) bool {
		if !filled(e.Name, maxName) || !among(e.Type, entityTypes) {
			return false
		}
		e.key = extract.Key(*e.Name)
		var ok bool
		e.start, e.end, ok = f.find(*e.Name)
		if !ok {
			e.start, e.end, ok = title.find(*e.Name)
			e.inTitle = ok
		}
		if !ok && in.Memory && e.key == extract.Key(speakerOf(in)) {
			ok = true
		}
		if e.key == "" || !ok {
			return false
		}
		known[e.key] = true
		return true
	})
	a.relations = keep(a.relations, maxRelations, func(r *relationAnswer) bool {
		if !filled(r.Source, maxName) || !filled(r.Target, maxName) || !filled(r.Predicate, maxPredicate) || !r.valid(f) {
			return false
		}
		s, t := extract.Key(*r.Source), extract.Key(*r.Target)
		return s != t && known[s] && known[t] && predicate(*r.Predicate) != ""
	})
	a.facts = keep(a.facts, maxFacts, func(x *factAnswer) bool {
		return in.Infer && filled(x.Subject, maxName) && filled(x.Object, maxName) && filled(x.Predicate, maxPredicate) && filled(x.Text, maxFactText) &&
			among(x.Kind, factKinds) && predicate(*x.Predicate) != "" && x.valid(f)
	})
}

// keep filters list in place, up to limit entries.
func keep[T any](list []T, limit int, ok func(*T) bool) []T {
	out := list[:0]
	for i := range list {
		if len(out) < limit && ok(&list[i]) {
			out = append(out, list[i])
		}
	}
	return out
}

func filled(s *string, most int) bool {
	return s != nil && strings.TrimSpace(*s) != "" && len(*s) <= most && utf8.ValidString(*s)
}

func among(s *string, values []string) bool { return s != nil && slices.Contains(values, *s) }

// valid checks evidence, confidence and dates.
func (v *validity) valid(f finder) bool {
	if !filled(v.Evidence, extract.MaxContext) || v.Confidence == nil || math.IsNaN(*v.Confidence) || *v.Confidence < 0 || *v.Confidence > 1 {
		return false
	}
	var ok bool
	if v.start, v.end, ok = f.find(*v.Evidence); !ok {
		return false
	}
	var p1, p2 string
	if v.from, _, p1, ok = date(v.ValidFrom); !ok {
		return false
	}
	var end time.Time
	if _, end, p2, ok = date(v.ValidTo); !ok {
		return false
	}
	v.to, v.prec = end, p1
	if p1 == "" || p2 == extract.PrecisionYear || p2 == extract.PrecisionMonth && p1 == extract.PrecisionDay {
		v.prec = p2
		if p2 == "" {
			v.prec = p1
		}
	}
	return v.from.IsZero() || v.to.IsZero() || v.from.Before(v.to)
}

// date reads an optional date of the schema as a half-open period.
func date(s *string) (from, to time.Time, prec string, ok bool) {
	if s == nil || *s == "" {
		return from, to, "", true
	}
	for _, l := range [...]struct {
		layout, prec string
		y, m, d      int
	}{{time.DateOnly, extract.PrecisionDay, 0, 0, 1}, {"2006-01", extract.PrecisionMonth, 0, 1, 0}, {"2006", extract.PrecisionYear, 1, 0, 0}} {
		if t, err := time.Parse(l.layout, *s); err == nil {
			return t, t.AddDate(l.y, l.m, l.d), l.prec, true
		}
	}
	return from, to, "", false
}

// predicate converts a predicate to lower snake case; it returns "" if nothing remains.
func predicate(s string) string {
	var b strings.Builder
	gap := false
	for _, c := range strings.ToLower(s) {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c >= utf8.RuneSelf {
			if gap && b.Len() > 0 {
				b.WriteByte('_')
			}
			b.WriteRune(c)
			gap = false
			continue
		}
		gap = true
	}
	return b.String()
}

// finder finds quotations in a text. It ignores ASCII case and differences in white space.
type finder struct{ lower string }

func newFinder(text string) finder { return finder{asciiLower(text)} }

func (f finder) find(quote string) (start, end int, ok bool) {
	q := asciiLower(strings.TrimSpace(quote))
	if q == "" {
		return 0, 0, false
	}
	if k := strings.Index(f.lower, q); k >= 0 {
		return k, k + len(q), true
	}
	words := strings.Fields(q)
	for from, tries := 0, 0; tries < 64; tries++ {
		k := strings.Index(f.lower[from:], words[0])
		if k < 0 {
			return 0, 0, false
		}
		k += from
		if end, ok := f.follow(k, words); ok {
			return k, end, true
		}
		from = k + len(words[0])
	}
	return 0, 0, false
}

// follow matches words from offset i on and returns the end of the match.
func (f finder) follow(i int, words []string) (end int, ok bool) {
	for n, w := range words {
		if n > 0 {
			j := i
			for j < len(f.lower) && strings.IndexByte(" \t\r\n", f.lower[j]) >= 0 {
				j++
			}
			if j == i {
				return 0, false
			}
			i = j
		}
		if !strings.HasPrefix(f.lower[i:], w) {
			return 0, false
		}
		i += len(w)
	}
	return i, true
}

// asciiLower lower-cases ASCII letters only, so that byte offsets stay valid.
func asciiLower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
	return string(b)
}

package change

import (
	"slices"
	"strings"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/lazyregexp"
)

// People correct a value right after they told it: "we fly on 14 March" and "wait no, it's the 13th". The correction names nothing but the value, so
// that only the message before it in the session can be meant. What is found orders two memories and is not shown.

var (
	// corrects matches what introduces a correction of what was just told.
	corrects = lazyregexp.New(`(?i)\b(?:wait,? no|no,? wait|hang on|hold on|scratch that|correction|oops|typo|actually,? no|no,? sorry|sorry,? no|(?:my|that was my) (?:mistake|bad)|i meant|i(?:['’]ve)? (?:got|had|read|told you) (?:that|it) wrong(?:[,.;!]|$| and\b)|wrong one|i misread|i forgot|not the other)(?:\W|$)|^stop,`)
	// anaphoric matches what may stand before the value in its clause: nothing that says what it is a value of.
	anaphoric = lazyregexp.New(`(?i)^(?:(?:wait|no|hang on|hold on|scratch that|correction|oops|typo|actually|sorry|so|and|oh|my mistake|my bad|i meant|just|it|it['’]?s|its|that['’]?s|is|was|must be|should be|should have been|must have been|will be|make (?:it|that)|i mean|meant|to say|not the \S+ but|for|on|at|by|the|to|be)[,:;. ]*)*$`)
	bareValue = lazyregexp.New(`\b\d[\d.,]*\d\b|\b\d\b`)
)

const kindBare = -1 // a number that is no value of kinds

// corrections returns the values that a statement puts in the place of ones that were just told, by kind, and the clause; nil if there are none.
func (s *statement) corrections() (map[int]string, string) {
	if len(s.text) > maxStated || !corrects.MatchString(s.text) {
		return nil, ""
	}
	cue := corrects.Compiled().FindStringIndex(s.text)
	all := s.parse()
	for i := range all {
		c := &all[i]
		if c.End <= cue[0] && !strings.Contains(s.text, "not the other") || c.Mode == extract.ModeQuestion || c.Mode == extract.ModeQuote || strings.HasSuffix(strings.TrimSpace(s.text[c.Start:min(len(s.text), c.End+1)]), "?") {
			continue
		}
		text := strings.TrimSpace(c.Text)
		for k, v := range valuesOrNumber(text) {
			before, behind, _ := strings.Cut(strings.ToLower(text), v)
			if anaphoric.MatchString(strings.TrimSpace(before)) && len(termsOf(behind)) == 0 {
				return map[int]string{k: v}, c.Text
			}
		}
	}
	return nil, ""
}

// valuesOrNumber returns the values of a clause, the first number if it has no value of a kind.
func valuesOrNumber(text string) map[int]string {
	if out := values(text); out != nil {
		return out
	}
	if v := bareValue.FindString(text); v != "" {
		return map[int]string{kindBare: v}
	}
	return nil
}

// digitsOf returns the digits of a value that are before its words, or the value if it has none: "14" of "14 march".
func digitsOf(v string) string {
	out := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, v)
	if out == "" {
		return v
	}
	return out
}

// byCorrection decides whether a statement corrects a value of the one before it.
func byCorrection(later, earlier *statement) (verdict, bool) {
	found, evidence := later.corrections()
	if found == nil {
		return verdict{}, false
	}
	es := earlier.parse()
	for i := len(es) - 1; i >= 0; i-- {
		e := &es[i]
		if e.Mode == extract.ModeQuestion {
			continue
		}
		for k, v := range valuesOrNumber(e.Text) {
			if to, ok := found[k]; ok && digitsOf(to) != digitsOf(v) {
				x := verdict{confidence: likely, retracts: true, matter: e.Text, evidence: evidence, decider: "rules: corrected"}
				if k >= 0 && kindAnswers[kinds[k].name] != "" {
					x.matters = []string{kindAnswers[kinds[k].name]}
				}
				return x, true
			}
		}
	}
	return verdict{}, false
}

// corrected returns the succession of a statement that corrects a value of one of the two messages before it in its session.
func (r *run) corrected(s *statement) ([]backend.Succession, error) {
	if !s.own || !s.correcting() {
		return nil, nil
	}
	stand, err := r.Graph.Neighbours(r.ctx, s.src.Part, []int64{s.chunk})
	if err != nil || len(stand) == 0 || stand[0].Chunk == 0 {
		return nil, err
	}
	prev := slices.DeleteFunc(slices.Clone(stand[0].Prev[:]), func(n int64) bool { return n == 0 })
	rows, err := r.Store.Chunks(r.ctx, prev, r.now)
	if err != nil {
		return nil, err
	}
	for _, num := range prev {
		for _, row := range rows {
			if row.Num != num {
				continue
			}
			n, err := r.candidate(s, row)
			if err != nil {
				return nil, err
			}
			if n == nil || n.aside || !s.after(n) {
				continue
			}
			if x, ok := byCorrection(s, n); ok {
				f, err := r.succession(s, n, &x)
				return []backend.Succession{f}, err
			}
		}
	}
	return nil, nil
}

// correcting reports whether a statement corrects a value, and computes it once.
func (s *statement) correcting() bool {
	if !s.corrRead {
		s.corrRead = true
		if triggersOf(s.text)&mayCorrect != 0 {
			found, _ := s.corrections()
			s.corr = found != nil
		}
	}
	return s.corr
}

package change

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"slices"
	"strings"

	"github.com/contextmem/contextmem/judge"
)

// Many statements have several parts, and a later statement replaces only one of them. A succession keeps the vectors of that part and of
// the rest, so that it does not apply to questions about the rest.

const (
	minTerms    = 3  // minimum terms of a part; shorter clauses are joined to their neighbours
	maxParts    = 12 // maximum parts of a statement
	vectorScale = 127
)

// parts splits a statement into parts about one thing each.
func (s *statement) parts() (out []string) {
	from, end, terms := 0, 0, 0
	all := s.parse()
	for i := range all {
		c := &all[i]
		if terms >= minTerms && len(out) < maxParts-1 {
			out = append(out, strings.TrimSpace(s.text[from:c.Start]))
			from, terms = c.Start, 0
		}
		terms += len(c.terms())
		end = c.End
	}
	last := strings.TrimSpace(s.text[from:])
	switch {
	case end == 0 || last == "":
	case terms < minTerms && len(out) > 0:
		out[len(out)-1] += " " + last
	default:
		out = append(out, last)
	}
	return out
}

// spanning joins two or three parts that a matter spans, and returns the parts and the index of the joined one; -1 if no such parts contain it.
func spanning(parts []string, matter string) ([]string, int) {
	for several := 2; several <= 3; several++ {
		for i := range max(0, len(parts)-several+1) {
			if joined := strings.Join(parts[i:i+several], " "); strings.Contains(joined, matter) {
				return slices.Concat(parts[:i], []string{joined}, parts[i+several:]), i
			}
		}
	}
	return parts, -1
}

// matter finds out which part of the earlier statement no longer holds and sets it in the verdict.
// It returns the encoded Matter for recall, or nil if the statement has one part or the workspace has no embedder.
func (r *run) matter(later, earlier *statement, x *verdict) ([]byte, error) {
	parts := earlier.parts()
	if len(parts) < 2 || r.Embedder == nil {
		return nil, nil
	}
	at := -1
	for i, p := range parts {
		if strings.Contains(p, x.matter) { // rules name a clause as the matter
			at = i
		}
	}
	if at < 0 {
		parts, at = spanning(parts, x.matter)
	}
	if at < 0 && r.Judge != nil {
		pairs := make([]judge.Pair, len(parts))
		for i, p := range parts {
			pairs[i] = judge.Pair{Earlier: judge.Statement{Text: p, Time: earlier.src.Time}, Later: judge.Statement{Text: later.text, Before: later.before, Time: later.src.Time}}
		}
		probs, err := r.replaces(pairs)
		if err != nil {
			return nil, err
		}
		for i, p := range probs {
			if p > Orders && (at < 0 || p > probs[at]) {
				at = i
			}
		}
	}
	texts := append([]string(nil), parts...)
	if at < 0 {
		texts = append(texts, later.parts()...)
	}
	vs, err := r.vectors(texts)
	if err != nil {
		return nil, err
	}
	if at < 0 {
		best := math.Inf(-1)
		for i := range parts {
			for _, l := range vs[len(parts):] {
				if d := dot(vs[i], l); d > best {
					at, best = i, d
				}
			}
		}
	}
	if at < 0 {
		return nil, nil
	}
	x.matter = short(parts[at])
	e := &Matter{Model: modelHash(r.Model), Part: vs[at]}
	for i := range parts {
		if i != at {
			e.Rest = append(e.Rest, vs[i])
		}
	}
	return e.encode(), nil
}

func dot(a, b []float32) (sum float64) {
	if len(a) != len(b) {
		return 0
	}
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// Matter describes which part of a memory no longer holds, as vectors of the workspace's embedder.
type Matter struct {
	Model uint32      // hash of the embedder's name
	Part  []float32   // vector of the part that no longer holds
	Rest  [][]float32 // vectors of the other parts
}

func modelHash(name string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(name))
	return h.Sum32()
}

// encode returns the stored form, with one byte for each vector element.
func (m *Matter) encode() []byte {
	b := binary.LittleEndian.AppendUint32(nil, m.Model)
	b = binary.AppendUvarint(b, uint64(len(m.Part)))
	for _, v := range append([][]float32{m.Part}, m.Rest...) {
		most := float32(1e-9)
		for _, x := range v {
			most = max(most, float32(math.Abs(float64(x))))
		}
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(most/vectorScale))
		for _, x := range v {
			b = append(b, byte(int8(math.Round(float64(x/most*vectorScale)))))
		}
	}
	return b
}

// Concerns reports whether a question is about the replaced part of a memory, not about the rest. extra holds the succession's extra bytes.
// question is the vector of the model's embedder. The rest may be nearer by slack. It reports true if the parts are unknown.
func Concerns(extra []byte, model string, question []float32, slack float64) bool {
	_, extra = unwrap(extra)
	if len(extra) < 5 || question == nil || binary.LittleEndian.Uint32(extra) != modelHash(model) {
		return true
	}
	dim, n := binary.Uvarint(extra[4:])
	b := extra[4+max(n, 0):]
	if n <= 0 || dim != uint64(len(question)) {
		return true
	}
	size := len(question) + 4
	part, rest := math.Inf(-1), math.Inf(-1)
	for i := 0; len(b) >= size; i++ {
		scale, sum := float64(math.Float32frombits(binary.LittleEndian.Uint32(b))), 0.0
		for j, q := range question {
			sum += float64(q) * float64(int8(b[4+j]))
		}
		if sum *= scale; i == 0 {
			part = sum
		} else {
			rest = max(rest, sum)
		}
		b = b[size:]
	}
	return part >= rest-slack
}

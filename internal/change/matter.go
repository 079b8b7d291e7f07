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
	minTerms      = 3  // minimum terms of a sentence that a disproved guess may be about
	maxParts      = 12 // maximum parts of a statement
	vectorScale   = 127
	matterVersion = "2\x00" // of the stored form
	askedWithin   = .2      // parts whose inner products with the later statement are less than the best by at most this are judged
	byAnswers     = .1      // weight of the logit that the later statement answers a part, beside the inner product
	alsoEnded     = .2      // parts that are as near as this to the nearest part may have ended with it
	alsoNear      = .1      // the same without a judge
)

// matter finds out which part of the earlier statement no longer holds and sets it in the verdict.
// It returns the encoded Matter for recall, or nil if the statement has one part or the workspace has no embedder.
func (r *run) matter(later, earlier *statement, x *verdict) ([]byte, error) {
	parts := earlier.parts()
	if len(parts) < 2 || r.Embedder == nil {
		return nil, nil
	}
	lo, hi := spanned(parts, earlier.text, x.matter)
	if lo < 0 {
		lo, hi = 0, len(parts)
	} else if x.retracts { // a plan or a guess that is taken back goes as a whole, and with what a guess explains
		parts = slices.Concat(parts[:lo], []span{{parts[lo].start, parts[hi-1].end}}, parts[hi:])
		hi = lo + 1
	}
	texts := []string{later.text}
	for _, p := range parts {
		texts = append(texts, p.of(earlier.text))
	}
	vs, err := r.vectors(texts)
	if err != nil {
		return nil, err
	}
	told, vs, texts := vs[0], vs[1:], texts[1:]
	near, err := r.nearTo(later, texts, told, vs)
	if err != nil {
		return nil, err
	}
	at, also := lo, alsoEnded
	if r.Judge == nil {
		also = alsoNear
	}
	for i := lo; i < hi; i++ {
		if near[i] > near[at] {
			at = i
		}
	}
	ended := func(i int) bool { // beside the words that a rule named, only what is as near as they are
		return near[i] >= near[at] && !x.retracts && !math.IsInf(near[at], -1) || i >= lo && i < hi && near[i] >= near[at]-also
	}
	e := &Matter{Model: modelHash(r.Model), Later: told, Part: vs[at]}
	first, last := at, at
	for i := range parts {
		switch {
		case !ended(i):
			e.Rest = append(e.Rest, vs[i])
		case i == last+1:
			last = i
		}
	}
	for first > 0 && ended(first-1) {
		first--
	}
	if len(e.Rest) > 0 {
		x.matter = short(span{parts[first].start, parts[last].end}.of(earlier.text))
	}
	return e.encode(), nil
}

// nearTo returns how likely it is that the later statement is about each of some parts of an earlier one: only their order and distances count.
func (r *run) nearTo(later *statement, parts []string, told []float32, vs [][]float32) ([]float64, error) {
	near, best := make([]float64, len(parts)), math.Inf(-1)
	for i := range parts {
		near[i] = dot(vs[i], told)
		best = max(best, near[i])
	}
	if r.Judge == nil || len(parts) < 2 {
		return near, nil
	}
	if !r.narrow() {
		pairs := make([]judge.Pair, len(parts))
		for i, p := range parts {
			pairs[i] = judge.Pair{Earlier: judge.Statement{Text: p}, Later: judge.Statement{Text: later.text, Before: later.before, Time: later.src.Time}}
		}
		probs, err := r.replaces(pairs)
		if err != nil {
			return nil, err
		}
		for i := range near {
			near[i] += byAnswers * logit(probs[i])
		}
		return near, nil
	}
	for i, p := range parts {
		if near[i] < best-askedWithin {
			near[i] = math.Inf(-1)
			continue
		}
		answers, err := r.answers(p, later.text)
		if err != nil {
			return nil, err
		}
		near[i] += byAnswers * logit(answers)
	}
	return near, nil
}

// spanned returns the range of the parts of a text that words of it touch; -1 if there are none.
func spanned(parts []span, text, words string) (lo, hi int) {
	from := strings.Index(text, words)
	if from < 0 || words == "" {
		return -1, -1
	}
	lo = -1
	for i, p := range parts {
		if p.start < from+len(words) && p.end > from {
			if lo < 0 {
				lo = i
			}
			hi = i + 1
		}
	}
	return lo, hi
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
	Later []float32   // vector of the later statement
	Part  []float32   // vector of the part that no longer holds
	Rest  [][]float32 // vectors of the other parts
}

func modelHash(name string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(matterVersion + name))
	return h.Sum32()
}

// encode returns the stored form, with one byte for each vector element.
func (m *Matter) encode() []byte {
	b := binary.LittleEndian.AppendUint32(nil, m.Model)
	b = binary.AppendUvarint(b, uint64(len(m.Part)))
	for _, v := range append([][]float32{m.Later, m.Part}, m.Rest...) {
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

// Bounds of the similarity of a question to the part of a memory that no longer holds, as shares of that to the nearest other part, chosen on questions to
// messages with two or three matters.
const (
	nearLater = .65 // a question that is as near as this to the later statement is about what that changed
	mostSlack = .25
)

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
	if len(b) < 3*size {
		return true
	}
	later, part, rest := product(b, question), product(b[size:], question), math.Inf(-1)
	for b = b[2*size:]; len(b) >= size; b = b[size:] {
		rest = max(rest, product(b, question))
	}
	return part >= rest-max(0, min(slack, mostSlack*rest)) || later >= nearLater*rest
}

// product returns the inner product of an encoded vector and another one.
func product(b []byte, v []float32) (sum float64) {
	for j, x := range v {
		sum += float64(x) * float64(int8(b[4+j]))
	}
	return sum * float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
}

// Partly reports whether the succession with the given extra bytes is about a part of the earlier memory, whose other parts still hold.
func Partly(extra []byte) bool {
	_, extra = unwrap(extra)
	if len(extra) < 5 {
		return false
	}
	dim, n := binary.Uvarint(extra[4:])
	return n > 0 && dim > 0 && uint64(len(extra)-4-n) >= 3*(dim+4)
}

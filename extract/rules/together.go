package rules

import "github.com/contextmem/contextmem/internal/language"

const (
	maxTogether = 6   // pairs of names in one sentence without a verb between them
	fewTogether = 256 // such pairs in one item that are all told
	maxTold     = 4   // how often one of them is told beyond these
)

// pairs is what is known of the pairs of names that stand together in one item. That two names stand once in the same
// sentence of a long text says little, and there are more such pairs than statements: beyond the first ones, those are told that
// stand together again, a few times, and one of each chunk.
type pairs struct {
	told  int              // pairs that were told
	chunk int              // the last one of which a pair was told, -1 for none
	seen  map[uint64]uint8 // how often the pair of the hash of both keys was told, from 1 on where it was seen
}

// tell reports whether the pair of two names in a chunk is worth a relation.
func (p *pairs) tell(chunk int, a, b string) bool {
	if a > b {
		a, b = b, a
	}
	if p.seen == nil {
		p.seen = make(map[uint64]uint8)
	}
	sum := pairHash(pairHash(fnvOffset, a)*fnvPrime, b)
	before := p.seen[sum]
	p.seen[sum] = max(before, 1)
	if p.told >= fewTogether && p.chunk == chunk && (before == 0 || before > maxTold) {
		return false
	}
	if before > 0 && before <= maxTold {
		p.seen[sum]++
	}
	p.told++
	p.chunk = chunk
	return true
}

// FNV-1a, 64 bits.
const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

func pairHash(h uint64, s string) uint64 {
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * fnvPrime
	}
	return h
}

// together links strong names of one sentence that no verb links, at low confidence.
func (r *relator) together(s *language.Sentence) {
	chunk := -2 // not known
	n := 0
	for i := range r.nodes {
		a := &r.nodes[i]
		if a.kind != nodeName || a.weak {
			continue
		}
		for j := i + 1; j < len(r.nodes) && j <= i+3; j++ {
			b := &r.nodes[j]
			if b.kind != nodeName || b.weak || n >= maxTogether || a.key == b.key {
				continue
			}
			if r.linked(a.key, b.key) || r.stated(a.key) && r.stated(b.key) {
				continue
			}
			if !r.d.in.Memory {
				if chunk == -2 {
					chunk = r.d.chunkOf(s)
				}
				if !r.pairs.tell(chunk, a.key, b.key) {
					continue
				}
			}
			before := len(r.sts)
			r.add(statement{source: *a, target: *b, predicate: "related_to", raw: "mentioned with", conf: confTogether})
			n += len(r.sts) - before
		}
	}
}

// stated reports whether a verb or noun already says something about a name.
func (r *relator) stated(key string) bool {
	for i := range r.sts {
		if st := &r.sts[i]; st.clause != nil && (st.source.key == key || st.target.key == key) {
			return true
		}
	}
	return false
}

func (r *relator) linked(a, b string) bool {
	for i := range r.sts {
		x, y := r.sts[i].source.key, r.sts[i].target.key
		if x == a && y == b || x == b && y == a {
			return true
		}
	}
	return false
}

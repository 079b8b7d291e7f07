package rules

import "github.com/contextmem/contextmem/internal/language"

const (
	maxTogether = 6   // maximum pairs of names in one sentence without a verb between them
	fewTogether = 256 // such pairs in one item that all become relations
	maxRepeats  = 4   // how often a later pair becomes a relation
)

// pairs counts the pairs of names that occur in the same sentence of one item. A single co-occurrence in a long text means little, and
// such pairs are more frequent than statements. So after the first pairs, a pair becomes a relation only if it occurs again, at most a
// few times; in addition, one pair of each chunk does.
type pairs struct {
	kept  int              // number of pairs that became relations
	chunk int              // the last chunk with a pair that became a relation, -1 for none
	seen  map[uint64]uint8 // occurrences by the hash of both keys
}

// keep reports whether a pair of names in a chunk becomes a relation.
func (p *pairs) keep(chunk int, a, b string) bool {
	if a > b {
		a, b = b, a
	}
	if p.seen == nil {
		p.seen = make(map[uint64]uint8)
	}
	sum := pairHash(pairHash(fnvOffset, a)*fnvPrime, b)
	before := p.seen[sum]
	p.seen[sum] = max(before, 1)
	if p.kept >= fewTogether && p.chunk == chunk && (before == 0 || before > maxRepeats) {
		return false
	}
	if before > 0 && before <= maxRepeats {
		p.seen[sum]++
	}
	p.kept++
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

// together links strong names of one sentence that no verb links, with low confidence.
func (r *relator) together(s *language.Sentence) {
	chunk := -2 // unknown
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
				if !r.pairs.keep(chunk, a.key, b.key) {
					continue
				}
			}
			before := len(r.sts)
			r.add(statement{source: *a, target: *b, predicate: "related_to", raw: "mentioned with", conf: confTogether})
			n += len(r.sts) - before
		}
	}
}

// stated reports whether a verb or noun already makes a statement about a name.
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

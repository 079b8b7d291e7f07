package local

import "github.com/contextmem/contextmem/internal/vector"

// Approximate sizes of entries of maps and other structures in bytes, with the unused capacity of these.
const (
	perPartition = 2000
	perTerm      = 10                     // a term of a tail: postings, forward index, and a share of the table of terms
	perTag       = 26                     // a map entry of a 64-bit key and a 32-bit value
	perNote      = 10                     // a tag of a source
	perName      = 56                     // a map entry with a string key, and the string's header
	perEntity    = 40 + 30                // an entity, and the map entry of its number
	perKey       = 40 + 16 + perName + 16 // a key, the entities that it names, its text, and the map entry of the text
	perEdge      = 16 + 12
)

// sizeBytes returns about how many bytes of heap the partition takes. Mapped files do not
// count. The caller is the writer or holds mu.
func (p *partition) sizeBytes() int64 {
	n := perPartition + 8*cap(p.live.Words())
	if !p.inPlace {
		n += 8*cap(p.chunk) + 4*(cap(p.ordinal)+cap(p.of)+cap(p.speaker)) + cap(p.flags) + 8*cap(p.sourceNum) + 32*cap(p.sources)
	}
	n += p.rowOf.Bytes() + p.sourceOf.Bytes()
	n += 16*cap(p.names) + perName*len(p.nameOf)
	n += 16*cap(p.links) + 40*cap(p.sessions.all) + 24*cap(p.sessions.named) // each source is in one line
	n += 24*cap(p.tagsOf) + p.tags.sizeBytes(len(p.live.Words()))
	n += 24*cap(p.refsOf) + p.mentions.sizeBytes()
	n += int(p.tailTerms) * perTerm
	if p.sealed != nil {
		n += int(p.sealed.terms) * perTerm
	}
	for _, v := range p.vectors {
		n += 8 * cap(v.places.runs)
		if v.mem != nil {
			n += v.mem.Len() * (5*v.dim + 8)
		}
	}
	return int64(n) + p.keptBytes()
}

// keptBytes returns about how many bytes of heap the vector segments and the sessions keep to speed up later searches. The
// caller is the writer or holds mu.
func (p *partition) keptBytes() (n int64) {
	n = p.sessions.terms.bytes()
	for _, v := range p.vectors {
		if s, ok := v.search.(*vector.Segment); ok {
			n += s.KeptBytes()
		}
	}
	return n
}

// sizeBytes returns about how many bytes the tags of all sources take. words is the length of a set of rows, in words.
func (x *tagIndex) sizeBytes(words int) int {
	return perNote*x.noted + perTag*len(x.one) + 8*cap(x.lists) + 64*(len(x.lists)-len(x.free)) + 6*x.listed + x.sets*words*9
}

func (x *mentions) sizeBytes() int {
	return perEdge*x.edges + perEntity*len(x.entities) + perKey*len(x.keys)
}

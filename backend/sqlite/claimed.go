package sqlite

import (
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// claimed is what is read of a source that is about to be claimed.
type claimed struct {
	src           backend.Source
	indexed       bool
	first, chunks int64
	lane          backend.Lane
	blobs         []backend.Blob // nil: not read
}

const claimSelect = "SELECT " + sourceCols + ", s.indexed, s.first_chunk, s.chunks, s.lane FROM " + sourceTables

func readClaimed(r *row) *claimed {
	one := &claimed{src: *readSource(r, 0), indexed: r.int(sourceWidth) != 0, first: r.int(sourceWidth + 1), chunks: r.int(sourceWidth + 2)}
	one.lane = backend.Lane(r.int(sourceWidth + 3))
	return one
}

// claimMark is what the row of a source is to say once it is claimed.
type claimMark struct {
	num, state int64
	attempts   int
	due        int64
}

// readTogether reads sources that follow each other by one query, and their content by another. It returns nil where they do not, and nil
// for one that has to be read alone: it is damaged, or has more than an original of its own.
func (t *tx) readTogether(found []storerules.Candidate) ([]*claimed, error) {
	if len(found) < 2 || found[len(found)-1].Num-found[0].Num != int64(len(found)-1) {
		return nil, nil
	}
	first, last := found[0].Num, found[len(found)-1].Num
	out, size := make([]*claimed, len(found)), int64(0)
	err := t.c.each(bg, claimSelect+" WHERE s.num BETWEEN ? AND ?", func(r *row) error {
		one := readClaimed(r)
		if r.err != nil { // reading it alone tells
			r.err = nil
			return nil
		}
		out[one.src.Num-first] = one
		size = max(size, one.src.SizeBytes)
		return nil
	}, first, last)
	if err != nil || size > pieceBytes {
		return out, err
	}
	return out, t.readOriginals(out, first, last)
}

// readOriginals reads the content of sources, the first of which has the number first, that have nothing but an original in one piece.
func (t *tx) readOriginals(out []*claimed, first, last int64) error {
	alone := make([]bool, len(out))
	err := t.c.each(bg, "SELECT id, crc, data FROM blobs WHERE id BETWEEN ? AND ?", func(r *row) error {
		b := readStored(r, "content of source", 0)
		i := b.id>>3 - first
		if r.err != nil || b.n != 0 || backend.ContentKind(b.id&maxKind) != backend.Original || out[i] == nil {
			r.err, alone[i] = nil, true
			return nil
		}
		out[i].blobs = []backend.Blob{{Kind: backend.Original, Data: b.data}}
		return nil
	}, blobID(first, 0), blobID(last, maxKind))
	for i, one := range out {
		if alone[i] && one != nil {
			one.blobs = nil
		}
	}
	return err
}

// markClaimed notes that sources, by their numbers, are claimed under a token.
func (t *tx) markClaimed(marks []claimMark, token string, leaseUntil time.Time) error {
	for len(marks) > 0 {
		m, n := marks[0], 1
		for n < len(marks) && marks[n] == (claimMark{m.num + int64(n), m.state, m.attempts, m.due}) {
			n++
		}
		err := t.c.do("UPDATE sources SET state = ?, attempts = ?, token = ?, lease = ?, due = ? WHERE num BETWEEN ? AND ?",
			m.state, m.attempts, token, storerules.Stamp(leaseUntil), m.due, m.num, m.num+int64(n-1))
		if err != nil {
			return err
		}
		marks = marks[n:]
	}
	return nil
}

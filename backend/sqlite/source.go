package sqlite

import (
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// sourceCols are the columns that readSource reads, of a version s and its partition p.
const sourceCols = `s.num, p.class, p.sub, s.id, s.state, s.error_code, s.error_message, s.attempts, s.title, s.kind,
	s.filename, s.media, s.size, s.infer, s.created, s.updated, s.time, s.expires, s.session, s.metadata, s.additional,
	s.doc, s.tags, s.not_before, s.token, s.lease, s.rev, s.newest,
	CASE s.older WHEN 0 THEN 0 ELSE coalesce((SELECT o.num FROM sources o WHERE o.num = s.older), 0) END, s.crc`

// Indexes in sourceCols, and their number.
const (
	sourceCreated = 14
	sourceCrc     = 29
	sourceWidth   = 30
)

const sourceTables = "sources s JOIN parts p ON p.id = s.part"

// readSource reads a version from column i on, and its checksum.
func readSource(r *row, i int) *backend.Source {
	s := &backend.Source{
		Num:   r.int(i),
		Part:  backend.Partition{Class: backend.Class(r.int(i + 1)), Sub: r.str(i + 2)},
		ID:    r.str(i + 3),
		State: backend.State(r.int(i + 4)), ErrorCode: r.str(i + 5), ErrorMessage: r.str(i + 6),
		Attempts: int(r.int(i + 7)),
		Title:    r.str(i + 8), Kind: r.str(i + 9), Filename: r.str(i + 10), MediaType: r.word(i + 11),
		SizeBytes: r.int(i + 12), Infer: r.int(i+13) != 0,
		CreatedAt: r.time(i + 14), UpdatedAt: r.time(i + 15), Time: r.time(i + 16), ExpiresAt: r.time(i + 17),
		Session: r.str(i + 18), Metadata: r.blob(i + 19), Additional: r.blob(i + 20), Doc: r.json(i + 21),
		NotBefore: r.time(i + 23), Token: r.str(i + 24), LeaseUntil: r.time(i + 25), Rev: r.int(i + 26), Replaced: r.int(i+27) == 0, Older: r.int(i + 28),
	}
	var err error
	if s.Tags, err = storerules.UnpackTags(r.blob(i + 22)); err != nil {
		r.err = err
	}
	if r.err == nil && !r.null(i+sourceCrc) {
		var sum uint32
		sum, r.buf = sourceSum(r.buf, s, r.vals[i+sourceCreated], r.blob(i+22))
		r.sealed(i+sourceCrc, sum, "source", s.Num)
	}
	return s
}

const headCols = `num, part, id, state, newest, indexed, graph, token, older, first_chunk, chunks,
	seq_chunks, seq_tags, seq_graph, tags, created, rev, lane, lanes, seq_lane_1, seq_lane_2, seq_lane_3`

func readHead(r *row) *head {
	packed := r.blob(headTags)
	whole := len(packed) &^ 7 // a version with damaged tags must be removable
	cut := whole < len(packed)
	packed = packed[:whole]
	tags, err := storerules.UnpackTags(packed)
	if err != nil {
		r.err = err
	}
	return &head{
		Num: r.int(0), Part: r.int(1), ID: r.str(2), State: backend.State(r.int(3)),
		Newest: r.int(4) != 0, Indexed: r.int(5) != 0, Graph: r.int(6) != 0, Token: r.str(7), Older: r.int(8),
		First: r.int(9), Chunks: r.int(10), SeqChunks: r.int(11), SeqTags: r.int(12), SeqGraph: r.int(13),
		Tags: tags, TagsCut: cut, Created: r.vals[15], Rev: r.int(16),
		Lane: backend.Lane(r.int(17)), Lanes: r.int(18), SeqLane: [backend.LaneCount]int64{1: r.int(19), 2: r.int(20), 3: r.int(21)},
	}
}

// The number of headCols, and the index of tags.
const headWidth, headTags = 22, 14

// readDescription sets the fields of a head for indexes, from the columns after headCols: title, time, session. It leaves out damaged fields, so that a damaged
// version can be removed.
func readDescription(v *head, r *row) {
	at, ok := r.vals[headWidth+1].(int64)
	ok = (ok || r.null(headWidth+1)) && len(r.blob(headTags))%8 == 0
	title, ok1 := r.vals[headWidth].(string)
	session, ok2 := r.vals[headWidth+2].(string)
	if !ok || !ok1 || !ok2 {
		return
	}
	v.Described, v.Title, v.Session = true, title, session
	if !r.null(headWidth + 1) {
		v.Time = time.UnixMicro(at).UTC()
	}
}

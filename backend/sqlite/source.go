package sqlite

import (
	"github.com/contextmem/contextmem/backend"
)

// sourceCols are the columns of readSource, of a version s and its partition p.
const sourceCols = `s.num, p.class, p.sub, s.id, s.state, s.error_code, s.error_message, s.attempts, s.title, s.kind,
	s.filename, s.media, s.size, s.infer, s.created, s.updated, s.time, s.expires, s.session, s.metadata, s.additional,
	s.doc, s.tags, s.not_before, s.token, s.lease, s.rev, s.newest,
	CASE s.older WHEN 0 THEN 0 ELSE coalesce((SELECT o.num FROM sources o WHERE o.num = s.older), 0) END, s.crc`

// Places in sourceCols, and their number.
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
		Title:    r.str(i + 8), Kind: r.str(i + 9), Filename: r.str(i + 10), MediaType: r.str(i + 11),
		SizeBytes: r.int(i + 12), Infer: r.int(i+13) != 0,
		CreatedAt: r.time(i + 14), UpdatedAt: r.time(i + 15), Time: r.time(i + 16), ExpiresAt: r.time(i + 17),
		Session: r.str(i + 18), Metadata: r.blob(i + 19), Additional: r.blob(i + 20), Doc: r.blob(i + 21),
		NotBefore: r.time(i + 23), Token: r.str(i + 24), LeaseUntil: r.time(i + 25), Rev: r.int(i + 26), Replaced: r.int(i+27) == 0, Older: r.int(i + 28),
	}
	var err error
	if s.Tags, err = unpackTags(r.blob(i + 22)); err != nil {
		r.err = err
	}
	if r.err == nil && !r.null(i+sourceCrc) {
		var sum uint32
		sum, r.buf = sourceSum(r.buf, s, r.vals[i+sourceCreated], r.blob(i+22))
		r.sealed(i+sourceCrc, sum, "source", s.Num)
	}
	return s
}

// head is what the changing calls need of a version.
type head struct {
	num, rev, part, hash       int64
	id                         string
	state                      backend.State
	newest, indexed, graph     bool
	token                      string
	older, first, chunks       int64
	seqChunks, seqTags, seqGph int64
	lane                       backend.Lane
	lanes                      int64 // a bit for each that is filled
	seqLane                    [backend.LaneCount]int64
	tags                       []byte
	created                    any
}

const headCols = `num, part, hash, id, state, newest, indexed, graph, token, older, first_chunk, chunks,
	seq_chunks, seq_tags, seq_graph, tags, created, rev,
	lane, lanes, seq_lane_1, seq_lane_2, seq_lane_3`

func readHead(r *row) *head {
	return &head{
		num: r.int(0), part: r.int(1), hash: r.int(2), id: r.str(3), state: backend.State(r.int(4)),
		newest: r.int(5) != 0, indexed: r.int(6) != 0, graph: r.int(7) != 0, token: r.str(8), older: r.int(9),
		first: r.int(10), chunks: r.int(11), seqChunks: r.int(12), seqTags: r.int(13), seqGph: r.int(14),
		tags: r.blob(15), created: r.vals[16], rev: r.int(17),
		lane: backend.Lane(r.int(18)), lanes: r.int(19), seqLane: [backend.LaneCount]int64{1: r.int(20), 2: r.int(21), 3: r.int(22)},
	}
}

// is reports whether v is the version that a caller has read; v may be nil.
func (v *head) is(read backend.Version) bool {
	return v != nil && v.num == read.Num && v.rev == read.Rev
}

// version reads a version, nil when it is gone.
func (t *tx) version(num int64) (v *head, err error) {
	_, err = t.c.one(bg, "SELECT "+headCols+" FROM sources WHERE num = ?", func(r *row) error {
		v = readHead(r)
		return nil
	}, num)
	return v, err
}

// item reads the newest version of an id, nil when there is none.
func (t *tx) item(part int64, id string) (v *head, err error) {
	if part == 0 {
		return nil, nil
	}
	err = t.c.each(bg, "SELECT "+headCols+" FROM sources INDEXED BY sources_item WHERE hash = ? AND part = ? AND newest = 1",
		func(r *row) error {
			if v == nil && r.str(3) == id {
				v = readHead(r)
			}
			return nil
		}, hashOf(0, id), part)
	return v, err
}

// find reads the newest version of an id in a partition; [backend.ErrNotFound] when
// there is none.
func (t *tx) find(p backend.Partition, id string) (*head, error) {
	part, err := t.partID(p)
	if err != nil {
		return nil, err
	}
	v, err := t.item(part, id)
	if err == nil && v == nil {
		err = backend.ErrNotFound
	}
	return v, err
}

// held reads the version that token has claimed, nil when the claim was lost.
func (t *tx) held(num int64, token string) (*head, error) {
	if token == "" {
		return nil, nil
	}
	v, err := t.version(num)
	if err != nil || v == nil || v.token != token || !v.newest {
		return nil, err
	}
	return v, nil
}

// move counts the new state of v.
func (t *tx) move(v *head, to backend.State) {
	t.led.move(v.state, to)
	v.state = to
}

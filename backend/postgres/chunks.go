package postgres

import (
	"context"
	"fmt"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

func (s *store) Index(ctx context.Context, items []backend.Indexed) ([]bool, error) {
	return s.indexed(ctx, nil, items)
}

func (s *store) indexed(ctx context.Context, g *condition, items []backend.Indexed) ([]bool, error) {
	return changeHeld(ctx, s, g, "index", items, func(x *backend.Indexed) (int64, string, []backend.Blob) { return x.Num, x.Token, x.Blobs },
		func(t *tx, v *head, in *backend.Indexed) error { return t.Index(v, in) })
}

// changeHeld calls a function for each version that is still claimed under its token, all in one transaction. It reports which versions were.
func changeHeld[T any](ctx context.Context, s *store, g *condition, what string, items []T, of func(*T) (num int64, token string, blobs []backend.Blob),
	do func(*tx, *head, *T) error) (ok []bool, err error) {
	for i := range items {
		num, _, blobs := of(&items[i])
		if err := storerules.CheckBlobs(blobs); err != nil {
			return nil, fmt.Errorf("%s source %d: %w", what, num, err)
		}
	}
	err = s.change(ctx, func(t *tx) error {
		if err := g.check(t); err != nil {
			return err
		}
		held := func(x *T) (int64, string) { num, token, _ := of(x); return num, token }
		ok, err = storerules.EachHeld(&t.Tx, what, items, held, func(v *head, x *T) error { return do(t, v, x) })
		return err
	})
	if err != nil {
		return nil, err
	}
	return ok, nil
}

func (x rows) SetIndexed(v *head, in *backend.Indexed, dense bool) error {
	if err := x.AddTags(v.Part, v.Num, v.ID, in.Tags); err != nil {
		return err
	}
	more := signed(in.Tags)
	if len(more) == 0 {
		more = nil
	}
	return x.t.c.do(`UPDATE sources SET state = 3, indexed = true, rev = rev + 1, graph = false, dense = $2, older = 0, first_chunk = $3, chunks = $4,
		seq_chunks = $5, seq_tags = 0, seq_graph = 0, lane = $6, lanes = $7, seq_lane_1 = 0, seq_lane_2 = 0, seq_lane_3 = 0,
		error_code = '', error_message = '', title = CASE $8::bytea WHEN '' THEN title ELSE $8 END, time = coalesce($9, time), doc = coalesce($10, doc),
		tags = CASE WHEN $11::bigint[] IS NULL THEN tags ELSE coalesce(tags, '{}') || $11 END,
		compared = CASE compared WHEN 0 THEN $13 ELSE compared END WHERE ws = $1 AND num = $12`,
		dense, v.First, v.Chunks, v.SeqChunks, int64(v.Lane), v.Lanes, in.Title, storerules.Stamp(in.Time), in.Doc, more, v.Num, in.Compared)
}

const chunkCols = "c.num, c.source, c.ordinal, c.key, c.text, c.heading, c.layout, c.extra, c.crc"

const chunkWidth = 9 // number of columns in chunkCols

// readChunk reads a chunk and verifies its checksum.
func readChunk(r *row, ch *backend.Chunk) {
	*ch = backend.Chunk{
		Num: r.int(0), Source: r.int(1), Ordinal: int(r.int(2)), Key: r.str(3), Text: r.str(4),
		Heading: r.str(5), Layout: r.blob(6), Extra: r.blob(7),
	}
	if sum := int64(chunkSum(ch)); r.err == nil && sum != r.int(8) {
		r.err = fmt.Errorf("chunk %d: checksum %08x, stored %08x: %w", ch.Num, sum, r.int(8), backend.ErrCorrupt)
	}
}

// eachChunk reads n chunks starting at number first, and their vectors in a lane if vectors is set. A missing chunk counts as damaged.
// f may keep its argument. eachChunk leaves out damaged chunks and damaged vectors, and adds them to lost.
func eachChunk(ctx context.Context, c *conn, first, n int64, vectors bool, lane backend.Lane, lost *losses, f func(ch *backend.Chunk)) error {
	sql := "SELECT " + chunkCols + " FROM chunks c WHERE c.ws = $1 AND c.num BETWEEN $2 AND $3 ORDER BY c.num"
	args := []any{first, first + n - 1}
	if vectors {
		sql = "SELECT " + chunkCols + `, v.crc, v.data FROM chunks c
			LEFT JOIN LATERAL (SELECT * FROM vectors v WHERE v.ws = $1 AND v.lane = $4 AND v.chunk = c.num OFFSET 0) v ON true
			WHERE c.ws = $1 AND c.num BETWEEN $2 AND $3 ORDER BY c.num`
		args = append(args, int64(lane))
	}
	next := first
	missing := func(until int64) {
		for ; next < until; next++ {
			lost.Note(fmt.Errorf("chunk %d is missing: %w", next, backend.ErrCorrupt))
		}
	}
	err := c.each(ctx, sql, func(r *row) error {
		var ch backend.Chunk
		num := r.int(0)
		missing(num)
		next = num + 1
		if readChunk(r, &ch); lost.skip(r) || r.err != nil {
			return r.err
		}
		if vectors && !r.null(chunkWidth) {
			data := r.checked(chunkWidth, chunkWidth+1, "vector of chunk", ch.Num)
			if r.err == nil {
				ch.Vector, r.err = storerules.UnpackVector(data)
			}
			if lost.skip(r) {
				ch.Vector = nil
			} else if r.err != nil {
				return r.err
			}
		}
		f(&ch)
		return nil
	}, args...)
	if err == nil {
		missing(first + n)
	}
	return err
}

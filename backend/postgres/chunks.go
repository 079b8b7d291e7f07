package postgres

import (
	"context"
	"fmt"

	"github.com/contextmem/contextmem/backend"
)

func (s *store) Index(ctx context.Context, items []backend.Indexed) ([]bool, error) {
	return s.indexed(ctx, nil, items)
}

func (s *store) indexed(ctx context.Context, g *condition, items []backend.Indexed) ([]bool, error) {
	return changeHeld(ctx, s, g, "index", items, func(x *backend.Indexed) (int64, string, []backend.Blob) { return x.Num, x.Token, x.Blobs }, (*tx).index)
}

// changeHeld does something to each version that is still held under its token, all in one
// transaction, and reports which were.
func changeHeld[T any](ctx context.Context, s *store, g *condition, what string, items []T, of func(*T) (num int64, token string, blobs []backend.Blob),
	do func(*tx, *head, *T) error) (ok []bool, err error) {
	for i := range items {
		num, _, blobs := of(&items[i])
		if err := checkBlobs(blobs); err != nil {
			return nil, fmt.Errorf("%s source %d: %w", what, num, err)
		}
	}
	err = s.change(ctx, func(t *tx) error {
		if err := g.check(t); err != nil {
			return err
		}
		ok = make([]bool, len(items))
		for i := range items {
			num, token, _ := of(&items[i])
			v, err := t.held(num, token)
			if err == nil && v != nil {
				ok[i] = true
				err = do(t, v, &items[i])
			}
			if err != nil {
				return fmt.Errorf("%s source %d: %w", what, num, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return ok, nil
}

func (t *tx) index(v *head, in *backend.Indexed) error {
	if err := t.removeOlder(v); err != nil {
		return err
	}
	if err := t.clearContent(v); err != nil {
		return err
	}
	p, err := t.partName(v.part)
	if err == nil {
		err = in.Lane.Check(p.Class)
	}
	if err != nil {
		return err
	}
	v.lane, v.lanes = in.Lane, 1<<in.Lane
	dense, err := t.addChunks(v, in.Chunks)
	if err != nil {
		return err
	}
	if err := t.put(v.num, backend.PutChunks, &v.seqChunks); err != nil {
		return err
	}
	if err := t.storeBlobs(v.num, in.Blobs, true); err != nil {
		return err
	}
	t.move(v, backend.GraphCreation)
	if err := t.addTags(v.part, v.num, v.id, in.Tags); err != nil {
		return err
	}
	more := signed(in.Tags)
	if len(more) == 0 {
		more = nil
	}
	return t.c.do(`UPDATE sources SET state = 3, indexed = true, rev = rev + 1, graph = false, dense = $2, older = 0, first_chunk = $3, chunks = $4,
		seq_chunks = $5, seq_tags = 0, seq_graph = 0, lane = $6, lanes = $7, seq_lane_1 = 0, seq_lane_2 = 0, seq_lane_3 = 0,
		error_code = '', error_message = '', title = CASE $8::bytea WHEN '' THEN title ELSE $8 END, time = coalesce($9, time), doc = coalesce($10, doc),
		tags = CASE WHEN $11::bigint[] IS NULL THEN tags ELSE coalesce(tags, '{}') || $11 END WHERE ws = $1 AND num = $12`,
		dense, v.first, v.chunks, v.seqChunks, int64(v.lane), v.lanes, in.Title, stamp(in.Time), in.Doc, more, v.num)
}

// addChunks stores the chunks of a version that has none, with their vectors, and reports whether their ordinals are 0, 1, 2 in this order.
func (t *tx) addChunks(v *head, chunks []backend.Chunk) (dense bool, err error) {
	v.first, v.chunks = t.led.chunk+1, int64(len(chunks))
	t.led.chunk += v.chunks
	t.count(v.part, 0, v.chunks)
	dense = true
	for i := range chunks {
		ch, num := &chunks[i], v.first+int64(i)
		dense = dense && ch.Ordinal == i
		err := t.c.do(`INSERT INTO chunks (ws, num, source, ordinal, key_hash, crc, key, text, heading, layout, extra)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`, num, v.num, ch.Ordinal, keyHash(v.part, ch.Key), chunkSum(ch),
			ch.Key, ch.Text, ch.Heading, ch.Layout, ch.Extra)
		if err == nil && ch.Vector != nil {
			err = t.addVector(num, v.lane, ch.Vector)
		}
		if err != nil {
			return false, err
		}
	}
	return dense, nil
}

// clearContent removes the chunks and the graph of a version, and it from the feed.
func (t *tx) clearContent(v *head) error {
	if err := t.clearGraph(v); err != nil {
		return err
	}
	for _, seq := range []*int64{&v.seqChunks, &v.seqTags, &v.seqGph, &v.seqLane[1], &v.seqLane[2], &v.seqLane[3]} {
		if err := t.takeBack(seq); err != nil {
			return err
		}
	}
	if v.chunks == 0 {
		return nil
	}
	t.count(v.part, 0, -v.chunks)
	last := v.first + v.chunks - 1
	if err := t.c.do("DELETE FROM vectors WHERE ws = $1 AND chunk BETWEEN $2 AND $3", v.first, last); err != nil {
		return err
	}
	err := t.c.do("DELETE FROM chunks WHERE ws = $1 AND num BETWEEN $2 AND $3", v.first, last)
	v.first, v.chunks = 0, 0
	return err
}

const chunkCols = "c.num, c.source, c.ordinal, c.key, c.text, c.heading, c.layout, c.extra, c.crc"

const chunkWidth = 9 // columns of chunkCols

// readChunk reads a chunk, and its checksum.
func readChunk(r *row, ch *backend.Chunk) {
	*ch = backend.Chunk{
		Num: r.int(0), Source: r.int(1), Ordinal: int(r.int(2)), Key: r.str(3), Text: r.str(4),
		Heading: r.str(5), Layout: r.blob(6), Extra: r.blob(7),
	}
	if sum := int64(chunkSum(ch)); r.err == nil && sum != r.int(8) {
		r.err = fmt.Errorf("chunk %d: checksum %08x, stored %08x: %w", ch.Num, sum, r.int(8), backend.ErrCorrupt)
	}
}

// eachChunk reads the chunks with n numbers from first on, with their vectors when
// asked, which stand in a lane. A missing one is damage. f may keep what it gets. What is damaged is
// noted in lost and left out, a vector alone where its chunk is sound.
func eachChunk(ctx context.Context, c *conn, first, n int64, vectors bool, lane backend.Lane, lost *losses, f func(ch *backend.Chunk)) error {
	sql := "SELECT " + chunkCols + " FROM chunks c WHERE c.ws = $1 AND c.num BETWEEN $2 AND $3 ORDER BY c.num"
	args := []any{first, first + n - 1}
	if vectors {
		sql = "SELECT " + chunkCols + `, v.crc, v.data FROM chunks c LEFT JOIN vectors v ON v.ws = c.ws AND v.chunk = c.num AND v.lane = $4
			WHERE c.ws = $1 AND c.num BETWEEN $2 AND $3 ORDER BY c.num`
		args = append(args, int64(lane))
	}
	next := first
	missing := func(until int64) {
		for ; next < until; next++ {
			lost.note(fmt.Errorf("chunk %d is missing: %w", next, backend.ErrCorrupt))
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
				ch.Vector, r.err = unpackVector(data)
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

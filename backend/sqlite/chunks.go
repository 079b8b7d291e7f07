package sqlite

import (
	"bytes"
	"context"
	"fmt"
	"hash/crc32"
	"unsafe"

	"github.com/contextmem/contextmem/backend"
)

func (s *store) Index(ctx context.Context, items []backend.Indexed) ([]bool, error) {
	ok, _, err := s.IndexTold(ctx, items)
	return ok, err
}

// IndexTold implements [backend.IndexTeller].
func (s *store) IndexTold(ctx context.Context, items []backend.Indexed) (ok []bool, told *backend.Placement, err error) {
	ok, err = changeHeld(ctx, s, "index", items, func(x *backend.Indexed) (int64, string, []backend.Blob) { return x.Num, x.Token, x.Blobs },
		func(t *tx, v *head, in *backend.Indexed) error {
			if told == nil {
				told = &backend.Placement{After: uint64(t.led.seq) << seqShift}
			}
			if err := t.index(v, in); err != nil {
				return err
			}
			put, err := t.putOf(v, in)
			told.Changes = append(append(told.Changes, t.dropped...), put)
			t.dropped = t.dropped[:0]
			return err
		})
	if err != nil {
		return nil, nil, err
	}
	if told == nil {
		return ok, nil, nil
	}
	for i := range told.Changes { // what else stands in between can't be told
		if told.Changes[i].Seq != told.After+uint64(i+1)<<seqShift {
			return ok, nil, nil
		}
	}
	return ok, told, nil
}

// putOf is the entry of the feed that puts the chunks of a version, which was just indexed.
func (t *tx) putOf(v *head, in *backend.Indexed) (put backend.Change, err error) {
	put = backend.Change{Seq: uint64(v.seqChunks) << seqShift, Kind: backend.PutChunks, Source: v.num, SourceID: v.id, Lane: in.Lane,
		Rows: rowsOf(v.first, in.Chunks)}
	if put.Part, err = t.partName(v.part); err != nil {
		return put, err
	}
	_, err = t.c.one(bg, "SELECT title, time, session, tags FROM sources WHERE num = ?", func(r *row) error {
		put.Title, put.Time, put.Session = r.str(0), r.time(1), r.str(2)
		put.Tags, r.err = unpackTags(r.blob(3))
		return nil
	}, v.num)
	return put, err
}

// rowsOf is what indexes see of chunks, the first of which has the number first.
func rowsOf(first int64, chunks []backend.Chunk) []backend.Row {
	if len(chunks) == 0 {
		return nil
	}
	rows := make([]backend.Row, len(chunks))
	for i := range chunks {
		ch := &chunks[i]
		rows[i] = backend.Row{
			Chunk: first + int64(i), Ordinal: ch.Ordinal, Key: ch.Key, Text: ch.Text, Heading: ch.Heading, Vector: ch.Vector, Extra: ch.Extra,
		}
	}
	return rows
}

// changeHeld does something to each version that is still held under its token, all in one
// transaction, and reports which were.
func changeHeld[T any](ctx context.Context, s *store, what string, items []T, of func(*T) (num int64, token string, blobs []backend.Blob),
	do func(*tx, *head, *T) error) (ok []bool, err error) {
	for i := range items {
		num, _, blobs := of(&items[i])
		if err := checkBlobs(blobs); err != nil {
			return nil, fmt.Errorf("%s source %d: %w", what, num, err)
		}
	}
	err = s.change(ctx, func(t *tx) error {
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
	v.first, v.chunks = t.led.chunk+1, int64(len(in.Chunks))
	t.led.chunk += v.chunks
	t.count(v.part, 0, v.chunks)
	dense := true
	for i := range in.Chunks {
		dense = dense && in.Chunks[i].Ordinal == i
		if err := t.addChunk(v, v.first+int64(i), &in.Chunks[i]); err != nil {
			return fmt.Errorf("chunk %d: %w", i, err)
		}
	}
	if err := t.put(v.num, backend.PutChunks, &v.seqChunks); err != nil {
		return err
	}
	if err := t.storeBlobs(v.num, in.Blobs, true); err != nil {
		return err
	}
	t.move(v, backend.GraphCreation)
	err = t.c.do(`UPDATE sources SET state = 3, indexed = 1, rev = rev + 1, graph = 0, dense = ?, older = 0, first_chunk = ?, chunks = ?,
		seq_chunks = ?, seq_tags = 0, seq_graph = 0, lane = ?, lanes = ?, seq_lane_1 = 0, seq_lane_2 = 0, seq_lane_3 = 0,
		error_code = '', error_message = '' WHERE num = ?`,
		dense, v.first, v.chunks, v.seqChunks, int64(v.lane), v.lanes, v.num)
	if err != nil {
		return err
	}
	if len(in.Tags) == 0 && in.Title == "" && in.Time.IsZero() && in.Doc == nil {
		return nil
	}
	return t.reseal(v.num, func() error {
		more := packTags(in.Tags)
		if err := t.addTags(v.part, v.num, v.id, more); err != nil {
			return err
		}
		return t.c.do("UPDATE sources SET title = CASE ?1 WHEN '' THEN title ELSE ?1 END, time = coalesce(?2, time), doc = coalesce(?3, doc), tags = ?4 WHERE num = ?5",
			in.Title, stamp(in.Time), in.Doc, append(bytes.Clone(v.tags), more...), v.num)
	})
}

func (t *tx) addChunk(v *head, num int64, ch *backend.Chunk) error {
	hash := hashOf(v.part, ch.Key)
	taken := false
	err := t.c.each(bg, `SELECT s.part, c.key FROM chunks c INDEXED BY chunks_key JOIN sources s ON s.num = c.source
		WHERE c.hash = ?`, func(r *row) error {
		taken = taken || r.int(0) == v.part && r.str(1) == ch.Key
		return nil
	}, hash)
	if err != nil {
		return err
	}
	if taken {
		return fmt.Errorf("its key is taken: %w", backend.ErrExists)
	}
	var vector, sum any
	if ch.Vector != nil && v.lane != 0 {
		if err := t.addVector(num, v.lane, ch.Vector); err != nil {
			return err
		}
		return t.addRow(v, num, ch, hash, nil, nil)
	}
	beside := ch.Vector != nil && ch.Text != ""
	if ch.Vector != nil {
		data := packVector(ch.Vector)
		vector, sum = data, checksum(data)
	}
	if beside {
		if err := t.c.do("INSERT INTO vectors (chunk, crc, data) VALUES (?, ?, ?)", num, sum, vector); err != nil {
			return err
		}
		vector, sum = nil, nil
	}
	return t.addRow(v, num, ch, hash, sum, vector)
}

// addRow stores a chunk, with its vector when that stands in the same row.
func (t *tx) addRow(v *head, num int64, ch *backend.Chunk, hash int64, sum, vector any) error {
	return t.c.do(`INSERT INTO chunks (num, source, ordinal, hash, crc, key, text, heading, layout, extra, vector_crc, vector)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, num, v.num, ch.Ordinal, hash, chunkSum(ch),
		ch.Key, ch.Text, ch.Heading, ch.Layout, ch.Extra, sum, vector)
}

// chunkSum is the checksum over what a chunk holds, in this order.
func chunkSum(ch *backend.Chunk) uint32 {
	var sum uint32
	for _, s := range [...]string{ch.Key, ch.Text, ch.Heading} {
		sum = crc32.Update(sum, castagnoli, unsafe.Slice(unsafe.StringData(s), len(s))) // it only reads
	}
	return crc32.Update(crc32.Update(sum, castagnoli, ch.Layout), castagnoli, ch.Extra)
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
	if v.lanes > 1 {
		err := t.c.do("DELETE FROM lane_vectors WHERE id BETWEEN ? AND ?", v.first<<laneBits, last<<laneBits|int64(backend.LaneCount-1))
		if err != nil {
			return err
		}
	}
	if err := t.c.do("DELETE FROM vectors WHERE chunk BETWEEN ? AND ?", v.first, last); err != nil {
		return err
	}
	err := t.c.do("DELETE FROM chunks WHERE num BETWEEN ? AND ?", v.first, last)
	v.first, v.chunks = 0, 0
	return err
}

const chunkCols = "c.num, c.source, c.ordinal, c.key, c.text, c.heading, c.layout, c.extra, c.crc"

const chunkWidth = 9 // columns of chunkCols

// readChunk reads a chunk from column i on, and its checksum.
func readChunk(r *row, i int, ch *backend.Chunk) {
	*ch = backend.Chunk{
		Num: r.int(i), Source: r.int(i + 1), Ordinal: int(r.int(i + 2)), Key: r.str(i + 3), Text: r.str(i + 4),
		Heading: r.str(i + 5), Layout: r.blob(i + 6), Extra: r.blob(i + 7),
	}
	if sum := int64(chunkSum(ch)); r.err == nil && sum != r.int(i+8) {
		r.err = fmt.Errorf("chunk %d: checksum %08x, stored %08x: %w", ch.Num, sum, r.vals[i+8], backend.ErrCorrupt)
	}
}

// eachChunk reads the chunks with n numbers from first on, with their vectors when
// asked, which stand in a lane. A missing one is damage. f may keep what it gets. What is damaged is
// noted in lost and left out, a vector alone where its chunk is sound; with a nil lost it is an error.
func eachChunk(c *conn, first, n int64, vectors bool, lane backend.Lane, lost *losses, f func(ch *backend.Chunk)) error {
	sql := "SELECT " + chunkCols + " FROM chunks c WHERE c.num BETWEEN ? AND ? ORDER BY c.num"
	if vectors {
		sql = "SELECT " + chunkCols + `, coalesce(c.vector_crc, v.crc), coalesce(c.vector, v.data)
			FROM chunks c LEFT JOIN vectors v ON c.vector IS NULL AND v.chunk = c.num WHERE c.num BETWEEN ? AND ? ORDER BY c.num`
	}
	args := []any{first, first + n - 1}
	if vectors && lane != 0 {
		sql = "SELECT " + chunkCols + `, v.crc, v.data
			FROM chunks c LEFT JOIN lane_vectors v ON v.id = (c.num << 2 | ?3) WHERE c.num BETWEEN ?1 AND ?2 ORDER BY c.num`
		args = append(args, int64(lane))
	}
	next := first
	missing := func(until int64) error {
		err := fmt.Errorf("chunk %d is missing: %w", next, backend.ErrCorrupt)
		for ; lost != nil && next < until; next++ {
			lost.note(err)
		}
		if lost != nil {
			return nil
		}
		return err
	}
	err := c.each(bg, sql, func(r *row) error {
		var ch backend.Chunk
		num := r.int(0)
		if r.err == nil && num != next {
			if err := missing(num); err != nil {
				return err
			}
		}
		next = num + 1
		if readChunk(r, 0, &ch); lost != nil && lost.skip(r) || r.err != nil {
			return r.err
		}
		if vectors && !r.null(chunkWidth) {
			data := r.checked(chunkWidth, chunkWidth+1, "vector of chunk", ch.Num)
			if r.err == nil {
				ch.Vector, r.err = unpackVector(data)
			}
			if lost != nil && lost.skip(r) {
				ch.Vector = nil
			} else if r.err != nil {
				return r.err
			}
		}
		f(&ch)
		return nil
	}, args...)
	if err == nil && next != first+n {
		err = missing(first + n)
	}
	return err
}

package sqlite

import (
	"context"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"unsafe"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

func (s *store) Index(ctx context.Context, items []backend.Indexed) ([]bool, error) {
	ok, _, err := s.IndexAndReport(ctx, items)
	return ok, err
}

// IndexAndReport implements [backend.IndexReporter].
func (s *store) IndexAndReport(ctx context.Context, items []backend.Indexed) (ok []bool, placed *backend.Placement, err error) {
	ok, err = changeHeld(ctx, s, "index", items, func(x *backend.Indexed) (int64, string, []backend.Blob) { return x.Num, x.Token, x.Blobs },
		func(t *tx, v *head, in *backend.Indexed) error {
			if placed == nil {
				placed = &backend.Placement{After: uint64(t.led.Seq) << storerules.SeqShift}
			}
			if v.Chunks == 1 {
				if err := t.ownOriginal(v.Num); err != nil {
					return err
				}
			}
			if err := t.Index(v, in); err != nil {
				return err
			}
			put, err := t.putOf(v, in)
			placed.Changes = append(append(placed.Changes, t.Dropped...), put)
			t.Dropped = t.Dropped[:0]
			return err
		}, nil)
	if err != nil {
		return nil, nil, err
	}
	if placed == nil {
		return ok, nil, nil
	}
	for i := range placed.Changes { // give up if the feed has other changes in between
		if placed.Changes[i].Seq != placed.After+uint64(i+1)<<storerules.SeqShift {
			return ok, nil, nil
		}
	}
	return ok, placed, nil
}

// putOf returns the change that puts the chunks of a version that was just indexed.
func (t *tx) putOf(v *head, in *backend.Indexed) (put backend.Change, err error) {
	put = backend.Change{Seq: uint64(v.SeqChunks) << storerules.SeqShift, Kind: backend.PutChunks, Source: v.Num, SourceID: v.ID, Lane: in.Lane,
		Rows: storerules.RowsOf(v.First, in.Chunks)}
	if put.Part, err = t.partName(v.Part); err != nil {
		return put, err
	}
	if v.Described && !describes(in) {
		put.Title, put.Time, put.Session, put.Tags = v.Title, v.Time, v.Session, v.Tags
		return put, nil
	}
	_, err = t.c.one(bg, "SELECT title, time, session, tags FROM sources WHERE num = ?", func(r *row) error {
		put.Title, put.Time, put.Session = r.str(0), r.time(1), r.str(2)
		put.Tags, r.err = storerules.UnpackTags(r.blob(3))
		return nil
	}, v.Num)
	return put, err
}

// changeHeld calls a function for each version that is still claimed under its token, all in one
// transaction, and reports which are. It then calls end, unless that is nil.
func changeHeld[T any](ctx context.Context, s *store, what string, items []T, of func(*T) (num int64, token string, blobs []backend.Blob),
	do func(*tx, *head, *T) error, end func(*tx) error) (ok []bool, err error) {
	for i := range items {
		num, _, blobs := of(&items[i])
		if err := storerules.CheckBlobs(blobs); err != nil {
			return nil, fmt.Errorf("%s source %d: %w", what, num, err)
		}
	}
	err = s.change(ctx, func(t *tx) error {
		held := func(x *T) (int64, string) { num, token, _ := of(x); return num, token }
		ok, err = storerules.EachHeld(&t.Tx, what, items, held, func(v *head, x *T) error { return do(t, v, x) })
		t.dropHeads()
		if err == nil && end != nil {
			err = end(t)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return ok, nil
}

// describes reports whether indexing sets fields of the version beside its chunks.
func describes(in *backend.Indexed) bool {
	return len(in.Tags) > 0 || in.Title != "" || !in.Time.IsZero() || in.Doc != nil
}

func (x rows) SetIndexed(v *head, in *backend.Indexed, dense bool) error {
	shared := false
	if len(in.Chunks) == 1 {
		var err error
		if shared, err = x.t.shareOriginal(v.Num, []byte(in.Chunks[0].Text)); err != nil {
			return err
		}
	}
	err := x.t.c.do(`UPDATE sources SET state = 3, indexed = 1, rev = rev + 1, graph = 0, dense = ?, older = 0, first_chunk = ?, chunks = ?,
		seq_chunks = ?, seq_tags = 0, seq_graph = 0, lane = ?, lanes = ?, seq_lane_1 = 0, seq_lane_2 = 0, seq_lane_3 = 0,
		error_code = '', error_message = '', compared = CASE compared WHEN 0 THEN ? ELSE compared END, original = ? WHERE num = ?`,
		dense, v.First, v.Chunks, v.SeqChunks, int64(v.Lane), v.Lanes, in.Compared, shared, v.Num)
	if err != nil {
		return err
	}
	x.t.texts.keep(v.Num, v.First, in.Chunks)
	if !describes(in) {
		return nil
	}
	return x.t.reseal(v.Num, func() error {
		if err := x.AddTags(v.Part, v.Num, v.ID, in.Tags); err != nil {
			return err
		}
		tags := storerules.PackTags(append(slices.Clone(v.Tags), in.Tags...))
		return x.t.c.do("UPDATE sources SET title = CASE ?1 WHEN '' THEN title ELSE ?1 END, time = coalesce(?2, time), doc = coalesce(?3, doc), tags = ?4 WHERE num = ?5",
			in.Title, storerules.Stamp(in.Time), shortJSON(in.Doc), tags, v.Num)
	})
}

// Keys of chunks are looked up in batches of keysAtOnce. If there are fewer than fewKeys, they are looked up one by one.
const keysAtOnce, fewKeys = 64, 4

// findHash finds chunks by the hashes of their keys. The LEFT JOIN is needed because the row of the version whose chunks are being added may not exist yet.
const findHash = `SELECT c.source, s.part, c.key, c.hash, c.ordinal FROM chunks c INDEXED BY chunks_key LEFT JOIN sources s ON s.num = c.source WHERE c.hash `

var (
	findKey  = findHash + `= ?`
	findKeys = findHash + `IN (?` +
		strings.Repeat(", ?", keysAtOnce-1) + `)`
)

func (x rows) AddChunks(v *head, chunks []backend.Chunk) error {
	var hashes [keysAtOnce]int64
	for from := 0; from < len(chunks); from += keysAtOnce {
		some := chunks[from:min(from+keysAtOnce, len(chunks))]
		for i := range some {
			hashes[i] = hashOf(v.Part, some[i].Key)
		}
		if err := x.t.checkKeys(v, from, some, hashes[:len(some)]); err != nil {
			return err
		}
		for i := range some {
			if err := x.t.addChunk(v, v.First+int64(from+i), &some[i], hashes[i]); err != nil {
				return fmt.Errorf("chunk %d: %w", from+i, err)
			}
		}
	}
	return nil
}

// checkKeys returns an error unless the keys of chunks are free. from is the index of the first chunk in its version.
func (t *tx) checkKeys(v *head, from int, chunks []backend.Chunk, hashes []int64) error {
	taken := -1
	for i, h := range hashes {
		for k := range i {
			if hashes[k] == h && chunks[k].Key == chunks[i].Key {
				taken = i
			}
		}
	}
	note := func(r *row) error {
		if r.int(0) != v.Num && (r.null(1) || r.int(1) != v.Part) { // without a version it is damaged
			return nil
		}
		for i := range chunks {
			if hashes[i] == r.int(3) && chunks[i].Key == r.key(2, 4) {
				taken = i
			}
		}
		return nil
	}
	if len(chunks) < fewKeys {
		for _, h := range hashes {
			if err := t.c.each(bg, findKey, note, h); err != nil {
				return err
			}
		}
	} else {
		args := make([]any, keysAtOnce)
		for i := range args {
			args[i] = hashes[min(i, len(hashes)-1)]
		}
		if err := t.c.each(bg, findKeys, note, args...); err != nil {
			return err
		}
	}
	if taken >= 0 {
		return fmt.Errorf("chunk %d: its key is taken: %w", from+taken, backend.ErrExists)
	}
	return nil
}

func (t *tx) addChunk(v *head, num int64, ch *backend.Chunk, hash int64) error {
	var vector, sum any
	if ch.Vector != nil && v.Lane != 0 {
		if err := (rows{t}).AddVector(num, v.Lane, ch.Vector); err != nil {
			return err
		}
		return t.addRow(v, num, ch, hash, nil, nil)
	}
	beside := ch.Vector != nil && ch.Text != ""
	if ch.Vector != nil {
		data := storerules.PackVector(ch.Vector)
		vector, sum = data, storerules.Checksum(data)
	}
	if beside {
		if err := t.c.do("INSERT INTO vectors (chunk, crc, data) VALUES (?, ?, ?)", num, sum, vector); err != nil {
			return err
		}
		vector, sum = nil, nil
	}
	return t.addRow(v, num, ch, hash, sum, vector)
}

// addRow stores a chunk, and its vector if the row has it.
func (t *tx) addRow(v *head, num int64, ch *backend.Chunk, hash int64, sum, vector any) error {
	return t.c.do(`INSERT INTO chunks (num, source, ordinal, hash, crc, key, text, heading, layout, extra, vector_crc, vector)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, num, v.Num, ch.Ordinal, hash, chunkSum(ch),
		shortKey(ch.Key, ch.Ordinal), ch.Text, ch.Heading, shortJSON(ch.Layout), shortJSON(ch.Extra), sum, vector)
}

// chunkSum returns the checksum of a chunk's fields. Their order is part of the format.
func chunkSum(ch *backend.Chunk) uint32 {
	var sum uint32
	for _, s := range [...]string{ch.Key, ch.Text, ch.Heading} {
		sum = crc32.Update(sum, storerules.Castagnoli, unsafe.Slice(unsafe.StringData(s), len(s))) // Update does not write
	}
	return crc32.Update(crc32.Update(sum, storerules.Castagnoli, ch.Layout), storerules.Castagnoli, ch.Extra)
}

const chunkCols = "c.num, c.source, c.ordinal, c.key, c.text, c.heading, c.layout, c.extra, c.crc"

const chunkWidth = 9 // columns of chunkCols

// readChunk reads a chunk from column i on, and its checksum.
func readChunk(r *row, i int, ch *backend.Chunk) {
	*ch = backend.Chunk{
		Num: r.int(i), Source: r.int(i + 1), Ordinal: int(r.int(i + 2)), Key: r.key(i+3, i+2), Text: r.str(i + 4),
		Heading: r.str(i + 5), Layout: r.json(i + 6), Extra: r.json(i + 7),
	}
	if sum := int64(chunkSum(ch)); r.err == nil && sum != r.int(i+8) {
		r.err = fmt.Errorf("chunk %d: checksum %08x, stored %08x: %w", ch.Num, sum, r.vals[i+8], backend.ErrCorrupt)
	}
}

// eachChunk reads the n chunks from number first on, and their vectors in a lane if vectors is set. A missing
// chunk counts as damaged. f may keep its argument. A damaged chunk, or a damaged vector of an undamaged
// chunk, is left out and added to lost. If lost is nil, damage is an error.
func eachChunk(c *conn, first, n int64, vectors bool, lane backend.Lane, lost *losses, f func(ch *backend.Chunk)) error {
	sql := "SELECT " + chunkCols + " FROM chunks c WHERE c.num BETWEEN ? AND ? ORDER BY c.num"
	if vectors {
		sql = "SELECT " + chunkCols + `, coalesce(c.vector_crc, v.crc), coalesce(c.vector, v.data)
			FROM chunks c LEFT JOIN vectors v ON c.vector IS NULL AND v.chunk = c.num WHERE c.num BETWEEN ? AND ? ORDER BY c.num`
	}
	args := []any{first, first + n - 1}
	if vectors && lane != 0 {
		sql = "SELECT " + chunkCols + `, v.crc, v.data
			FROM chunks c LEFT JOIN lane_vectors v ON v.ID = (c.num << 2 | ?3) WHERE c.num BETWEEN ?1 AND ?2 ORDER BY c.num`
		args = append(args, int64(lane))
	}
	next := first
	missing := func(until int64) error {
		err := fmt.Errorf("chunk %d is missing: %w", next, backend.ErrCorrupt)
		for ; lost != nil && next < until; next++ {
			lost.Note(err)
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
				ch.Vector, r.err = storerules.UnpackVector(data)
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

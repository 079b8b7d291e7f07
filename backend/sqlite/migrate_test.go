package sqlite

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// schema4 writes a store as releases of schema 4 did: the sources a and b, both indexed, and c, which waits. a is an
// entry of the feed with its own number.
func schema4(t *testing.T, path string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	c, err := openConn(path, connOptions{})
	require.NoError(t, err)
	require.NoError(t, storeSchema[:4].migrate(t.Context(), c, "fixture"))
	do := func(sql string, args ...any) {
		t.Helper()
		require.NoError(t, c.do(sql, args...))
	}
	do("UPDATE ledger SET source = 3, chunk = 3, part = 1, seq = 3, queued = 1, completed = 2")
	do("INSERT INTO parts (id, class, sub, items, chunks) VALUES (1, ?, ?, 3, 3)", int64(testPart.Class), testPart.Sub)
	for _, src := range []struct {
		num, indexed, state, first, chunks, seq int64
		id                                      string
		tags                                    []uint64
	}{
		{1, 1, int64(backend.Completed), 1, 2, 1, "a", []uint64{backend.IDTag("a"), backend.Everybody, 7}},
		{2, 1, int64(backend.Completed), 3, 1, 3, "b", []uint64{backend.IDTag("b"), backend.Everybody}},
		{3, 0, int64(backend.Queued), 0, 0, 0, "c", nil},
	} {
		do(`INSERT INTO sources (num, part, hash, id, indexed, dense, state, first_chunk, chunks, seq_chunks, updated, size, infer,
			title, kind, filename, media, session, tags) VALUES (?, 1, ?, ?, ?, 1, ?, ?, ?, ?, ?, 1, 0, '', '', '', '', '', ?)`,
			src.num, hashOf(0, src.id), src.id, src.indexed, src.state, src.first, src.chunks, src.seq, src.num, storerules.PackTags(src.tags))
		for _, tag := range src.tags {
			do("INSERT INTO tags (part, tag, source) VALUES (1, ?, ?)", int64(tag), src.num)
		}
		for i := range src.chunks {
			num := src.first + i
			ch := backend.Chunk{Key: src.id + string(rune('0'+i))}
			vector := binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(num))) // all were float32
			vector = binary.LittleEndian.AppendUint32(vector, math.Float32bits(1))
			do("INSERT INTO chunks (num, source, ordinal, hash, crc, key, text, heading) VALUES (?, ?, ?, ?, ?, ?, '', '')",
				num, src.num, i, hashOf(1, ch.Key), chunkSum(&ch), ch.Key)
			do("INSERT INTO vectors (chunk, crc, data) VALUES (?, ?, ?)", num, storerules.Checksum(vector), vector)
		}
		if src.seq != 0 {
			do("INSERT INTO changes (seq, kind, source) VALUES (?, 1, ?)", src.seq, src.num)
		}
	}
	require.NoError(t, c.close())
}

// TestSchema4 opens a store of schema 4, which had counters in two tables, separate vectors also for chunks without a
// text, a row for every put of the feed, and all tags in the index.
func TestSchema4(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	dir := emptyDeployment(t)
	schema4(t, filepath.Join(dir, "tenants", testUID[:2], testUID, "store.db"))
	_, s := reopenTest(t, dir)
	check(t, s)
	stats, err := s.Stats(ctx, testPart.Class)
	require.NoError(t, err)
	assert.Equal(t, backend.Stats{Chunks: 3, Sources: 3}, stats)
	subs, err := s.Subs(ctx)
	require.NoError(t, err)
	assert.Equal(t, []backend.SubInfo{{Sub: testPart.Sub, Memory: 3}}, subs)
	list := func(tags ...uint64) (ids []string) {
		t.Helper()
		q := backend.ListQuery{Part: testPart, Limit: 10}
		if tags != nil {
			q.Filter.All = [][]uint64{tags}
		}
		page, total, err := s.List(ctx, q)
		require.NoError(t, err)
		require.Len(t, page, total)
		for _, src := range page {
			ids = append(ids, src.ID)
		}
		return ids
	}
	assert.Equal(t, []string{"c", "b", "a"}, list())
	assert.Equal(t, []string{"b", "a"}, list(backend.Everybody))
	assert.Equal(t, []string{"a"}, list(7))
	chunks, err := s.SourceChunks(ctx, 1, 0, 5, true)
	require.NoError(t, err)
	require.Len(t, chunks, 2)
	assert.Equal(t, []float32{2, 1}, chunks[1].Vector)
	assert.Zero(t, newestOf(t, s, testPart, "a").Rev)
	missing, err := s.MissingVectors(ctx, 0, 0, 5)
	require.NoError(t, err)
	assert.Empty(t, missing, "the vectors of earlier releases stand in the first lane")
	missing, err = s.MissingVectors(ctx, 1, 0, 5)
	require.NoError(t, err)
	assert.Equal(t, []int64{1, 2}, missing)

	feed := func() (ids []string) {
		t.Helper()
		seen, at, err := replay(t, s, 0, 100)
		require.NoError(t, err)
		require.Equal(t, s.LastSeq(), at)
		for _, c := range seen {
			ids = append(ids, c.SourceID)
		}
		return ids
	}
	assert.Equal(t, []string{"a", "b"}, feed())
	p, err := s.Place(ctx, []backend.Placed{{
		Incoming: backend.Incoming{Source: backend.Source{Part: testPart, ID: "d", Tags: []uint64{backend.Everybody, 7}, UpdatedAt: time.UnixMicro(9)}},
		Chunks:   []backend.Chunk{{Key: "d0", Vector: []float32{4, 1}}},
	}})
	require.NoError(t, err)
	assert.Equal(t, []int64{4}, p.Nums)
	assert.Equal(t, []string{"a", "b", "d"}, feed(), "each once, though a has a row and a number that is its place")
	assert.Equal(t, []string{"d", "b", "a"}, list(backend.Everybody))
	assert.Equal(t, []string{"d", "a"}, list(7))
	claims, err := s.Claim(ctx, "token", testTime, testTime.Add(time.Minute), 5, 0)
	require.NoError(t, err)
	require.Len(t, claims, 1)
	ok, err := s.Index(ctx, []backend.Indexed{{Num: 3, Token: "token", Chunks: []backend.Chunk{{Key: "c0", Text: "text", Vector: []float32{5, 1}}}}})
	require.NoError(t, err)
	require.Equal(t, []bool{true}, ok)
	check(t, s)
	_, err = s.Delete(ctx, testPart, []string{"a", "d"}, backend.DeleteOptions{})
	require.NoError(t, err)
	assert.Equal(t, []string{"b", "c", "a", "d"}, feed(), "with the tombstones of a and d")
	assert.Empty(t, list(7))
	check(t, s)
}

package sqlite

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// damage runs SQL that changes stored bytes without the store's knowledge.
func damage(t *testing.T, s *store, sql string) {
	t.Helper()
	require.NoError(t, s.change(t.Context(), func(tx *tx) error {
		n, err := tx.c.exec(sql)
		assert.Positive(t, n)
		return err
	}))
}

func TestDamagedRows(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	first, _, _ := memory(rand.New(rand.NewPCG(1, 1)), 0)
	memoryID := first.ID
	for name, test := range map[string]struct {
		sql  string
		read func(s *store, num int64) error
	}{
		"original in a chunk": {"UPDATE chunks SET text = text || '.'", func(s *store, num int64) error {
			_, err := s.Content(ctx, num, backend.Original)
			return err
		}},
		"vector": {"UPDATE vectors SET data = cast(substr(data, 1, 511) || x'ff' AS BLOB)", func(s *store, num int64) error {
			_, err := s.SourceChunks(ctx, num, 0, 1, true)
			return err
		}},
		"chunk": {"UPDATE chunks SET text = text || '.'", func(s *store, num int64) error {
			_, err := s.Chunks(ctx, []int64{1}, testTime)
			return err
		}},
		"title": {"UPDATE sources SET title = 'dax'", func(s *store, num int64) error {
			srcs, err := s.Sources(ctx, testPart, []string{memoryID})
			if err != nil {
				assert.Equal(t, []*backend.Source{nil}, srcs)
			}
			return err
		}},
		"title in a session": {"UPDATE sources SET title = 'dax'", func(s *store, num int64) error {
			list, err := s.SessionSources(ctx, backend.SessionQuery{Part: testPart, Session: "session-0", Limit: 5, Now: testTime})
			assert.Equal(t, err != nil, len(list) == 0)
			return err
		}},
		"metadata": {`UPDATE sources SET metadata = cast(replace(metadata, 'good', 'gold') AS BLOB)`, func(s *store, num int64) error {
			list, _, err := s.List(ctx, backend.ListQuery{Part: testPart, Limit: 5})
			assert.Equal(t, err != nil, len(list) == 0)
			return err
		}},
		"record of a source": {`UPDATE sources SET doc = cast(replace(doc, 'Anna', 'Anne') AS BLOB)`, func(s *store, num int64) error {
			rows, err := s.Chunks(ctx, []int64{1}, testTime)
			assert.Equal(t, err != nil, len(rows) == 0)
			return err
		}},
		"expiry": {"UPDATE sources SET expires = 1 << 60", func(s *store, num int64) error {
			_, err := s.SourcesByNum(ctx, []int64{num})
			return err
		}},
		"relation": {"UPDATE relations SET context = context || '.'", func(s *store, num int64) error {
			rels, err := s.Relations(ctx, backend.RelationQuery{Part: testPart, Limit: 10})
			assert.Equal(t, err != nil, len(rels) == 0)
			return err
		}},
		"relation of a chunk": {"UPDATE relations SET object = object || '.'", func(s *store, num int64) error {
			_, err := s.Relations(ctx, backend.RelationQuery{Part: testPart, Chunks: []int64{1}, Limit: 10})
			return err
		}},
		"entity": {"UPDATE entities SET name = name || 'x'", func(s *store, num int64) error {
			es, err := s.Entities(ctx, []int64{1})
			assert.Equal(t, err != nil, es[0] == nil)
			return err
		}},
		"missing chunk": {"DELETE FROM chunks", func(s *store, num int64) error {
			_, err := s.SourceChunks(ctx, num, 0, 1, false)
			return err
		}},
		"type": {"UPDATE sources SET title = x'00'", func(s *store, num int64) error {
			_, err := s.SourcesByNum(ctx, []int64{num})
			return err
		}},
		"tags": {"UPDATE sources SET tags = x'0011'", func(s *store, num int64) error {
			_, err := s.SourcesByNum(ctx, []int64{num})
			return err
		}},
		"value": {"UPDATE vals SET data = x'00'", func(s *store, num int64) error {
			_, err := s.Get(ctx, "name")
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			_, s := openTest(t)
			require.NoError(t, s.Set(ctx, "name", nil, []byte("value")))
			out := ingest(t, s, rand.New(rand.NewPCG(1, 1)), 0, 1)
			require.NoError(t, test.read(s, out[0].Num))
			damage(t, s, test.sql)
			require.ErrorIs(t, test.read(s, out[0].Num), backend.ErrCorrupt)
			res, err := s.Delete(ctx, testPart, []string{memoryID}, backend.DeleteOptions{})
			require.NoError(t, err, "what is damaged can be deleted")
			require.True(t, res[0].Found)
		})
	}
}

// TestOneDamagedRowOfASession checks that SessionSources returns the other rows, with a DamageError.
func TestOneDamagedRowOfASession(t *testing.T) {
	t.Parallel()
	_, s := openTest(t)
	out := ingest(t, s, rand.New(rand.NewPCG(1, 1)), 0, 3)
	damage(t, s, fmt.Sprintf("UPDATE sources SET title = 'dax' WHERE num = %d", out[1].Num))
	list, err := s.SessionSources(t.Context(), backend.SessionQuery{Part: testPart, Session: "session-0", Limit: 5, Now: testTime})
	var lost *backend.DamageError
	require.ErrorAs(t, err, &lost)
	require.Equal(t, 1, lost.Rows)
	require.Len(t, list, 2)
}

// TestDamagedEntityIsNamedAgain checks that the next mention of an entity mends its name and type.
func TestDamagedEntityIsNamedAgain(t *testing.T) {
	t.Parallel()
	dir, r := t.TempDir(), rand.New(rand.NewPCG(1, 1))
	d, s := reopenTest(t, dir)
	ingest(t, s, r, 0, 2)
	nums := []int64{1, 2}
	before, err := s.Entities(t.Context(), nums)
	require.NoError(t, err)
	damage(t, s, "UPDATE entities SET name = name || 'x'")
	_, err = s.Entities(t.Context(), nums)
	require.ErrorIs(t, err, backend.ErrCorrupt)
	require.NoError(t, d.Close())
	_, s = reopenTest(t, dir)
	ingest(t, s, r, 2, 3)
	after, err := s.Entities(t.Context(), nums)
	require.NoError(t, err)
	for i := range nums {
		require.Equal(t, [...]string{before[i].Key, before[i].Name, before[i].Type}, [...]string{after[i].Key, after[i].Name, after[i].Type})
	}
}

// Checks damage of a vector stored in the row of its chunk, which has no text.
func TestDamagedVectorInRow(t *testing.T) {
	t.Parallel()
	_, s := openTest(t)
	p, err := s.Place(t.Context(), []backend.Placed{{
		Incoming: backend.Incoming{Source: backend.Source{Part: testPart, ID: "a"}},
		Chunks:   []backend.Chunk{{Key: "a0", Vector: []float32{1, 2}}},
	}})
	require.NoError(t, err)
	read := func() error {
		_, err := s.SourceChunks(t.Context(), p.Nums[0], 0, 1, true)
		return err
	}
	require.NoError(t, read())
	damage(t, s, "UPDATE chunks SET vector = cast(substr(vector, 1, 7) || x'ff' AS BLOB)")
	require.ErrorIs(t, read(), backend.ErrCorrupt)
	changes, err := s.Changes(t.Context(), 0, 10)
	require.NoError(t, err)
	require.Len(t, changes, 1)
	require.Len(t, changes[0].Rows, 1, "indexes get what is sound")
	require.Nil(t, changes[0].Rows[0].Vector)
	_, err = s.Chunks(t.Context(), []int64{1}, testTime)
	require.NoError(t, err, "what is read without it is sound")
}

// Checks that the feed leaves out damaged items, so that indexes can apply the rest.
func TestDamageInTheFeed(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	_, s := openTest(t)
	out := ingest(t, s, rand.New(rand.NewPCG(1, 1)), 0, 3)
	rows := func() (rows, mentions, vectors int) {
		changes, err := s.Changes(ctx, 0, 100)
		require.NoError(t, err)
		for _, c := range changes {
			mentions += len(c.Mentions)
			rows += len(c.Rows)
			for _, r := range c.Rows {
				if r.Vector != nil {
					vectors++
				}
			}
		}
		return rows, mentions, vectors
	}
	rows0, mentions0, vectors0 := rows()
	require.Equal(t, 3, vectors0)
	damage(t, s, "UPDATE mentions SET data = cast(x'ff' || substr(data, 2) AS BLOB) WHERE source = "+fmt.Sprint(out[0].Num))
	damage(t, s, "UPDATE vectors SET data = cast(substr(data, 1, 511) || x'ff' AS BLOB) WHERE chunk = 1")
	damage(t, s, "UPDATE chunks SET text = text || '.' WHERE num = 2")
	rows1, mentions1, vectors1 := rows()
	assert.Equal(t, rows0-1, rows1)
	assert.Equal(t, 1, vectors1)
	assert.Less(t, mentions1, mentions0)
	assert.Positive(t, mentions1)
	got, err := s.Chunks(ctx, []int64{1, 2, 3}, testTime)
	var lost *backend.DamageError
	require.ErrorAs(t, err, &lost)
	assert.Equal(t, 1, lost.Rows)
	require.Len(t, got, 2)
}

// Checks that rows of earlier releases, which have no checksum, are verified like others once it is computed.
func TestChecksumsOfEarlierRows(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	_, s := openTest(t)
	out := ingest(t, s, rand.New(rand.NewPCG(1, 1)), 0, 3)
	for _, table := range []string{"sources", "relations", "entities"} {
		damage(t, s, "UPDATE "+table+" SET crc = NULL")
	}
	for more := true; more; {
		var err error
		more, err = s.sealOld(ctx)
		require.NoError(t, err)
	}
	_, err := s.SourcesByNum(ctx, []int64{out[0].Num, out[1].Num, out[2].Num})
	require.NoError(t, err)
	rels, err := s.Relations(ctx, backend.RelationQuery{Part: testPart, Limit: 100})
	require.NoError(t, err)
	require.NotEmpty(t, rels)
	first, _, _ := memory(rand.New(rand.NewPCG(1, 1)), 0)
	version := newestOf(t, s, testPart, first.ID)
	damage(t, s, "UPDATE sources SET title = 'dax'")
	_, err = s.SourcesByNum(ctx, []int64{out[0].Num})
	require.ErrorIs(t, err, backend.ErrCorrupt)
	_, err = s.UpdateMetadata(ctx, testPart, first.ID, version, nil, nil, nil, nil, testTime)
	require.ErrorIs(t, err, backend.ErrCorrupt, "an edit does not cover damage up")
}

// Checks a flipped bit in the file that SQLite itself does not detect.
func TestFlippedBit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d, s := openOnce(t, dir)
	in := item("x")
	in[0].Blobs[0].Data = []byte("a needle that is easy to find in a file of a database")
	out, err := s.Accept(t.Context(), in)
	require.NoError(t, err)
	require.NoError(t, d.Close())
	path := filepath.Join(d.path(testUID), "store.db")
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	at := indexOf(file, in[0].Blobs[0].Data)
	require.Positive(t, at)
	file[at+5] ^= 1
	require.NoError(t, os.WriteFile(path, file, 0o600))
	_, again := reopenTest(t, dir)
	_, err = again.Content(t.Context(), out[0].Num, backend.Original)
	require.ErrorIs(t, err, backend.ErrCorrupt)
	// A damaged item does not block the processing of others, and can be deleted.
	_, err = again.Accept(t.Context(), item("y"))
	require.NoError(t, err)
	claims, err := again.Claim(t.Context(), "token", testTime, testTime, 10, 0)
	require.NoError(t, err)
	require.Len(t, claims, 1)
	assert.Equal(t, "y", claims[0].ID)
	srcs, err := again.Sources(t.Context(), testPart, []string{"x"})
	require.NoError(t, err)
	assert.Equal(t, backend.Errored, srcs[0].State)
	assert.Equal(t, storerules.DamagedCode, srcs[0].ErrorCode)
	events, err := again.Events(t.Context(), 10)
	require.NoError(t, err)
	assert.Len(t, events, 1)
	_, err = again.Delete(t.Context(), testPart, []string{"x"}, backend.DeleteOptions{})
	require.NoError(t, err)
	check(t, again)
}

func indexOf(b, part []byte) int {
	for i := range b {
		if len(b)-i >= len(part) && string(b[i:i+len(part)]) == string(part) {
			return i
		}
	}
	return -1
}

func TestNotADatabase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "deployment.db"), make([]byte, 8192), 0o600))
	junk := []byte("this is no database, and it is longer than the header of one would be; " +
		"so SQLite has to look at it and say so instead of taking it for an empty file")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "deployment.db"), junk, 0o600))
	_, err := Open(t.Context(), dir, nil)
	require.ErrorIs(t, err, backend.ErrCorrupt)
	require.NoError(t, os.Remove(filepath.Join(dir, "deployment.db")))
	d, err := Open(t.Context(), dir, nil)
	require.NoError(t, err, "the lock was given back")
	require.NoError(t, d.Close())
}

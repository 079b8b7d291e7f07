package sqlite

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/extract"
	record "github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/move"
)

// rowWith is a row of values as a driver returns them.
func rowWith(vals ...any) *row {
	r := &row{}
	for _, v := range vals {
		r.vals = append(r.vals, v)
	}
	return r
}

// Checks that every text is read back unchanged, and that texts that the library writes take a few bytes.
func TestShortForms(t *testing.T) {
	t.Parallel()
	require.Less(t, len(words), 256)
	require.LessOrEqual(t, len(phrases), len(phraseBytes))
	long := func(v any) int { return len(fmt.Sprint(v)) }
	t.Run("words", func(t *testing.T) {
		for _, w := range append([]string{"", "text/plain; charset=utf-8", "person", "\x01", "ÄRGER"}, words[:]...) {
			r := rowWith(shortWord(w))
			require.Equal(t, w, r.word(0))
			require.NoError(t, r.err)
		}
		require.Equal(t, []byte{byte(1)}, shortWord(extract.TypePerson))
		require.Equal(t, "\x01", shortWord("\x01"))
	})
	t.Run("JSON", func(t *testing.T) {
		for in, most := range map[string]int{
			`{"offsets":{"document_level_start_index":0}}`:                      1,
			`{"offsets":{"document_level_start_index":1234},"page":7}`:          8,
			`{"k":["1:20 pm on 1 January, 2024"],"t":true,"f":true}`:            14,
			`{"k":["1 January, 2024","le 3 août"],"s":"Zoë","q":true,"t":true}`: 40,
			`{"un":"User"}`:                  1,
			`{"nt":true,"a":{"k":"custom"}}`: 3,
			"":                               0, "{}": 2, "\xff\x01": 2, "a\x00b": 3, "\x01": 1,
		} {
			v := shortJSON([]byte(in))
			r := rowWith(v)
			require.Equal(t, in, string(r.json(0)))
			require.NoError(t, r.err)
			if s, ok := v.(string); ok {
				require.LessOrEqual(t, len(s), most, "%q", s)
			} else {
				require.LessOrEqual(t, len(v.([]byte)), most)
			}
		}
		require.Nil(t, rowWith(nil).json(0))
	})
	t.Run("keys", func(t *testing.T) {
		prefix := record.ChunkPrefix(testPart, "a")
		for _, x := range []struct {
			key     string
			ordinal int
			size    int
		}{
			{record.ChunkKey(prefix, 0), 0, 16}, {record.ChunkKey(prefix, 12), 12, 16}, {record.ChunkKey(prefix, 12), 300, 17}, {record.ChunkKey(prefix, 1<<30), 0, 21},
			{record.ChunkKey(prefix, 3) + "x", 3, 41}, {strings.ToUpper(prefix) + "_chunk_0", 0, 0}, {prefix + "_chunk_01", 1, 0}, {prefix + "_chunk_-1", 1, 0},
			{prefix + "_chunk_+1", 1, 0}, {prefix + "_chunk_", 0, 0}, {prefix, 0, 0}, {"a0", 0, 2}, {"", 0, 0}, {"é" + prefix[2:] + "_chunk_0", 0, 0},
		} {
			v := shortKey(x.key, x.ordinal)
			r := rowWith(int64(x.ordinal), v)
			require.Equal(t, x.key, r.key(1, 0))
			require.NoError(t, r.err)
			if b, ok := v.([]byte); ok {
				require.Len(t, b, x.size)
			} else {
				require.NotEqual(t, 16, x.size, "%q stays long", x.key)
				require.Equal(t, long(x.key), long(v))
			}
		}
	})
	t.Run("sentences", func(t *testing.T) {
		text := "Zoë drinks tea. She " + strings.Repeat("x", 300) + " sleeps."
		for _, c := range []string{"", text, "Zoë drinks tea.", " sleeps.", "Zoe drinks tea.", "ë"} {
			v := shortContext(c, text)
			r := rowWith(v, text)
			require.Equal(t, c, r.context(0, 1))
			require.NoError(t, r.err)
			if b, ok := v.([]byte); ok {
				require.LessOrEqual(t, len(b), 4)
			}
		}
	})
	t.Run("moments", func(t *testing.T) {
		for _, x := range [][2]any{{int64(7), int64(7)}, {int64(7), int64(8)}, {nil, int64(8)}, {nil, int64(math.MinInt64)}, {int64(0), int64(0)}} {
			r := rowWith(x[1], shortLearnt(x[0], x[1].(int64)))
			require.Equal(t, x[0], r.learnt(1, 0))
		}
	})
	t.Run("damaged", func(t *testing.T) {
		for name, read := range map[string]func(r *row){
			"word":              func(r *row) { r.vals[0] = []byte{200}; r.word(0) },
			"two words":         func(r *row) { r.vals[0] = []byte{1, 1}; r.word(0) },
			"short key":         func(r *row) { r.vals[0] = []byte("0123"); r.key(0, 1) },
			"number of a key":   func(r *row) { r.vals[0] = append(make([]byte, 16), 0x80); r.key(0, 1) },
			"key of a number":   func(r *row) { r.vals[0] = int64(1); r.key(0, 1) },
			"sentence behind":   func(r *row) { r.vals[0] = []byte{3, 2}; r.context(0, 2) },
			"sentence half":     func(r *row) { r.vals[0] = []byte{3}; r.context(0, 2) },
			"sentence of none":  func(r *row) { r.vals[0], r.vals[2] = []byte{0, 1}, nil; r.context(0, 2) },
			"sentence overflow": func(r *row) { r.vals[0] = []byte(strings.Repeat("\xff", 11)); r.context(0, 2) },
			"sentence of all":   func(r *row) { r.vals[0] = []byte{2, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1}; r.context(0, 2) },
		} {
			r := rowWith(nil, int64(0), "text")
			read(r)
			assert.ErrorIs(t, r.err, backend.ErrCorrupt, name)
		}
	})
}

// shortStore has one memory with a graph, all of whose values can be stored short.
func shortStore(t *testing.T) (s *store, num int64, key string) {
	t.Helper()
	_, s = openTest(t)
	key = record.ChunkKey(record.ChunkPrefix(testPart, "a"), 0)
	at := testTime.Add(time.Hour)
	out, err := s.Accept(t.Context(), []backend.Incoming{{Source: backend.Source{Part: testPart, ID: "a", MediaType: "text/plain", Doc: []byte(`{"un":"User"}`), CreatedAt: at, UpdatedAt: at}}})
	require.NoError(t, err)
	num = out[0].Num
	_, err = s.Claim(t.Context(), "w", testTime, testTime.Add(time.Hour), 1, 0)
	require.NoError(t, err)
	_, err = s.Index(t.Context(), []backend.Indexed{{Num: num, Token: "w", Chunks: []backend.Chunk{{Key: key, Text: "Hello. Zoë drinks tea.",
		Layout: []byte(`{"offsets":{"document_level_start_index":0}}`), Extra: []byte(`{"k":["1 January, 2024"],"t":true}`), Vector: []float32{1, 2}}}}})
	require.NoError(t, err)
	_, err = s.Finish(t.Context(), []backend.Finished{{Num: num, Token: "w", State: backend.Completed,
		Mentions: []backend.Mention{{Key: "zoë", Name: "Zoë", Type: extract.TypePerson, Weight: 1}, {Key: "tea", Name: "tea", Type: "DRINK", Weight: 1}},
		Relations: []backend.Relation{
			{FromKey: "zoë", ToKey: "tea", Predicate: "drinks", Context: "Zoë drinks tea.", Confidence: .5, KnownFrom: at, Functional: true},
			{FromKey: "zoë", ToKey: "tea", Predicate: "likes", Context: "of another text", Confidence: .5, KnownFrom: at, Asserted: testTime},
		}}})
	require.NoError(t, err)
	return s, num, key
}

// readShort checks that all values are read back as written.
func readShort(t *testing.T, s *store, num int64, key string) {
	t.Helper()
	ctx := t.Context()
	at := testTime.Add(time.Hour)
	srcs, err := s.SourcesByNum(ctx, []int64{num})
	require.NoError(t, err)
	assert.Equal(t, "text/plain", srcs[0].MediaType)
	assert.Equal(t, `{"un":"User"}`, string(srcs[0].Doc))
	chunks, err := s.SourceChunks(ctx, num, 0, 1, true)
	require.NoError(t, err)
	assert.Equal(t, key, chunks[0].Key)
	assert.Equal(t, `{"offsets":{"document_level_start_index":0}}`, string(chunks[0].Layout))
	assert.Equal(t, `{"k":["1 January, 2024"],"t":true}`, string(chunks[0].Extra))
	nums, err := s.ChunkNums(ctx, testPart, []string{key, "other"})
	require.NoError(t, err)
	assert.Equal(t, []int64{chunks[0].Num, 0}, nums)
	for typ, keys := range map[string][]string{"": {"tea", "zoë"}, extract.TypePerson: {"zoë"}, "DRINK": {"tea"}, extract.TypeDate: nil} {
		es, err := s.ListEntities(ctx, backend.EntityQuery{Part: testPart, Type: typ, Limit: 5})
		require.NoError(t, err)
		var got []string
		for _, e := range es {
			got = append(got, e.Key)
			if typ != "" {
				assert.Equal(t, typ, e.Type)
			}
		}
		assert.Equal(t, keys, got, typ)
	}
	said, err := s.Mentioned(ctx, backend.MentionQuery{Part: testPart, Keys: []string{"zoë"}})
	require.NoError(t, err)
	require.Len(t, said, 1)
	assert.Equal(t, extract.TypePerson, said[0].Type)
	rels, err := s.Relations(ctx, backend.RelationQuery{Part: testPart, Limit: 5})
	require.NoError(t, err)
	require.Len(t, rels, 2)
	assert.Equal(t, []string{"Zoë drinks tea.", "of another text"}, []string{rels[0].Context, rels[1].Context})
	for _, r := range rels {
		assert.Equal(t, at, r.KnownFrom)
	}
	assert.Zero(t, rels[0].Asserted)
	assert.Equal(t, testTime.UTC(), rels[1].Asserted)
	held, err := s.Relations(ctx, backend.RelationQuery{Part: testPart, Limit: 5, AsOf: at, KnownAt: at})
	require.NoError(t, err)
	assert.NotEmpty(t, held)
	check(t, s)
}

const shortShapes = `SELECT typeof(media) || typeof(doc) FROM sources UNION ALL SELECT typeof(key) || typeof(layout) || typeof(extra) FROM chunks
	UNION ALL SELECT typeof(type) FROM entities UNION ALL SELECT typeof(type) FROM entity_sources UNION ALL SELECT typeof(context) || typeof(known_from) FROM relations`

func storedForms(t *testing.T, s *store) (out []string) {
	t.Helper()
	require.NoError(t, s.query(t.Context(), func(c *conn) error {
		return c.each(t.Context(), shortShapes, func(r *row) error {
			out = append(out, r.str(0))
			return nil
		})
	}))
	return out
}

// Checks that values of the library are stored in short form, and that the full form of earlier releases reads the same.
func TestShortAndLongRows(t *testing.T) {
	t.Parallel()
	s, num, key := shortStore(t)
	readShort(t, s, num, key)
	short := []string{"blobtext", "blobtexttext", "blob", "text", "blob", "text", "blobtext", "textinteger"}
	require.ElementsMatch(t, short, storedForms(t, s))
	require.NoError(t, s.change(t.Context(), func(x *tx) error {
		for sql, args := range map[string][]any{
			"UPDATE sources SET media = ?, doc = ?":                                             {"text/plain", []byte(`{"un":"User"}`)},
			"UPDATE chunks SET key = ?, layout = ?, extra = ?":                                  {key, []byte(`{"offsets":{"document_level_start_index":0}}`), []byte(`{"k":["1 January, 2024"],"t":true}`)},
			"UPDATE entities SET type = ? WHERE typeof(type) = 'blob'":                          {extract.TypePerson},
			"UPDATE entity_sources SET type = ? WHERE typeof(type) = 'blob'":                    {extract.TypePerson},
			"UPDATE relations SET context = ?, known_from = ord WHERE typeof(context) = 'blob'": {"Zoë drinks tea."},
		} {
			n, err := x.c.exec(sql, args...)
			require.NoError(t, err)
			require.EqualValues(t, 1, n, sql)
		}
		return nil
	}))
	for _, s := range storedForms(t, s) {
		require.NotContains(t, []string{"blobtext", "blobtexttext", "blob"}, s)
	}
	readShort(t, s, num, key)

	// A key of either form is taken.
	out, err := s.Accept(t.Context(), []backend.Incoming{{Source: backend.Source{Part: testPart, ID: "b"}}})
	require.NoError(t, err)
	_, err = s.Claim(t.Context(), "w", testTime, testTime.Add(time.Hour), 1, 0)
	require.NoError(t, err)
	_, err = s.Index(t.Context(), []backend.Indexed{{Num: out[0].Num, Token: "w", Chunks: []backend.Chunk{{Key: key, Text: "b"}}}})
	require.ErrorIs(t, err, backend.ErrExists)
}

// Checks that damage to a text also damages the sentences in it, and that both can be deleted.
func TestDamagedSentence(t *testing.T) {
	t.Parallel()
	s, _, _ := shortStore(t)
	damage(t, s, "UPDATE chunks SET text = 'Hello. Zoé drinks tea.'")
	rels, err := s.Relations(t.Context(), backend.RelationQuery{Part: testPart, Limit: 5})
	require.ErrorIs(t, err, backend.ErrCorrupt)
	require.Len(t, rels, 1)
	res, err := s.Delete(t.Context(), testPart, []string{"a"}, backend.DeleteOptions{})
	require.NoError(t, err)
	require.True(t, res[0].Found)
}

// Checks that a move reads rows in full form and stores them in short form at the target.
func TestMoveOfShortRows(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, num, key := shortStore(t)
	before := storedForms(t, s)
	require.NoError(t, s.change(ctx, func(x *tx) error {
		v := view{c: x.c, live: true}
		seen := 0
		for _, table := range []*move.Table{move.Entities, move.Relations} {
			for r, err := range v.Each(ctx, table) {
				require.NoError(t, err)
				require.NoError(t, (&spot{v}).apply(&move.Op{Table: table, Old: r, New: r}))
				if table == move.Relations {
					seen++
					assert.IsType(t, int64(0), r[move.Relations.At("known_from")])
					assert.Contains(t, []string{"Zoë drinks tea.", "of another text"}, string(r[move.Relations.At("context")].([]byte)))
				} else {
					assert.Contains(t, []string{extract.TypePerson, "DRINK"}, string(r[move.Entities.At("type")].([]byte)))
				}
			}
		}
		require.Equal(t, 2, seen)
		for r, err := range v.Each(ctx, move.Sources) {
			require.NoError(t, err)
			owned, err := v.Owned(ctx, []move.Row{r})
			require.NoError(t, err)
			for _, o := range owned[num] {
				if o.Table == move.Chunks {
					assert.Equal(t, key, string(o.Row[move.Chunks.At("key")].([]byte)))
				}
			}
			require.NoError(t, (&spot{v}).apply(&move.Op{Table: move.Sources, Old: r, New: r, Owned: owned[num], Class: int64(testPart.Class)}))
		}
		return nil
	}))
	require.ElementsMatch(t, before, storedForms(t, s))
	readShort(t, s, num, key)
}

func FuzzShortJSON(f *testing.F) {
	for _, p := range phrases {
		f.Add([]byte(p))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		require.Equal(t, string(b), string(rowWith(shortJSON(b)).json(0)))
	})
}

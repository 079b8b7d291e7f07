package backendtest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

func testStoreHostile(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	for i, s := range hostile {
		it := item{Source: backend.Source{
			Part: backend.Partition{Class: backend.Memory, Sub: s}, ID: s, Title: s, Kind: s, Filename: s, MediaType: s, Session: s,
			Metadata: []byte(s), Additional: []byte(s), Doc: []byte(s), CreatedAt: at(0), UpdatedAt: at(0), Tags: []uint64{uint64(i)},
		}, blobs: []backend.Blob{{Kind: backend.Original, Data: []byte(s)}}}
		num := e.accept(it)[0]
		token := "token" + s
		claims, err := e.Claim(ctx, token, at(0), at(100), 10, 0)
		require.NoError(t, err)
		require.Len(t, claims, 1, "string %d", i)
		require.True(t, claims[0].ID == s && string(claims[0].Blobs[0].Data) == s, "string %d", i)
		ok, err := e.Index(ctx, []backend.Indexed{{Num: num, Token: token, Title: s, Chunks: []backend.Chunk{
			{Key: s, Text: s, Heading: s, Layout: []byte(s), Extra: []byte(s)},
		}}})
		require.NoError(t, err)
		require.Equal(t, []bool{true}, ok)
		ok, err = e.Finish(ctx, []backend.Finished{{
			Num: num, Token: token, State: backend.Completed, ErrorCode: s, ErrorMessage: s, Event: true,
			Mentions: []backend.Mention{{Key: s, Name: s, Type: s, Weight: 2}},
			Relations: []backend.Relation{{FromKey: s, ToKey: s + "!", Predicate: s, Raw: s, Context: s, Temporal: s, Origin: s, Kind: s,
				Object: s, Precision: s}},
		}})
		require.NoError(t, err)
		require.Equal(t, []bool{true}, ok)
		require.NoError(t, e.Set(ctx, "v"+s, nil, []byte(s)))
	}
	for i, s := range hostile {
		part := backend.Partition{Class: backend.Memory, Sub: s}
		src := e.source(part, s)
		require.NotNil(t, src, "string %d", i)
		for j, got := range []string{src.ID, src.Part.Sub, src.Title, src.Kind, src.Filename, src.MediaType, src.Session,
			string(src.Metadata), string(src.Additional), string(src.Doc), src.ErrorCode, src.ErrorMessage} {
			require.True(t, got == s, "string %d, field %d of its source", i, j)
		}
		ids, total := e.list(backend.ListQuery{Part: part, Limit: 10, IDs: []string{s}})
		require.Equal(t, 1, total, "string %d", i)
		require.True(t, ids[0] == s)
		subs, err := e.FindSubs(ctx, backend.Memory, s)
		require.NoError(t, err)
		require.True(t, len(subs) == 1 && subs[0] == s, "string %d", i)
		nums, err := e.ChunkNums(ctx, part, []string{s})
		require.NoError(t, err)
		hs, err := e.Chunks(ctx, nums, at(0))
		require.NoError(t, err)
		require.Len(t, hs, 1)
		for j, got := range []string{hs[0].Key, hs[0].Text, hs[0].Heading, string(hs[0].Layout), string(hs[0].Extra)} {
			require.True(t, got == s, "string %d, field %d of its chunk", i, j)
		}
		data, err := e.Content(ctx, src.Num, backend.Original)
		require.NoError(t, err)
		require.True(t, string(data) == s, "string %d", i)
		ents, err := e.EntitiesByKey(ctx, part, []string{s})
		require.NoError(t, err)
		require.NotNil(t, ents[0])
		require.True(t, ents[0].Key == s && ents[0].Name == s && ents[0].Type == s, "string %d", i)
		rs := e.relations(backend.RelationQuery{Part: part})
		require.Len(t, rs, 1)
		for j, got := range []string{rs[0].FromKey, strings.TrimSuffix(rs[0].ToKey, "!"), rs[0].Predicate, rs[0].Raw, rs[0].Context,
			rs[0].Temporal, rs[0].Origin, rs[0].Kind, rs[0].Object, rs[0].Precision} {
			require.True(t, got == s, "string %d, field %d of its relation", i, j)
		}
		v, err := e.Get(ctx, "v"+s)
		require.NoError(t, err)
		require.True(t, string(v) == s, "string %d", i)
	}
	subs, err := e.Subs(ctx)
	require.NoError(t, err)
	require.Len(t, subs, len(hostile))
	for _, c := range e.changes(0) {
		for _, r := range c.Rows {
			require.True(t, r.Key == c.SourceID && r.Text == c.SourceID && string(r.Extra) == c.SourceID && c.Part.Sub == c.SourceID)
		}
	}
	events, err := e.Events(ctx, 1000)
	require.NoError(t, err)
	for i, ev := range events {
		require.True(t, ev.ItemID == hostile[i] && ev.Part.Sub == hostile[i] && ev.ErrorCode == hostile[i])
	}
}

// testStoreCopies changes arguments after calls, and results. Neither may change the store.
func testStoreCopies(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	data, tags, vector := []byte("data"), []uint64{1, 2}, []float32{1, 0}
	in := backend.Incoming{
		Source: backend.Source{Part: notes, ID: "a", Metadata: data, Additional: data, Doc: data, Tags: tags, UpdatedAt: at(0)},
		Blobs:  []backend.Blob{{Kind: backend.Original, Data: data}},
	}
	acc, err := e.Accept(ctx, []backend.Incoming{in})
	require.NoError(t, err)
	_, err = e.Claim(ctx, "w", at(0), at(1), 1, 0)
	require.NoError(t, err)
	_, err = e.Index(ctx, []backend.Indexed{{Num: acc[0].Num, Token: "w", Chunks: []backend.Chunk{{Key: "k", Layout: data, Extra: data, Vector: vector}}}})
	require.NoError(t, err)
	require.NoError(t, e.Set(ctx, "v", nil, data))
	assert.Equal(t, "data", string(data), "not changed by the store")
	data[0], tags[0], vector[0] = 'X', 99, 99
	for range 2 {
		src := e.source(notes, "a")
		require.Equal(t, []string{"data", "data", "data"}, []string{string(src.Metadata), string(src.Additional), string(src.Doc)})
		require.ElementsMatch(t, []uint64{1, 2}, src.Tags)
		src.Metadata[0], src.Additional[0], src.Doc[0], src.Tags[0] = 'X', 'X', 'X', 99
		blob, err := e.Content(ctx, acc[0].Num, backend.Original)
		require.NoError(t, err)
		require.Equal(t, "data", string(blob))
		blob[0] = 'X'
		cs, err := e.SourceChunks(ctx, acc[0].Num, 0, 1, true)
		require.NoError(t, err)
		require.Equal(t, []any{"data", "data", []float32{1, 0}}, []any{string(cs[0].Layout), string(cs[0].Extra), cs[0].Vector})
		cs[0].Layout[0], cs[0].Extra[0], cs[0].Vector[0] = 'X', 'X', 99
		feed := e.changes(0)
		require.Equal(t, []any{"data", []float32{1, 0}}, []any{string(feed[0].Rows[0].Extra), feed[0].Rows[0].Vector})
		require.ElementsMatch(t, []uint64{1, 2}, feed[0].Tags)
		feed[0].Rows[0].Extra[0], feed[0].Rows[0].Vector[0], feed[0].Tags[0] = 'X', 99, 99
		claims, err := e.Claim(ctx, "w", at(10), at(10), 1, 0)
		require.NoError(t, err)
		require.Equal(t, []string{"data", "data"}, []string{string(claims[0].Doc), string(claims[0].Blobs[0].Data)})
		claims[0].Doc[0], claims[0].Blobs[0].Data[0], claims[0].Chunks[0].Vector[0] = 'X', 'X', 99
		v, err := e.Get(ctx, "v")
		require.NoError(t, err)
		require.Equal(t, "data", string(v))
		v[0] = 'X'
	}
}

// testStoreBulk works on more items than fit into a page or a batch.
func testStoreBulk(t *testing.T, e *storeEnv) {
	ctx := t.Context()
	n := 1500
	if testing.Short() {
		n = 300
	}
	items := make([]item, n)
	ids := make([]string, n)
	for i := range items {
		ids[i] = fmt.Sprintf("id%05d", i)
		items[i] = memory(ids[i], "text of "+ids[i]).tagged(uint64(i%3)).mention(0, "everywhere").mention(0, "key"+ids[i])
	}
	place := make(map[int64]int, n)
	for i, num := range e.accept(items...) {
		place[num] = i
	}
	for left := n; left > 0; {
		token, claims := e.claimAll()
		require.NotEmpty(t, claims)
		left -= len(claims)
		indexed, finished := make([]backend.Indexed, len(claims)), make([]backend.Finished, len(claims))
		for i, c := range claims {
			it := items[place[c.Num]]
			indexed[i] = backend.Indexed{Num: c.Num, Token: token, Chunks: it.chunks()}
			finished[i] = backend.Finished{Num: c.Num, Token: token, State: backend.Completed, Mentions: it.mentions, Event: true}
		}
		ok, err := e.Index(ctx, indexed)
		require.NoError(t, err)
		require.NotContains(t, ok, false)
		ok, err = e.Finish(ctx, finished)
		require.NoError(t, err)
		require.NotContains(t, ok, false)
	}
	st, err := e.Stats(ctx, backend.Memory)
	require.NoError(t, err)
	assert.Equal(t, backend.Stats{Chunks: n, Sources: n}, st)
	assert.Equal(t, n, e.entity("everywhere").Mentions)
	page, total := e.list(backend.ListQuery{Part: notes, Offset: n / 2, Limit: 40, IDs: ids})
	assert.Equal(t, ids[n/2:n/2+40], page, "as many ids as there are")
	assert.Equal(t, n, total)
	_, total = e.list(backend.ListQuery{Part: notes, Limit: 1, Filter: backend.Filter{All: [][]uint64{{1, 2}}}})
	assert.Equal(t, n-n/3, total)
	srcs, err := e.Sources(ctx, notes, ids)
	require.NoError(t, err)
	assert.NotContains(t, srcs, (*backend.Source)(nil))
	keys := make([]string, n)
	for i, id := range ids {
		keys[i] = id + "/0"
	}
	chunks, err := e.ChunkNums(ctx, notes, keys)
	require.NoError(t, err)
	assert.NotContains(t, chunks, int64(0))
	hs, err := e.Chunks(ctx, chunks, at(0))
	require.NoError(t, err)
	require.Len(t, hs, n)
	assert.Equal(t, "text of "+ids[n-1], hs[n-1].Text)
	ents := make([]string, n)
	for i, id := range ids {
		ents[i] = "key" + id
	}
	found, err := e.EntitiesByKey(ctx, notes, ents)
	require.NoError(t, err)
	assert.NotContains(t, found, (*backend.Entity)(nil))
	assert.Len(t, feedAfter(t, e.Store, 0, 97), 2*n)
	events, err := e.Events(ctx, 10*n)
	require.NoError(t, err)
	assert.Len(t, events, n)
	gone, err := e.Delete(ctx, notes, ids[:n/2], backend.DeleteOptions{})
	require.NoError(t, err)
	assert.NotContains(t, gone, backend.DeleteResult{})
	assert.Equal(t, n-n/2, e.entity("everywhere").Mentions)
	left := 0
	for {
		k, err := e.DeleteSub(ctx, "notes", 200)
		require.NoError(t, err)
		if k == 0 {
			break
		}
		left += k
	}
	assert.Equal(t, n-n/2, left)
	assert.Nil(t, e.entity("everywhere"))
}

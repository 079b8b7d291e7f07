package backendtest

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// runWhole tests a backend's stores and indexes together.
func runWhole(t *testing.T, h Harness) {
	run(t, func(t *testing.T) *wholeEnv { return openWhole(t, h) }, []namedTest[*wholeEnv]{
		{"Workspace", testWorkspace},
		{"RemoveWorkspace", testRemoveWorkspace},
		{"Crash", testWholeCrash},
		{"Closed", testWholeClosed},
	})
	t.Run("Model", func(t *testing.T) {
		seeds, ops := modelSize(360)
		for seed := range seeds {
			t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
				t.Parallel()
				e := openWhole(t, h)
				m := newModel(t, 1000+uint64(seed), e.w.Store())
				m.reopen = func() { e.reopen(); m.got = e.w.Store() }
				m.indexes = func() backend.IndexSet { return e.w }
				m.run(ops)
			})
		}
	})
}

type wholeEnv struct {
	t   *testing.T
	h   Harness
	dir string
	b   backend.Backend
	w   backend.Workspace
}

func openWhole(t *testing.T, h Harness) *wholeEnv {
	e := &wholeEnv{t: t, h: h, dir: t.TempDir()}
	e.open()
	return e
}

func (e *wholeEnv) open() {
	e.b = e.h.Open(e.t, e.dir)
	closeAtEnd(e.t, e.b)
	w, err := e.b.OpenWorkspace(e.t.Context(), UID("w"))
	require.NoError(e.t, err)
	closeAtEnd(e.t, w)
	e.w = w
}

func (e *wholeEnv) reopen() {
	e.t.Helper()
	require.NoError(e.t, e.w.Close())
	require.NoError(e.t, e.b.Close())
	e.open()
}

// store returns the workspace's store with the helpers of the store tests.
func (e *wholeEnv) store() *storeEnv { return &storeEnv{Store: e.w.Store(), t: e.t} }

func testWorkspace(t *testing.T, e *wholeEnv) {
	ctx := t.Context()
	e.store().complete(memory("a", "red lantern").mention(0, "red"), memory("b", "blue violin"))
	follow(t, e.w, e.w.Store())
	hits, err := e.w.Keywords().SearchKeywords(ctx, backend.KeywordQuery{Part: notes, Text: "lantern", K: 5})
	require.NoError(t, err)
	require.Len(t, hits, 1)
	hs, err := e.w.Store().Chunks(ctx, chunksOf(hits), at(0))
	require.NoError(t, err)
	require.Len(t, hs, 1)
	assert.Equal(t, "red lantern", hs[0].Text)
	_, err = e.w.Store().Delete(ctx, notes, []string{"a"}, backend.DeleteOptions{})
	require.NoError(t, err)
	hits, err = e.w.Keywords().SearchKeywords(ctx, backend.KeywordQuery{Part: notes, Text: "lantern", K: 5})
	require.NoError(t, err)
	hs, err = e.w.Store().Chunks(ctx, chunksOf(hits), at(0))
	require.NoError(t, err)
	assert.Empty(t, hs, "an index that is behind shows nothing that is gone")
	e.reopen()
	follow(t, e.w, e.w.Store())
	for _, sh := range e.w.Indexes() {
		assert.Equal(t, e.w.Store().LastSeq(), sh.Applied())
	}
	hits, err = e.w.Keywords().SearchKeywords(ctx, backend.KeywordQuery{Part: notes, Text: "lantern violin", K: 5})
	require.NoError(t, err)
	assert.Len(t, hits, 1)
}

func testRemoveWorkspace(t *testing.T, e *wholeEnv) {
	ctx := t.Context()
	e.store().complete(memory("a", "red lantern"))
	follow(t, e.w, e.w.Store())
	for _, sh := range e.w.Indexes() {
		require.NoError(t, sh.Flush(ctx))
	}
	require.NoError(t, e.w.Close())
	for range 2 {
		require.NoError(t, e.b.RemoveWorkspace(ctx, UID("w")), "an interrupted removal can be repeated")
	}
	w, err := e.b.OpenWorkspace(ctx, UID("w"))
	require.NoError(t, err)
	closeAtEnd(t, w)
	assert.Zero(t, w.Store().LastSeq())
	for _, sh := range w.Indexes() {
		assert.Zero(t, sh.Applied())
	}
	_, total, err := w.Store().List(ctx, backend.ListQuery{Part: notes, Limit: 5})
	require.NoError(t, err)
	assert.Zero(t, total)
}

// testWholeCrash copies the files of an open backend and opens the copies. The indexes must catch up and
// give the same answers as indexes that have applied the whole feed.
func testWholeCrash(t *testing.T, e *wholeEnv) {
	s := e.store()
	texts := map[string]string{}
	for i := range 5 {
		id, text := fmt.Sprint("id", i%3), fmt.Sprintf("lantern number %d", i)
		s.complete(memory(id, text).mention(0, fmt.Sprint("k", i)))
		texts[id] = text
		if i%2 == 0 {
			follow(t, e.w, e.w.Store())
		}
		if i%4 == 2 {
			for _, sh := range e.w.Indexes() {
				require.NoError(t, sh.Flush(t.Context()))
			}
		}
		dir := t.TempDir()
		if copyFiles(t, e.dir, dir) == 0 {
			return
		}
		after := &wholeEnv{t: t, h: e.h, dir: dir}
		after.open()
		for _, sh := range after.w.Indexes() {
			require.LessOrEqual(t, sh.Applied(), after.w.Store().LastSeq(), "an index is never ahead of the store")
		}
		follow(t, after.w, after.w.Store())
		x := newOracleIndex(t)
		x.follow(t, after.w.Store())
		compareIndexes(t, after.w, x.IndexSet, querySet{parts: []backend.Partition{notes}, texts: []string{"lantern", "number"}, keys: modelKeys, filters: []backend.Filter{{}}},
			same(20, 20), fmt.Sprint("crashed after item ", i))
		hits, err := after.w.Keywords().SearchKeywords(t.Context(), backend.KeywordQuery{Part: notes, Text: "lantern", K: 10})
		require.NoError(t, err)
		hs, err := after.w.Store().Chunks(t.Context(), chunksOf(hits), at(0))
		require.NoError(t, err)
		found := map[string]string{}
		for _, h := range hs {
			found[h.Src.ID] = h.Text
		}
		require.Equal(t, texts, found, "what was acknowledged is found")
		require.NoError(t, after.w.Close())
		require.NoError(t, after.b.Close())
	}
}

func testWholeClosed(t *testing.T, e *wholeEnv) {
	w := e.w
	require.NoError(t, w.Close())
	_, err := w.Store().Get(t.Context(), "x")
	assert.ErrorIs(t, err, backend.ErrClosed)
	_, err = w.Graph().Info(t.Context(), notes)
	assert.ErrorIs(t, err, backend.ErrClosed)
	require.NoError(t, e.b.Close())
	if err := e.b.Close(); err != nil {
		assert.ErrorIs(t, err, backend.ErrClosed)
	}
	requireClosed(t, []call{
		{"OpenWorkspace", func(ctx context.Context) error { _, err := e.b.OpenWorkspace(ctx, UID("w")); return err }},
		{"RemoveWorkspace", func(ctx context.Context) error { return e.b.RemoveWorkspace(ctx, UID("w")) }},
	})
}

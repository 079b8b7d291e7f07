package local

import (
	"context"
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/inmem"
)

// history is a feed of changes, an oracle with the same changes, and index files that cover the feed.
type history struct {
	m    *model
	dir  string
	want indexes
}

// newHistory creates a few index files that together contain every kind of section.
func newHistory(t testing.TB, seed uint64, flushes int) *history {
	t.Helper()
	h := &history{m: newModel(seed), dir: t.TempDir(), want: openTest(t, inmem.New())}
	x, err := Open(h.dir, nil)
	require.NoError(t, err)
	ix := openTest(t, x)
	for range flushes {
		var batch []backend.Change
		for range 40 {
			batch = append(batch, h.m.change())
		}
		h.m.log = append(h.m.log, batch...)
		require.NoError(t, h.want.Apply(context.Background(), batch))
		require.NoError(t, ix.Apply(context.Background(), batch))
		require.NoError(t, ix.Flush(context.Background()))
	}
	require.NoError(t, x.Close())
	return h
}

func (h *history) path() string { return (&Indexers{dir: h.dir}).path(testUID) }

// copyTo copies the folder of the indexes to a new deployment.
func (h *history) copyTo(t testing.TB) *history {
	t.Helper()
	c := &history{m: h.m, dir: t.TempDir(), want: h.want}
	require.NoError(t, os.MkdirAll(filepath.Dir(c.path()), 0o700))
	require.NoError(t, os.CopyFS(c.path(), os.DirFS(h.path())))
	return c
}

// heals opens the folder whatever its content, reads everything, replays the missing
// changes and requires the oracle's answers. It returns the position applied at opening.
func (h *history) heals(t *testing.T) uint64 {
	t.Helper()
	x, err := Open(h.dir, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, x.Close()) }()
	ix := openTest(t, x).(*index)
	for _, part := range h.m.parts {
		for range 5 { // so that a filter is among them
			if err := searchAll(t.Context(), ix, h.m, part); err != nil {
				require.ErrorIs(t, err, backend.ErrUnavailable)
			}
		}
	}
	ix.work.wait()
	applied := ix.Applied()
	require.NoError(t, ix.Apply(t.Context(), h.m.feed(applied)))
	h.m.compare(t, h.want, ix)
	require.NoError(t, ix.Flush(t.Context()))
	require.NoError(t, x.Close())

	x, err = Open(h.dir, nil)
	require.NoError(t, err)
	again := openTest(t, x)
	require.Equal(t, h.want.Applied(), again.Applied(), "what was healed is kept")
	h.m.compare(t, h.want, again)
	return applied
}

func TestDamage(t *testing.T) {
	t.Parallel()
	h := newHistory(t, 3, 3)
	require.Equal(t, h.want.Applied(), h.copyTo(t).heals(t), "undamaged")
	names, err := fs.Glob(os.DirFS(h.path()), "*")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(names), 3, "a manifest and some files")
	kinds := make(map[sectionKind]bool)
	for _, name := range names {
		size := flipPlaces(t, h.path(), name, kinds)
		for what, at := range size {
			c := h.copyTo(t)
			flip(t, filepath.Join(c.path(), name), at)
			require.Zero(t, c.heals(t), "%s of %s", what, name)
		}
		for _, part := range []int64{0, 1, 7, 32, 50, 99} {
			c := h.copyTo(t)
			st, err := os.Stat(filepath.Join(c.path(), name))
			require.NoError(t, err)
			require.NoError(t, os.Truncate(filepath.Join(c.path(), name), st.Size()*part/100))
			require.Zero(t, c.heals(t), "%s cut to %d%%", name, part)
		}
		c := h.copyTo(t)
		require.NoError(t, os.Remove(filepath.Join(c.path(), name)))
		require.Zero(t, c.heals(t), "%s missing", name)
	}
	for _, kind := range []sectionKind{secRows, secTags, secLinks, secWords, secVectors, secPlaces} {
		require.True(t, kinds[kind], "a section of kind %d was damaged", kind)
	}
}

// flipPlaces returns a byte of every part of a file.
func flipPlaces(t *testing.T, dir, name string, kinds map[sectionKind]bool) map[string]int64 {
	t.Helper()
	if name == manifestName {
		return map[string]int64{"magic": 0, "version": 8, "count": 12, "sequence number": 16, "next id": 24, "entry": 33}
	}
	var id uint64
	_, err := fmt.Sscanf(name, "%016x.idx", &id)
	require.NoError(t, err)
	f, err := openFile(dir, id, limits{})
	require.NoError(t, err)
	defer f.release()
	out := map[string]int64{"magic": 1, "version": 8, "id": 16, "directory offset": 24, "directory length": 33, "directory": f.size - 3}
	for i, b := range f.blocks {
		for j, s := range b.sections {
			if s.length > 0 {
				kinds[s.kind] = true
				out[fmt.Sprintf("block %d section %d", i, j)] = int64(s.offset + s.length/2)
			}
		}
	}
	return out
}

func flip(t *testing.T, name string, at int64) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	require.NoError(t, err)
	var b [1]byte
	_, err = f.ReadAt(b[:], at)
	require.NoError(t, err)
	b[0] ^= 0x41
	_, err = f.WriteAt(b[:], at)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

func TestForeignVersion(t *testing.T) {
	t.Parallel()
	h := newHistory(t, 5, 1)
	c := h.copyTo(t)
	name := filepath.Join(c.path(), manifestName)
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	b = b[:len(b)-4]
	b[8]++
	b = binary.LittleEndian.AppendUint32(b, checksum(b))
	require.NoError(t, os.WriteFile(name, b, 0o600))
	require.Zero(t, c.heals(t))
}

// Checks that the background check finds damage in large sections.
func TestLateDamage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	x, err := Open(dir, nil)
	require.NoError(t, err)
	ix := openTest(t, x).(*index)
	const n = 8000
	changes := benchChanges(n)
	require.NoError(t, ix.Apply(t.Context(), changes))
	require.NoError(t, ix.Flush(t.Context()))
	b := ix.files[0].blocks[0]
	require.Greater(t, b.size(), uint64(verifyNow))
	name, at := b.file.path, int64(0)
	for _, s := range b.sections {
		if s.kind == secVectors {
			at = int64(s.offset + s.length/2)
		}
	}
	require.NoError(t, x.Close())
	flip(t, name, at)

	x, err = Open(dir, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, x.Close()) }()
	ix = openTest(t, x).(*index)
	require.EqualValues(t, n, ix.Applied())
	_, err = ix.Info(t.Context(), benchPart)
	if err != nil { // the check may have been faster
		require.ErrorIs(t, err, backend.ErrUnavailable)
	}
	ix.work.wait()
	require.Zero(t, ix.Applied())
	late := []backend.Change{{Seq: n + 1, Kind: backend.Mark}}
	require.ErrorIs(t, ix.Apply(t.Context(), late), backend.ErrUnavailable, "read before the damage was known")
	require.Zero(t, ix.Applied())
	require.NoError(t, ix.Apply(t.Context(), changes))
	info, err := ix.Info(t.Context(), benchPart)
	require.NoError(t, err)
	require.Equal(t, n, info.Chunks)
}

// Columns of large blocks are used before they are checked. This test checks that a search over
// damaged columns does not panic and returns stored rows only, or an error.
func TestDamagedRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	x, err := Open(dir, nil)
	require.NoError(t, err)
	ix := openTest(t, x).(*index)
	const n = 8000
	changes := benchChanges(n + 10)
	require.NoError(t, ix.Apply(t.Context(), changes[:n]))
	require.NoError(t, ix.Flush(t.Context()))
	drops := []backend.Change{changes[n], {Seq: n + 2, Kind: backend.Drop, Part: benchPart, Source: changes[7].Source}}
	require.NoError(t, ix.Apply(t.Context(), drops))
	require.NoError(t, ix.Flush(t.Context()))
	require.Len(t, ix.files, 2)
	b := ix.files[0].blocks[0]
	require.Greater(t, b.size(), uint64(verifyNow))
	rows, data := b.find(secRows)
	c, err := openColumns(data, b.nextRow)
	require.NoError(t, err)
	name := b.file.path
	at := func(p unsafe.Pointer) int64 {
		return int64(rows.offset) + int64(uintptr(p)-uintptr(unsafe.Pointer(unsafe.SliceData(data))))
	}
	places := map[string]int64{
		"owner of a row": at(unsafe.Pointer(&c.of[3])) + 3, "owner of a dropped row": at(unsafe.Pointer(&c.of[7])) + 3,
		"rows of a dropped source": at(unsafe.Pointer(&c.source[7].rows)) + 3, "first row": at(unsafe.Pointer(&c.source[7].first)),
	}
	require.NoError(t, x.Close())
	for what, at := range places {
		flip(t, name, at)
		x, err := Open(dir, nil)
		require.NoError(t, err)
		ix := openTest(t, x).(*index)
		for i := range 50 {
			_, err := ix.SearchVectors(t.Context(), backend.VectorQuery{Part: benchPart, Vector: changes[i].Rows[0].Vector, K: 20})
			_, err2 := ix.SearchKeywords(t.Context(), backend.KeywordQuery{Part: benchPart, Text: changes[i].Rows[0].Text, K: 20})
			for _, err := range []error{err, err2} {
				if err != nil {
					require.ErrorIs(t, err, backend.ErrUnavailable)
				}
			}
		}
		ix.work.wait()
		require.Zero(t, ix.Applied(), what)
		require.NoError(t, x.Close())
		flip(t, name, at)
	}
}

func TestFlushFails(t *testing.T) {
	t.Parallel()
	h := newHistory(t, 1, 0)
	x, err := Open(h.dir, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, x.Close()) }()
	ix := openTest(t, x).(*index)
	apply := func() {
		batch := []backend.Change{h.m.change(), h.m.change(), h.m.change()}
		require.NoError(t, h.want.Apply(t.Context(), batch))
		require.NoError(t, ix.Apply(t.Context(), batch))
	}
	apply()
	// A folder blocks the path of the new file, then the path of the manifest.
	for _, name := range []string{fileName(ix.nextID) + tempSuffix, manifestName + tempSuffix} {
		t.Run(name, func(t *testing.T) {
			name = filepath.Join(h.path(), name)
			require.NoError(t, os.MkdirAll(name, 0o700))
			require.ErrorIs(t, ix.Flush(t.Context()), backend.ErrUnavailable)
			h.m.compare(t, h.want, ix)
			require.NoError(t, os.Remove(name))
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, ix.Flush(ctx), context.Canceled)
	apply()
	require.NoError(t, ix.Flush(t.Context()))
	evictAll(ix)
	h.m.compare(t, h.want, ix)
}

// Checks that the writer continues when a tail cannot be flushed.
func TestFullTailStays(t *testing.T) {
	t.Parallel()
	_, ix, _ := both(t)
	require.NoError(t, os.MkdirAll(filepath.Join(ix.dir(), fileName(0)+tempSuffix), 0o700))
	rows := make([]backend.Row, maxTailRows/8)
	for i := range rows {
		rows[i] = backend.Row{Text: "ember"}
	}
	seq := uint64(0)
	apply := func(n int) {
		for range n {
			seq++
			for i := range rows {
				rows[i].Chunk++
			}
			c := backend.Change{Seq: seq, Kind: backend.PutChunks, Part: benchPart, Source: int64(seq), Rows: rows}
			require.NoError(t, ix.Apply(t.Context(), []backend.Change{c}))
		}
	}
	apply(9)
	ix.flusher.wait()
	require.Zero(t, ix.flushed)
	hits, err := ix.SearchKeywords(t.Context(), backend.KeywordQuery{Part: benchPart, Text: "ember", K: 1})
	require.NoError(t, err)
	require.Len(t, hits, 1)
	require.NoError(t, os.Remove(filepath.Join(ix.dir(), fileName(0)+tempSuffix)))
	apply(2)
	ix.flusher.wait()
	require.Positive(t, ix.flushed, "tried again")
}

func TestUnreadableFolder(t *testing.T) {
	t.Parallel()
	h := &history{dir: t.TempDir()}
	require.NoError(t, os.MkdirAll(filepath.Dir(h.path()), 0o700))
	require.NoError(t, os.WriteFile(h.path(), []byte("a file"), 0o600))
	x, err := Open(h.dir, nil)
	require.NoError(t, err)
	_, err = x.OpenIndexes(t.Context(), testUID)
	require.ErrorIs(t, err, backend.ErrUnavailable)
	require.NoError(t, os.Remove(h.path()))
	ix, err := x.OpenIndexes(t.Context(), testUID)
	require.NoError(t, err)
	require.NoError(t, ix.Close())
	require.NoDirExists(t, h.path(), "nothing was flushed")
}

package pipeline

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/extract/rules"
	"github.com/contextmem/contextmem/internal/parse"
	"github.com/contextmem/contextmem/internal/parse/media"
)

func TestShows(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		original, text, mediaType string
		want                      bool
	}{
		"same":                 {"a b", "a b", media.Text, true},
		"line end":             {"a b\n", "a b", media.Text, true},
		"blanks":               {"# a\n\n \t\n", "# a", media.Markdown, true},
		"line end of another":  {"a b\r\n", "a b", media.Text, false},
		"before":               {" a b", "a b", media.Text, false},
		"other text":           {"a c\n", "a b", media.Text, false},
		"same length":          {"a c", "a b", media.Text, false},
		"less":                 {"a b c\n", "a b", media.Text, false},
		"more":                 {"a", "a b", media.Text, false},
		"not what people read": {"a b\n", "a b", media.SRT, false},
		"the same of it":       {"a b", "a b", media.SRT, true},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, x.want, textIsOriginal([]byte(x.original), &document.Document{Text: x.text, MediaType: x.mediaType}))
		})
	}
}

// TestTextIsHeldOnce checks that a text that is stored beside its original is in memory once.
func TestTextIsHeldOnce(t *testing.T) {
	t.Parallel()
	c := &Config{Parsers: parse.New()}
	j := &job{Claim: backend.Claim{Blobs: []backend.Blob{{Kind: backend.Original, Data: []byte("The depot\r\nin Leipzig.")}}}}
	j.Part.Class, j.Filename = backend.Knowledge, "depots.txt"
	c.prepare(t.Context(), j)
	require.Nil(t, j.fail)
	require.Equal(t, "The depot\nin Leipzig.", j.prep.text)
	require.Len(t, j.prep.blobs, 1)
	require.Equal(t, backend.Text, j.prep.blobs[0].Kind)
	require.Equal(t, j.prep.text, string(j.prep.blobs[0].Data))
	require.Same(t, unsafe.StringData(j.prep.text), unsafe.SliceData(j.prep.blobs[0].Data))
}

// TestTextIsStoredOnce checks that the text of a text file is not stored in addition to its original, although the parser leaves out the final
// line feed, and that resuming the item reads the same text.
func TestTextIsStoredOnce(t *testing.T) {
	t.Parallel()
	c := &Config{Parsers: parse.New()}
	const text = "# Depots\n\nThe depot in Leipzig opened in 2019."
	j := &job{Claim: backend.Claim{Blobs: []backend.Blob{{Kind: backend.Original, Data: []byte(text + "\n \n")}}}}
	j.Part.Class, j.Filename = backend.Knowledge, "depots.md"
	c.prepare(t.Context(), j)
	require.Nil(t, j.fail)
	require.Equal(t, text, j.prep.text)
	require.Empty(t, j.prep.blobs)
	require.False(t, j.prep.doc.Extracted)

	again := &job{Claim: backend.Claim{Chunks: j.prep.chunks, Blobs: []backend.Blob{{Kind: backend.Original, Data: []byte(text + "\n \n")}}}}
	again.Part = j.Part
	c.resume(again)
	require.Nil(t, again.fail)
	require.Equal(t, j.prep.text, again.prep.text)
	require.Equal(t, j.prep.spans, again.prep.spans)
}

func TestReserve(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &Config{Extractor: rules.New()}
		large := []extract.Input{{Text: strings.Repeat("a", readingSize*runtime.GOMAXPROCS(0))}, {Text: "b"}}
		free, err := c.reserve(t.Context(), large)
		require.NoError(t, err)
		small, err := c.reserve(t.Context(), []extract.Input{{Text: strings.Repeat("a", freeSize-1)}})
		require.NoError(t, err, "waits for nobody")
		small()

		ended, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = c.reserve(ended, large)
		require.ErrorIs(t, err, context.Canceled)

		went := false
		go func() {
			next, err := c.reserve(t.Context(), large)
			if err == nil {
				went = true
				next()
			}
		}()
		synctest.Wait()
		require.False(t, went, "one at a time")
		free()
		synctest.Wait()
		require.True(t, went)

		c = &Config{Extractor: touchy{}} // an extractor that needs no memory in this process
		for range 3 {
			_, err := c.reserve(t.Context(), large)
			require.NoError(t, err)
		}
	})
}

// TestWeight checks that a longer chunk has a greater weight.
func TestWeight(t *testing.T) {
	t.Parallel()
	j := &job{prep: &prepared{chunks: []backend.Chunk{{Text: "short"}, {Text: strings.Repeat("a", 3*weightOf)}}}}
	j.release()
	require.Equal(t, 2, j.count)
	require.Equal(t, 5, j.weight)
}

// TestCollectSmall checks that garbage is collected once per smallSize bytes of small batches. It runs beside no other test, which could fill
// the heap: only a large part of the heap is collected.
func TestCollectSmall(t *testing.T) {
	runtime.GC()
	require.True(t, fillsHeap(collectFrom))
	forced := func() uint32 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.NumForcedGC
	}
	c := &Config{}
	c.collectSmall(smallSize - 1)
	require.EqualValues(t, smallSize-1, c.ended.Load())
	before := forced()
	c.collectSmall(1)
	require.Zero(t, c.ended.Load())
	require.Greater(t, forced(), before)
	c.collectSmall(collectFrom)
	require.Zero(t, c.ended.Load(), "a large batch collects its own")
}

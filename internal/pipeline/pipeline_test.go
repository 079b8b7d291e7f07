package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/chunk"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/parse"
)

func TestSpeakerOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"Ana Maria: I'm late": "Ana Maria", "Ana:\nhello": "Ana", "李: 你好": "李", "O'Neil-Smith: x": "O'Neil-Smith", "Dr. Who: x": "Dr. Who",
		"": "", ":": "", "Ana:": "", "Ana:x": "", ": x": "", "https://x: y": "", "a b c d: x": "", "5: x": "", "note (old): x": "", strings.Repeat("a", 50) + ": x": ""} {
		t.Run(text, func(t *testing.T) {
			require.Equal(t, want, SpeakerOf(text), "%q", text)
		})
	}
}

func TestTitleLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"Returns\n\nGoods go back.": "Returns", "\ufeff\n Returns \n\nx": "Returns", "Returns\r\n\r\nx": "Returns",
		"": "", "Returns": "", "Returns\n": "", "Returns\n\n": "", "Returns\nmore\n\nx": "", "One. Two\n\nx": "", "Returns:\n\nx": "", "Wait…\n\nx": "",
		"The kiln was lit by a man from Zorbail.\n\nx": "", "I live in Bonn.\n\nx": "", "Anna moved to Oslo.\n\nx": "", "Der Ofen ist kalt und die Tür ist zu.\n\nx": "",
		"Acme Inc.\n\nx": "Acme Inc.", "the flow past a heated plate .\n\nx": "the flow past a heated plate .", "The kiln was lit\n\nx": "The kiln was lit", strings.Repeat("a", 201) + "\n\nx": ""} {
		t.Run(text, func(t *testing.T) {
			require.Equal(t, want, titleLine(text), "%q", text)
		})
	}
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]time.Duration{-1: 100 * time.Millisecond, 0: 100 * time.Millisecond, 1: 100 * time.Millisecond, 2: 200 * time.Millisecond, 5: 1600 * time.Millisecond,
		9: 25600 * time.Millisecond, 10: time.Minute, 1000: time.Minute} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			for range 20 {
				got := Backoff(n)
				require.GreaterOrEqual(t, got, want, n)
				require.LessOrEqual(t, got, want+want/4, n)
				got, want := BackoffAway(n), min(want, 5*time.Second)
				require.GreaterOrEqual(t, got, want, n)
				require.LessOrEqual(t, got, want+want/4, n)
			}
		})
	}
}

// touchy is an embedder and extractor that panics or returns wrong results for texts with a trigger word.
type touchy struct{}

func (touchy) Dim() int { return 2 }

func (touchy) EmbedDocuments(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, s := range texts {
		out[i] = []float32{1, 0}
		switch {
		case strings.Contains(s, "embed-panic"):
			panic("no")
		case strings.Contains(s, "embed-error"):
			return nil, errors.New("no")
		case strings.Contains(s, "embed-short"):
			out[i] = []float32{1}
		case strings.Contains(s, "embed-few"):
			return out[:i], nil
		case strings.Contains(s, "embed-nan"):
			zero := float32(0)
			out[i][0] = zero / zero
		}
	}
	return out, nil
}

func (touchy) Name() string { return "touchy" }

func (touchy) Extract(_ context.Context, in []extract.Input) ([]extract.Output, error) {
	out := make([]extract.Output, len(in))
	for i, x := range in {
		switch {
		case strings.Contains(x.Text, "extract-panic"):
			panic("no")
		case strings.Contains(x.Text, "extract-error"):
			return nil, errors.New("no")
		case strings.Contains(x.Text, "extract-wild"):
			out[i].Mentions = []extract.Mention{{Key: "a", Chunk: 99}, {Key: "", Chunk: 0}, {Key: strings.Repeat("k", 600), Chunk: 0}, {Key: "b", Chunk: -7}}
			out[i].Relations = []extract.Relation{{Source: "a", Target: "b", Chunk: 99}, {Source: "", Target: "b"}, {Source: "a", Target: "b", Chunk: -1}}
			out[i].Facts = []extract.Fact{{Subject: "", Object: "x"}, {Subject: "s", Object: strings.Repeat("o", 600), Start: 1 << 40}}
		}
	}
	return out, nil
}

// crash is a parser that panics for some documents.
type crash struct{}

func (crash) Parse(_ context.Context, in document.Input, _ document.Limits) (*document.Document, error) {
	if strings.Contains(string(in.Data), "parse-panic") {
		panic("no")
	}
	return &document.Document{Text: string(in.Data)}, nil
}

func pipe() *Config {
	ps := parse.New()
	ps.Register("application/x-crash", []string{".crash"}, crash{})
	return &Config{Extractor: touchy{}, Parsers: ps, ParseTimeout: time.Minute, Chunking: chunk.Options{TargetBytes: 800, MaxBytes: 2000},
		BatchItems: 100, BatchBytes: 1 << 20, MaxAttempts: 2, Lease: time.Minute, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
}

func space(t *testing.T, be backend.Backend) Space {
	t.Helper()
	ws, err := be.OpenWorkspace(t.Context(), strings.Repeat("a", 32))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ws.Close()) })
	return Space{Embedder: touchy{}, Store: ws.Store(), Follower: NewFollower(ws), Changed: func() {}, Events: func() bool { return false }, Claimed: func(bool) {}, Ended: func(int, int, int) {}}
}

func accept(t *testing.T, s Space, class backend.Class, mediaType string, texts map[string]string) {
	t.Helper()
	now := time.Now()
	var items []backend.Incoming
	for id, text := range texts {
		items = append(items, backend.Incoming{Source: backend.Source{ID: id, Part: backend.Partition{Class: class, Sub: "s"}, MediaType: mediaType, Filename: "f.crash", SizeBytes: int64(len(text)),
			CreatedAt: now, UpdatedAt: now, Tags: []uint64{item.IDTag(id)}}, Blobs: []backend.Blob{{Kind: backend.Original, Data: []byte(text)}}})
	}
	_, err := s.Store.Accept(t.Context(), items)
	require.NoError(t, err)
}

func states(t *testing.T, s Space, class backend.Class, ids ...string) map[string]*backend.Source {
	t.Helper()
	srcs, err := s.Store.Sources(t.Context(), backend.Partition{Class: class, Sub: "s"}, ids)
	require.NoError(t, err)
	out := map[string]*backend.Source{}
	for i, src := range srcs {
		out[ids[i]] = src
	}
	return out
}

// TestPoisonFailsAlone checks that a plug-in that fails for one item of a batch does not affect the others.
func TestPoisonFailsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := pipe(), space(t, inmem.New())
		want := map[string]string{"embed-panic": CodeEmbedding, "embed-error": CodeEmbedding, "embed-short": CodeEmbedding, "embed-few": CodeEmbedding, "embed-nan": CodeEmbedding,
			"extract-panic": CodeExtraction, "extract-error": CodeExtraction, "extract-wild": "", "good": "", "fine": ""}
		texts, ids := map[string]string{}, []string{}
		for id := range want {
			texts[id] = "The " + id + " of the kettle."
			ids = append(ids, id)
		}
		accept(t, s, backend.Memory, "text/plain", texts)
		for range 2 {
			_, err := c.Step(t.Context(), s, "t")
			require.NoError(t, err)
			time.Sleep(time.Second)
		}
		for id, src := range states(t, s, backend.Memory, ids...) {
			if want[id] == "" {
				require.Equal(t, backend.Completed, src.State, id)
				continue
			}
			require.Equal(t, backend.Errored, src.State, id)
			require.Equal(t, want[id], src.ErrorCode, id)
			require.Equal(t, 2, src.Attempts, id)
		}
	})
}

func TestParserThatPanicsFailsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := pipe(), space(t, inmem.New())
		accept(t, s, backend.Knowledge, "application/x-crash", map[string]string{"bad": "a parse-panic", "good": "The kettle.", "empty": " "})
		_, err := c.Step(t.Context(), s, "t")
		require.NoError(t, err)
		got := states(t, s, backend.Knowledge, "bad", "good", "empty")
		require.Equal(t, backend.Errored, got["bad"].State)
		require.NotEmpty(t, got["bad"].ErrorCode)
		require.NotContains(t, got["bad"].ErrorMessage, "parse-panic")
		require.Equal(t, backend.Completed, got["good"].State)
		require.Equal(t, backend.Errored, got["empty"].State)
	})
}

// TestIndexThatCannotFollow checks that an item whose changes an index can't apply is deferred with its code, and keeps its state.
func TestIndexThatCannotFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := backendtest.NewPlan()
		c, s := pipe(), space(t, backendtest.Faulty(inmem.New(), plan))
		accept(t, s, backend.Memory, "text/plain", map[string]string{"m": "The kettle."})
		plan.Add(backendtest.Fault{Method: "Store.Changes", Err: errors.New("disk")})
		_, err := c.Step(t.Context(), s, "t")
		require.Error(t, err)
		src := states(t, s, backend.Memory, "m")["m"]
		require.Equal(t, backend.GraphCreation, src.State)
		require.Equal(t, CodeStorage, src.ErrorCode)
		plan.Clear()
		time.Sleep(time.Second)
		_, err = c.Step(t.Context(), s, "t")
		require.NoError(t, err)
		require.Equal(t, backend.Completed, states(t, s, backend.Memory, "m")["m"].State)
	})
}

// TestStopGivesBack checks that items that were being processed when the service stopped can be claimed at once.
func TestStopGivesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := pipe(), space(t, inmem.New())
		accept(t, s, backend.Memory, "text/plain", map[string]string{"m": "The kettle."})
		ctx, cancel := context.WithCancel(t.Context())
		s.Claimed = func(bool) { cancel() }
		_, err := c.Step(ctx, s, "t")
		require.ErrorIs(t, err, context.Canceled)
		s.Claimed = func(bool) {}
		n, err := c.Step(t.Context(), s, "u")
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.Equal(t, backend.Completed, states(t, s, backend.Memory, "m")["m"].State)
	})
}

func TestFactSubjectKeepsItsType(t *testing.T) {
	t.Parallel()
	j := &job{prep: &prepared{doc: &item.Doc{}, spans: []extract.Span{{Start: 0, End: 50}}}, out: &extract.Output{
		Mentions: []extract.Mention{{Key: extract.Key("Acme"), Name: "Acme", Type: extract.TypeOrganization}},
		Facts:    []extract.Fact{{Subject: "Acme", Predicate: "based_in", Object: "Lisbon"}, {Subject: "Ann", Predicate: "likes", Object: "tea"}}}}
	var f backend.Finished
	graphOf(j, &f)
	types := map[string]string{}
	for _, m := range f.Mentions {
		types[m.Key] = m.Type
	}
	require.Equal(t, map[string]string{extract.Key("Acme"): extract.TypeOrganization, extract.Key("Ann"): extract.TypePerson}, types)
}

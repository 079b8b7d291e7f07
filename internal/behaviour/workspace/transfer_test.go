package workspace_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// fillTenant adds items of each kind to a tenant, in two sub-tenants and the default one.
func fillTenant(t *testing.T, svc *contextmem.Service, tn contextmem.Tenant) {
	t.Helper()
	ctx := t.Context()
	_, err := tn.AddSchemaFields(ctx, []contextmem.Field{{Name: "team", Match: true}, {Name: "about", Dense: true}})
	require.NoError(t, err)
	for _, sub := range []string{"", "alice", "default"} {
		s := tn.Sub(sub)
		_, err := s.AddMemories(ctx, contextmem.MemoryBatch{Metadata: map[string]any{"team": "blue"}, Memories: []contextmem.Memory{
			{ID: "plain", Text: "The kettle of " + sub + " stands on the top shelf.", Title: "Kettle", Session: "s1", Time: servicetest.OnDay("2024-03-01")},
			{ID: "pairs", Pairs: []contextmem.Pair{{User: "Where do I live?", Assistant: "You moved to Porto in May."}}, UserName: "Ann"},
			{ID: "infer", Text: "I really love black coffee. My sister is called Mia.", Infer: true, UserName: "Ann", Instructions: "Only preferences."},
			{ID: "rel", Text: "Bob lives in Lisbon.", Time: servicetest.OnDay("2020-03-01"), ForcefulRelations: &content.ForcefulRelations{IDs: []string{"plain"}, Properties: map[string]any{"why": "x"}}},
			{ID: "rob", Text: "Robert Smith moved to Porto.", Time: servicetest.OnDay("2022-03-01"), TTL: time.Hour},
		}, Graphs: map[string]content.SuppliedGraph{"plain": {Entities: map[string]content.SuppliedEntity{"a": {Name: "Kettle"}, "b": {Name: "Shelf"}},
			Relations: []content.SuppliedRelation{{Source: "a", Target: "b", Predicate: "stands_on"}}}}})
		require.NoError(t, err)
		_, err = s.AddKnowledge(ctx, contextmem.KnowledgeBatch{Files: []contextmem.File{
			{Name: "notes.md", Data: []byte("# Wells\n\nWells are dug by hand at Acme Corp. <b>&amp;</b> \u2028 end."), Metadata: map[string]any{"about": "water supply"}, Additional: map[string]any{"page": 3}},
			{Name: "secret.txt", Data: []byte("The vault code is kept by Zoe."), ACL: []string{"zoe"}, URL: "https://example.com/x"},
			{Name: "broken.pdf", Data: []byte("%PDF-1.4 \xff\xfe nothing")},
		}, Apps: []contextmem.AppItem{{ID: "mail", Kind: content.AppEmail, Provider: "gmail", ExternalID: "m1", Timestamp: "2024-05-01T10:00:00Z",
			Fields: map[string]any{"subject": "Invoice", "body": "The invoice of Acme is due on Friday."}, Meta: map[string]any{"k": 1}}}})
		require.NoError(t, err)
	}
	require.NoError(t, svc.Drain(ctx))
	s := tn.Sub("alice")
	m, err := s.MergeEntities(ctx, contextmem.MergeEntitiesRequest{Class: contextmem.ClassMemory, From: "Bob", Into: "Robert Smith", Reason: "one person"})
	require.NoError(t, err)
	require.NoError(t, s.UndoMerge(ctx, contextmem.ClassMemory, m.ID))
	_, err = tn.Sub("").MergeEntities(ctx, contextmem.MergeEntitiesRequest{Class: contextmem.ClassMemory, From: "Bob", Into: "Robert Smith", Reason: "one person"})
	require.NoError(t, err)
	res, err := s.Recall(ctx, contextmem.Recall{Class: contextmem.ClassMemory, Query: "kettle"})
	require.NoError(t, err)
	_, err = svc.AddFeedback(ctx, contextmem.Feedback{RequestID: res.RequestID, Text: "good", Rating: contextmem.RatingPositive, Tenant: tn.ID(), Sub: "alice"})
	require.NoError(t, err)
}

func export(t *testing.T, tn contextmem.Tenant) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, tn.Export(t.Context(), &b))
	return b.Bytes()
}

// exportBody returns an export without its first and last line, which have its time.
func exportBody(b []byte) string {
	lines := strings.SplitAfter(strings.TrimSuffix(string(b), "\n"), "\n")
	return strings.Join(lines[1:len(lines)-1], "")
}

func TestExportAndImportLoseNothing(t *testing.T) {
	t.Parallel()
	openings := map[string]func(t *testing.T) *contextmem.Service{
		"inmem": func(t *testing.T) *contextmem.Service {
			svc, _ := servicetest.Open(t, &contextmem.Options{FeedbackBoosts: true})
			return svc
		},
		"files": func(t *testing.T) *contextmem.Service {
			svc, err := contextmem.Open(t.Context(), t.TempDir(), &contextmem.Options{FeedbackBoosts: true})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, svc.Close()) })
			return svc
		},
	}
	for name, start := range openings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, svc := t.Context(), start(t)
			from := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "full"})
			fillTenant(t, svc, from)
			file := export(t, from)
			other := svc.Org("other")
			info, err := other.ImportTenant(ctx, "full", bytes.NewReader(file))
			require.NoError(t, err)
			require.Equal(t, contextmem.TenantReady, info.State)
			to := other.Tenant("full")
			require.Equal(t, exportBody(file), exportBody(export(t, to)), "what is exported again is the same")

			boosts, err := from.Boosts(ctx)
			require.NoError(t, err)
			require.Len(t, boosts, 1)
			got, err := to.Boosts(ctx)
			require.NoError(t, err)
			require.Equal(t, boosts, got)
			for _, sub := range []string{"", "alice", "default"} {
				a, b := from.Sub(sub), to.Sub(sub)
				for _, class := range []contextmem.Class{contextmem.ClassKnowledge, contextmem.ClassMemory} {
					want, err := a.List(ctx, contextmem.ListRequest{Class: class, Content: true})
					require.NoError(t, err)
					have, err := b.List(ctx, contextmem.ListRequest{Class: class, Content: true})
					require.NoError(t, err)
					require.Equal(t, want, have)
					require.NotEmpty(t, want.Sources)
					for _, q := range []string{"kettle on the shelf", "where does Robert live?", "black coffee", "invoice Acme", "wells", "vault"} {
						for _, principals := range [][]string{nil, {"zoe"}, {"eve"}} {
							r := contextmem.Recall{Class: class, Query: q, Principals: principals, Filters: contextmem.Filters{}}
							want, err := a.Recall(ctx, r)
							require.NoError(t, err)
							have, err := b.Recall(ctx, r)
							require.NoError(t, err)
							require.Equal(t, want.Chunks, have.Chunks, q)
						}
					}
					rels := func(s contextmem.Sub) (out []string) {
						p, err := s.GraphRelations(ctx, contextmem.GraphRelationsRequest{Class: class, Limit: 100})
						require.NoError(t, err)
						for _, g := range p.Groups {
							for _, r := range g.Relations {
								out = append(out, g.Source.Name+" "+r.Canonical+" "+g.Target.Name)
							}
						}
						return out
					}
					require.Equal(t, rels(a), rels(b))
				}
			}
		})
	}
}

func TestExportOfVectors(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	svc, _ := servicetest.Open(t, nil)
	raw := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "raw", Embeddings: true, Dimension: 3})
	_, err := raw.Sub("a").InsertVectors(ctx, contextmem.InsertVectorsRequest{Sources: []contextmem.VectorSource{
		{SourceID: "s", Metadata: map[string]any{"k": "v"}, Vectors: []contextmem.Vector{{ChunkID: "c1", Vector: []float32{1, 0, 0}}, {ChunkID: "c2", Vector: []float32{0, 1, 1}}}},
		{SourceID: "t", Vectors: []contextmem.Vector{{ChunkID: "c3", Vector: []float32{0, 0, 1}}}}}})
	require.NoError(t, err)
	file := export(t, raw)
	_, err = svc.ImportTenant(ctx, "copy", bytes.NewReader(file))
	require.NoError(t, err)
	require.Equal(t, exportBody(file), exportBody(export(t, svc.Tenant("copy"))))
	q := contextmem.SearchVectorsRequest{Vector: []float32{0, 1, 0}, WithVectors: true}
	want, err := raw.Sub("a").SearchVectors(ctx, q)
	require.NoError(t, err)
	have, err := svc.Tenant("copy").Sub("a").SearchVectors(ctx, q)
	require.NoError(t, err)
	require.Len(t, want, 3)
	require.Equal(t, want, have)
}

// requireNoTenant checks that an id is free, and that no workspace is left.
func requireNoTenant(t *testing.T, svc *contextmem.Service, id string) {
	t.Helper()
	_, err := svc.Tenant(id).Info(t.Context())
	require.ErrorIs(t, err, contextmem.ErrNotFound)
}

func TestImportRefusesDamage(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	svc, tn := servicetest.Open(t, nil)
	servicetest.Remember(t, tn.Sub("a"), contextmem.Memory{ID: "m", Text: "The kettle is on the shelf."}, contextmem.Memory{ID: "n", Text: "The pot is below.", Metadata: map[string]any{"k": "v"}})
	file := export(t, tn)
	n := len(file)
	t.Run("cut", func(t *testing.T) {
		for i := range 60 {
			at := rand.IntN(n)
			if i == 0 {
				at = bytes.LastIndexByte(file[:n-1], '\n') + 1 // between two lines
			}
			_, err := svc.ImportTenant(ctx, "new", bytes.NewReader(file[:at]))
			require.ErrorIs(t, err, contextmem.ErrInvalid)
			require.ErrorContains(t, err, "line ")
			requireNoTenant(t, svc, "new")
		}
	})
	t.Run("changed", func(t *testing.T) {
		last := bytes.LastIndexByte(file[:n-1], '\n') // the end line is no content: its hash speaks of what is before it
		for i := range 60 {
			b := bytes.Clone(file)
			at, bit := rand.IntN(last), byte(1)<<rand.IntN(7)
			if i == 0 {
				at, bit = bytes.Index(b[last:], []byte(`"sha256":"`))+last+len(`"sha256":"`), 1
			}
			b[at] ^= bit
			_, err := svc.ImportTenant(ctx, "new", bytes.NewReader(b))
			require.ErrorIs(t, err, contextmem.ErrInvalid, "bit %d of byte %d", bit, at)
			requireNoTenant(t, svc, "new")
		}
	})
	t.Run("forged access list", func(t *testing.T) {
		b := bytes.Replace(file, []byte(`"doc":{`), []byte(`"doc":{"acl":["zoe"],`), 1)
		require.NotEqual(t, file, b)
		_, err := svc.ImportTenant(ctx, "new", bytes.NewReader(b))
		require.ErrorContains(t, err, "line 2 has tags")
		requireNoTenant(t, svc, "new")
	})
	t.Run("reader fails", func(t *testing.T) {
		_, err := svc.ImportTenant(ctx, "new", io.MultiReader(bytes.NewReader(file[:n/2]), failingReader{}))
		require.ErrorIs(t, err, errBroken)
		requireNoTenant(t, svc, "new")
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(ctx)
		_, err := svc.ImportTenant(ctx, "new", io.MultiReader(bytes.NewReader(file[:n/2]), cancellingReader{cancel}, bytes.NewReader(file[n/2:])))
		require.ErrorIs(t, err, context.Canceled)
		requireNoTenant(t, svc, "new")
	})
	t.Run("taken", func(t *testing.T) {
		_, err := svc.ImportTenant(ctx, tn.ID(), bytes.NewReader(file))
		require.ErrorIs(t, err, contextmem.ErrExists)
		require.Equal(t, exportBody(file), exportBody(export(t, tn)), "the tenant that is there stays")
	})
	_, err := svc.ImportTenant(ctx, "new", bytes.NewReader(file))
	require.NoError(t, err)
}

var errBroken = errors.New("broken pipe")

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, errBroken }

// cancellingReader cancels a context when it is read.
type cancellingReader struct{ stop func() }

func (s cancellingReader) Read([]byte) (int, error) {
	s.stop()
	return 0, io.EOF
}

// TestImportThatDies checks that the start after a process died during an import deletes the tenant.
func TestImportThatDies(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	_, tn := servicetest.Open(t, nil)
	servicetest.Remember(t, tn.Sub("a"), contextmem.Memory{ID: "m", Text: "The kettle is on the shelf."})
	file := export(t, tn)
	dir, copied := t.TempDir(), t.TempDir()
	svc, err := contextmem.Open(ctx, dir, nil)
	require.NoError(t, err)
	defer svc.Close()
	died := false
	at := len(file) / 2
	_, err = svc.ImportTenant(ctx, "new", io.MultiReader(bytes.NewReader(file[:at]), cancellingReader{func() {
		if died {
			return
		}
		died = true
		info, err := svc.Tenant("new").Info(ctx)
		assert.NoError(t, err)
		assert.False(t, info.Ready())
		_, err = svc.Tenant("new").Stats(ctx)
		assert.ErrorIs(t, err, contextmem.ErrNotReady)
		assert.NoError(t, os.CopyFS(copied, os.DirFS(dir))) // what a crash would leave
	}}, bytes.NewReader(file[at:])))
	require.NoError(t, err)
	require.True(t, died)
	again, err := contextmem.Open(ctx, copied, nil)
	require.NoError(t, err)
	defer again.Close()
	requireNoTenant(t, again, "new")
	_, err = again.ImportTenant(ctx, "new", bytes.NewReader(file))
	require.NoError(t, err)
	var h struct{ Header struct{ Format int } }
	require.NoError(t, json.Unmarshal(file[:bytes.IndexByte(file, '\n')], &h))
	require.Equal(t, 1, h.Header.Format)
}

// TestImportBesideOthers checks that an import neither deletes the tenant that another fills or that was made meanwhile, nor takes it for its own.
func TestImportBesideOthers(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	_, tn := servicetest.Open(t, nil)
	servicetest.Remember(t, tn.Sub("a"), contextmem.Memory{ID: "m", Text: "The kettle is on the shelf."})
	file := export(t, tn)
	at := len(file) / 2
	during := func(svc *contextmem.Service, do func()) error {
		once := sync.Once{}
		_, err := svc.ImportTenant(ctx, "new", io.MultiReader(bytes.NewReader(file[:at]), cancellingReader{func() { once.Do(do) }}, bytes.NewReader(file[at:])))
		return err
	}
	t.Run("another import into the same id", func(t *testing.T) {
		svc, _ := servicetest.Open(t, nil)
		require.NoError(t, during(svc, func() {
			_, err := svc.ImportTenant(ctx, "new", bytes.NewReader(file))
			require.ErrorIs(t, err, contextmem.ErrExists)
			_, err = svc.ImportTenant(ctx, "new", bytes.NewReader(file[:at]))
			require.Error(t, err)
		}))
		require.Equal(t, []string{"m"}, servicetest.RecallIDs(t, svc.Tenant("new").Sub("a"), contextmem.Recall{Query: "where is the kettle?"}))
	})
	t.Run("deleted and made again", func(t *testing.T) {
		svc, _ := servicetest.Open(t, nil)
		err := during(svc, func() {
			require.NoError(t, svc.Tenant("new").Delete(ctx))
			servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "new"})
			servicetest.Remember(t, svc.Tenant("new").Sub("a"), contextmem.Memory{ID: "other", Text: "The kettle is in the cellar."})
		})
		require.Error(t, err)
		require.Equal(t, []string{"other"}, servicetest.RecallIDs(t, svc.Tenant("new").Sub("a"), contextmem.Recall{Query: "where is the kettle?"}))
	})
}

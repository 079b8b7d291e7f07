package servicetest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/facts"
)

// newBackend returns the backend of a service. backend/postgres replaces it to run these tests on its own.
var newBackend = func(testing.TB) backend.Backend { return inmem.New() }

// Open returns a service in memory with a tenant "acme" that is ready.
func Open(t *testing.T, o *contextmem.Options) (*contextmem.Service, contextmem.Tenant) {
	t.Helper()
	svc, err := contextmem.New(t.Context(), newBackend(t), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, svc.Close()) })
	return svc, Tenant(t, svc, contextmem.TenantSpec{ID: "acme"})
}

func Tenant(t *testing.T, svc *contextmem.Service, spec contextmem.TenantSpec) contextmem.Tenant {
	t.Helper()
	_, err := svc.CreateTenant(t.Context(), spec)
	require.NoError(t, err)
	tn := svc.Tenant(spec.ID)
	require.NoError(t, tn.WaitReady(t.Context()))
	return tn
}

func Remember(t *testing.T, s contextmem.Sub, ms ...contextmem.Memory) []string {
	t.Helper()
	res, err := s.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: ms})
	require.NoError(t, err)
	require.Zero(t, res.Failed)
	ids := res.IDs()
	Done(t, s, ids...)
	return ids
}

// Done waits until the items are completed.
func Done(t *testing.T, s contextmem.Sub, ids ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	st, err := s.Wait(ctx, ids...)
	require.NoError(t, err)
	for _, x := range st {
		require.Equal(t, contextmem.StatusCompleted, x.Status, "%s: %s %s", x.ID, x.ErrorCode, x.ErrorMessage)
	}
}

func Texts(r *contextmem.Result) []string {
	var out []string
	for _, c := range r.Chunks {
		out = append(out, c.Text)
	}
	return out
}

func RecallIDs(t *testing.T, s contextmem.Sub, q contextmem.Recall) []string {
	t.Helper()
	if q.Class == 0 {
		q.Class = contextmem.ClassMemory
	}
	res, err := s.Recall(t.Context(), q)
	require.NoError(t, err)
	ids := []string{}
	for _, c := range res.Chunks {
		ids = append(ids, c.SourceID)
	}
	slices.Sort(ids)
	return ids
}

// RecallReturns reports whether a recall of memories returns a chunk with the text want.
func RecallReturns(t *testing.T, sub contextmem.Sub, query, want string) bool {
	t.Helper()
	res, err := sub.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: query})
	require.NoError(t, err)
	for _, c := range res.Chunks {
		if c.Text == want {
			return true
		}
	}
	return false
}

func Find(t *testing.T, s contextmem.Sub, query string) []string {
	t.Helper()
	var ids []string
	for _, mode := range []contextmem.Mode{contextmem.ModeFast, contextmem.ModeThinking} {
		for _, a := range []contextmem.Alpha{{}, contextmem.FixedAlpha(0), contextmem.FixedAlpha(1), contextmem.AutoAlpha()} {
			res, err := s.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: query, Mode: mode, Alpha: a})
			require.NoError(t, err)
			for _, c := range res.Chunks {
				ids = append(ids, c.SourceID)
			}
		}
	}
	res, err := s.BooleanRecall(t.Context(), contextmem.BooleanRecallRequest{Class: contextmem.ClassMemory, Query: query})
	require.NoError(t, err)
	for _, c := range res.Chunks {
		ids = append(ids, c.SourceID)
	}
	return ids
}

func HistoryOf(t *testing.T, s contextmem.Sub, id string, principals ...string) *content.History {
	t.Helper()
	h, err := s.History(t.Context(), content.HistoryRequest{ID: id, Principals: principals})
	require.NoError(t, err)
	return h
}

// FactID returns the id of the fact about Anna Lind with an object.
func FactID(t *testing.T, s contextmem.Sub, class contextmem.Class, object string) string {
	t.Helper()
	page, err := s.Facts(t.Context(), facts.Request{Class: class, Subject: "Anna Lind", History: true})
	require.NoError(t, err)
	for _, f := range page.Facts {
		if f.Object == object {
			return f.ID
		}
	}
	require.Fail(t, "no such fact", object)
	return ""
}

// AddDocuments adds plain texts as documents and waits for their completion.
func AddDocuments(t *testing.T, s contextmem.Sub, files ...contextmem.File) {
	t.Helper()
	files = slices.Clone(files)
	for i := range files {
		files[i].Name = files[i].ID + ".txt"
	}
	for batch := range slices.Chunk(files, 100) {
		res, err := s.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Files: batch})
		require.NoError(t, err)
		require.Zero(t, res.Failed)
		Done(t, s, res.IDs()...)
	}
}

// PathText renders a path as "subject predicate object; ...".
func PathText(p contextmem.Path) string {
	var b strings.Builder
	for i, x := range p.Triplets {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(x.Source.Name + " " + x.Relation.Canonical + " " + x.Target.Name)
	}
	return b.String()
}

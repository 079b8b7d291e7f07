package memory_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// employers are the employers of Anna Lind according to the facts, the profile and the graph context of a recall.
type employers struct{ Facts, Profile, Graph []string }

func worksAt(t *testing.T, s contextmem.Sub) (out employers) {
	t.Helper()
	page, err := s.Facts(t.Context(), facts.Request{Class: contextmem.ClassMemory, Subject: "Anna Lind"})
	require.NoError(t, err)
	for _, f := range page.Facts {
		if f.Predicate == "works_at" && f.Status == facts.Current {
			out.Facts = append(out.Facts, f.Object)
		}
	}
	p, err := s.Profile(t.Context(), facts.ProfileRequest{Class: contextmem.ClassMemory, Subject: "Anna Lind"})
	require.NoError(t, err)
	for _, slot := range p.Slots {
		for _, f := range slot.Facts {
			if f.Predicate == "works_at" && f.Status == facts.Current {
				out.Profile = append(out.Profile, f.Object)
			}
		}
	}
	res, err := s.Recall(t.Context(), contextmem.Recall{Query: "Where does Anna Lind work?", Class: contextmem.ClassMemory, GraphContext: true})
	require.NoError(t, err)
	for _, path := range slices.Concat(res.Graph.ChunkRelations, res.Graph.QueryPaths) {
		if x := path.Triplets[0]; len(path.Triplets) == 1 && x.Relation.Canonical == "works_at" && !slices.Contains(out.Graph, x.Target.Name) {
			require.False(t, x.Relation.Superseded)
			out.Graph = append(out.Graph, x.Target.Name)
		}
	}
	for _, list := range [][]string{out.Facts, out.Profile, out.Graph} {
		slices.Sort(list)
	}
	return out
}

func only(names ...string) employers { return employers{names, names, names} }

// TestRestoreRevivesFacts checks that a fact retired by the graph is current again when its memory is restored.
func TestRestoreRevivesFacts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	svc, err := contextmem.Open(t.Context(), dir, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, svc.Close()) }()
	s := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"}).Sub("u")
	servicetest.Remember(t, s, contextmem.Memory{ID: "first", Text: "Anna Lind works at Zorblax since March 2019.", Time: servicetest.OnDay("2020-01-01")},
		contextmem.Memory{ID: "second", Text: "Anna Lind works at Quux since May 2021.", Time: servicetest.OnDay("2022-01-01")})
	require.NoError(t, s.WaitRefined(t.Context()))
	require.Equal(t, only("quux"), worksAt(t, s))

	_, err = s.Restore(t.Context(), "nothing")
	require.ErrorIs(t, err, contextmem.ErrNotFound)
	n, err := s.Restore(t.Context(), "second")
	require.NoError(t, err)
	assert.Zero(t, n, "nothing took its place")
	require.Equal(t, only("quux"), worksAt(t, s))
	n, err = s.Restore(t.Context(), "first")
	require.NoError(t, err)
	assert.NotZero(t, n)
	require.Equal(t, only("quux", "zorblax"), worksAt(t, s))
	n, err = s.Restore(t.Context(), "first")
	require.NoError(t, err)
	assert.Zero(t, n, "it holds already")

	require.NoError(t, svc.Close())
	svc, err = contextmem.Open(t.Context(), dir, nil)
	require.NoError(t, err)
	s = svc.Tenant("acme").Sub("u")
	require.NoError(t, svc.Tenant("acme").WaitReady(t.Context()))
	require.Equal(t, only("quux", "zorblax"), worksAt(t, s), "after a restart")
	old, err := s.Facts(t.Context(), facts.Request{Class: contextmem.ClassMemory, Subject: "Anna Lind", History: true})
	require.NoError(t, err)
	for _, f := range old.Facts {
		assert.Empty(t, f.SupersededBy, f.Object)
	}

	servicetest.Remember(t, s, contextmem.Memory{ID: "third", Text: "Anna Lind works at Fizzle since June 2023.", Time: servicetest.OnDay("2024-01-01")})
	require.NoError(t, s.WaitRefined(t.Context()))
	require.Equal(t, only("fizzle"), worksAt(t, s), "a newer fact retires both")
	_, err = s.Restore(t.Context(), "first")
	require.NoError(t, err)
	require.Equal(t, only("fizzle", "zorblax"), worksAt(t, s), "only that of the memory which was restored")

	require.NoError(t, s.Supersede(t.Context(), "first", "third", "a mistake"))
	require.Equal(t, only("fizzle"), worksAt(t, s), "a caller may say so after all")
}

// TestRestoreAgainstManyFacts restores facts that several later memories have retired.
func TestRestoreAgainstManyFacts(t *testing.T) {
	t.Parallel()
	servicetest.InEachService(t, func(t *testing.T, tn contextmem.Tenant) {
		s := tn.Sub("u")
		servicetest.Remember(t, s, contextmem.Memory{ID: "first", Text: "Anna Lind works at Zorblax since March 2019.", Time: servicetest.OnDay("2020-01-01")},
			contextmem.Memory{ID: "second", Text: "Anna Lind works at Quux since May 2021.", Time: servicetest.OnDay("2022-01-01")},
			contextmem.Memory{ID: "third", Text: "Anna Lind works at Fizzle since June 2023.", Time: servicetest.OnDay("2024-01-01")})
		require.NoError(t, s.WaitRefined(t.Context()))
		require.Equal(t, only("fizzle"), worksAt(t, s))
		_, err := s.Restore(t.Context(), "first")
		require.NoError(t, err)
		require.Equal(t, only("fizzle", "zorblax"), worksAt(t, s))
		_, err = s.Restore(t.Context(), "second")
		require.NoError(t, err)
		require.Equal(t, only("fizzle", "quux", "zorblax"), worksAt(t, s))
	})
}

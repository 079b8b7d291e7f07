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

// factStates returns the facts of Anna Lind with one of the predicates, as "object: status", with "+" after restored
// ones.
func factStates(t *testing.T, s contextmem.Sub, class contextmem.Class, predicates ...string) (out []string) {
	t.Helper()
	page, err := s.Facts(t.Context(), facts.Request{Class: class, Subject: "Anna Lind", History: true})
	require.NoError(t, err)
	for _, f := range page.Facts {
		if !slices.Contains(predicates, f.Predicate) {
			continue
		}
		mark := ""
		if !f.Restored.IsZero() {
			mark = "+"
		}
		out = append(out, f.Object+": "+string(f.Status)+mark)
	}
	slices.Sort(out)
	return out
}

// TestRestoreFact restores one of two facts of a memory that a later memory has retired, and retires it again.
func TestRestoreFact(t *testing.T) {
	t.Parallel()
	servicetest.InEachService(t, func(t *testing.T, tn contextmem.Tenant) {
		s, ctx := tn.Sub("u"), t.Context()
		servicetest.Remember(t, s, contextmem.Memory{ID: "first", Text: "Anna Lind works at Zorblax since March 2019. Anna Lind lives in Oslo.", Time: servicetest.OnDay("2020-01-01")},
			contextmem.Memory{ID: "second", Text: "Anna Lind works at Quux since May 2021. Anna Lind lives in Bergen.", Time: servicetest.OnDay("2022-01-01")})
		require.NoError(t, s.WaitRefined(ctx))
		before := []string{"bergen: current", "oslo: superseded", "quux: current", "zorblax: superseded"}
		require.Equal(t, before, factStates(t, s, contextmem.ClassMemory, "works_at", "lives_in"))

		id := servicetest.FactID(t, s, contextmem.ClassMemory, "zorblax")
		f, err := s.RestoreFact(ctx, 0, id)
		require.NoError(t, err)
		assert.Equal(t, id, f.ID)
		assert.Equal(t, facts.Current, f.Status)
		assert.Empty(t, f.SupersededBy)
		assert.False(t, f.Restored.IsZero())
		require.Equal(t, []string{"bergen: current", "oslo: superseded", "quux: current", "zorblax: current+"}, factStates(t, s, contextmem.ClassMemory, "works_at", "lives_in"))
		require.Equal(t, only("quux", "zorblax"), worksAt(t, s))

		for name, refused := range map[string]struct {
			err  error
			call func() error
		}{
			"twice":              {contextmem.ErrConflict, func() error { _, err := s.RestoreFact(ctx, 0, id); return err }},
			"one that holds":     {contextmem.ErrConflict, func() error { _, err := s.RestoreFact(ctx, 0, servicetest.FactID(t, s, 0, "quux")); return err }},
			"retire it":          {contextmem.ErrConflict, func() error { _, err := s.RetireFact(ctx, 0, servicetest.FactID(t, s, 0, "oslo")); return err }},
			"of another class":   {contextmem.ErrNotFound, func() error { _, err := s.RestoreFact(ctx, contextmem.ClassKnowledge, id); return err }},
			"of another sub":     {contextmem.ErrNotFound, func() error { _, err := tn.Sub("v").RestoreFact(ctx, 0, id); return err }},
			"no id":              {contextmem.ErrNotFound, func() error { _, err := s.RestoreFact(ctx, 0, "first"); return err }},
			"a number":           {contextmem.ErrNotFound, func() error { _, err := s.RestoreFact(ctx, 0, "1"); return err }},
			"empty":              {contextmem.ErrNotFound, func() error { _, err := s.RestoreFact(ctx, 0, ""); return err }},
			"a class of vectors": {contextmem.ErrInvalid, func() error { _, err := s.RestoreFact(ctx, contextmem.ClassAll, id); return err }},
		} {
			require.ErrorIs(t, refused.call(), refused.err, name)
		}

		f, err = s.RetireFact(ctx, contextmem.ClassMemory, id)
		require.NoError(t, err)
		assert.Equal(t, facts.Superseded, f.Status)
		require.Equal(t, before, factStates(t, s, contextmem.ClassMemory, "works_at", "lives_in"))

		_, err = s.RestoreFact(ctx, 0, servicetest.FactID(t, s, 0, "oslo"))
		require.NoError(t, err)
		_, err = s.RestoreFact(ctx, 0, id)
		require.NoError(t, err)
		require.Equal(t, []string{"bergen: current", "oslo: current+", "quux: current", "zorblax: current+"}, factStates(t, s, contextmem.ClassMemory, "works_at", "lives_in"))
		servicetest.Remember(t, s, contextmem.Memory{ID: "third", Text: "Anna Lind works at Fizzle since June 2023.", Time: servicetest.OnDay("2024-01-01")})
		require.NoError(t, s.WaitRefined(ctx))
		require.Equal(t, only("fizzle"), worksAt(t, s), "what is told later retires it again")
		_, err = s.RestoreFact(ctx, 0, id)
		require.NoError(t, err)
		require.Equal(t, only("fizzle", "zorblax"), worksAt(t, s))

		servicetest.Remember(t, s, contextmem.Memory{ID: "first", Text: "Anna Lind works at Zorblax since March 2019. Anna Lind lives in Oslo.", Time: servicetest.OnDay("2020-01-01")})
		require.NoError(t, s.WaitRefined(ctx))
		require.Equal(t, only("fizzle"), worksAt(t, s), "it is told anew")
		_, err = s.RestoreFact(ctx, 0, id)
		require.ErrorIs(t, err, contextmem.ErrNotFound)
	})
}

// TestRestoreFactOfOneMemory restores a fact that another statement of the same memory has retired.
func TestRestoreFactOfOneMemory(t *testing.T) {
	t.Parallel()
	servicetest.InEachService(t, func(t *testing.T, tn contextmem.Tenant) {
		s := tn.Sub("u")
		servicetest.Remember(t, s, contextmem.Memory{ID: "one", Text: "Anna Lind lives in Oslo. In May 2021 she moved: Anna Lind lives in Bergen.", Time: servicetest.OnDay("2022-01-01")})
		require.NoError(t, s.WaitRefined(t.Context()))
		require.Equal(t, []string{"bergen: current", "oslo: superseded"}, factStates(t, s, contextmem.ClassMemory, "lives_in"))
		_, err := s.RestoreFact(t.Context(), 0, servicetest.FactID(t, s, 0, "oslo"))
		require.NoError(t, err)
		require.Equal(t, []string{"bergen: current", "oslo: current+"}, factStates(t, s, contextmem.ClassMemory, "lives_in"))
	})
}

// TestRestoreFactOfDocument checks that a restored fact of a document stays restored over a restart, with another
// embedder, and in backups.
func TestRestoreFactOfDocument(t *testing.T) {
	t.Parallel()
	dir, ctx := t.TempDir(), t.Context()
	svc, err := contextmem.Open(ctx, dir, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, svc.Close()) }()
	s := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"}).Sub("docs")
	for i, text := range []string{"Anna Lind works at Zorblax since March 2019.", "Anna Lind works at Quux since May 2021."} {
		res, err := s.AddKnowledge(ctx, contextmem.KnowledgeBatch{Files: []contextmem.File{{ID: []string{"first", "second"}[i], Name: "staff.md", Data: []byte(text), Time: servicetest.OnDay([]string{"2020-01-01", "2022-01-01"}[i])}}})
		require.NoError(t, err)
		_, err = s.Wait(ctx, res.IDs()...)
		require.NoError(t, err)
	}
	require.NoError(t, s.WaitRefined(ctx))
	require.Equal(t, []string{"quux: current", "zorblax: superseded"}, factStates(t, s, contextmem.ClassKnowledge, "works_at"))
	id := servicetest.FactID(t, s, contextmem.ClassKnowledge, "zorblax")
	_, err = s.RestoreFact(ctx, 0, id)
	require.ErrorIs(t, err, contextmem.ErrNotFound)
	_, err = s.RestoreFact(ctx, contextmem.ClassKnowledge, id)
	require.NoError(t, err)
	after := []string{"quux: current", "zorblax: current+"}
	require.Equal(t, after, factStates(t, s, contextmem.ClassKnowledge, "works_at"))

	require.NoError(t, svc.Close())
	svc, err = contextmem.Open(ctx, dir, &contextmem.Options{Embedder: servicetest.NewRotated(3)})
	require.NoError(t, err)
	tn := svc.Tenant("acme")
	s = tn.Sub("docs")
	_, err = tn.Reembed(ctx)
	require.NoError(t, err)
	require.Equal(t, after, factStates(t, s, contextmem.ClassKnowledge, "works_at"), "after a restart, with other vectors")

	copied := t.TempDir() + "/backup"
	_, err = svc.Backup(ctx, copied)
	require.NoError(t, err)
	restored := t.TempDir() + "/restored"
	require.NoError(t, contextmem.Restore(ctx, copied, restored))
	second, err := contextmem.Open(ctx, restored, &contextmem.Options{Embedder: servicetest.NewRotated(3)})
	require.NoError(t, err)
	defer func() { require.NoError(t, second.Close()) }()
	require.Equal(t, after, factStates(t, second.Tenant("acme").Sub("docs"), contextmem.ClassKnowledge, "works_at"), "from a backup")
	_, err = second.Tenant("acme").Sub("docs").RetireFact(ctx, contextmem.ClassKnowledge, id)
	require.NoError(t, err)
	require.Equal(t, []string{"quux: current", "zorblax: superseded"}, factStates(t, second.Tenant("acme").Sub("docs"), contextmem.ClassKnowledge, "works_at"))
}

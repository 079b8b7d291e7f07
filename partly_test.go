package contextmem_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/judge"
)

// TestMessageOfTwoMattersKeepsTheOther: a later message ends one of two matters that a message tells. A question about the other finds the message first,
// not shown as superseded; a question about the one that ended finds the later message first, and the result says that only a part is superseded.
func TestMessageOfTwoMattersKeepsTheOther(t *testing.T) {
	t.Parallel()
	const told, later = "I'm vegetarian and allergic to hazelnuts.", "I'm not vegetarian any more."
	svc, err := contextmem.Open(t.Context(), t.TempDir(), &contextmem.Options{Judge: judge.None, Reranker: contextmem.NoReranker})
	require.NoError(t, err)
	defer svc.Close()
	_, err = svc.EnsureTenant(t.Context(), contextmem.TenantSpec{ID: "t"})
	require.NoError(t, err)
	sub := svc.Tenant("t").Sub("me")
	day := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for i, m := range []contextmem.Memory{{ID: "told", Text: told}, {ID: "other", Text: "Our book club meets at Dee's."}, {ID: "later", Text: later}} {
		m.Time = day.AddDate(0, i, 0)
		_, err := sub.Remember(t.Context(), m)
		require.NoError(t, err)
		require.NoError(t, sub.WaitRefined(t.Context()))
	}
	ask := func(query string, what contextmem.Superseded) (*contextmem.Result, map[string]contextmem.Chunk) {
		r, err := sub.Recall(t.Context(), contextmem.Recall{Query: query, Class: contextmem.ClassMemory, Superseded: what})
		require.NoError(t, err)
		require.NotEmpty(t, r.Chunks)
		by := map[string]contextmem.Chunk{}
		for _, c := range r.Chunks {
			by[c.SourceID] = c
		}
		return r, by
	}
	r, by := ask("what am I allergic to?", "")
	assert.Equal(t, "told", r.Chunks[0].SourceID)
	assert.Nil(t, by["told"].SupersededBy)
	assert.Zero(t, by["told"].ValidTo)

	r, by = ask("am I vegetarian?", "")
	assert.Equal(t, "later", r.Chunks[0].SourceID)
	c := by["told"]
	require.NotNil(t, c.SupersededBy)
	assert.True(t, c.SupersededBy.Partly)
	assert.Equal(t, "I'm vegetarian", c.SupersededBy.Matter)
	assert.Equal(t, day.AddDate(0, 2, 0), c.SupersededBy.Time)
	assert.Zero(t, c.ValidTo, "the rest of it holds")
	assert.Contains(t, r.ContextBlock(500).Text, `superseded 2026-05-01 by later, only "I'm vegetarian"`)

	_, by = ask("am I vegetarian?", contextmem.SupersededDrop)
	assert.NotContains(t, by, "told")
	_, by = ask("what am I allergic to?", contextmem.SupersededDrop)
	assert.Contains(t, by, "told")
	whole, err := sub.Superseded(t.Context(), "told")
	require.NoError(t, err)
	require.NotNil(t, whole[0])
	assert.True(t, whole[0].Partly)
}

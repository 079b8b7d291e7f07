package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
)

// TestQuestions checks that the answer to each of the example's questions ranks first.
func TestQuestions(t *testing.T) {
	t.Parallel()
	svc, err := contextmem.Open(t.Context(), t.TempDir(), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, svc.Close()) })
	_, err = svc.CreateTenant(t.Context(), contextmem.TenantSpec{ID: "bakery"})
	require.NoError(t, err)
	bakery := svc.Tenant("bakery")
	require.NoError(t, bakery.WaitReady(t.Context()))
	require.NoError(t, addShipped(t.Context(), bakery))
	require.NoError(t, svc.DrainProgress(t.Context(), func(contextmem.Progress) {}))
	require.NoError(t, bakery.WaitRefined(t.Context()))
	for _, q := range questions {
		res, err := bakery.Sub(q.sub).Recall(t.Context(), contextmem.Recall{Class: q.class, Query: q.text, MaxResults: 2})
		require.NoError(t, err, q.text)
		require.NotEmpty(t, res.Chunks, q.text)
		assert.Equal(t, q.source, res.Chunks[0].SourceID, q.text)
		assert.Contains(t, strings.Join(strings.Fields(res.Chunks[0].Text), " "), q.says, q.text)
	}
}

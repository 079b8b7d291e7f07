package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/content"
)

func TestRejected(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	svc, err := contextmem.Open(ctx, t.TempDir(), nil)
	require.NoError(t, err)
	defer svc.Close()
	_, err = svc.EnsureTenant(ctx, contextmem.TenantSpec{ID: "acme", Schema: []contextmem.Field{{Name: "team", Type: "VARCHAR", Match: true}}})
	require.NoError(t, err)
	sub := svc.Tenant("acme").Sub("alice")
	var ms []contextmem.Memory
	for i := range 8 {
		ms = append(ms, contextmem.Memory{ID: fmt.Sprintf("tea-%d", i), Text: fmt.Sprintf("Tea number %d steeps for %d minutes.", i, i+2), Metadata: map[string]any{"team": "tea"}})
	}
	_, err = sub.Remember(ctx, append(ms, contextmem.Memory{ID: "bike", Text: "The red bicycle has a flat tyre."})...)
	require.NoError(t, err)
	_, err = sub.AddKnowledge(ctx, contextmem.KnowledgeBatch{Files: []contextmem.File{{ID: "secret", Name: "secret.txt", Data: []byte("The bicycle is behind the shed."), ACL: []string{"bob"}}}})
	require.NoError(t, err)
	require.NoError(t, svc.Drain(ctx))
	ask := func(t *testing.T, q contextmem.Recall) *contextmem.Result {
		if q.Class == 0 {
			q.Class = contextmem.ClassMemory
		}
		res, err := sub.Recall(ctx, q)
		require.NoError(t, err)
		return res
	}
	plain := ask(t, contextmem.Recall{Query: "How long does tea steep?", MaxResults: 3})
	assert.Empty(t, plain.Rejected)
	res := ask(t, contextmem.Recall{Query: "How long does tea steep?", MaxResults: 3, Rejected: 4})
	require.Len(t, res.Chunks, 3)
	for i := range res.Chunks {
		assert.Equal(t, plain.Chunks[i].ID, res.Chunks[i].ID, "asking for what is rejected changes nothing")
		assert.InDelta(t, plain.Chunks[i].Score, res.Chunks[i].Score, 1e-12)
	}
	require.Len(t, res.Rejected, 4)
	for _, r := range res.Rejected {
		assert.Equal(t, contextmem.ReasonRank, r.Reason)
		assert.LessOrEqual(t, r.Chunk.Score, res.Chunks[2].Score)
		assert.NotNil(t, r.Chunk.Explain)
		assert.Greater(t, r.Place, 3)
	}
	for name, tc := range map[string]struct {
		q    contextmem.Recall
		want contextmem.Reason
	}{
		"behind others":  {contextmem.Recall{Query: "How long does tea number 3 steep?", MaxResults: 1, Missing: "tea-7"}, contextmem.ReasonRank},
		"filtered":       {contextmem.Recall{Query: "bicycle", Missing: "bike", Filters: contextmem.Filters{Metadata: map[string]any{"team": "tea"}}}, contextmem.ReasonFilter},
		"not there":      {contextmem.Recall{Query: "bicycle", Missing: "nothing"}, contextmem.ReasonUnknown},
		"not to be seen": {contextmem.Recall{Query: "bicycle", Class: contextmem.ClassKnowledge, Missing: "secret", Principals: []string{"eve"}}, contextmem.ReasonUnknown},
		"irrelevant":     {contextmem.Recall{Query: "How long does tea steep?", Missing: "tea-1", MinRelevance: .999}, contextmem.ReasonRelevance},
	} {
		t.Run(name, func(t *testing.T) {
			res := ask(t, tc.q)
			require.NotEmpty(t, res.Rejected)
			assert.Equal(t, tc.want, res.Rejected[len(res.Rejected)-1].Reason)
		})
	}
	assert.Empty(t, ask(t, contextmem.Recall{Query: "bicycle", Missing: "bike"}).Rejected, "it is in the result")
	_, err = sub.Recall(ctx, contextmem.Recall{Query: "x", Rejected: 201})
	assert.ErrorContains(t, err, "Rejected")
}

func TestInspect(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	svc, err := contextmem.Open(ctx, t.TempDir(), nil)
	require.NoError(t, err)
	defer svc.Close()
	_, err = svc.EnsureTenant(ctx, contextmem.TenantSpec{ID: "acme"})
	require.NoError(t, err)
	sub := svc.Tenant("acme").Sub("docs")
	long := "# Ovens\n\n" + strings.Repeat("An oven is preheated before the dough goes in. ", 60) + "\n\n## Cleaning\n\n" + strings.Repeat("It is wiped when it is cold. ", 60)
	add := func(id, name, text string) {
		_, err := sub.AddKnowledge(ctx, contextmem.KnowledgeBatch{Files: []contextmem.File{{ID: id, Name: name, Data: []byte(text)}}})
		require.NoError(t, err)
		require.NoError(t, svc.Drain(ctx))
	}
	add("ovens", "ovens.md", long)
	add("bad", "bad.pdf", "%PDF-1.4 broken")
	in, err := sub.Inspect(ctx, content.InspectRequest{ID: "ovens", Limit: 2})
	require.NoError(t, err)
	require.Len(t, in.Chunks, 2)
	assert.True(t, in.More)
	assert.Equal(t, "Ovens", in.Chunks[0].Heading)
	require.Len(t, in.Versions, 1)
	assert.True(t, in.Versions[0].Found)
	add("ovens", "ovens.pdf", "%PDF-1.4 broken")
	in, err = sub.Inspect(ctx, content.InspectRequest{ID: "ovens"})
	require.NoError(t, err)
	require.Len(t, in.Versions, 2, "the new version failed, the old one is found")
	assert.Equal(t, []bool{false, true}, []bool{in.Versions[0].Found, in.Versions[1].Found})
	assert.NotEmpty(t, in.Versions[0].ErrorCode)
	assert.NotEmpty(t, in.Chunks)
	p, err := sub.List(ctx, contextmem.ListRequest{Statuses: []contextmem.Status{contextmem.StatusErrored}})
	require.NoError(t, err)
	assert.Equal(t, 2, p.Total)
	p, err = sub.List(ctx, contextmem.ListRequest{Statuses: []contextmem.Status{contextmem.StatusQueued, contextmem.StatusProcessing}})
	require.NoError(t, err)
	assert.Zero(t, p.Total)
	_, err = sub.List(ctx, contextmem.ListRequest{Statuses: []contextmem.Status{"lost"}})
	require.ErrorContains(t, err, "Statuses")
	st, err := svc.Tenant("acme").Stats(ctx)
	require.NoError(t, err)
	assert.Equal(t, map[contextmem.Status]int{contextmem.StatusErrored: 2}, st.States)
}

func TestKeyUse(t *testing.T) {
	t.Parallel()
	ctx, dir := t.Context(), t.TempDir()
	svc, err := contextmem.Open(ctx, dir, nil)
	require.NoError(t, err)
	k, text, err := svc.CreateKey(ctx, contextmem.KeySpec{Owner: "robot"})
	require.NoError(t, err)
	for range 3 {
		_, err = svc.VerifyKey(ctx, text)
		require.NoError(t, err)
	}
	ks, err := svc.Keys(ctx)
	require.NoError(t, err)
	require.Len(t, ks, 1)
	assert.Equal(t, int64(3), ks[0].Uses)
	used := ks[0].LastUsedAt
	assert.False(t, used.IsZero())
	require.NoError(t, svc.Close())
	svc, err = contextmem.Open(ctx, dir, nil)
	require.NoError(t, err)
	defer svc.Close()
	ks, err = svc.Keys(ctx)
	require.NoError(t, err)
	assert.Equal(t, int64(3), ks[0].Uses, "uses outlive the process")
	assert.True(t, used.Equal(ks[0].LastUsedAt))
	got, err := svc.ExpireKey(ctx, k.ID, k.CreatedAt)
	require.NoError(t, err)
	assert.True(t, got.ExpiresAt.Equal(k.CreatedAt))
	_, err = svc.VerifyKey(ctx, text)
	require.ErrorIs(t, err, contextmem.ErrUnauthorized)
	_, err = svc.ExpireKey(ctx, "0123", k.CreatedAt)
	require.ErrorIs(t, err, contextmem.ErrNotFound)
	require.NoError(t, svc.RevokeKey(ctx, k.ID))
	ks, err = svc.Keys(ctx)
	require.NoError(t, err)
	assert.Empty(t, ks)
}

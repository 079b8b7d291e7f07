package client_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/fault"
)

// TestErrorsNameFields makes the same wrong calls embedded and over REST: both errors name the field that the caller wrote.
func TestErrorsNameFields(t *testing.T) {
	t.Parallel()
	svc, url := serve(t, nil)
	_, err := svc.EnsureTenant(t.Context(), contextmem.TenantSpec{ID: "acme", Schema: []contextmem.Field{{Name: "year", Type: "INT32", Match: true}}})
	require.NoError(t, err)
	ctx := t.Context()
	memories := func(m contextmem.Memory) func(contextmem.Memories) error {
		return func(to contextmem.Memories) error {
			res, err := to.AddMemories(ctx, contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "good", Text: "Tea is ready."}, m}})
			if err == nil {
				err = res.Items[1].Err
			}
			return err
		}
	}
	recall := func(q contextmem.Recall) func(contextmem.Memories) error {
		return func(to contextmem.Memories) error { _, err := to.Recall(ctx, q); return err }
	}
	for field, call := range map[string]func(contextmem.Memories) error{
		"Memories[1].Text":             memories(contextmem.Memory{}),
		"Memories[1].Metadata.year":    memories(contextmem.Memory{Text: "x", Metadata: map[string]any{"year": "soon"}}),
		"Memories[1].Messages[0].Role": memories(contextmem.Memory{Messages: []contextmem.Message{{Role: "judge", Text: "x"}}}),
		"Query":                        recall(contextmem.Recall{}),
		"MaxResults":                   recall(contextmem.Recall{Query: "x", MaxResults: 5000}),
		"MinRelevance":                 recall(contextmem.Recall{Query: "x", MinRelevance: 2}),
		"PageSize": func(m contextmem.Memories) error {
			_, err := m.List(ctx, contextmem.ListRequest{PageSize: 5000})
			return err
		},
		"IDs": func(m contextmem.Memories) error {
			_, err := m.DeleteItems(ctx, contextmem.DeleteItemsRequest{IDs: []string{}})
			return err
		},
		"Limit": func(m contextmem.Memories) error { _, err := m.Facts(ctx, facts.Request{Limit: 5000}); return err },
		"PerSlot": func(m contextmem.Memories) error {
			_, err := m.Profile(ctx, facts.ProfileRequest{PerSlot: 5000})
			return err
		},
		"Version": func(m contextmem.Memories) error {
			_, err := m.RestoreVersion(ctx, content.RestoreVersionRequest{ID: "x"})
			return err
		},
	} {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			for _, m := range []contextmem.Memories{svc.Tenant("acme"), dial(t, url).Tenant("acme")} {
				var fe *fault.Error
				require.True(t, errors.As(call(m), &fe))
				assert.Equal(t, field, fe.Field, "%T: %v", m, fe)
				assert.Contains(t, fe.Error(), `field "`+field+`": `)
				assert.NotContains(t, fe.Err.Error(), `field "`)
			}
		})
	}
}

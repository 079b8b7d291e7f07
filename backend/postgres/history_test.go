package postgres

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
)

// TestHistoryOverPostgres checks that earlier versions are kept, restored, and deleted with their item over a database,
// as over files.
func TestHistoryOverPostgres(t *testing.T) {
	svc := serviceOver(t, openTest(t, t.Name(), nil))
	defer func() { require.NoError(t, svc.Close()) }()
	ctx := t.Context()
	_, err := svc.EnsureTenant(ctx, contextmem.TenantSpec{ID: "acme"})
	require.NoError(t, err)
	anna := svc.Tenant("acme").Sub("anna")
	history := func() (out []string) {
		t.Helper()
		require.NoError(t, svc.Drain(ctx))
		h, err := anna.History(ctx, content.HistoryRequest{ID: "m"})
		require.NoError(t, err)
		for _, v := range h.Versions {
			out = append(out, v.Text)
		}
		return out
	}
	for _, text := range []string{"I live in Oslo.", "I live in Lima.", "I live in Rome."} {
		remember(t, anna, contextmem.Memory{ID: "m", Text: text})
		require.NoError(t, svc.Drain(ctx))
	}
	assert.Equal(t, []string{"I live in Rome.", "I live in Lima.", "I live in Oslo."}, history())
	_, err = anna.RestoreVersion(ctx, content.RestoreVersionRequest{ID: "m", Version: 1})
	require.NoError(t, err)
	assert.Equal(t, []string{"I live in Oslo.", "I live in Rome.", "I live in Lima.", "I live in Oslo."}, history())
	_, err = anna.DeleteItems(ctx, contextmem.DeleteItemsRequest{IDs: []string{"m"}})
	require.NoError(t, err)
	_, err = anna.History(ctx, content.HistoryRequest{ID: "m"})
	require.ErrorIs(t, err, fault.ErrNotFound)
	remember(t, anna, contextmem.Memory{ID: "m", Text: "I am new."})
	assert.Equal(t, []string{"I am new."}, history())
}

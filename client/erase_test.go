package client_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
)

// TestErase checks that a receipt is whole over REST, and that it is verified there and in the process until it is changed.
func TestErase(t *testing.T) {
	t.Parallel()
	svc, url := serve(t, nil)
	c := dial(t, url)
	_, err := svc.EnsureTenant(t.Context(), contextmem.TenantSpec{ID: "acme"})
	require.NoError(t, err)
	for _, sub := range []string{"anna", "bob"} {
		_, err := svc.Tenant("acme").Sub(sub).Remember(t.Context(), contextmem.Memory{ID: "m", Text: "Tea is ready.", UserName: "Anna"}, contextmem.Memory{ID: "n", Text: "So is the cake."})
		require.NoError(t, err)
	}
	verified := func(r contextmem.EraseReceipt) {
		require.NoError(t, svc.VerifyReceipt(r))
		require.NoError(t, c.VerifyReceipt(t.Context(), r))
		r.Items++
		require.ErrorIs(t, c.VerifyReceipt(t.Context(), r), contextmem.ErrInvalid)
	}
	r, err := c.Tenant("acme").Sub("anna").Erase(t.Context(), contextmem.EraseRequest{IDs: []string{"n", "nobody"}})
	require.NoError(t, err)
	assert.Equal(t, []any{"acme", "anna", []string{"n", "nobody"}, 1}, []any{r.Tenant, r.Sub, r.IDs, r.Items})
	verified(r)
	r, err = c.Tenant("acme").Erase(t.Context(), contextmem.EraseRequest{User: "Anna"})
	require.NoError(t, err)
	assert.Equal(t, []any{"", 2}, []any{r.Sub, r.Items})
	verified(r)
	r, err = c.Tenant("acme").Sub("bob").Erase(t.Context(), contextmem.EraseRequest{All: true})
	require.NoError(t, err)
	assert.Equal(t, 1, r.Items)
	verified(r)
	_, err = c.Tenant("acme").Erase(t.Context(), contextmem.EraseRequest{})
	require.ErrorIs(t, err, contextmem.ErrInvalid)
	mine, err := svc.Org("other").EnsureTenant(t.Context(), contextmem.TenantSpec{ID: "acme"})
	require.NoError(t, err)
	theirs, err := svc.Org("other").Tenant(mine.ID).Erase(t.Context(), contextmem.EraseRequest{All: true})
	require.NoError(t, err)
	require.ErrorIs(t, c.VerifyReceipt(t.Context(), theirs), contextmem.ErrInvalid, "of another organisation")
}

package workspace_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/local"
	"github.com/contextmem/contextmem/backend/sqlite"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// erasingRegistry is a registry in which the first erasure of events fails.
type erasingRegistry struct {
	backend.Registry
	backend.Purger
	events backend.EventEraser
	failed bool
}

func (r *erasingRegistry) EraseEvents(ctx context.Context, uid, sub string, ids []string) (int, error) {
	if !r.failed {
		r.failed = true
		return 0, servicetest.ErrDown
	}
	return r.events.EraseEvents(ctx, uid, sub, ids)
}

type erasingBackend struct {
	backend.Backend
	registry *erasingRegistry
}

func (b *erasingBackend) Registry() backend.Registry { return b.registry }

// TestErasureThatIsRepeated checks that repeating an erasure that failed between the deletion of the items and that of what is about them erases that too.
func TestErasureThatIsRepeated(t *testing.T) {
	t.Parallel()
	for name, q := range map[string]contextmem.EraseRequest{"ids": {IDs: []string{"one"}}, "user": {User: "Ophidianne"}, "all": {All: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			stores, err := sqlite.Open(ctx, t.TempDir(), nil)
			require.NoError(t, err)
			indexes, err := local.Open(t.TempDir(), nil)
			require.NoError(t, err)
			be := backend.Compose(stores, indexes)
			reg := be.Registry()
			registry := &erasingRegistry{Registry: reg, Purger: reg.(backend.Purger), events: reg.(backend.EventEraser)}
			svc, err := contextmem.New(ctx, &erasingBackend{be, registry}, &contextmem.Options{WebhookTransport: &servicetest.Receiver{Got: make(chan servicetest.Delivery, 100)}, FeedbackBoosts: true})
			require.NoError(t, err)
			defer func() { require.NoError(t, svc.Close()) }()
			_, err = svc.SetWebhook(ctx, contextmem.WebhookSpec{URL: "https://hooks.example.com"})
			require.NoError(t, err)
			sub := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"}).Sub("a")
			servicetest.Remember(t, sub, contextmem.Memory{ID: "one", Text: "Quibblefrost likes tea.", UserName: "Ophidianne"})
			res, err := sub.Recall(ctx, contextmem.Recall{Class: contextmem.ClassMemory, Query: "Quibblefrost"})
			require.NoError(t, err)
			_, err = svc.AddFeedback(ctx, contextmem.Feedback{RequestID: res.RequestID, Rating: contextmem.RatingPositive, Tenant: "acme", Sub: "a",
				GroundTruth: contextmem.GroundTruth{SourceIDs: []string{"one"}}})
			require.NoError(t, err)
			require.NoError(t, svc.Drain(ctx))

			_, err = sub.Erase(ctx, q)
			require.ErrorIs(t, err, servicetest.ErrDown)
			receipt, err := sub.Erase(ctx, q)
			require.NoError(t, err)
			require.Positive(t, receipt.Events)
			require.Positive(t, receipt.Feedback)
			for d, err := range svc.Deliveries(ctx, "") {
				require.NoError(t, err)
				require.NotEqual(t, "one", d.ItemID)
			}
		})
	}
}

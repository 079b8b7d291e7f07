package weaviate

import (
	"context"

	"github.com/contextmem/contextmem/backend"
)

// shortage is what not all replicas of a tenant have.
type shortage struct{}

func (s *shortage) clear() {}

// missed turns the failure of a write into errShort, where a write with a lower level may do.
func (t target) missed(err error) error { return err }

// get makes a search in the tenant.
func (x *index) get(ctx context.Context, a ask) ([]object, error) {
	return x.x.cluster.get(ctx, nil, a)
}

// reader is the one node that may be asked.
func (x *index) reader() *node { return nil }

// heal does nothing yet.
func (x *index) heal(context.Context) error { return nil }

// write carries out plans.
func (x *index) write(ctx context.Context, changes []backend.Change, plans []*plan) error {
	to := target{level: levelAll}
	last := changes[len(changes)-1].Seq
	intent := x.said
	intent.Epoch, intent.Intent = x.epoch.Load(), max(last, x.said.Intent)
	if err := x.say(ctx, to, intent); err != nil {
		return err
	}
	x.wrote = true
	for _, p := range plans {
		if err := x.carryOut(ctx, to, p); err != nil {
			return err
		}
	}
	intent.Seq, intent.Intent, intent.Whole = last, last, last
	return x.say(ctx, to, intent)
}

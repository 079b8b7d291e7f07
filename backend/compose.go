package backend

import (
	"context"
	"errors"
)

// Compose returns a Backend with the stores of s and the indexes of x. The Backend owns
// both: its Close closes first x and then s.
func Compose(s Stores, x Indexers) Backend { return &composed{s, x} }

type composed struct {
	stores   Stores
	indexers Indexers
}

// Stores returns the part of the Backend that has the stores.
func (c *composed) Stores() Stores { return c.stores }

func (c *composed) Registry() Registry { return c.stores.Registry() }

func (c *composed) OpenWorkspace(ctx context.Context, uid string) (Workspace, error) {
	st, err := c.stores.OpenStore(ctx, uid)
	if err != nil {
		return nil, err
	}
	ix, err := c.indexers.OpenIndexes(ctx, uid)
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	return &workspace{st, ix}, nil
}

func (c *composed) RemoveWorkspace(ctx context.Context, uid string) error {
	if err := c.indexers.RemoveIndexes(ctx, uid); err != nil {
		return err
	}
	return c.stores.RemoveStore(ctx, uid)
}

func (c *composed) Close() error { return errors.Join(c.indexers.Close(), c.stores.Close()) }

// Backup implements [Backuper] if the stores do. Otherwise it returns [errors.ErrUnsupported].
func (c *composed) Backup(ctx context.Context, dir string, beside map[string][]byte) (BackupReport, error) {
	b, ok := c.stores.(Backuper)
	if !ok {
		return BackupReport{}, errors.ErrUnsupported
	}
	return b.Backup(ctx, dir, beside)
}

// Shares implements [Shared] if the stores do. Otherwise it returns false.
func (c *composed) Shares() bool {
	s, ok := c.stores.(Shared)
	return ok && s.Shares()
}

// Watch implements [Shared] if the stores do. Otherwise it waits until ctx ends.
func (c *composed) Watch(ctx context.Context, changed func(uid string)) {
	if s, ok := c.stores.(Shared); ok {
		s.Watch(ctx, changed)
		return
	}
	<-ctx.Done()
}

// Measure implements [Measurer] if the indexers do. Otherwise LimitBytes is negative.
func (c *composed) Measure() IndexMeasures {
	if m, ok := c.indexers.(Measurer); ok {
		return m.Measure()
	}
	return IndexMeasures{LimitBytes: -1}
}

type workspace struct {
	store Store
	IndexSet
}

func (w *workspace) Store() Store { return w.store }

func (w *workspace) Close() error { return errors.Join(w.IndexSet.Close(), w.store.Close()) }

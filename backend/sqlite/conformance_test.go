package sqlite

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
)

func TestConformance(t *testing.T) {
	backendtest.RunStores(t, backendtest.StoresHarness{Open: func(t testing.TB, dir string) backend.Stores {
		d, err := Open(t.Context(), dir, nil)
		require.NoError(t, err)
		return checkedDB{d, t}
	}})
}

// checkedDB checks the integrity of every store when it is closed.
type checkedDB struct {
	*DB
	t testing.TB
}

func (d checkedDB) OpenStore(ctx context.Context, uid string) (backend.Store, error) {
	s, err := d.DB.OpenStore(ctx, uid)
	if err != nil {
		return nil, err
	}
	return checkedStore{s.(*store), d.t}, nil
}

type checkedStore struct {
	*store
	t testing.TB
}

func (s checkedStore) Close() error {
	if !s.Closing() {
		check(s.t, s.store)
	}
	return s.store.Close()
}

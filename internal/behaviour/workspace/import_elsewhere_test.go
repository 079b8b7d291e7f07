package workspace_test

import (
	"bytes"
	"context"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/internal/lease"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// keptOpen is a backend that stays open.
type keptOpen struct{ backend.Backend }

func (keptOpen) Close() error { return nil }

// TestImportOfAProcessThatIsGone checks that a process deletes the tenant that another one left in the middle of an import, as soon as the lease of
// that one is over: it need not start again for that. It leaves its own import alone, however long that takes.
func TestImportOfAProcessThatIsGone(t *testing.T) {
	t.Parallel()
	_, tn := servicetest.Open(t, nil)
	servicetest.Remember(t, tn.Sub("a"), contextmem.Memory{ID: "m", Text: "The kettle is on the shelf."})
	file := export(t, tn)
	at := len(file) / 2
	// during imports the first half of the file, calls do, and goes on with rest.
	during := func(ctx context.Context, svc *contextmem.Service, do func(), rest []byte) error {
		_, err := svc.ImportTenant(ctx, "new", io.MultiReader(bytes.NewReader(file[:at]), cancellingReader{sync.OnceFunc(do)}, bytes.NewReader(rest)))
		return err
	}
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		be, plan := inmem.New(), backendtest.NewPlan()
		gone, err := contextmem.New(ctx, backendtest.Faulty(keptOpen{be}, plan), nil)
		require.NoError(t, err)
		require.Error(t, during(ctx, gone, func() { // from here on the process reaches nothing
			for _, m := range []string{"Record", "Records", "WriteRecords", "Tenant", "UpdateTenant"} {
				plan.Add(backendtest.Fault{Method: "Registry." + m, Err: backend.ErrUnavailable})
			}
		}, nil))
		_ = gone.Close()
		marks, err := be.Registry().AllRecords(ctx, "import", "", "", 9)
		require.NoError(t, err)
		require.Len(t, marks, 1)
		mine, _, err := lease.New(be.Registry()).Take(ctx, "import/"+marks[0].ID)
		require.NoError(t, err)
		require.True(t, mine)

		svc, err := contextmem.New(ctx, servicetest.UsedByOthers{Backend: be}, nil)
		require.NoError(t, err)
		defer func() { require.NoError(t, svc.Close()) }()
		_, err = svc.Tenant("new").Info(ctx)
		require.NoError(t, err, "the lease of the other process has not ended")
		time.Sleep(2*lease.TTL + time.Second)
		requireNoTenant(t, svc, "new")
		require.NoError(t, during(ctx, svc, func() { time.Sleep(time.Minute) }, file[at:]))
		time.Sleep(time.Minute)
		require.Equal(t, []string{"m"}, servicetest.RecallIDs(t, svc.Tenant("new").Sub("a"), contextmem.Recall{Query: "where is the kettle?"}))
	})
}

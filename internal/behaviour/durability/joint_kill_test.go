package durability_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/local"
	"github.com/contextmem/contextmem/backend/sqlite"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// childJoint is set for a child process that deletes items of both classes, in the way that it names.
const childJoint = "CONTEXTMEM_TEST_CHILD_JOINT"

// bothIDs are ids of a file and of a memory each.
var bothIDs = []string{"one", "two"}

// deletionsOfBoth are the ways to delete items of both classes, or of two sub-tenants, by one call.
var deletionsOfBoth = map[string]func(ctx context.Context, tn contextmem.Tenant) (contextmem.EraseReceipt, error){
	"delete": func(ctx context.Context, tn contextmem.Tenant) (r contextmem.EraseReceipt, err error) {
		_, err = tn.Sub("a").DeleteItems(ctx, contextmem.DeleteItemsRequest{Class: contextmem.ClassAll, IDs: append([]string{"nobody"}, bothIDs...)})
		return r, err
	},
	"erase": func(ctx context.Context, tn contextmem.Tenant) (contextmem.EraseReceipt, error) {
		return tn.Sub("a").Erase(ctx, contextmem.EraseRequest{IDs: bothIDs})
	},
	"erase tenant": func(ctx context.Context, tn contextmem.Tenant) (contextmem.EraseReceipt, error) {
		return tn.Erase(ctx, contextmem.EraseRequest{IDs: bothIDs})
	},
	"erase user": func(ctx context.Context, tn contextmem.Tenant) (contextmem.EraseReceipt, error) {
		return tn.Erase(ctx, contextmem.EraseRequest{User: "Ophidianne"})
	},
}

// haltStores opens stores whose first deletion of something is told, and does not return.
type haltStores struct{ backend.Stores }

func (b haltStores) OpenStore(ctx context.Context, uid string) (backend.Store, error) {
	s, err := b.Stores.OpenStore(ctx, uid)
	if err != nil {
		return nil, err
	}
	return &haltStore{Store: s, Purger: s.(backend.Purger), EventEraser: s.(backend.EventEraser), Walker: s.(backend.Walker)}, nil
}

type haltStore struct {
	backend.Store
	backend.Purger
	backend.EventEraser
	backend.Walker
}

func halt(out []backend.DeleteResult) {
	for _, r := range out {
		if r.Found {
			fmt.Println("deleted")
			select {}
		}
	}
}

func (s *haltStore) Delete(ctx context.Context, part backend.Partition, ids []string, o backend.DeleteOptions) ([]backend.DeleteResult, error) {
	out, err := s.Store.Delete(ctx, part, ids, o)
	halt(out)
	return out, err
}

// DeleteJointly implements backend.JointDeleter.
func (s *haltStore) DeleteJointly(ctx context.Context, all []backend.Deletion) ([]backend.Deleted, error) {
	out, err := s.Store.(backend.JointDeleter).DeleteJointly(ctx, all)
	for _, d := range out {
		halt(d.Items)
	}
	return out, err
}

// deleteBoth deletes until it is killed.
func deleteBoth(dir, how string) error {
	ctx := context.Background()
	stores, err := sqlite.Open(ctx, dir, nil)
	if err != nil {
		return err
	}
	indexes, err := local.Open(dir, nil)
	if err != nil {
		return err
	}
	svc, err := contextmem.New(ctx, backend.Compose(haltStores{stores}, indexes), nil)
	if err != nil {
		return err
	}
	_, err = deletionsOfBoth[how](ctx, svc.Tenant("acme"))
	return errors.Join(errors.New("not killed"), err)
}

// mentioning returns the files below a directory that contain a word.
func mentioning(t *testing.T, dir, word string) (files []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(word)) {
			files = append(files, path)
		}
		return err
	}))
	return files
}

// countBoth counts the files and memories of both sub-tenants.
func countBoth(t *testing.T, tn contextmem.Tenant) (n int) {
	t.Helper()
	for _, sub := range []string{"a", "b"} {
		for _, class := range []content.Class{contextmem.ClassKnowledge, contextmem.ClassMemory} {
			p, err := tn.Sub(sub).List(t.Context(), contextmem.ListRequest{Class: class})
			if !errors.Is(err, contextmem.ErrNotFound) {
				require.NoError(t, err)
				n += p.Total
			}
		}
	}
	return n
}

// TestKilledDeletionOfBothClasses kills a process after its first transaction that deletes something. All that the call names is deleted
// then, and repeating an erasure rewrites the files and gives a receipt.
func TestKilledDeletionOfBothClasses(t *testing.T) {
	t.Parallel()
	left := map[string]int{"delete": 4, "erase": 4, "erase tenant": 0, "erase user": 4}
	for how, call := range deletionsOfBoth {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "data")
			svc, err := contextmem.Open(t.Context(), dir, nil)
			require.NoError(t, err)
			tn := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"})
			for _, sub := range []string{"a", "b"} {
				for _, id := range bothIDs {
					_, err := tn.Sub(sub).AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Files: []contextmem.File{{ID: id, Name: id + ".txt", Data: []byte("Tea is ready.")}}})
					require.NoError(t, err)
					servicetest.Remember(t, tn.Sub(sub), contextmem.Memory{ID: id, Text: "Quibblefrost likes tea.", UserName: "Ophidianne"})
				}
			}
			require.NoError(t, svc.Drain(t.Context()))
			require.Equal(t, 8, countBoth(t, tn))
			require.NoError(t, svc.Close())
			killAfterWord(t, "deleted", childDir+"="+dir, childJoint+"="+how)

			svc, err = contextmem.Open(t.Context(), dir, nil)
			require.NoError(t, err)
			defer func() { require.NoError(t, svc.Close()) }()
			tn = svc.Tenant("acme")
			require.Equal(t, left[how], countBoth(t, tn))
			receipt, err := call(t.Context(), tn)
			require.NoError(t, err)
			require.Equal(t, left[how], countBoth(t, tn))
			if how == "delete" {
				return
			}
			require.Zero(t, receipt.Items, "the call that was cut off deleted them")
			require.NoError(t, svc.VerifyReceipt(receipt))
			if how != "erase" { // sub-tenant b says it too
				require.Empty(t, mentioning(t, dir, "Quibblefrost"))
			}
		})
	}
}

//go:build cgo

package workspace_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// filesContaining returns the files below a directory that contain a word, in any case.
func filesContaining(t *testing.T, dir, word string) (files []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(bytes.ToLower(b), []byte(strings.ToLower(word))) {
			files = append(files, filepath.Base(path))
		}
		return err
	}))
	return files
}

func TestErase(t *testing.T) {
	t.Parallel()
	const many = 300 // memories, so that pages are freed and used again
	secrets := []string{"Quibblefrost", "Zanthorpe", "Wexlerby", "Ophidianne", "blorptitle", "vundermeta", "krazzfield", "glimmerold", "snorkelid", "yarrowquery"}
	for name, erase := range map[string]func(ctx context.Context, acme contextmem.Tenant) (contextmem.EraseReceipt, error){
		"ids": func(ctx context.Context, acme contextmem.Tenant) (contextmem.EraseReceipt, error) {
			ids := []string{"snorkelid", "file"}
			for n := range many {
				ids = append(ids, fmt.Sprint("bulk", n))
			}
			return acme.Sub("a").Erase(ctx, contextmem.EraseRequest{IDs: ids})
		},
		"sub": func(ctx context.Context, acme contextmem.Tenant) (contextmem.EraseReceipt, error) {
			return acme.Sub("a").Erase(ctx, contextmem.EraseRequest{All: true})
		},
		"tenant": func(ctx context.Context, acme contextmem.Tenant) (contextmem.EraseReceipt, error) {
			return acme.Erase(ctx, contextmem.EraseRequest{All: true})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "d")
			r := &servicetest.Receiver{Got: make(chan servicetest.Delivery, 10_000)}
			svc, err := contextmem.Open(t.Context(), dir, &contextmem.Options{WebhookTransport: r, FeedbackBoosts: true})
			require.NoError(t, err)
			defer func() { require.NoError(t, svc.Close()) }()
			_, err = svc.SetWebhook(t.Context(), contextmem.WebhookSpec{URL: "https://hooks.example.com"})
			require.NoError(t, err)
			acme := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme", Schema: []contextmem.Field{{Name: "place", Match: true}}})
			sub := acme.Sub("a")
			bulk := []contextmem.Memory{{ID: "snorkelid", Title: "The blorptitle", Text: "Glimmerold was here first, and left."}}
			for n := range many {
				bulk = append(bulk, contextmem.Memory{ID: fmt.Sprint("bulk", n), Text: fmt.Sprintf("Zanthorpe number %d moved to Wexlerby, where the Quibblefrost lives.", n)})
			}
			servicetest.Remember(t, sub, bulk...)
			servicetest.Remember(t, sub, contextmem.Memory{ID: "snorkelid", Title: "The blorptitle", Text: "Ophidianne is married to Quibblefrost of Wexlerby. Ophidianne works at Zanthorpe.",
				Metadata: map[string]any{"place": "vundermeta"}, Additional: map[string]any{"x": "krazzfield"}, Infer: true, UserName: "Ophidianne"})
			require.Equal(t, "Glimmerold was here first, and left.", servicetest.HistoryOf(t, sub, "snorkelid").Versions[1].Text, "what was said before is kept")
			servicetest.Remember(t, acme.Sub("keep"), contextmem.Memory{ID: "kept", Text: "The kettle is on the shelf."})
			res, err := sub.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "yarrowquery Quibblefrost"})
			require.NoError(t, err)
			_, err = svc.AddFeedback(t.Context(), contextmem.Feedback{RequestID: res.RequestID, Rating: contextmem.RatingPositive, Text: "yarrowquery was right", Tenant: "acme", Sub: "a",
				GroundTruth: contextmem.GroundTruth{SourceIDs: []string{"snorkelid"}}})
			require.NoError(t, err)
			require.NoError(t, svc.Drain(t.Context()))
			for _, word := range secrets {
				require.NotEmpty(t, filesContaining(t, dir, word), "%s: the test would see nothing", word)
			}
			ctx, stop := context.WithCancel(t.Context())
			var readers sync.WaitGroup
			readers.Go(func() { // recalls go on
				for ctx.Err() == nil {
					_, err := acme.Sub("keep").Recall(ctx, contextmem.Recall{Class: contextmem.ClassMemory, Query: "where is the kettle?"})
					assert.True(t, err == nil || ctx.Err() != nil, "%v", err)
				}
			})
			receipt, err := erase(t.Context(), acme)
			stop()
			readers.Wait()
			require.NoError(t, err)
			for _, word := range secrets {
				require.Empty(t, filesContaining(t, dir, word), word)
			}
			require.Equal(t, name != "tenant", servicetest.RecallReturns(t, acme.Sub("keep"), "where is the kettle?", "The kettle is on the shelf."))
			require.GreaterOrEqual(t, receipt.Items, many+1)
			require.Positive(t, receipt.Events)
			require.Positive(t, receipt.Feedback)
			report, err := svc.Verify(t.Context())
			require.NoError(t, err)
			require.True(t, report.OK(), "%v", report.Problems)

			b, err := json.Marshal(receipt)
			require.NoError(t, err)
			var again contextmem.EraseReceipt
			require.NoError(t, json.Unmarshal(b, &again))
			require.NoError(t, svc.VerifyReceipt(again))
			again.Items++
			require.ErrorIs(t, svc.VerifyReceipt(again), contextmem.ErrInvalid)
			require.NoError(t, svc.RotateSecretKey(t.Context(), nil))
			require.ErrorIs(t, svc.VerifyReceipt(receipt), contextmem.ErrConflict)

			servicetest.Remember(t, sub, contextmem.Memory{ID: "snorkelid", Text: "The spoons are in the drawer."})
			require.True(t, servicetest.RecallReturns(t, sub, "where are the spoons?", "The spoons are in the drawer."))
		})
	}
}

// TestEraseUser erases the data about one user, in all sub-tenants or in one.
func TestEraseUser(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "d")
	svc, err := contextmem.Open(t.Context(), dir, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, svc.Close()) }()
	acme := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"})
	for _, sub := range []string{"a", "b"} {
		servicetest.Remember(t, acme.Sub(sub), contextmem.Memory{ID: "one", Text: "Quibblefrost likes tea.", UserName: "Ophidianne"}, contextmem.Memory{ID: "two", Text: "Robert likes coffee.", UserName: "Robert"})
	}
	r, err := acme.Sub("a").Erase(t.Context(), contextmem.EraseRequest{User: "Ophidianne"})
	require.NoError(t, err)
	require.Equal(t, 1, r.Items)
	require.NotEmpty(t, filesContaining(t, dir, "Ophidianne"))
	r, err = acme.Erase(t.Context(), contextmem.EraseRequest{User: "Ophidianne"})
	require.NoError(t, err)
	require.Equal(t, 1, r.Items)
	require.Empty(t, filesContaining(t, dir, "Ophidianne"))
	require.Empty(t, filesContaining(t, dir, "Quibblefrost"))
	for _, sub := range []string{"a", "b"} {
		t.Run(sub, func(t *testing.T) {
			require.True(t, servicetest.RecallReturns(t, acme.Sub(sub), "who likes coffee?", "Robert likes coffee."))
		})
	}
	r, err = acme.Erase(t.Context(), contextmem.EraseRequest{User: "Ophidianne"})
	require.NoError(t, err)
	require.Zero(t, r.Items)
	for name, q := range map[string]contextmem.EraseRequest{"nothing": {}, "no ids": {IDs: []string{}}, "ids and user": {IDs: []string{"x"}, User: "x"},
		"all and ids": {All: true, IDs: []string{"x"}}, "all and user": {All: true, User: "x"}} {
		t.Run(name, func(t *testing.T) {
			_, err := acme.Erase(t.Context(), q)
			require.Error(t, err)
		})
	}
	_, err = acme.Erase(t.Context(), contextmem.EraseRequest{IDs: nil}) // as a list has it that nothing was added to
	require.ErrorIs(t, err, contextmem.ErrInvalid)
	require.EqualError(t, err, `contextmem: erase: field "IDs": names nothing to erase: give IDs, User or All`)
	require.True(t, servicetest.RecallReturns(t, acme.Sub("a"), "who likes coffee?", "Robert likes coffee."))
}

// TestEraseForgetsRestoredFacts checks that erasing an item also deletes the record that its fact was restored.
func TestEraseForgetsRestoredFacts(t *testing.T) {
	t.Parallel()
	dir, ctx := t.TempDir(), t.Context()
	svc, err := contextmem.Open(ctx, dir, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, svc.Close()) }()
	s := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"}).Sub("u")
	servicetest.Remember(t, s, contextmem.Memory{ID: "first", Text: "Anna Lind works at Zorblax since March 2019.", Time: servicetest.OnDay("2020-01-01")},
		contextmem.Memory{ID: "second", Text: "Anna Lind works at Quux since May 2021.", Time: servicetest.OnDay("2022-01-01")})
	require.NoError(t, s.WaitRefined(ctx))
	_, err = s.RestoreFact(ctx, 0, servicetest.FactID(t, s, 0, "zorblax"))
	require.NoError(t, err)
	require.NotEmpty(t, filesContaining(t, dir, "graph revived"))
	_, err = s.Erase(ctx, contextmem.EraseRequest{IDs: []string{"first"}})
	require.NoError(t, err)
	require.Empty(t, filesContaining(t, dir, "graph revived"))
}

// TestEraseInMemory checks that tests with the in-memory backend can erase too.
func TestEraseInMemory(t *testing.T) {
	t.Parallel()
	svc, err := contextmem.New(t.Context(), inmem.New(), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, svc.Close()) }()
	sub := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"}).Sub("a")
	servicetest.Remember(t, sub, contextmem.Memory{ID: "m", Text: "Ophidianne works at Zanthorpe.", UserName: "Ophidianne", Infer: true}, contextmem.Memory{ID: "n", Text: "Tea is ready."})
	r, err := sub.Erase(t.Context(), contextmem.EraseRequest{User: "Ophidianne"})
	require.NoError(t, err)
	require.Equal(t, 1, r.Items)
	require.Empty(t, r.Remains)
	require.NoError(t, svc.VerifyReceipt(r))
	found, err := sub.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "Who works at Zanthorpe?"})
	require.NoError(t, err)
	for _, c := range found.Chunks {
		require.Equal(t, "n", c.SourceID)
	}
	fs, err := sub.Facts(t.Context(), facts.Request{Class: contextmem.ClassMemory, History: true})
	require.NoError(t, err)
	require.Empty(t, fs.Facts)
}

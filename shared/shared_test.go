package shared_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/shared"
)

func open(t *testing.T, dir string) *shared.Deployment {
	t.Helper()
	d, err := shared.Open(t.Context(), dir, &contextmem.Options{Workers: 1})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

func remember(t *testing.T, m contextmem.Memories, id, text string) {
	t.Helper()
	res, err := m.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: id, Text: text}}})
	require.NoError(t, err)
	require.Equal(t, 1, res.Accepted)
	st, err := m.Wait(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, contextmem.StatusCompleted, st[0].Status)
}

func top(t *testing.T, m contextmem.Memories, question string) string {
	t.Helper()
	res, err := m.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: question})
	require.NoError(t, err)
	require.NotEmpty(t, res.Chunks)
	return res.Chunks[0].SourceID
}

// TestGuest: the second to open works through the first, and takes over when that one closes.
func TestGuest(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]string{"short": "data", "long": strings.Repeat("a-long-name-", 10)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), dir)
			a, b := open(t, dir), open(t, dir)
			require.NotNil(t, a.Service())
			require.Nil(t, b.Service())
			require.NoError(t, b.EnsureTenant(t.Context(), "acme"))
			require.NoError(t, a.EnsureTenant(t.Context(), "acme"))
			require.ErrorIs(t, b.CreateTenant(t.Context(), contextmem.TenantSpec{ID: "acme"}), contextmem.ErrExists)
			remember(t, b.Sub("acme", "bob"), "b1", "Bob plays the cello.")
			remember(t, a.Sub("acme", "bob"), "a1", "Bob's cat is called Miso.")
			for _, d := range []*shared.Deployment{a, b} {
				require.Equal(t, "b1", top(t, d.Sub("acme", "bob"), "which instrument does Bob play?"))
				_, err := d.Sub("acme", "bob").AddMemories(t.Context(), contextmem.MemoryBatch{Progress: func(contextmem.ItemProgress) {}})
				require.ErrorIs(t, err, contextmem.ErrInvalid)
			}
			admin(t, b)

			require.NoError(t, a.Close())
			require.Equal(t, "a1", top(t, b.Sub("acme", "bob"), "what is the cat called?"), "the call that finds the owner gone is made again")
			require.Eventually(t, func() bool { return b.Service() != nil }, time.Minute, time.Millisecond, "the guest takes over by itself")
			admin(t, b)
			_, err := a.Sub("acme", "bob").List(t.Context(), contextmem.ListRequest{})
			require.ErrorIs(t, err, contextmem.ErrClosed)
		})
	}
}

// admin tries what REST does not have, or not all of, the same as owner and as guest.
func admin(t *testing.T, d *shared.Deployment) {
	t.Helper()
	ctx := t.Context()
	var file bytes.Buffer
	require.NoError(t, d.Export(ctx, "acme", &file))
	require.NoError(t, d.Import(ctx, "copy", bytes.NewReader(file.Bytes())))
	require.ErrorIs(t, d.Import(ctx, "copy", &file), contextmem.ErrExists)
	require.ErrorIs(t, d.Export(ctx, "nobody", &file), contextmem.ErrNotFound)
	require.Equal(t, "b1", top(t, d.Sub("copy", "bob"), "which instrument does Bob play?"))
	i, err := d.TenantInfo(ctx, "copy")
	require.NoError(t, err)
	require.True(t, i.Ready())
	ts, err := d.Tenants(ctx)
	require.NoError(t, err)
	require.Len(t, ts, 2)
	subs, err := d.Subs(ctx, "copy")
	require.NoError(t, err)
	require.Equal(t, []contextmem.SubStats{{Name: "bob", Memory: 2}}, subs)
	_, err = d.Reembed(ctx, "copy")
	require.NoError(t, err)
	require.NoError(t, d.DeleteSub(ctx, "copy", "bob"))
	require.NoError(t, d.DeleteTenant(ctx, "copy"))
	k, text, err := d.CreateKey(ctx, contextmem.KeySpec{Owner: "test", Tenants: []string{"acme"}, TTL: time.Hour})
	require.NoError(t, err)
	require.Contains(t, text, ".")
	require.Equal(t, []string{"acme"}, k.Tenants)
	ks, err := d.Keys(ctx)
	require.NoError(t, err)
	require.Len(t, ks, 1)
	require.NoError(t, d.RevokeKey(ctx, k.ID))
	require.ErrorIs(t, d.RevokeKey(ctx, k.ID), contextmem.ErrNotFound)
}

// TestOwn: a server gets the directory from an owner that does not keep it, whose calls go on; two servers don't fit.
func TestOwn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b := open(t, dir), open(t, dir)
	require.NoError(t, a.EnsureTenant(t.Context(), "acme"))
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for _, d := range []*shared.Deployment{a, b} {
		wg.Go(func() {
			for ctx.Err() == nil {
				if _, err := d.Sub("acme", "").List(t.Context(), contextmem.ListRequest{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	server, err := shared.Own(t.Context(), dir, &contextmem.Options{Workers: 1})
	require.NoError(t, err)
	require.NotNil(t, server.Service())
	_, err = shared.Own(t.Context(), dir, nil)
	require.ErrorIs(t, err, backend.ErrLocked)
	remember(t, a.Sub("acme", ""), "m1", "The key is under the mat.")
	require.Equal(t, "m1", top(t, b.Sub("acme", ""), "where is the key?"))
	require.NotNil(t, server.Service())
	require.Nil(t, a.Service())
	stop()
	wg.Wait()
	require.NoError(t, server.Close())
	require.Equal(t, "m1", top(t, b.Sub("acme", ""), "where is the key?"))
}

// TestOwnerFile: the file is its user's alone, and one that a killed owner left does no harm.
func TestOwnerFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	stale, err := json.Marshal(map[string]any{"pid": 1, "socket": filepath.Join(dir, "owner.sock"), "key": "k"})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "OWNER"), stale, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "owner.sock"), nil, 0o600))
	a, b := open(t, dir), open(t, dir)
	require.NotNil(t, a.Service())
	require.Nil(t, b.Service())
	info, err := os.Stat(filepath.Join(dir, "OWNER"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

// TestUnshared: against a process that does not share, an opening ends with its context.
func TestUnshared(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	svc, err := contextmem.Open(t.Context(), dir, nil)
	require.NoError(t, err)
	defer svc.Close()
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	_, err = shared.Open(ctx, dir, nil)
	require.Error(t, err)
}

// TestUpkeep: backup, verification and what is known work the same as owner and as guest.
func TestUpkeep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b := open(t, dir), open(t, dir)
	require.NoError(t, a.EnsureTenant(t.Context(), "acme"))
	res, err := a.Sub("acme", "bob").AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "m1", Infer: true, UserName: "Bob", Text: "I live in Lisbon."}}})
	require.NoError(t, err)
	require.NoError(t, contextmem.Settled(t.Context(), a.Sub("acme", "bob"), res))
	for name, d := range map[string]*shared.Deployment{"owner": a, "guest": b} {
		t.Run(name, func(t *testing.T) {
			to := filepath.Join(t.TempDir(), "backup")
			r, err := d.Backup(t.Context(), to)
			require.NoError(t, err, name)
			require.Equal(t, 1, r.Copied, name)
			require.Positive(t, r.Bytes)
			v, err := d.Verify(t.Context())
			require.NoError(t, err, name)
			require.True(t, v.OK())
			require.Equal(t, 1, v.Tenants)
			p, err := d.Sub("acme", "bob").Facts(t.Context(), facts.Request{Predicate: "lives_in"})
			require.NoError(t, err, name)
			require.Len(t, p.Facts, 1, name)
			require.Contains(t, p.Facts[0].Evidence, "Lisbon")
			who, err := d.Sub("acme", "bob").Profile(t.Context(), facts.ProfileRequest{Subject: p.Facts[0].Subject})
			require.NoError(t, err, name)
			require.NotEmpty(t, who.Slots, name)

			back := filepath.Join(t.TempDir(), "back")
			require.NoError(t, contextmem.Restore(t.Context(), to, back))
			require.Equal(t, "m1", top(t, open(t, back).Sub("acme", "bob"), "where does Bob live?"))
			require.ErrorIs(t, errOf(d.Backup(t.Context(), dir)), contextmem.ErrExists, name)
		})
	}
}

func errOf[T any](_ T, err error) error { return err }

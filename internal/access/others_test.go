package access

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/inmem"
)

// process returns the secrets as one of several processes that have a deployment open.
func process(t *testing.T, reg backend.Registry, st KeyStore) *Secrets {
	t.Helper()
	s, err := NewSecrets(t.Context(), reg, st, true)
	require.NoError(t, err)
	return s
}

func TestRotationBesideOthers(t *testing.T) {
	t.Parallel()
	reg := inmem.New().Registry()
	a := process(t, reg, RegistryKey{reg})
	require.NoError(t, a.Verify(t.Context(), &vault{}))
	b := process(t, reg, RegistryKey{reg})
	require.NoError(t, b.Verify(t.Context(), &vault{}))

	with, release, err := b.Hold(t.Context())
	require.NoError(t, err)
	late := b.Seal("late", []byte("late"))
	v := newVault(a)
	require.NoError(t, a.Rotate(t.Context(), nil, v))
	require.ErrorIs(t, reg.WriteRecords(t.Context(), with), backend.ErrConflict, "what was sealed with the old key is not stored")
	release()
	requireReadable(t, b, v) // it has not heard
	_, err = b.Open(t.Context(), "late", late)
	require.Error(t, err)

	with, release, err = b.Hold(t.Context())
	require.NoError(t, err)
	v.sealed["place10"] = b.Seal("place10", []byte("place10"))
	require.NoError(t, reg.WriteRecords(t.Context(), with))
	release()
	requireReadable(t, a, v)
	require.NoError(t, b.Rotate(t.Context(), nil, v), "what the other process sealed is opened")
	require.NoError(t, a.Rotate(t.Context(), nil, v), "a process that knows an older key alone")
	requireReadable(t, b, v)
	b.Seal("x", nil)
}

// slowRegistry delays its first read of a record once it is armed.
type slowRegistry struct {
	backend.Registry
	armed            atomic.Bool
	reached, release chan struct{}
}

func (r *slowRegistry) Record(ctx context.Context, kind, org, id string) (backend.Record, error) {
	rec, err := r.Registry.Record(ctx, kind, org, id)
	if r.armed.CompareAndSwap(true, false) {
		close(r.reached)
		<-r.release
	}
	return rec, err
}

// TestSealsDuringARotation checks that while another part of the process reads that a key was rotated, secrets are
// sealed with the new key.
func TestSealsDuringARotation(t *testing.T) {
	t.Parallel()
	reg := inmem.New().Registry()
	a := process(t, reg, RegistryKey{reg})
	require.NoError(t, a.Verify(t.Context(), &vault{}))
	slow := &slowRegistry{Registry: reg, reached: make(chan struct{}), release: make(chan struct{})}
	b := process(t, slow, RegistryKey{reg})
	v := newVault(a)
	require.NoError(t, a.Rotate(t.Context(), nil, v))
	slow.armed.Store(true)
	var wg sync.WaitGroup
	wg.Go(func() { assert.NoError(t, b.follow(t.Context())) })
	<-slow.reached
	held := make(chan struct{})
	wg.Go(func() {
		defer close(held)
		with, release, err := b.Hold(t.Context())
		if !assert.NoError(t, err) {
			return
		}
		defer release()
		v.sealed["place12"] = b.Seal("place12", []byte("place12"))
		assert.NoError(t, reg.WriteRecords(t.Context(), with))
	})
	select {
	case <-held: // it has not waited
	case <-time.After(50 * time.Millisecond):
	}
	close(slow.release)
	wg.Wait()
	require.NoError(t, a.Rotate(t.Context(), nil, v), "the next rotation opens everything")
	requireReadable(t, a, v)
}

// TestInterruptedRotationIsFinished checks that after an interrupted rotation the other processes seal with the new key and read
// both, and that one of them finishes the rotation.
func TestInterruptedRotationIsFinished(t *testing.T) {
	t.Parallel()
	reg := inmem.New().Registry()
	a := process(t, reg, RegistryKey{reg})
	require.NoError(t, a.Verify(t.Context(), &vault{}))
	b := process(t, reg, RegistryKey{reg})
	v := newVault(a)
	v.failAt = 5
	require.Error(t, a.Rotate(t.Context(), nil, v))
	_, release, err := b.Hold(t.Context())
	require.NoError(t, err)
	v.sealed["place11"] = b.Seal("place11", []byte("place11"))
	release()
	requireReadable(t, a, v)
	requireReadable(t, b, v)
	v.failAt = 0
	require.NoError(t, b.Rotate(t.Context(), nil, v))
	requireReadable(t, a, v)
	requireReadable(t, process(t, reg, RegistryKey{reg}), v)
}

// TestGivenKeyIsReplaced checks that a process with the old key continues while the rotation is recorded, and returns
// an error that names the reason once it is not.
func TestGivenKeyIsReplaced(t *testing.T) {
	t.Parallel()
	reg := inmem.New().Registry()
	a, b, deaf := process(t, reg, GivenKey(keyOf(1))), process(t, reg, GivenKey(keyOf(1))), process(t, reg, GivenKey(keyOf(1)))
	require.NoError(t, a.Verify(t.Context(), &vault{}))
	v := newVault(a)
	require.NoError(t, a.Rotate(t.Context(), keyOf(2), v))
	requireReadable(t, b, v)
	require.NoError(t, process(t, reg, GivenKey(keyOf(2))).Verify(t.Context(), v), "the new key is given")
	requireReadable(t, b, v)
	_, release, err := b.Hold(t.Context())
	require.NoError(t, err)
	release()
	_, _, err = deaf.Hold(t.Context())
	require.ErrorIs(t, err, ErrKeyReplaced)
	_, err = deaf.Open(t.Context(), "place1", v.sealed["place1"])
	require.ErrorIs(t, err, ErrKeyReplaced)
}

func TestKeyChanged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reg := inmem.New().Registry()
		a := process(t, reg, RegistryKey{reg})
		require.NoError(t, a.Verify(t.Context(), &vault{}))
		b := process(t, reg, RegistryKey{reg})
		ctx, cancel := context.WithCancelCause(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); b.Run(ctx, slog.New(slog.DiscardHandler)) }()
		require.NoError(t, a.Rotate(t.Context(), nil, &vault{}))
		receipt, err := a.Sign(func(string) ([]byte, error) { return []byte("text"), nil })
		require.NoError(t, err)
		cur, _ := a.keys()
		require.ErrorIs(t, b.VerifyReceipt(cur.name(), []byte("text"), receipt), ErrReceiptKey)
		b.KeyChanged()
		synctest.Wait()
		assert.NoError(t, b.VerifyReceipt(cur.name(), []byte("text"), receipt))
		cancel(errors.New("over"))
		<-done
	})
}

package access

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
)

const workspace = "00112233445566778899aabbccddeeff"

func keyOf(first byte) []byte {
	key := make([]byte, KeyBytes)
	key[0] = first
	return key
}

func secrets(t *testing.T, first byte) *Secrets {
	t.Helper()
	s, err := NewSecrets(t.Context(), inmem.New().Registry(), GivenKey(keyOf(first)), false)
	require.NoError(t, err)
	return s
}

func TestToken(t *testing.T) {
	t.Parallel()
	s, now := secrets(t, 1), time.Now()
	token := s.Token(workspace, 7, now.Add(time.Minute))
	t.Run("opens until it expires", func(t *testing.T) {
		t.Parallel()
		uid, num, err := s.ReadToken(token, now)
		require.NoError(t, err)
		require.Equal(t, workspace, uid)
		require.EqualValues(t, 7, num)
		_, _, err = s.ReadToken(token, now.Add(time.Minute))
		require.ErrorIs(t, err, ErrTokenExpired)
	})
	t.Run("no bit can be changed", func(t *testing.T) {
		t.Parallel()
		b, err := base64.RawURLEncoding.DecodeString(token)
		require.NoError(t, err)
		for i := range 8 * len(b) {
			b[i/8] ^= 1 << (i % 8)
			_, _, err := s.ReadToken(base64.RawURLEncoding.EncodeToString(b), now)
			require.ErrorIs(t, err, ErrToken, "bit %d", i)
			b[i/8] ^= 1 << (i % 8)
		}
	})
	t.Run("of another deployment", func(t *testing.T) {
		t.Parallel()
		_, _, err := secrets(t, 2).ReadToken(token, now)
		require.ErrorIs(t, err, ErrToken)
	})
}

func TestSeal(t *testing.T) {
	t.Parallel()
	s := secrets(t, 1)
	sealed := s.Seal("webhook/a", []byte("secret"))
	require.NotContains(t, string(sealed), "secret")
	plain, err := s.Open(t.Context(), "webhook/a", sealed)
	require.NoError(t, err)
	require.Equal(t, "secret", string(plain))
	_, err = s.Open(t.Context(), "webhook/b", sealed)
	require.Error(t, err, "it was moved to another place")
	_, err = secrets(t, 2).Open(t.Context(), "webhook/a", sealed)
	require.Error(t, err, "it was sealed with another key")
}

func TestKeyFile(t *testing.T) {
	t.Parallel()
	f := KeyFile{t.TempDir()}
	key, err := f.Load(t.Context())
	require.NoError(t, err)
	require.Nil(t, key)
	for i := range byte(2) {
		require.NoError(t, f.Save(t.Context(), keyOf(i)))
		key, err = f.Load(t.Context())
		require.NoError(t, err)
		require.Equal(t, keyOf(i), key)
	}
	entries, err := os.ReadDir(f.Dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	info, err := entries[0].Info()
	require.NoError(t, err)
	require.Zero(t, info.Mode().Perm()&0o077)
	require.NoError(t, os.WriteFile(filepath.Join(f.Dir, keyFile), key[:31], 0o600))
	_, err = f.Load(t.Context())
	require.ErrorContains(t, err, "31 bytes")
}

// vault has sealed secrets by name. If failAt is set, Reseal fails at that secret.
type vault struct {
	sealed map[string][]byte
	failAt int
}

func (v *vault) Reseal(_ context.Context, f func(place string, sealed []byte) ([]byte, error)) error {
	n := 0
	for place, sealed := range v.sealed {
		if n++; n == v.failAt {
			return errors.New("the power went")
		}
		next, err := f(place, sealed)
		if err != nil {
			return err
		}
		v.sealed[place] = next
	}
	return nil
}

// memoryKey stores a key in memory.
type memoryKey struct{ key []byte }

func (m *memoryKey) Name() string                             { return "memory" }
func (m *memoryKey) Load(context.Context) ([]byte, error)     { return m.key, nil }
func (m *memoryKey) Save(_ context.Context, key []byte) error { m.key = key; return nil }
func open(t *testing.T, reg backend.Registry, st KeyStore) *Secrets {
	t.Helper()
	s, err := NewSecrets(t.Context(), reg, st, false)
	require.NoError(t, err)
	return s
}

func newVault(s *Secrets) *vault {
	v := &vault{sealed: map[string][]byte{}}
	for i := range 10 {
		place := fmt.Sprint("place", i)
		v.sealed[place] = s.Seal(place, []byte(place))
	}
	return v
}

func requireReadable(t *testing.T, s *Secrets, v *vault) {
	t.Helper()
	for place, sealed := range v.sealed {
		plain, err := s.Open(t.Context(), place, sealed)
		require.NoError(t, err)
		require.Equal(t, place, string(plain))
	}
}

func TestLostKey(t *testing.T) {
	t.Parallel()
	reg, st := inmem.New().Registry(), &memoryKey{}
	s := open(t, reg, st)
	require.NoError(t, s.Verify(t.Context(), &vault{}))
	require.Len(t, st.key, KeyBytes)
	v, key := newVault(s), st.key
	for name, lost := range map[string]*memoryKey{"absent": {}, "another": {keyOf(9)}} {
		t.Run(name, func(t *testing.T) {
			before := lost.key
			require.ErrorIs(t, open(t, reg, lost).Verify(t.Context(), v), ErrKeyLost, name)
			require.Equal(t, before, lost.key, "%s: no key takes the place of the lost one", name)
		})
	}
	s = open(t, reg, &memoryKey{key})
	require.NoError(t, s.Verify(t.Context(), v), "the key was restored")
	requireReadable(t, s, v)
	require.NoError(t, open(t, reg, &memoryKey{}).Verify(t.Context(), &vault{}), "nothing is sealed, so nothing is lost")
}

// TestRotateIsResumable interrupts a rotation at every step and opens the deployment again, with whichever key the
// store has.
func TestRotateIsResumable(t *testing.T) {
	t.Parallel()
	for failAt := range 12 {
		t.Run(fmt.Sprint(failAt), func(t *testing.T) {
			t.Parallel()
			reg, st := inmem.New().Registry(), &memoryKey{keyOf(1)}
			s := open(t, reg, st)
			require.NoError(t, s.Verify(t.Context(), &vault{}))
			v := newVault(s)
			v.failAt = failAt
			err := s.Rotate(t.Context(), keyOf(2), v)
			cutOff := failAt >= 1 && failAt <= 10
			require.Equal(t, cutOff, err != nil)
			requireReadable(t, s, v)
			v.failAt = 0
			s = open(t, reg, st)
			requireReadable(t, s, v)
			require.NoError(t, s.Verify(t.Context(), v))
			require.Equal(t, keyOf(2), st.key)
			s = open(t, reg, st)
			_, old := s.keys()
			require.Nil(t, old, "the old key is forgotten")
			requireReadable(t, s, v)
			require.ErrorIs(t, open(t, reg, GivenKey(keyOf(1))).Verify(t.Context(), v), ErrKeyLost)
		})
	}
}

// TestRotateGivenKey checks that a caller who passes the key may pass the old one again until the new one was passed
// once.
func TestRotateGivenKey(t *testing.T) {
	t.Parallel()
	reg := inmem.New().Registry()
	s := open(t, reg, GivenKey(keyOf(1)))
	require.NoError(t, s.Verify(t.Context(), &vault{}))
	v := newVault(s)
	require.NoError(t, s.Rotate(t.Context(), keyOf(2), v))
	for _, key := range [][]byte{keyOf(1), keyOf(2), keyOf(2)} {
		s = open(t, reg, GivenKey(key))
		require.NoError(t, s.Verify(t.Context(), v))
		requireReadable(t, s, v)
	}
	require.ErrorIs(t, open(t, reg, GivenKey(keyOf(1))).Verify(t.Context(), v), ErrKeyLost)
}

// TestRevokedAtOnce checks that a verified and cached key is refused after its revocation, also by a verification that
// read the key just before.
func TestRevokedAtOnce(t *testing.T) {
	t.Parallel()
	reg := inmem.New().Registry()
	keys := NewKeys(reg)
	k, text, err := keys.Create(t.Context(), "create", "a", content.KeySpec{})
	require.NoError(t, err)
	got, err := keys.Verify(t.Context(), "verify", text)
	require.NoError(t, err)
	require.Equal(t, k, got)
	_, err = keys.cache.Get("0", func() (storedKey, error) { // a read under way while the key ends
		return storedKey{}, keys.Revoke(t.Context(), "revoke", "a", k.ID)
	})
	require.NoError(t, err)
	_, err = keys.Verify(t.Context(), "verify", text)
	require.ErrorIs(t, err, fault.ErrUnauthorized)
	require.ErrorIs(t, keys.Revoke(t.Context(), "revoke", "a", k.ID), fault.ErrNotFound)
	_, err = reg.Record(t.Context(), kindKey, "", k.ID)
	require.ErrorIs(t, err, backend.ErrNotFound)
}

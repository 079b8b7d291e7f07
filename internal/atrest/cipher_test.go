package atrest

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// The vectors of C2SP's description of XAES-256-GCM.
func TestXAES(t *testing.T) {
	for key, want := range map[byte]struct{ aad, sealed string }{
		1: {"", "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271"},
		3: {"c2sp.org/XAES-256-GCM", "986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d"},
	} {
		t.Run(fmt.Sprint(key), func(t *testing.T) {
			c, err := newXAES(bytes.Repeat([]byte{key}, KeyBytes))
			require.NoError(t, err)
			sealed, err := hex.DecodeString(want.sealed)
			require.NoError(t, err)
			sealed = append([]byte("ABCDEFGHIJKLMNOPQRSTUVWX"), sealed...)
			plain := make([]byte, len(sealed)-Overhead)
			require.NoError(t, c.Open(plain, sealed, []byte(want.aad)))
			require.Equal(t, "XAES-256-GCM", string(plain))
		})
	}
}

func TestCipher(t *testing.T) {
	c, err := NewCipher(bytes.Repeat([]byte{7}, KeyBytes), "test")
	require.NoError(t, err)
	again, err := NewCipher(bytes.Repeat([]byte{7}, KeyBytes), "test")
	require.NoError(t, err)
	plain := []byte("what is kept")
	seen := make(map[string]bool)
	for range 3 {
		sealed := make([]byte, len(plain)+Overhead)
		require.NoError(t, c.Seal(sealed, plain, []byte("here")))
		require.False(t, bytes.Contains(sealed, plain))
		require.False(t, seen[string(sealed[:nonceBytes])], "a nonce twice")
		seen[string(sealed[:nonceBytes])] = true

		got := make([]byte, len(plain))
		require.NoError(t, again.Open(got, sealed, []byte("here")))
		require.Equal(t, plain, got)
		require.ErrorIs(t, again.Open(got, sealed, []byte("there")), ErrSealed, "another place")
		for i := range sealed {
			bad := bytes.Clone(sealed)
			bad[i] ^= 1
			require.ErrorIs(t, again.Open(got, bad, []byte("here")), ErrSealed, "byte %d", i)
		}
		require.ErrorIs(t, again.Open(nil, sealed[:Overhead-1], nil), ErrSealed)
	}
	for name, other := range map[string]struct {
		key   byte
		label string
	}{"key": {8, "test"}, "label": {7, "other"}} {
		t.Run(name, func(t *testing.T) {
			o, err := NewCipher(bytes.Repeat([]byte{other.key}, KeyBytes), other.label)
			require.NoError(t, err)
			sealed := make([]byte, len(plain)+Overhead)
			require.NoError(t, c.Seal(sealed, plain, nil))
			require.ErrorIs(t, o.Open(make([]byte, len(plain)), sealed, nil), ErrSealed, name)
		})
	}
	_, err = NewCipher(make([]byte, 31), "test")
	require.ErrorContains(t, err, "31 bytes")
}

func BenchmarkCipher(b *testing.B) {
	c, err := NewCipher(make([]byte, KeyBytes), "test")
	require.NoError(b, err)
	plain, sealed := make([]byte, 4096), make([]byte, 4096+Overhead)
	b.Run("seal", func(b *testing.B) {
		b.SetBytes(4096)
		for b.Loop() {
			require.NoError(b, c.Seal(sealed, plain, nil))
		}
	})
	b.Run("open", func(b *testing.B) {
		b.SetBytes(4096)
		for b.Loop() {
			require.NoError(b, c.Open(plain, sealed, nil))
		}
	})
}

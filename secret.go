package contextmem

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/contextmem/contextmem/backend"
)

// secrets seals what must not be readable at rest, with keys derived from the
// deployment's key by purpose (HKDF-SHA256).
type secrets struct {
	aead    cipher.AEAD
	presign []byte
}

const keyFile = "secret.key"

// readKeyFile returns the key in dir, making it when it is absent.
func readKeyFile(dir string) ([]byte, error) {
	name := filepath.Join(dir, keyFile)
	key, err := os.ReadFile(name)
	if err == nil && len(key) != 32 {
		return nil, fmt.Errorf("%s: %d bytes, want 32", keyFile, len(key))
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	key = make([]byte, 32)
	_, _ = rand.Read(key)
	// The caller holds the directory's lock, so nobody else makes the file; the rename makes it whole or absent.
	f, err := os.OpenFile(name+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = f.Write(key)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return nil, err
	}
	return key, os.Rename(name+".new", name)
}

// registryKey returns the key kept in the registry, making it when it is absent.
func registryKey(ctx context.Context, reg backend.Registry) ([]byte, error) {
	r, err := reg.Record(ctx, "secret", "", "master")
	if err == nil {
		return r.Data, nil
	}
	if !errors.Is(err, backend.ErrNotFound) {
		return nil, err
	}
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	err = reg.WriteRecords(ctx, []backend.RecordWrite{{Record: backend.Record{Kind: "secret", ID: "master", Data: key}}})
	return key, err
}

func newSecrets(key []byte) (*secrets, error) {
	seal, err := hkdf.Key(sha256.New, key, nil, "contextmem/seal/1", 32)
	if err != nil {
		return nil, err
	}
	presign, err := hkdf.Key(sha256.New, key, nil, "contextmem/presign/1", 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(seal)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	return &secrets{aead: aead, presign: presign}, nil
}

// seal encrypts plain for the named place, so that a sealed value can't be moved to another.
func (s *secrets) seal(place string, plain []byte) []byte {
	return s.aead.Seal(nil, nil, plain, []byte(place))
}

var errSealed = errors.New("a stored secret can't be read: it was sealed with another key")

func (s *secrets) open(place string, sealed []byte) ([]byte, error) {
	plain, err := s.aead.Open(nil, nil, sealed, []byte(place))
	if err != nil {
		return nil, errSealed
	}
	return plain, nil
}

package access

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/contextmem/contextmem/backend"
)

// KeyStore keeps the key of a deployment.
type KeyStore interface {
	// Load returns the key; nil if there is none.
	Load(ctx context.Context) ([]byte, error)
	// Save replaces the key. After a crash either the old or the new key is stored.
	Save(ctx context.Context, key []byte) error
	// Name returns where the key is stored, for errors.
	Name() string
}

// StoreOf returns the store of a deployment's key: the caller's given key, else a file in dir.
// The registry keeps the key if there is no dir, or if the deployment is encrypted, because an encrypted registry is safer than a file.
func StoreOf(given []byte, dir string, encrypted bool, reg backend.Registry) KeyStore {
	switch {
	case given != nil:
		return GivenKey(given)
	case dir != "" && !encrypted:
		return KeyFile{Dir: dir}
	}
	return RegistryKey{Registry: reg}
}

// KeyFile keeps the key in a file of a directory, which the caller has locked.
type KeyFile struct{ Dir string }

const keyFile = "secret.key"

// Name implements KeyStore.
func (f KeyFile) Name() string { return "the file " + keyFile }

// Load implements KeyStore.
func (f KeyFile) Load(context.Context) ([]byte, error) {
	key, err := os.ReadFile(filepath.Join(f.Dir, keyFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err == nil && len(key) != KeyBytes:
		return nil, fmt.Errorf("%s: %d bytes, want %d", keyFile, len(key), KeyBytes)
	}
	return key, err
}

// Save implements KeyStore.
func (f KeyFile) Save(_ context.Context, key []byte) error {
	var suffix [4]byte
	_, _ = rand.Read(suffix[:])
	name := filepath.Join(f.Dir, keyFile)
	next := name + "." + hex.EncodeToString(suffix[:])
	w, err := os.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = w.Write(key)
	if err = errors.Join(err, w.Sync(), w.Close()); err == nil {
		err = os.Rename(next, name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(next))
	}
	return syncDir(f.Dir)
}

// syncDir makes a rename in dir durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = d.Sync() // not every system can sync a directory; the rename is atomic anyway
	return d.Close()
}

// RegistryKey keeps the key in the registry.
type RegistryKey struct{ Registry backend.Registry }

const kindSecret = "secret"

// Name implements KeyStore.
func (RegistryKey) Name() string { return "the registry" }

// Load implements KeyStore.
func (k RegistryKey) Load(ctx context.Context) ([]byte, error) {
	return readSecret(ctx, k.Registry, "master")
}

// Save implements KeyStore.
func (k RegistryKey) Save(ctx context.Context, key []byte) error {
	return writeSecret(ctx, k.Registry, "master", key)
}

// GivenKey is a key that the caller keeps.
type GivenKey []byte

// Name implements KeyStore.
func (GivenKey) Name() string { return "option SecretKey" }

// Load implements KeyStore.
func (k GivenKey) Load(context.Context) ([]byte, error) { return k, nil }

// Save implements KeyStore. It does nothing: the caller gives the new key at the next start.
func (GivenKey) Save(context.Context, []byte) error { return nil }

// Create stores the first key. taken reports whether another process has stored one before.
func (k RegistryKey) Create(ctx context.Context, key []byte) (taken bool, err error) {
	err = k.Registry.WriteRecords(ctx, []backend.RecordWrite{{Record: backend.Record{Kind: kindSecret, ID: "master", Data: key}}})
	if errors.Is(err, backend.ErrExists) {
		return true, nil
	}
	return false, err
}

func readSecret(ctx context.Context, reg backend.Registry, id string) ([]byte, error) {
	r, err := reg.Record(ctx, kindSecret, "", id)
	if errors.Is(err, backend.ErrNotFound) {
		return nil, nil
	}
	return r.Data, err
}

// writeSecret stores a record, or deletes it if data is nil.
func writeSecret(ctx context.Context, reg backend.Registry, id string, data []byte) error {
	return reg.WriteRecords(ctx, []backend.RecordWrite{secretWrite(id, data)})
}

func secretWrite(id string, data []byte) backend.RecordWrite {
	return backend.RecordWrite{Record: backend.Record{Kind: kindSecret, ID: id, Data: data}, Delete: data == nil, IfRev: -1}
}

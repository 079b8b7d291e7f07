package atrest

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// EnvelopeName is the file that holds the key of a directory's files. That key is encrypted with the user's key. Without the
// file, the directory cannot be decrypted.
const EnvelopeName = "encryption.json"

const envelopeFormat = 1

type envelope struct {
	Format int    `json:"format"`
	Key    []byte `json:"key"` // sealed
}

// Errors about keys.
var (
	ErrNoKey      = errors.New("the directory is encrypted, and no key is given")
	ErrWrongKey   = errors.New("the directory is encrypted with another key")
	ErrNotSealed  = errors.New("the directory is not encrypted: open it without a key, or move its tenants to a new one by Export and ImportTenant")
	errNoEnvelope = fs.ErrNotExist
)

// DirKey returns the key of a directory's files, or nil if the directory is not encrypted and key is nil. With a key, DirKey
// makes an empty directory an encrypted one. used reports whether the directory holds data.
func DirKey(dir string, key []byte, used func() (bool, error)) ([]byte, error) {
	data, err := readEnvelope(dir, key)
	if !errors.Is(err, errNoEnvelope) || key == nil {
		if errors.Is(err, errNoEnvelope) {
			err = nil
		}
		return data, err
	}
	full, err := used()
	if err != nil {
		return nil, err
	}
	if full {
		return nil, ErrNotSealed
	}
	data = make([]byte, KeyBytes)
	_, _ = rand.Read(data)
	err = writeEnvelope(dir, key, data, os.Link)
	if errors.Is(err, fs.ErrExist) { // another process created the envelope first
		return readEnvelope(dir, key)
	}
	return data, err
}

// Rewrap re-encrypts the envelope of a directory with another key. After a crash the envelope has either the old or the new
// key.
func Rewrap(dir string, old, key []byte) error {
	data, err := readEnvelope(dir, old)
	if err != nil {
		return err
	}
	return writeEnvelope(dir, key, data, os.Rename)
}

func readEnvelope(dir string, key []byte) ([]byte, error) {
	b, err := os.ReadFile(filepath.Join(dir, EnvelopeName))
	if err != nil {
		return nil, err
	}
	var e envelope
	if json.Unmarshal(b, &e) != nil || e.Format != envelopeFormat || len(e.Key) != KeyBytes+Overhead {
		return nil, fmt.Errorf("%s is damaged, or of a newer release", EnvelopeName)
	}
	if key == nil {
		return nil, ErrNoKey
	}
	c, err := NewCipher(key, "envelope")
	if err != nil {
		return nil, err
	}
	data := make([]byte, KeyBytes)
	if c.Open(data, e.Key, []byte(EnvelopeName)) != nil {
		return nil, ErrWrongKey
	}
	return data, nil
}

// writeEnvelope writes the file durably under a temporary name and calls put to give it its final name.
func writeEnvelope(dir string, key, data []byte, put func(from, to string) error) (err error) {
	c, err := NewCipher(key, "envelope")
	if err != nil {
		return err
	}
	e := envelope{Format: envelopeFormat, Key: make([]byte, len(data)+Overhead)}
	if err := c.Seal(e.Key, data, []byte(EnvelopeName)); err != nil {
		return err
	}
	b, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, EnvelopeName+".*")
	if err != nil {
		return err
	}
	defer func() {
		if rerr := os.Remove(f.Name()); !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
	}()
	_, err = f.Write(b)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := put(f.Name(), filepath.Join(dir, EnvelopeName)); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = d.Sync() // some systems cannot sync directories
	return d.Close()
}

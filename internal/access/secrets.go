// Package access keeps API keys, the key that seals secrets at rest, and the tokens of presigned URLs.
package access

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"

	"github.com/contextmem/contextmem/backend"
)

// KeyBytes is the length of a deployment's key in bytes.
const KeyBytes = 32

// Secrets encrypts secrets at rest with keys that are derived from the deployment's
// key, one for each purpose (HKDF-SHA256). It is safe for concurrent use.
type Secrets struct {
	reg        backend.Registry
	store      KeyStore
	shared     bool          // whether other processes may open the deployment
	keyChanged chan struct{} // signals that another process may have changed the key

	rotating  sync.Mutex // held during a rotation
	learning  sync.Mutex // held while reading the key from the registry; guards replacing
	replacing bool       // whether this process is replacing the key

	writing sync.RWMutex // read-locked from Seal until the sealed value is stored
	mu      sync.RWMutex // guards the fields below
	cur     *derived
	old     *derived // the old key during a rotation, which still opens values; nil otherwise
	fresh   bool     // whether cur is new and not stored yet
}

// derived is a deployment key with the keys derived from it.
type derived struct {
	key     []byte
	aead    cipher.AEAD
	presign []byte
	receipt []byte
	check   []byte // identifies the key without revealing anything about it
}

func derive(key []byte) (*derived, error) {
	if len(key) != KeyBytes {
		return nil, fmt.Errorf("the key has %d bytes, want %d", len(key), KeyBytes)
	}
	d := &derived{key: key}
	var seal []byte
	for _, x := range []struct {
		purpose string
		to      *[]byte
	}{{"contextmem/seal/1", &seal}, {"contextmem/presign/1", &d.presign}, {"contextmem/receipt/1", &d.receipt}, {"contextmem/check/1", &d.check}} {
		var err error
		if *x.to, err = hkdf.Key(sha256.New, key, nil, x.purpose, 32); err != nil {
			return nil, err
		}
	}
	block, err := aes.NewCipher(seal)
	if err != nil {
		return nil, err
	}
	d.aead, err = cipher.NewGCMWithRandomNonce(block)
	return d, err
}

// NewSecrets returns the secrets of a deployment with the key in the store, or with a new key, which [Secrets.Verify] stores.
// It continues an interrupted rotation, which Verify finishes. shared says that other processes may open the deployment and rotate the key.
func NewSecrets(ctx context.Context, reg backend.Registry, store KeyStore, shared bool) (*Secrets, error) {
	s := &Secrets{reg: reg, store: store, shared: shared, keyChanged: make(chan struct{}, 1)}
	key, err := store.Load(ctx)
	if err != nil {
		return nil, err
	}
	if s.fresh = key == nil; s.fresh {
		key = newKey()
	}
	if s.cur, err = derive(key); err != nil {
		return nil, err
	}
	return s, s.resume(ctx)
}

func newKey() []byte {
	key := make([]byte, KeyBytes)
	_, _ = rand.Read(key)
	return key
}

func (s *Secrets) keys() (cur, old *derived) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.cur, s.old
}

// Hold keeps the key until release is called, so that a rotation finds all values that were sealed before it. Calls must not nest.
// The caller stores sealed values together with the writes in with. They fail with [backend.ErrConflict] if another process has begun to
// replace the key; then the caller has to call Hold and Seal again.
func (s *Secrets) Hold(ctx context.Context) (with []backend.RecordWrite, release func(), err error) {
	s.writing.RLock()
	if s.shared {
		if with, err = s.current(ctx); err != nil {
			s.writing.RUnlock()
			return nil, nil, err
		}
	}
	return with, s.writing.RUnlock, nil
}

// Seal encrypts plain for a named place. The sealed value cannot be opened for another place.
func (s *Secrets) Seal(place string, plain []byte) []byte {
	cur, _ := s.keys()
	return cur.aead.Seal(nil, nil, plain, []byte(place))
}

var errSealed = errors.New("a stored secret can't be read: it was sealed with another key")

// Open decrypts a value that Seal encrypted for the place.
func (s *Secrets) Open(ctx context.Context, place string, sealed []byte) ([]byte, error) {
	plain, err := s.open(place, sealed)
	if err == nil || !s.shared {
		return plain, err
	}
	if err := s.follow(ctx); err != nil { // another process may have sealed it with a newer key
		return nil, err
	}
	return s.open(place, sealed)
}

func (s *Secrets) open(place string, sealed []byte) ([]byte, error) {
	cur, old := s.keys()
	plain, err := cur.aead.Open(nil, nil, sealed, []byte(place))
	if err != nil && old != nil {
		plain, err = old.aead.Open(nil, nil, sealed, []byte(place))
	}
	if err != nil {
		return nil, errSealed
	}
	return plain, nil
}

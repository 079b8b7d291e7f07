// Package access keeps what opens doors: API keys, the key that seals secrets at rest, and the tokens of presigned URLs.
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

// KeyBytes is the length of a deployment's key.
const KeyBytes = 32

// Secrets seals what must not be readable at rest, with keys derived from the
// deployment's key by purpose (HKDF-SHA256). It is safe for concurrent use.
type Secrets struct {
	reg    backend.Registry
	store  KeyStore
	shared bool          // other processes have the deployment open
	heard  chan struct{} // holds something when another process may have changed the key

	rotating  sync.Mutex // one rotation at a time
	learning  sync.Mutex // held while the registry is asked for the key; guards replacing
	replacing bool       // this process replaces the key

	writing sync.RWMutex // held for reading between Seal and the write of what was sealed
	mu      sync.RWMutex // guards what follows
	cur     *derived
	old     *derived // opens as well while a rotation goes on; nil: none
	fresh   bool     // cur was made now and is not stored
}

// derived is a key with those derived from it.
type derived struct {
	key     []byte
	aead    cipher.AEAD
	presign []byte
	receipt []byte
	check   []byte // tells the key from others and nothing about it
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

// NewSecrets returns the secrets of a deployment under the key that the store has, or under a new one that [Secrets.Verify] stores.
// A rotation that was cut off is known from the registry; Verify finishes it. shared says that other processes have the deployment open,
// which may rotate the key.
func NewSecrets(ctx context.Context, reg backend.Registry, store KeyStore, shared bool) (*Secrets, error) {
	s := &Secrets{reg: reg, store: store, shared: shared, heard: make(chan struct{}, 1)}
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

// Hold keeps the key as it is until release is called, so that what is sealed meanwhile is stored before a rotation looks
// for what it has to seal again. Calls must not nest. What is sealed is written together with the writes that Hold returns: they fail with
// [backend.ErrConflict] when another process has begun to replace the key, and then Hold is to be called again.
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

// Seal encrypts plain for the named place, so that a sealed value can't be moved to another.
func (s *Secrets) Seal(place string, plain []byte) []byte {
	cur, _ := s.keys()
	return cur.aead.Seal(nil, nil, plain, []byte(place))
}

var errSealed = errors.New("a stored secret can't be read: it was sealed with another key")

// Open reverses Seal.
func (s *Secrets) Open(ctx context.Context, place string, sealed []byte) ([]byte, error) {
	plain, err := s.open(place, sealed)
	if err == nil || !s.shared {
		return plain, err
	}
	if err := s.follow(ctx); err != nil { // another process may have sealed it with a key that is not known here
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

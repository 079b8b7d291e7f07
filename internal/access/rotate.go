package access

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/contextmem/contextmem/backend"
)

// Vault holds sealed secrets in the registry.
type Vault interface {
	// Reseal replaces every sealed secret by the result of f, by compare-and-set. Unchanged results
	// are not written. It stops at the first error of f.
	Reseal(ctx context.Context, f func(place string, sealed []byte) ([]byte, error)) error
}

// ErrKeyLost says that the deployment's key does not open the stored secrets.
var ErrKeyLost = errors.New("the key of the stored secrets is lost")

// rotation is the registry record of an unfinished rotation. A process with one of the two keys can open the other one.
type rotation struct {
	OldByNew, NewByOld []byte // sealed
}

const (
	rotationRecord = "rotation"
	checkRecord    = "check"
	rotationPlace  = "secret/rotation"
)

// resume finds the second key of an interrupted rotation.
func (s *Secrets) resume(ctx context.Context) error {
	b, err := readSecret(ctx, s.reg, rotationRecord)
	if err != nil || b == nil || s.fresh {
		return err
	}
	cur, old, err := s.pair(b)
	if err == nil && cur != nil { // otherwise Verify finds out whether the key is lost
		s.set(cur, old)
	}
	return err
}

// pair returns the new and the old key of a rotation. Both are nil if the current key is neither of them.
func (s *Secrets) pair(record []byte) (cur, old *derived, err error) {
	var r rotation
	if err := json.Unmarshal(record, &r); err != nil {
		return nil, nil, fmt.Errorf("the record of a key rotation: %w", err)
	}
	have, _ := s.keys()
	if key, err := have.aead.Open(nil, nil, r.OldByNew, []byte(rotationPlace)); err == nil {
		old, err := derive(key)
		return have, old, err
	}
	key, err := have.aead.Open(nil, nil, r.NewByOld, []byte(rotationPlace))
	if err != nil {
		return nil, nil, nil
	}
	next, err := derive(key)
	return next, have, err
}

// Verify finishes an interrupted rotation. It returns ErrKeyLost if the key does not open the stored secrets, and stores a
// new key only if there are none. It must run before anything is sealed.
func (s *Secrets) Verify(ctx context.Context, vaults ...Vault) error {
	if _, old := s.keys(); old != nil {
		return s.finish(ctx, vaults)
	}
	cur, _ := s.keys()
	known, err := readSecret(ctx, s.reg, checkRecord)
	if err != nil || bytes.Equal(known, cur.check) {
		return err
	}
	for _, v := range vaults {
		err := v.Reseal(ctx, func(place string, sealed []byte) ([]byte, error) {
			if _, err := s.open(place, sealed); err != nil {
				return nil, fmt.Errorf("%w: restore the key that %s had", ErrKeyLost, s.store.Name())
			}
			return sealed, nil
		})
		if err != nil {
			return err
		}
	}
	if s.fresh {
		if reg, ok := s.store.(RegistryKey); ok {
			taken, err := reg.Create(ctx, cur.key)
			if err == nil && taken {
				err = s.adopt(ctx)
			}
			if err != nil {
				return err
			}
			cur, _ = s.keys()
		} else if err := s.store.Save(ctx, cur.key); err != nil {
			return err
		}
		s.fresh = false
	}
	return writeSecret(ctx, s.reg, checkRecord, cur.check)
}

// adopt takes over the key that another process has stored meanwhile.
func (s *Secrets) adopt(ctx context.Context) error {
	key, err := s.store.Load(ctx)
	if err != nil {
		return err
	}
	d, err := derive(key)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.cur = d
	s.mu.Unlock()
	return nil
}

// Rotate seals every stored secret with a new key of KeyBytes bytes, or a random one if key is nil. If it fails or is interrupted, the
// secrets stay readable with either key, and another call, or Verify after the next start, completes it.
func (s *Secrets) Rotate(ctx context.Context, key []byte, vaults ...Vault) error {
	s.rotating.Lock()
	defer s.rotating.Unlock()
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.end()
	if _, old := s.keys(); old != nil { // an earlier rotation failed
		if err := s.finish(ctx, vaults); err != nil {
			return err
		}
	}
	if key == nil {
		key = newKey()
	}
	next, err := derive(bytes.Clone(key))
	if err != nil {
		return err
	}
	cur, _ := s.keys()
	if bytes.Equal(next.key, cur.key) {
		return nil
	}
	b, err := json.Marshal(rotation{OldByNew: next.aead.Seal(nil, nil, cur.key, []byte(rotationPlace)), NewByOld: cur.aead.Seal(nil, nil, next.key, []byte(rotationPlace))})
	if err != nil {
		return err
	}
	// The second write makes other processes fail to store values that they sealed with the old key.
	err = s.reg.WriteRecords(ctx, []backend.RecordWrite{secretWrite(rotationRecord, b), secretWrite(checkRecord, cur.check)})
	if err != nil {
		return err
	}
	s.writing.Lock() // all values sealed with the old key are stored now
	s.mu.Lock()
	s.cur, s.old = next, cur
	s.mu.Unlock()
	s.writing.Unlock()
	return s.finish(ctx, vaults)
}

// begin loads the current key, if other processes may have replaced it, and makes follow keep it until end is called.
func (s *Secrets) begin(ctx context.Context) error {
	s.learning.Lock()
	defer s.learning.Unlock()
	if s.shared {
		if err := s.learn(ctx); err != nil {
			return err
		}
	}
	s.replacing = true
	return nil
}

func (s *Secrets) end() {
	s.learning.Lock()
	s.replacing = false
	s.learning.Unlock()
}

// finish seals again all secrets that are sealed with the old key, and then drops the old key.
func (s *Secrets) finish(ctx context.Context, vaults []Vault) error {
	cur, _ := s.keys()
	for _, v := range vaults {
		err := v.Reseal(ctx, func(place string, sealed []byte) ([]byte, error) {
			if _, err := cur.aead.Open(nil, nil, sealed, []byte(place)); err == nil {
				return sealed, nil
			}
			plain, err := s.open(place, sealed)
			if err != nil {
				return nil, err
			}
			return s.Seal(place, plain), nil
		})
		if err != nil {
			return err
		}
	}
	if err := s.store.Save(ctx, cur.key); err != nil {
		return err
	}
	if err := writeSecret(ctx, s.reg, checkRecord, cur.check); err != nil {
		return err
	}
	given, isGiven := s.store.(GivenKey)
	if isGiven && !bytes.Equal(given, cur.key) {
		return nil // keep the record of the old key: the caller may still start with the old key until it gives the new one
	}
	if err := writeSecret(ctx, s.reg, rotationRecord, nil); err != nil {
		return err
	}
	s.mu.Lock()
	s.old = nil
	s.mu.Unlock()
	return nil
}

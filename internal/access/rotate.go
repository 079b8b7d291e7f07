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
	// Reseal replaces every sealed secret by what f returns for it, by compare-and-set; one that f returns
	// unchanged is not written. It stops at the first error of f.
	Reseal(ctx context.Context, f func(place string, sealed []byte) ([]byte, error)) error
}

// ErrKeyLost says that secrets are stored which the deployment's key does not open.
var ErrKeyLost = errors.New("the key of the stored secrets is lost")

// rotation is the registry record of a rotation that goes on. Whoever has one of the keys finds the other.
type rotation struct {
	OldByNew, NewByOld []byte // sealed
}

const (
	rotationRecord = "rotation"
	checkRecord    = "check"
	rotationPlace  = "secret/rotation"
)

// resume finds the second key of a rotation that was cut off.
func (s *Secrets) resume(ctx context.Context) error {
	b, err := readSecret(ctx, s.reg, rotationRecord)
	if err != nil || b == nil || s.fresh {
		return err
	}
	cur, old, err := s.pair(b)
	if err == nil && cur != nil { // else Verify tells whether the key is lost
		s.set(cur, old)
	}
	return err
}

// pair returns the keys of a rotation, the new one and the old one; nil when the key that is known is neither.
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

// Verify finishes a rotation that was cut off, and refuses a key that does not open the stored secrets: ErrKeyLost. A
// new key is stored only when there are none. It must run before anything is sealed.
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

// adopt takes the key that another process has made meanwhile.
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

// Rotate seals every stored secret with another key of KeyBytes, nil for a random one. When it fails or is cut off the secrets stay
// readable under either key, and a repeat or Verify after the next start goes on.
func (s *Secrets) Rotate(ctx context.Context, key []byte, vaults ...Vault) error {
	s.rotating.Lock()
	defer s.rotating.Unlock()
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.end()
	if _, old := s.keys(); old != nil { // an earlier one failed
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
	// With the second write, what other processes are about to store that is sealed with the old key is refused.
	err = s.reg.WriteRecords(ctx, []backend.RecordWrite{secretWrite(rotationRecord, b), secretWrite(checkRecord, cur.check)})
	if err != nil {
		return err
	}
	s.writing.Lock() // what was sealed with the old key is stored
	s.mu.Lock()
	s.cur, s.old = next, cur
	s.mu.Unlock()
	s.writing.Unlock()
	return s.finish(ctx, vaults)
}

// begin learns what key there is to replace, and keeps it until end is called.
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

// finish seals again what is sealed with the old key, and forgets that one.
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
		return nil // the caller may come again with the old key: its record stays until the new one is given
	}
	if err := writeSecret(ctx, s.reg, rotationRecord, nil); err != nil {
		return err
	}
	s.mu.Lock()
	s.old = nil
	s.mu.Unlock()
	return nil
}

package access

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// Several processes can open one deployment, and one of them replaces the key. The others read the registry when they are told that it was
// written, when they cannot open a sealed value, and before they seal. Each step of a rotation changes the check record.
// So a process that sealed a value before a step cannot store it after the step.

// ErrKeyReplaced says that another process replaced the key that this process was given, and that the rotation is complete.
var ErrKeyReplaced = errors.New("the key of the deployment was replaced by another process: start this one with the new key")

// followPause is the minimum time between two reads of the registry.
const followPause = 200 * time.Millisecond

// KeyChanged tells s that another process may have changed the key. It does no I/O.
func (s *Secrets) KeyChanged() {
	select {
	case s.keyChanged <- struct{}{}:
	default:
	}
}

// Run follows key changes by other processes until ctx ends. It logs the first of several failures in a row.
func (s *Secrets) Run(ctx context.Context, log *slog.Logger) {
	if !s.shared {
		return
	}
	failed := false
	for {
		select {
		case <-s.keyChanged:
		case <-ctx.Done():
			return
		}
		err := s.follow(ctx)
		if err != nil && ctx.Err() == nil && !failed {
			log.Warn("finding out the key of the deployment failed", "err", err)
		}
		failed = err != nil
		t := time.NewTimer(followPause)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return
		}
	}
}

// follow learns about all key changes that other processes made before the call. It waits for a call that is reading the registry already,
// because the caller must not seal with a key that was replaced before. It does nothing while this process itself replaces the key.
func (s *Secrets) follow(ctx context.Context) error {
	s.learning.Lock()
	defer s.learning.Unlock()
	if s.replacing {
		return nil
	}
	return s.learn(ctx)
}

// learn does the work of follow. The caller holds s.learning.
func (s *Secrets) learn(ctx context.Context) error {
	check, err := readSecret(ctx, s.reg, checkRecord)
	if err != nil {
		return err
	}
	rotating, err := readSecret(ctx, s.reg, rotationRecord)
	if err != nil {
		return err
	}
	if rotating != nil {
		cur, old, err := s.pair(rotating)
		if err != nil {
			return err
		}
		if cur != nil {
			s.set(cur, old)
			return nil
		}
	} else if cur, _ := s.keys(); bytes.Equal(cur.check, check) {
		s.set(cur, nil)
		return nil
	}
	// Another process replaced the key, and this process missed the rotation.
	key, err := s.store.Load(ctx)
	if err != nil {
		return err
	}
	if len(key) != KeyBytes {
		return fmt.Errorf("the key in %s: %d bytes, want %d", s.store.Name(), len(key), KeyBytes)
	}
	next, err := derive(key)
	if err != nil {
		return err
	}
	if !bytes.Equal(next.check, check) {
		if rotating != nil || !bytes.Equal(key, s.key()) {
			return fmt.Errorf("the key changes: %w", backend.ErrUnavailable) // the key is stored before its check record
		}
		return ErrKeyReplaced
	}
	s.set(next, nil)
	return nil
}

func (s *Secrets) key() []byte {
	cur, _ := s.keys()
	return cur.key
}

func (s *Secrets) set(cur, old *derived) {
	s.mu.Lock()
	s.cur, s.old = cur, old
	s.mu.Unlock()
}

// current brings the key up to date and returns a write that fails if the key is replaced after the call.
func (s *Secrets) current(ctx context.Context) ([]backend.RecordWrite, error) {
	r, err := s.reg.Record(ctx, kindSecret, "", checkRecord)
	if err != nil {
		return nil, err
	}
	if err := s.follow(ctx); err != nil { // only after reading the revision, so that no change is missed
		return nil, err
	}
	return []backend.RecordWrite{{Record: backend.Record{Kind: r.Kind, Org: r.Org, ID: r.ID, Data: r.Data}, IfRev: r.Rev}}, nil
}

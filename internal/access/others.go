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

// Where several processes have a deployment open, one replaces the key. The others read the registry when they hear that it was written, when they
// meet something that they can't open, and before they seal. The check record changes with each step of a
// rotation, so who sealed before the step and stores afterwards is refused.

// ErrKeyReplaced says that the key that the process was given was replaced, and the rotation is over.
var ErrKeyReplaced = errors.New("the key of the deployment was replaced by another process: start this one with the new key")

// heardPause is how long after a reading of the registry the next one is, at least.
const heardPause = 200 * time.Millisecond

// Heard says that another process may have changed the key. It does no I/O.
func (s *Secrets) Heard() {
	select {
	case s.heard <- struct{}{}:
	default:
	}
}

// Run follows what other processes do with the key, until ctx ends.
func (s *Secrets) Run(ctx context.Context, log *slog.Logger) {
	if !s.shared {
		return
	}
	failed := false
	for {
		select {
		case <-s.heard:
		case <-ctx.Done():
			return
		}
		err := s.follow(ctx)
		if err != nil && ctx.Err() == nil && !failed {
			log.Warn("finding out the key of the deployment failed", "err", err)
		}
		failed = err != nil
		t := time.NewTimer(heardPause)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return
		}
	}
}

// follow learns what other processes have done with the key up to its call, and waits for who is learning it already: what a caller
// seals afterwards must not be sealed with a key that was replaced before. While this process replaces the key there is nothing to learn.
func (s *Secrets) follow(ctx context.Context) error {
	s.learning.Lock()
	defer s.learning.Unlock()
	if s.replacing {
		return nil
	}
	return s.learn(ctx)
}

// learn is follow for who holds s.learning.
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
	// It was replaced while this process did not hear of it.
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
			return fmt.Errorf("the key changes: %w", backend.ErrUnavailable) // it is stored before its check is
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

// current makes sure that the key is that of the deployment, and returns the write that fails when that is not so any more.
func (s *Secrets) current(ctx context.Context) ([]backend.RecordWrite, error) {
	r, err := s.reg.Record(ctx, kindSecret, "", checkRecord)
	if err != nil {
		return nil, err
	}
	if err := s.follow(ctx); err != nil { // after the revision was read
		return nil, err
	}
	return []backend.RecordWrite{{Record: backend.Record{Kind: r.Kind, Org: r.Org, ID: r.ID, Data: r.Data}, IfRev: r.Rev}}, nil
}

package sqlite

import (
	"context"
	"errors"

	"github.com/contextmem/contextmem/backend"
)

var _ backend.Maintainer = (*store)(nil)

// Free pages are returned to the file system if a quarter of a file's pages, and at least freePages, are free.
const freePages = 256 // 1 MiB

// incremental is the value of SQLite's auto_vacuum for files that can return a few pages at a time. With 3,000 memories and
// 3,000 vectors its cost in processor time was below the noise of the measurement.
const incremental = 2

// Maintain implements [backend.Maintainer]. It adds checksums to rows of earlier releases, and returns free pages to the file
// system. Files of earlier releases can't return single pages, so Maintain rewrites them once.
func (s *store) Maintain(ctx context.Context) (more bool, err error) {
	if more, err = s.sealOld(ctx); err != nil || more {
		return more, err
	}
	pages, free, mode, err := s.room(ctx)
	if err != nil {
		return false, err
	}
	if !s.giving && (free < freePages || 4*free < pages) {
		return false, nil
	}
	if mode != incremental && !s.rewritten { // connections opened before a rewrite still report the old mode
		err := s.rewrite(ctx)
		s.rewritten = err == nil
		return false, err
	}
	if s.giving = free > 0; !s.giving {
		return false, s.checkpoint(ctx) // truncates the file
	}
	return true, s.give(ctx)
}

// room returns the number of a file's pages, the number of free ones, and its auto_vacuum mode.
func (f *file) room(ctx context.Context) (pages, free, mode int64, err error) {
	err = f.read(ctx, func(c *conn) error {
		for sql, to := range map[string]*int64{"PRAGMA page_count": &pages, "PRAGMA freelist_count": &free, "PRAGMA auto_vacuum": &mode} {
			_, err := c.one(ctx, sql, func(r *row) error {
				*to = r.int(0)
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return pages, free, mode, err
}

// give returns up to 1024 free pages to the file system.
func (s *store) give(ctx context.Context) error {
	if err := s.Enter(ctx); err != nil {
		return err
	}
	defer s.Leave()
	w, err := s.writer()
	if err != nil {
		return err
	}
	w.turn.Lock()
	defer w.turn.Unlock()
	return w.c.each(bg, "PRAGMA incremental_vacuum(1024)", func(*row) error { return nil })
}

// checkpoint moves the log into the file, as far as readers allow.
func (s *store) checkpoint(ctx context.Context) error {
	err := s.query(ctx, func(c *conn) error {
		return c.each(ctx, "PRAGMA wal_checkpoint(PASSIVE)", func(*row) error { return nil })
	})
	if errors.Is(err, backend.ErrUnavailable) { // the next commit tries again
		return nil
	}
	return err
}

package sqlite

import (
	"context"
	"errors"

	"github.com/contextmem/contextmem/backend"
)

var _ backend.Tender = (*store)(nil)

// Room is given back when a quarter of the pages of a file is free, and freePages at least.
const freePages = 256 // 1 MiB

// incremental is the value of SQLite's auto_vacuum in files that can give pages back a few at a time. Measured over 3,000
// memories and 3,000 vectors it costs a store no processor time that can be told from noise.
const incremental = 2

// Tend implements [backend.Tender]: rows of earlier releases get their checksums, and free pages are given back to the file
// system. A file of an earlier release can't give back some: it is rewritten once as a whole.
func (s *store) Tend(ctx context.Context) (more bool, err error) {
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
	if mode != incremental && !s.rewritten { // of a connection that was open before, the mode is the old one
		err := s.rewrite(ctx)
		s.rewritten = err == nil
		return false, err
	}
	if s.giving = free > 0; !s.giving {
		return false, s.checkpoint(ctx) // only now the file gets shorter
	}
	return true, s.give(ctx)
}

// room returns how many pages a file has, how many of them are free, and its auto_vacuum.
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

// give gives up to 1024 free pages back.
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

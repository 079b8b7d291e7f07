package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/contextmem/contextmem/backend"
)

var _ backend.Compacter = (*store)(nil)

const (
	// fullEnough is the part of the pages in use from which on a file stays as it is. One whose rows came in any order is some
	// seven tenths full.
	fullEnough = .6
	// compactSuffix names the file, beside a database, that it is written anew to.
	compactSuffix = ".compact"
	// compactPause is how often a copy under way looks whether it is still worth anything.
	compactPause = 10 * time.Millisecond
)

// Compact implements [backend.Compacter]. The rows are copied to a new file while reads and writes go on. If nothing but named values was written
// until the copy is complete, it gets those, the connections to the old file are closed, the new one takes its name, and calls go on with that.
func (s *store) Compact(ctx context.Context) (again bool, err error) {
	if v, _ := s.commits.load(); v == s.judged {
		return false, nil
	}
	to := s.path + compactSuffix
	defer func() {
		if rerr := os.Remove(to); !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
	}()
	s.sinceNow()
	defer s.since.end()
	worth, err := s.compacted(ctx, to)
	if err != nil || !worth {
		return errors.Is(err, errOvertaken), ignoreOvertaken(err)
	}
	return s.takeName(ctx, to)
}

// sinceNow has what is written from here on noted; a commit under way is waited for.
func (s *store) sinceNow() {
	s.mu.Lock() // no writer is made
	defer s.mu.Unlock()
	if s.w != nil {
		s.w.turn.Lock()
		defer s.w.turn.Unlock()
	}
	s.since.begin()
}

// errOvertaken is why a copy is given up: something was written.
var errOvertaken = errors.New("overtaken by a write")

func ignoreOvertaken(err error) error {
	if errors.Is(err, errOvertaken) {
		return nil
	}
	return err
}

// compacted writes the file anew where that is worth it.
func (s *store) compacted(ctx context.Context, to string) (worth bool, err error) {
	if err := s.Enter(ctx); err != nil {
		return false, err
	}
	defer s.Leave()
	v, _ := s.commits.load()
	if err := s.checkpoint(ctx); err != nil {
		return false, err
	}
	info, err := os.Stat(s.path)
	if err != nil {
		return false, err
	}
	full := 1.
	if info.Size() >= freePages*pageSize {
		if full, err = fullness(s.path, s.cipher); err != nil {
			return false, err
		}
	}
	if full >= fullEnough {
		s.judged = v
		return false, nil
	}
	ctx, stop := s.untilOvertaken(ctx)
	defer stop()
	err = s.copyTo(ctx, to)
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return err == nil, err
}

// untilOvertaken returns a context that ends when something was written that makes a copy void, and when the store is closed.
func (s *store) untilOvertaken(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(compactPause)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			switch {
			case s.since.void():
				cancel(errOvertaken)
			case s.Closing():
				cancel(backend.ErrClosed)
			}
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-done
	}
}

// copyTo writes the live rows to a new file, durably, that can take the place of the old one.
func (f *file) copyTo(ctx context.Context, to string) error {
	c, err := openPlain(f.path, f.o.vfs)
	if err != nil {
		return err
	}
	err = c.script("PRAGMA auto_vacuum=INCREMENTAL")
	if err == nil {
		err = c.vacuumInto(ctx, to)
	}
	if err = errors.Join(err, c.close()); err != nil {
		return err
	}
	if c, err = openConn(to, f.o); err != nil { // from here on it has a log
		return err
	}
	if err := c.close(); err != nil {
		return err
	}
	return syncFile(to)
}

// takeName puts a copy in the place of the file, unless it is void, or the file is in use now.
func (s *store) takeName(ctx context.Context, copied string) (again bool, err error) {
	if !s.apart.TryLock() { // a backup reads the file
		return true, nil
	}
	defer s.apart.Unlock()
	for range takeTries {
		taken, err := s.tryName(ctx, copied)
		switch {
		case errors.Is(err, errOvertaken):
			return true, nil
		case taken || err != nil:
			return false, err
		}
		select {
		case <-ctx.Done():
			return true, nil
		case <-time.After(takePause):
		}
	}
	return true, nil
}

// How often a copy waits for a moment in which nobody reads, for how long, and how long calls have in between.
const (
	takeTries = 20
	takeWait  = 20 * time.Millisecond
	takePause = 100 * time.Millisecond
)

// tryName does what takeName says, if calls leave a moment for it. What waits for the disk is done while writes wait, and reads go on.
func (s *store) tryName(ctx context.Context, copied string) (taken bool, err error) {
	s.mu.Lock() // no writer is made, and where there is one it has a pause
	defer s.mu.Unlock()
	turn := func() {}
	if s.w != nil {
		s.w.turn.Lock()
		turn = sync.OnceFunc(s.w.turn.Unlock)
		defer turn()
	}
	if s.since.void() {
		return false, errOvertaken
	}
	if err := s.copyValues(copied); err != nil {
		return false, err
	}
	if err := s.readers.query(ctx, emptyLog); err != nil {
		return false, err
	}
	// Removing a large file takes time: while it is open somewhere, it is only its name that goes.
	if runtime.GOOS != "windows" { // where the name can't go then
		old, err := os.Open(s.path)
		if err != nil {
			return false, err
		}
		defer func() { _ = old.Close() }() // only kept
	}
	moment := s.Alone(takeWait, func() {
		turn()
		taken, err = s.swap(copied)
	})
	if moment && err == nil && taken {
		err = syncDir(filepath.Dir(s.path))
	}
	return taken, err
}

// emptyLog moves the log into the file and cuts it, as far as readers allow, so that the last connection to close has nothing left to do.
func emptyLog(c *conn) error {
	err := c.each(bg, "PRAGMA wal_checkpoint(TRUNCATE)", func(*row) error { return nil })
	if errors.Is(err, backend.ErrUnavailable) {
		return nil
	}
	return err
}

// swap closes the connections and renames the copy. No call is under way.
func (s *store) swap(copied string) (taken bool, err error) {
	if s.Closing() {
		return false, backend.ErrClosed
	}
	if err := s.reopen(); err != nil {
		return false, err
	}
	// The last connection to close has moved the log into the file. One that is left would be taken for that of the new file.
	if info, err := os.Stat(s.path + "-wal"); err == nil && info.Size() > 0 {
		return false, nil
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if err := os.Rename(copied, s.path); err != nil {
		return false, err
	}
	s.judged, _ = s.commits.load()
	return true, nil
}

// copyValues gives a copy the named values that were written since it was begun, and what is written with any commit.
func (s *store) copyValues(copied string) (err error) {
	names := s.since.written()
	if len(names) == 0 {
		return nil
	}
	c, err := openPlain(s.path, s.o.vfs)
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, c.close()); err == nil {
			err = syncFile(copied)
		}
	}()
	if err := c.do("ATTACH ? AS copy", copied); err != nil {
		return err
	}
	for _, x := range []struct {
		sql  string
		args []any
	}{
		{"PRAGMA copy.synchronous=OFF", nil}, // it is synced as a whole
		{"BEGIN", nil},
		{"DELETE FROM copy.vals WHERE name IN (SELECT value FROM json_each(?))", []any{jsonTexts(names)}},
		{"INSERT INTO copy.vals SELECT * FROM main.vals WHERE name IN (SELECT value FROM json_each(?))", []any{jsonTexts(names)}},
		{"DELETE FROM copy.counters WHERE id = 0", nil},
		{"INSERT INTO copy.counters SELECT * FROM main.counters WHERE id = 0", nil},
		{"DELETE FROM copy.epochs", nil},
		{"INSERT INTO copy.epochs SELECT * FROM main.epochs", nil},
		{"COMMIT", nil},
		{"DETACH copy", nil},
	} {
		if err := c.do(x.sql, x.args...); err != nil {
			return err
		}
	}
	return nil
}

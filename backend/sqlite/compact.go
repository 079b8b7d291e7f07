package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/contextmem/contextmem/backend"
)

var _ backend.Compacter = (*store)(nil)

const (
	// fullEnough is the fullness of pages from which on a file is not compacted. A file whose rows were inserted in random order
	// is about .7 full.
	fullEnough = .6
	// fullAnew is the same for a file that has grown to anewFactor times its pages at the last compaction: rows that grow after their
	// insertion, as all do while they are processed, split pages.
	fullAnew   = .95
	anewFactor = 2
	// compactSuffix is the suffix of the file to which a database is copied.
	compactSuffix = ".compact"
	// compactPause is the interval at which a running copy checks whether it is still valid.
	compactPause = 10 * time.Millisecond
)

// Compact implements [backend.Compacter]. It copies the rows to a new file without blocking reads and writes. If anything but named values was written
// meanwhile, it discards the copy. Otherwise it adds these values to the copy, closes the connections to the old file, and renames the copy to the old
// file's name. Later calls use the new file.
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
		return errors.Is(err, errOvertaken) || errors.Is(err, errUnsettled), ignoreLater(err)
	}
	return s.takeName(ctx, to)
}

// sinceNow starts to record writes. It first waits for a commit in flight.
func (s *store) sinceNow() {
	s.mu.Lock() // keeps a writer from being made
	defer s.mu.Unlock()
	if s.w != nil {
		s.w.turn.Lock()
		defer s.w.turn.Unlock()
	}
	s.since.begin()
}

// Reasons why a copy is discarded, or not begun yet: a write has made it invalid, or writes may follow, since there was none between two calls only
// if the version stayed the same. A job that goes through all rows would split the pages again.
var (
	errOvertaken = errors.New("overtaken by a write")
	errUnsettled = errors.New("not settled yet")
)

func ignoreLater(err error) error {
	if errors.Is(err, errOvertaken) || errors.Is(err, errUnsettled) {
		return nil
	}
	return err
}

// compacted copies the file, if it is not full enough, and reports whether it did.
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
	full, whole := 1., 1.
	if info.Size() >= freePages*pageSize {
		if full, whole, err = fullness(s.path, s.cipher); err != nil {
			return false, err
		}
	}
	if full >= fullEnough {
		grown, err := s.grown(ctx)
		switch {
		case err != nil:
			return false, err
		case !grown || whole >= fullAnew:
			s.judged = v
			return false, nil
		case s.settled != v:
			s.settled = v
			return false, errUnsettled
		}
	}
	ctx, stop := s.untilOvertaken(ctx)
	defer stop()
	err = s.copyTo(ctx, to)
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return err == nil, err
}

// grown reports whether a file has grown by anewFactor since its last compaction, or was never compacted. The number of pages at that time is in the
// header as the application_id, which SQLite keeps and does not use.
func (s *store) grown(ctx context.Context) (grown bool, err error) {
	err = s.readers.query(ctx, func(c *conn) error {
		var then, now int64
		for of, n := range map[string]*int64{"application_id": &then, "page_count": &now} {
			if _, err := c.one(ctx, "PRAGMA "+of, func(r *row) error {
				*n = r.int(0)
				return nil
			}); err != nil {
				return err
			}
		}
		grown = now >= anewFactor*then
		return nil
	})
	return grown, err
}

// untilOvertaken returns a context that ends when a write makes the copy invalid, or the store is closed.
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

// copyTo writes the live rows durably to a new file with the same settings.
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
	if c, err = openConn(to, f.o); err != nil { // switches the copy to a write-ahead log
		return err
	}
	pages := int64(0)
	_, err = c.one(ctx, "PRAGMA page_count", func(r *row) error {
		pages = r.int(0)
		return nil
	})
	if err == nil {
		err = c.script(fmt.Sprintf("PRAGMA application_id = %d", min(pages, math.MaxInt32)))
	}
	if err = errors.Join(err, c.close()); err != nil {
		return err
	}
	return syncFile(to)
}

// takeName replaces the file by its copy, unless the copy is invalid or the file stays in use. again reports whether to try later.
func (s *store) takeName(ctx context.Context, copied string) (again bool, err error) {
	if !s.apart.TryLock() { // a backup is reading the file
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

// Number of attempts to find a moment without reads, the wait of each, and the pause between them.
const (
	takeTries = 20
	takeWait  = 20 * time.Millisecond
	takePause = 100 * time.Millisecond
)

// tryName is one attempt of takeName. It does slow disk operations while only writes wait and reads continue.
func (s *store) tryName(ctx context.Context, copied string) (taken bool, err error) {
	s.mu.Lock() // keeps a writer from being made; an existing one pauses
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
	// Removing a large file takes time. While the file is open here, the rename removes only its name.
	if runtime.GOOS != "windows" { // Windows does not rename over an open file
		old, err := os.Open(s.path)
		if err != nil {
			return false, err
		}
		defer func() { _ = old.Close() }() // it was not used
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

// emptyLog moves the log into the file and truncates it, as far as readers allow. Closing the last connection then takes little time.
func emptyLog(c *conn) error {
	err := c.each(bg, "PRAGMA wal_checkpoint(TRUNCATE)", func(*row) error { return nil })
	if errors.Is(err, backend.ErrUnavailable) {
		return nil
	}
	return err
}

// swap closes the connections and renames the copy. No call may be in flight.
func (s *store) swap(copied string) (taken bool, err error) {
	if s.Closing() {
		return false, backend.ErrClosed
	}
	if err := s.reopen(); err != nil {
		return false, err
	}
	// Closing the last connection has moved the log into the file. SQLite would take a remaining log for that of the new file.
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

// copyValues adds to a copy the named values that were written since it was started, and the rows that every commit writes.
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
		{"PRAGMA copy.synchronous=OFF", nil}, // the whole file is synced at the end
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

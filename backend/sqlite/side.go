package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/move"
)

// moveFile is the file with package move's state, in a directory that was moved or is being filled.
const moveFile = "MOVE"

// side implements move.Side for a deployment.
type side struct{ d *DB }

// Side returns the deployment as one side of a move. Workspaces of the source may be open during the move. The target must not be used by
// anything else.
func (d *DB) Side() move.Side { return side{d} }

// Where returns the name of the side to which the content of a directory was moved; empty: it was not moved.
func Where(dir string) (string, error) {
	s, err := readMove(dir)
	if err != nil || s.Name != move.Moved {
		return "", err
	}
	return s.Peer, nil
}

func readMove(dir string) (s move.State, err error) {
	b, err := os.ReadFile(filepath.Join(dir, moveFile))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	return s, err
}

// checkMoved returns an error if the content of the directory was moved elsewhere.
func (d *DB) checkMoved() error {
	s, err := readMove(d.dir)
	if err != nil || d.o.Moving || s.Name == move.Open {
		return err
	}
	if s.Name == move.Filling {
		return fmt.Errorf("it is being copied from %s: %w", s.Peer, backend.ErrMoved)
	}
	return fmt.Errorf("its content lives at %s: %w", s.Peer, backend.ErrMoved)
}

// Name implements move.Side.
func (s side) Name() string { return s.d.dir }

// State implements move.Side.
func (s side) State(context.Context) (move.State, error) { return readMove(s.d.dir) }

// SetState implements move.Side.
func (s side) SetState(_ context.Context, st move.State) error {
	file := filepath.Join(s.d.dir, moveFile)
	if st.Name == move.Open {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	} else {
		b, err := json.Marshal(st)
		if err != nil {
			return err
		}
		next := file + ".new"
		if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) { // left by a killed process
			return err
		}
		if err := writeNew(next, b); err != nil {
			return err
		}
		if err := os.Rename(next, file); err != nil {
			return err
		}
	}
	if err := syncDir(s.d.dir); err != nil {
		return err
	}
	s.d.o.gate.setMoved(st.Name == move.Moved)
	return nil
}

// Stamps implements move.Side.
func (s side) Stamps(context.Context) (map[string]int64, error) { return s.d.o.gate.writeCounts(), nil }

// Freeze implements move.Side.
func (s side) Freeze(ctx context.Context) (func(), error) {
	return s.d.o.gate.resume, s.d.o.gate.suspend(ctx)
}

// Workspaces implements move.Side.
func (s side) Workspaces(context.Context) (uids []string, err error) {
	found, err := filepath.Glob(filepath.Join(s.d.dir, "tenants", "??", "*", "store.db"))
	for _, f := range found {
		uids = append(uids, filepath.Base(filepath.Dir(f)))
	}
	return uids, err
}

// Remove implements move.Side.
func (s side) Remove(ctx context.Context, uid string) error { return s.d.RemoveStore(ctx, uid) }

// file returns the path and the schema of a workspace, or of the registry.
func (s side) file(uid string) (path string, sch schema) {
	if uid == "" {
		return filepath.Join(s.d.dir, "deployment.db"), deploymentSchema
	}
	return filepath.Join(s.d.path(uid), "store.db"), storeSchema
}

// Read implements move.Side.
func (s side) Read(ctx context.Context, uid string, f func(move.View) error) (err error) {
	path, sch := s.file(uid)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return f(emptyView{})
	}
	if err := s.d.fits(path); err != nil {
		return err
	}
	s.d.o.apart.RLock()
	defer s.d.o.apart.RUnlock()
	c, err := openConn(path, connOptions{readOnly: true, cacheBytes: s.d.o.CacheBytes, vfs: s.d.o.vfs})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	var version int64
	if _, err := c.one(ctx, "PRAGMA user_version", func(r *row) error {
		version = r.int(0)
		return nil
	}); err != nil {
		return err
	}
	if version != int64(len(sch)) { // the file is of an earlier release
		st, err := s.d.OpenStore(ctx, uid)
		if err != nil {
			return err
		}
		if err := st.Close(); err != nil {
			return err
		}
	}
	if err := c.do("BEGIN"); err != nil {
		return err
	}
	v := &view{c: c}
	// The first read starts the snapshot.
	if uid != "" {
		if v.led, err = readLedger(c); err != nil {
			return err
		}
	}
	if err := f(v); err != nil {
		return err
	}
	return c.do("COMMIT")
}

// Write implements move.Side.
func (s side) Write(ctx context.Context, uid string) (move.Place, error) {
	path, sch := s.file(uid)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if err := s.d.makeStore(ctx, path); err != nil {
			return nil, err
		}
	}
	if err := s.d.fits(path); err != nil {
		return nil, err
	}
	c, err := openConn(path, connOptions{cacheBytes: s.d.o.CacheBytes, vfs: s.d.o.vfs})
	if err != nil {
		return nil, err
	}
	if err := sch.migrate(ctx, c, path); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return &spot{view{c: c, live: true}}, nil
}

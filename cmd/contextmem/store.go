package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/local"
	"github.com/contextmem/contextmem/backend/postgres"
	"github.com/contextmem/contextmem/backend/weaviate"
	"github.com/contextmem/contextmem/internal/dirlock"
	"github.com/contextmem/contextmem/shared"
)

// served is a deployment that the serve command can serve.
type served interface {
	Service() *contextmem.Service
	Keys(ctx context.Context) ([]contextmem.Key, error)
	CreateKey(ctx context.Context, spec contextmem.KeySpec) (contextmem.Key, string, error)
	Close() error
}

// own opens the deployment to serve: the directory of --data, or the database of --store.
func (a *app) own(ctx context.Context, s *serveFlags, o *contextmem.Options) (served, error) {
	if err := makeData(a.data); err != nil {
		return nil, err
	}
	if s.store == "" {
		if s.storeListen != "" {
			return nil, usage("--store-listen: goes with --store")
		}
		if len(s.index) > 0 {
			return nil, usage("--index: goes with --store")
		}
	}
	if s.offloadAfter != 0 && len(s.index) == 0 {
		return nil, usage("--index-offload-after: goes with --index")
	}
	if s.store == "" {
		return shared.Own(ctx, a.data, o)
	}
	if !strings.HasPrefix(s.store, "postgres://") && !strings.HasPrefix(s.store, "postgresql://") {
		return nil, usage("--store: must be an address such as postgres://user:password@host:5432/database")
	}
	if o.EncryptionKey != nil {
		return nil, usage("--encryption-key: does not encrypt the database of --store; without --store it encrypts the directory")
	}
	return openStore(ctx, a.data, s, o)
}

// stored is a service over a database that other processes may serve too.
type stored struct {
	svc     *contextmem.Service
	lock    *os.File
	end     context.CancelFunc
	sweeper sync.WaitGroup
}

// openStore opens the deployment in a database, with the indexes in a directory that no other process uses.
func openStore(ctx context.Context, dir string, s *serveFlags, o *contextmem.Options) (_ *stored, err error) {
	dir, lock, err := indexDir(dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, dirlock.Unlock(lock), lock.Close())
		}
	}()
	stores, err := postgres.Open(ctx, s.store, &postgres.Options{ListenURL: s.storeListen})
	if err != nil {
		return nil, err
	}
	var indexers backend.Indexers
	indexers, err = local.Open(dir, &local.Options{CacheBytes: o.CacheBytes, Logger: o.Logger})
	if err != nil {
		return nil, errors.Join(err, stores.Close())
	}
	if len(s.index) > 0 {
		far, err := weaviate.Open(ctx, s.index, indexers, &weaviate.Options{APIKey: s.indexKey, OffloadAfter: s.offloadAfter, Process: processName(dir), Logger: o.Logger})
		if errors.Is(err, weaviate.ErrNoOffload) {
			err = fmt.Errorf("--index-offload-after: %w", err)
		}
		if err != nil {
			return nil, errors.Join(err, indexers.Close(), stores.Close())
		}
		indexers = far
	}
	be := backend.Compose(stores, indexers)
	svc, err := contextmem.New(ctx, be, o)
	if err != nil {
		return nil, errors.Join(err, be.Close())
	}
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	d := &stored{svc: svc, lock: lock, end: end}
	d.sweeper.Go(func() { sweepIndexes(life, dir, stores.Registry(), indexers, o.Logger) })
	return d, nil
}

// sweepEvery is the interval at which index folders of tenants removed by other processes are searched.
const sweepEvery = time.Hour

// sweepIndexes removes the indexes of deleted tenants every sweepEvery until life ends. The process that deletes a tenant removes only its own indexes.
func sweepIndexes(life context.Context, dir string, reg backend.Registry, x backend.Indexers, log *slog.Logger) {
	t := time.NewTicker(sweepEvery)
	defer t.Stop()
	for {
		folders, err := filepath.Glob(filepath.Join(dir, "tenants", "??", "*"))
		for _, f := range folders {
			if life.Err() != nil {
				return
			}
			uid := filepath.Base(f)
			if _, terr := reg.TenantByUID(life, uid); !errors.Is(terr, backend.ErrNotFound) {
				continue
			}
			if rerr := x.RemoveIndexes(life, uid); rerr != nil {
				err = errors.Join(err, rerr)
				continue
			}
			_ = os.Remove(f) // another may have put something there
		}
		if err != nil && life.Err() == nil && log != nil {
			log.Warn("removing the indexes of deleted tenants failed", "err", err)
		}
		select {
		case <-t.C:
		case <-life.Done():
			return
		}
	}
}

// processName returns a name for the process that uses a folder of indexes. It is the same after a restart and does not reveal the path.
func processName(dir string) string {
	host, _ := os.Hostname()
	sum := sha256.Sum256([]byte(host + "\x00" + dir))
	return hex.EncodeToString(sum[:16])
}

// maxIndexDirs is how many processes of one machine may have their indexes in one directory.
const maxIndexDirs = 64

// indexDir locks the first folder for indexes that no other process of this machine uses. After a restart a process therefore finds
// indexes that it or another process has built.
func indexDir(data string) (dir string, lock *os.File, err error) {
	for i := range maxIndexDirs {
		dir := filepath.Join(data, fmt.Sprintf("indexes-%d", i))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", nil, errors.New("the directory of --data can't be written")
		}
		f, err := os.OpenFile(filepath.Join(dir, "LOCK"), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return "", nil, errors.New("the directory of --data can't be written")
		}
		taken, err := dirlock.TryLock(f)
		if err == nil && taken {
			return dir, f, nil
		}
		if cerr := f.Close(); err != nil {
			return "", nil, errors.Join(err, cerr)
		}
	}
	return "", nil, fmt.Errorf("%d processes have their indexes in the directory of --data: name another", maxIndexDirs)
}

// Service implements served.
func (d *stored) Service() *contextmem.Service { return d.svc }

// Keys implements served.
func (d *stored) Keys(ctx context.Context) ([]contextmem.Key, error) { return d.svc.Keys(ctx) }

// CreateKey implements served.
func (d *stored) CreateKey(ctx context.Context, spec contextmem.KeySpec) (contextmem.Key, string, error) {
	return d.svc.CreateKey(ctx, spec)
}

// Close implements served.
func (d *stored) Close() error {
	d.end()
	d.sweeper.Wait()
	return errors.Join(d.svc.Close(), dirlock.Unlock(d.lock), d.lock.Close())
}

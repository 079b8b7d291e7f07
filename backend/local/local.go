// Package local keeps the indexes of workspaces on one machine: vectors, keywords
// and the graph of chunks, in memory and in index files beside the store.
//
// A workspace's change feed is applied to partitions in memory. A partition is
// columns of rows, one row a chunk, in order of arrival; the rows of a source
// version stand together. Every search is answered from these columns, an
// 8-bit scan of vectors and postings of terms.
//
// A flush writes what came since the one before to a new index file, one block for
// each partition, and publishes it in a manifest with the sequence number that the
// files cover. Vectors and postings are then used where the file is mapped, and so are
// the columns when a partition is used after a restart or an eviction.
// Files never change: deletions and changes are said again by newer files, and
// merged away in the background. Damage costs nothing but time: the files are
// dropped and the feed is replayed.
package local

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/atrest"
	"github.com/contextmem/contextmem/internal/openset"
	"github.com/contextmem/contextmem/internal/vector"
)

// Options changes how indexes are kept. Nil is the zero value.
type Options struct {
	// CacheBytes bounds the memory of indexes over all workspaces, about. Partitions
	// that were not used for the longest time are forgotten and come back from their
	// files. What is mapped is left to the operating system and does not count. 0 is
	// 1 GiB; negative is no bound.
	CacheBytes int64
	// MapVectors maps the float32 rows of large partitions, where more than 20,000 vectors of 200
	// dimensions or more are searched by codes. Without it searches read the few rows that they look
	// at from the file: of 384 dimensions some 100 bytes a vector stay resident, not up to 1,940
	// that the system takes back when it wants them. Mapped, a search takes half the time or less.
	MapVectors bool
	// EncryptionKey encrypts index files, block by block (AES-256-GCM); 32 bytes. An encrypted file is not mapped: what is opened of it is
	// in memory, and counts in CacheBytes. Files that the key does not open are built again from the store. Default: none.
	EncryptionKey []byte
	// Logger gets what an operator should know: damage found, files rebuilt. It
	// never gets content. Nil is silent.
	Logger *slog.Logger
}

// Indexers keeps the indexes of a deployment. It is safe for concurrent use.
type Indexers struct {
	dir   string
	log   *slog.Logger
	cache *cache
	limits
	open openset.Set[*index]
}

var _ backend.Indexers = (*Indexers)(nil)

const defaultCacheBytes = 1 << 30

// limits are the sizes at which indexes change their ways.
type limits struct {
	exactRows int            // vectors of a block above which they are searched by lists
	readFrom  int64          // bytes of a file from which on it stays open beside its mapping; 0: never
	cipher    *atrest.Cipher // of index files; nil: none
}

// Open returns the indexes kept in dir, the folder of the deployment. It does no
// I/O; folders are made when there is something to write.
func Open(dir string, o *Options) (*Indexers, error) {
	if dir == "" {
		return nil, errors.New("open indexes: no folder named")
	}
	x := &Indexers{dir: dir, log: slog.New(slog.DiscardHandler)}
	x.exactRows, x.readFrom = vector.DefaultExactRows, readFrom
	budget := int64(0)
	if o != nil {
		budget = o.CacheBytes
		if o.MapVectors {
			x.readFrom = 0
		}
		if o.EncryptionKey != nil {
			c, err := atrest.NewCipher(o.EncryptionKey, "indexes")
			if err != nil {
				return nil, fmt.Errorf("open indexes: EncryptionKey: %w", err)
			}
			x.cipher = c
		}
		if o.Logger != nil {
			x.log = o.Logger
		}
	}
	if budget == 0 {
		budget = defaultCacheBytes
	}
	x.cache = newCache(budget)
	return x, nil
}

// OpenIndexes opens the indexes of the workspace uid, which are one value.
// [backend.ErrConflict] when they are open.
func (x *Indexers) OpenIndexes(ctx context.Context, uid string) (backend.IndexSet, error) {
	ix, err := x.open.Open(ctx, uid, func() (*index, error) { return x.openIndex(uid) })
	if err != nil {
		return nil, err
	}
	return ix, nil
}

// RemoveIndexes deletes the index files of the workspace uid.
// [backend.ErrConflict] when it is open.
func (x *Indexers) RemoveIndexes(ctx context.Context, uid string) error {
	return x.open.Remove(ctx, uid, func() error {
		if err := os.RemoveAll(x.path(uid)); err != nil {
			return fmt.Errorf("remove indexes of %s: %w: %w", uid, err, backend.ErrUnavailable)
		}
		return nil
	})
}

// Close closes the workspaces still open. It waits for calls that are under way.
// Closing again does nothing.
func (x *Indexers) Close() error {
	_, err := x.open.Close()
	return err
}

// path is the folder of a workspace's index files; uid has been checked.
func (x *Indexers) path(uid string) string {
	return filepath.Join(x.dir, "tenants", uid[:2], uid, "index")
}

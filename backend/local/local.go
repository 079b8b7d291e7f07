// Package local keeps the indexes of workspaces on one machine: vectors, keywords
// and the graph of chunks, in memory and in index files beside the store.
//
// A workspace's change feed is applied to partitions in memory. A partition stores its
// rows as columns. A row is one chunk. Rows are in order of arrival, and the rows of a
// source version are adjacent. Searches use these columns, an 8-bit scan of vectors, and
// posting lists of terms.
//
// A flush writes all changes since the previous flush to a new index file, one block for
// each partition. It then publishes a manifest that lists the files and the sequence
// number that they cover. Searches read vectors and postings from the mapped file. After a
// restart or an eviction they also read the columns from there.
//
// Files never change. Newer files record deletions and changes, and merges in the
// background remove the outdated rows. If files are damaged, they are dropped and the
// feed is replayed, so that no data is lost.
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
	// CacheBytes is the approximate limit of the memory of all indexes of all workspaces.
	// Above it the least recently used partitions are evicted and later loaded from their
	// files again. Mapped files do not count: the operating system manages their pages.
	// 0: 1 GiB. Negative: no limit.
	CacheBytes int64
	// MapVectors maps the float32 vectors of large partitions: those whose vectors are searched by
	// codes, because they are more than 20,000 and have 200 dimensions or more. If it is false,
	// searches read the few vectors that they need from the file. With 384 dimensions about 100 bytes
	// a vector then stay resident. With mapping it is up to 1,940 bytes, which the operating system
	// can reclaim, and a search takes half the time or less. Default: false.
	MapVectors bool
	// EncryptionKey encrypts index files, block by block (AES-256-GCM). It has 32 bytes. Encrypted files are not mapped: their opened
	// parts are in memory and count in CacheBytes. Files that the key cannot decrypt are rebuilt from the store. Default: no encryption.
	EncryptionKey []byte
	// Logger gets messages for operators, such as damage found and files rebuilt. The
	// messages never have content. Nil: no messages.
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

// limits are settings that all indexes of a deployment share.
type limits struct {
	exactRows int            // number of vectors of a block above which they are searched by lists
	readFrom  int64          // size in bytes from which a mapped file also stays open for reading; 0: never
	cipher    *atrest.Cipher // of index files; nil: none
}

// Open returns the indexes in dir, the folder of the deployment. It does no I/O: folders
// are created with the first file. It returns an error when dir is empty or the
// EncryptionKey has not 32 bytes.
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

// OpenIndexes opens the indexes of the workspace uid. One value serves as all of them.
// It returns [backend.ErrConflict] when they are open already.
func (x *Indexers) OpenIndexes(ctx context.Context, uid string) (backend.IndexSet, error) {
	ix, err := x.open.Open(ctx, uid, func() (*index, error) { return x.openIndex(uid) })
	if err != nil {
		return nil, err
	}
	return ix, nil
}

// RemoveIndexes deletes the index files of the workspace uid.
// It returns [backend.ErrConflict] when the workspace is open.
func (x *Indexers) RemoveIndexes(ctx context.Context, uid string) error {
	return x.open.Remove(ctx, uid, func() error {
		if err := os.RemoveAll(x.path(uid)); err != nil {
			return fmt.Errorf("remove indexes of %s: %w: %w", uid, err, backend.ErrUnavailable)
		}
		return nil
	})
}

// Close closes all open workspaces. It waits for running calls. A second Close does nothing.
func (x *Indexers) Close() error {
	_, err := x.open.Close()
	return err
}

// path returns the folder of a workspace's index files. The caller has checked uid.
func (x *Indexers) path(uid string) string {
	return filepath.Join(x.dir, "tenants", uid[:2], uid, "index")
}

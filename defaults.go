package contextmem

import (
	"context"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/local"
	"github.com/contextmem/contextmem/backend/sqlite"
	"github.com/contextmem/contextmem/embed/static"
	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/extract/rules"
	"github.com/contextmem/contextmem/fault"
)

// Open opens the deployment in dir, making it when it is absent, with all
// defaults: SQLite as the store, SIMD and BM25 indexes beside it, the embedded
// model. It needs cgo; without it the error says what to do instead. A directory
// that another process has open fails at once.
func Open(ctx context.Context, dir string, o *Options) (*Service, error) {
	stores, err := sqlite.Open(ctx, dir, nil)
	if err != nil {
		return nil, fault.Wrap("open", "", dir, err)
	}
	var opts Options
	if o != nil {
		opts = *o
	}
	indexers, err := local.Open(dir, &local.Options{CacheBytes: opts.CacheBytes, Logger: opts.Logger})
	if err != nil {
		_ = stores.Close()
		return nil, fault.Wrap("open", "", dir, err)
	}
	be := backend.Compose(stores, indexers)
	opts.keyDir = dir
	s, err := New(ctx, be, &opts)
	if err != nil {
		_ = be.Close()
		return nil, err
	}
	return s, nil
}

func defaultEmbedder() Embedder { return static.New() }

func defaultExtractor() extract.Extractor { return rules.New() }

package contextmem

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/local"
	"github.com/contextmem/contextmem/backend/sqlite"
	"github.com/contextmem/contextmem/embed"
	"github.com/contextmem/contextmem/embed/static"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/atrest"
)

// Open opens the deployment in dir, making it when it is absent, with all defaults: SQLite as the store, SIMD and BM25 indexes beside it, the
// embedded model. It needs cgo; without it the error says what to do instead. A directory that another process has open fails at once.
func Open(ctx context.Context, dir string, o *Options) (*Service, error) {
	var opts Options
	if o != nil {
		opts = *o
	}
	key, err := atrest.DirKey(dir, opts.EncryptionKey, func() (bool, error) { return sqlite.Exists(dir) })
	if err != nil {
		return nil, fault.Wrap("open", "", dir, keyError(err))
	}
	stores, err := sqlite.Open(ctx, dir, &sqlite.Options{EncryptionKey: key})
	if err != nil {
		return nil, fault.Wrap("open", "", dir, err)
	}
	indexers, err := local.Open(dir, &local.Options{CacheBytes: opts.CacheBytes, EncryptionKey: key, Logger: opts.Logger})
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

// keyError is an error of a key as callers see it.
func keyError(err error) error {
	switch {
	case errors.Is(err, atrest.ErrNoKey), errors.Is(err, atrest.ErrWrongKey), errors.Is(err, atrest.ErrNotSealed), errors.Is(err, atrest.ErrSize):
		return &fault.Error{Op: "open", Kind: fault.KindInvalid, Field: "EncryptionKey", Err: fmt.Errorf("%w: %w", err, backend.ErrKey)}
	}
	return err
}

// RotateEncryptionKey replaces [Options.EncryptionKey], with 32 bytes. The next opening needs the new one; backups that exist
// need the one that they were made under. It takes a moment: what is kept stays encrypted with a key of its own, which is sealed again. fault.ErrConflict
// when the deployment is not encrypted.
func (s *Service) RotateEncryptionKey(ctx context.Context, key []byte) error {
	const op = "rotate encryption key"
	return s.call(func() error {
		if len(key) != atrest.KeyBytes {
			return fault.Fieldf(op, fault.KindInvalid, fault.Key, "key", "%d bytes, want %d", len(key), atrest.KeyBytes)
		}
		// As in a backup, which copies the envelope.
		return s.secrets.Beside(ctx, func(map[string][]byte) error {
			if s.opts.EncryptionKey == nil {
				return &fault.Error{Op: op, Kind: fault.KindConflict, Err: errors.New("the deployment is not encrypted")}
			}
			if err := atrest.Rewrap(s.opts.keyDir, s.opts.EncryptionKey, key); err != nil {
				return fault.Wrap(op, fault.Key, "", err)
			}
			s.opts.EncryptionKey = bytes.Clone(key)
			return nil
		})
	})
}

// embedder returns the embedder of the options, or the default one. It says what a model would bring where there is none.
func (o *Options) embedder() (Embedder, error) {
	if o.Embedder != nil {
		return o.Embedder, nil
	}
	e, err := embed.Default()
	if err != nil {
		return nil, err
	}
	if e == nil {
		o.Logger.Info("texts are searched by their words and by English word vectors; an embedding model also finds what is said in other words and in other languages: " +
			`import _ "github.com/contextmem/contextmem/models/e5-bge", or set Options.Embedder`)
		return static.New(), nil
	}
	if d := e.Dim(); d < 1 || d > maxDim || e.Model() == "" {
		return nil, fmt.Errorf("the default embedder has no name, or its dimension %d is outside 1 to %d", d, maxDim)
	}
	return e, nil
}

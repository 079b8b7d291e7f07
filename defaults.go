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

// Open opens the deployment in dir and creates it if it is absent. It uses SQLite as the store, SIMD and BM25 indexes beside it, and by default the
// embedded model. Open needs cgo; without cgo the error says what to do instead. It fails at once if another process has the directory open.
func Open(ctx context.Context, dir string, o *Options) (*Service, error) {
	if err := checkDir("open", dir); err != nil {
		return nil, err
	}
	opts, err := o.withDefaults(dir)
	if err != nil {
		return nil, err
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
	s, err := serve(ctx, be, opts)
	if err != nil {
		_ = be.Close()
		return nil, err
	}
	return s, nil
}

// checkDir returns an error if a directory that a caller named cannot be one.
func checkDir(op, dir string) error {
	if err := sqlite.CheckDir(dir); err != nil {
		return &fault.Error{Op: op, Kind: fault.KindInvalid, ID: fault.ShortID(dir), Err: err}
	}
	return nil
}

// keyError turns an error about a key into the error that callers get.
func keyError(err error) error {
	switch {
	case errors.Is(err, atrest.ErrNoKey), errors.Is(err, atrest.ErrWrongKey), errors.Is(err, atrest.ErrNotSealed), errors.Is(err, atrest.ErrSize):
		return &fault.Error{Op: "open", Kind: fault.KindInvalid, Field: "EncryptionKey", Err: fmt.Errorf("%w: %w", err, backend.ErrKey)}
	}
	return err
}

// RotateEncryptionKey replaces [Options.EncryptionKey] with a new key of 32 bytes. The next opening needs the new key. Existing
// backups need the key under which they were made. The call is fast: the data stays encrypted with an internal data key, and only
// that data key is encrypted again. It returns fault.ErrConflict if the deployment is not encrypted.
func (s *Service) RotateEncryptionKey(ctx context.Context, key []byte) error {
	const op = "rotate encryption key"
	return s.call(func() error {
		if len(key) != atrest.KeyBytes {
			return fault.Fieldf(op, fault.KindInvalid, fault.Key, "key", "%d bytes, want %d", len(key), atrest.KeyBytes)
		}
		// As in a backup, which copies the envelope.
		return s.secrets.BackupFiles(ctx, func(map[string][]byte) error {
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

// embedder returns the embedder of the options, or the default one.
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

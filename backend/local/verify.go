package local

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/contextmem/contextmem/backend"
)

var _ backend.Verifier = (*index)(nil)

// Verify implements [backend.Verifier]. It reads the index files and compares their checksums. It returns the number of bytes read.
func (x *index) Verify(ctx context.Context, report func(backend.Finding)) (read int64, err error) {
	if err := x.enter(ctx); err != nil {
		return 0, err
	}
	defer x.leave()
	x.publishing.Lock()
	files := append([]*file(nil), x.files...)
	for _, f := range files {
		f.acquire()
	}
	x.publishing.Unlock()
	defer func() {
		for _, f := range files {
			f.release()
		}
	}()
	for _, f := range files {
		n, err := x.verifyFile(ctx, f)
		read += n
		if err != nil && !isDamage(err) {
			return read, fmt.Errorf("verify indexes: %w: %w", err, backend.ErrUnavailable)
		}
		if err != nil && x.counts(f) {
			report(backend.Finding{What: "index file: " + err.Error()})
			x.damage(err)
		}
	}
	return read, nil
}

// counts reports whether f is still a file of the index. A merge or a reset may have removed it.
func (x *index) counts(f *file) bool {
	x.publishing.Lock()
	defer x.publishing.Unlock()
	for _, o := range x.files {
		if o == f {
			return true
		}
	}
	return false
}

func (x *index) verifyFile(ctx context.Context, f *file) (read int64, err error) {
	onDisk, in, err := checkFile(x.dir(), f.id, x.owner.cipher)
	if err != nil {
		if !x.counts(f) {
			return 0, nil
		}
		return 0, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	if onDisk.size != f.size || onDisk.sum != f.sum {
		return 0, fmt.Errorf("%w: file %d is not the one that was published", errFormat, f.id)
	}
	for _, b := range onDisk.blocks {
		for _, s := range b.sections {
			if err := ctx.Err(); err != nil {
				return read, err
			}
			sum := crc32.New(castagnoli)
			n, err := io.Copy(sum, io.NewSectionReader(in, int64(s.offset), int64(s.length)))
			read += n
			if err != nil {
				return read, err
			}
			if n != int64(s.length) || sum.Sum32() != s.sum {
				return read, fmt.Errorf("%w: checksum of a section of file %d", errFormat, f.id)
			}
		}
	}
	return read, nil
}

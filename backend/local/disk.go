package local

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/contextmem/contextmem/internal/atrest"
)

// An encrypted index file is the file that file.go describes, divided into blocks of sealedBlock bytes; the last block may be
// shorter. Each block is encrypted separately and bound to its number and to the id of the file.
const (
	sealedBlock = 4096
	storedBlock = sealedBlock + atrest.Overhead
	readBlocks  = 32 // the most blocks that one read takes from the file
)

// disk reads an index file, encrypted or not.
type disk struct {
	f      *os.File
	id     uint64
	cipher *atrest.Cipher // nil: the file is not encrypted
	size   int64          // bytes of the decrypted file
}

func openDisk(path string, id uint64, c *atrest.Cipher) (*disk, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	d := &disk{f: f, id: id, cipher: c, size: st.Size()}
	if c != nil {
		d.size = d.size/storedBlock*sealedBlock + max(d.size%storedBlock-atrest.Overhead, 0)
	}
	return d, nil
}

func (d *disk) Close() error { return d.f.Close() }

// sealedPlace returns the id and block number that a block's encryption is bound to.
func sealedPlace(id uint64, block int64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, id), uint64(block))
}

var storedBlocks = sync.Pool{New: func() any { return new([readBlocks * storedBlock]byte) }}

// ReadAt implements io.ReaderAt. It returns errFormat for blocks that cannot be decrypted.
func (d *disk) ReadAt(p []byte, off int64) (n int, err error) {
	if d.cipher == nil {
		return d.f.ReadAt(p, off)
	}
	stored := storedBlocks.Get().(*[readBlocks * storedBlock]byte)
	defer storedBlocks.Put(stored)
	var part [sealedBlock]byte
	for n < len(p) && off < d.size {
		first := off / sealedBlock
		last := min((off+int64(len(p)-n)-1)/sealedBlock, (d.size-1)/sealedBlock, first+readBlocks-1)
		got, err := d.f.ReadAt(stored[:(last-first+1)*storedBlock], first*storedBlock)
		if err != nil && !errors.Is(err, io.EOF) {
			return n, err
		}
		for b := first; b <= last; b++ {
			from := stored[min(int(b-first)*storedBlock, got):min(int(b-first+1)*storedBlock, got)]
			size := len(from) - atrest.Overhead
			in := int(off - b*sealedBlock)
			if size <= in {
				return n, fmt.Errorf("%w: it ends in block %d", errFormat, b)
			}
			to := part[:size]
			whole := in == 0 && len(p)-n >= size
			if whole {
				to = p[n : n+size]
			}
			if err := d.cipher.Open(to, from, sealedPlace(d.id, b)); err != nil {
				return n, fmt.Errorf("%w: block %d: %w", errFormat, b, err)
			}
			k := size
			if !whole {
				k = copy(p[n:], to[in:])
			}
			n, off = n+k, off+int64(k)
		}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// diskWriter writes an index file from front to end, and the header last.
type diskWriter struct {
	f      *os.File
	id     uint64
	cipher *atrest.Cipher
	first  []byte // plain bytes of block 0, kept until finish knows the header
	part   []byte // plain bytes of the next block so far
	next   int64
	stored []byte
}

func newDiskWriter(f *os.File, id uint64, c *atrest.Cipher) *diskWriter {
	w := &diskWriter{f: f, id: id, cipher: c}
	if c != nil {
		w.part, w.stored = make([]byte, 0, sealedBlock), make([]byte, storedBlock)
	}
	return w
}

func (w *diskWriter) Write(p []byte) (n int, err error) {
	if w.cipher == nil {
		return w.f.Write(p)
	}
	for n < len(p) {
		k := min(len(p)-n, sealedBlock-len(w.part))
		w.part = append(w.part, p[n:n+k]...)
		n += k
		if len(w.part) == sealedBlock {
			if err := w.block(); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// block encrypts and writes part as the next block. It keeps block 0 for finish.
func (w *diskWriter) block() error {
	if w.next == 0 {
		w.first = append([]byte(nil), w.part...)
	} else if err := w.seal(w.part, w.next); err != nil {
		return err
	}
	w.next++
	w.part = w.part[:0]
	return nil
}

func (w *diskWriter) seal(plain []byte, block int64) error {
	stored := w.stored[:len(plain)+atrest.Overhead]
	if err := w.cipher.Seal(stored, plain, sealedPlace(w.id, block)); err != nil {
		return err
	}
	_, err := w.f.WriteAt(stored, block*storedBlock)
	return err
}

// finish writes the header and closes the file.
func (w *diskWriter) finish(header []byte) error {
	if w.cipher == nil {
		_, err := w.f.WriteAt(header, 0)
		return errors.Join(err, w.f.Close())
	}
	if len(w.part) > 0 {
		if err := w.block(); err != nil {
			return err
		}
	}
	copy(w.first, header)
	return errors.Join(w.seal(w.first, 0), w.f.Close())
}

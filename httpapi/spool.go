package httpapi

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"os"
)

// spoolFile is a temporary file, encrypted with a key that is only in memory. Data that the system leaves on the disk is therefore
// unreadable. The file is written sequentially and then read.
type spoolFile struct {
	f     *os.File
	block cipher.Block
	to    cipher.Stream
	buf   []byte
}

func newSpoolFile(f *os.File) (*spoolFile, error) {
	var key [32]byte
	_, _ = rand.Read(key[:])
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, err
	}
	s := &spoolFile{f: f, block: block}
	s.to = s.stream(0)
	return s, nil
}

// stream returns the key stream that starts at a block of the file. The key is used for one file only, so the nonce is just the counter.
func (s *spoolFile) stream(block int64) cipher.Stream {
	var iv [aes.BlockSize]byte
	binary.BigEndian.PutUint64(iv[8:], uint64(block))
	return cipher.NewCTR(s.block, iv[:])
}

// Write implements io.Writer.
func (s *spoolFile) Write(p []byte) (n int, err error) {
	if s.buf == nil {
		s.buf = make([]byte, 32<<10)
	}
	for n < len(p) && err == nil {
		k := min(len(p)-n, len(s.buf))
		s.to.XORKeyStream(s.buf[:k], p[n:n+k])
		k, err = s.f.Write(s.buf[:k])
		n += k
	}
	return n, err
}

// ReadAt implements io.ReaderAt.
func (s *spoolFile) ReadAt(p []byte, off int64) (n int, err error) {
	n, err = s.f.ReadAt(p, off)
	if n > 0 {
		from := s.stream(off / aes.BlockSize)
		var skip [aes.BlockSize]byte
		from.XORKeyStream(skip[:off%aes.BlockSize], skip[:off%aes.BlockSize])
		from.XORKeyStream(p[:n], p[:n])
	}
	return n, err
}

// Close closes the file.
func (s *spoolFile) Close() error { return s.f.Close() }

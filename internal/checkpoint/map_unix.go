//go:build unix

package checkpoint

import (
	"errors"
	"fmt"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps a file for reading. The bytes are valid until unmap is called.
func mapFile(path string) (data []byte, unmap func() error, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if info.Size() <= 0 || info.Size() > math.MaxInt || !info.Mode().IsRegular() {
		return nil, nil, errors.New("not a file with contents")
	}
	data, err = unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, err
	}
	return data, func() error { return unix.Munmap(data) }, nil
}

// identity returns text that changes when a file is replaced or written to: its device, inode, size and times.
func identity(path string) string {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return ""
	}
	return fmt.Sprint(st.Dev, " ", st.Ino, " ", st.Size, " ", st.Mtim, " ", st.Ctim)
}

// release removes the pages of mapped bytes from memory until they are read again.
func release(data []byte) { _ = unix.Madvise(data, unix.MADV_DONTNEED) }

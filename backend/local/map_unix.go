//go:build unix

package local

import (
	"fmt"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps a whole file of a known size for reading. The bytes are good until
// unmapFile.
func mapFile(f *os.File, size int64) ([]byte, error) {
	if size <= 0 || size > math.MaxInt {
		return nil, fmt.Errorf("map a file of %d bytes", size)
	}
	return unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
}

// mapMemory returns memory outside the heap, good until unmapFile.
func mapMemory(size int64) ([]byte, error) {
	if size <= 0 || size > math.MaxInt {
		return nil, fmt.Errorf("map %d bytes", size)
	}
	return unix.Mmap(-1, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
}

// dropPages takes the pages of a mapped file that were read so far out of the memory of the process. They are read again from the file.
func dropPages(data []byte) { _ = unix.Madvise(data, unix.MADV_DONTNEED) }

func unmapFile(data []byte) error { return unix.Munmap(data) }

// syncDir makes the names in a folder survive a crash.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if e := d.Close(); err == nil {
		err = e
	}
	return err
}

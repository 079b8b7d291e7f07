//go:build unix

package local

import (
	"fmt"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps a whole file of the given size for reading. The bytes are valid until
// unmapFile.
func mapFile(f *os.File, size int64) ([]byte, error) {
	if size <= 0 || size > math.MaxInt {
		return nil, fmt.Errorf("map a file of %d bytes", size)
	}
	return unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
}

// mapMemory returns size bytes of memory outside the heap, valid until unmapFile.
func mapMemory(size int64) ([]byte, error) {
	if size <= 0 || size > math.MaxInt {
		return nil, fmt.Errorf("map %d bytes", size)
	}
	return unix.Mmap(-1, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
}

// dropPages removes resident pages of a mapped file from the memory of the process. A later access reads them from the file again.
func dropPages(data []byte) { _ = unix.Madvise(data, unix.MADV_DONTNEED) }

func unmapFile(data []byte) error { return unix.Munmap(data) }

// syncDir syncs a folder, so that the names of its files survive a crash of the machine.
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

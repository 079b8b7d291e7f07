//go:build !unix

package local

import (
	"fmt"
	"io"
	"math"
	"os"
)

// mapFile reads a whole file of a known size; unmapFile leaves the bytes to the
// garbage collector.
func mapFile(f *os.File, size int64) ([]byte, error) {
	if size <= 0 || size > math.MaxInt {
		return nil, fmt.Errorf("read a file of %d bytes", size)
	}
	data := make([]byte, size)
	_, err := io.ReadFull(io.NewSectionReader(f, 0, size), data)
	return data, err
}

// mapMemory returns memory that unmapFile leaves to the garbage collector.
func mapMemory(size int64) ([]byte, error) {
	if size <= 0 || size > math.MaxInt {
		return nil, fmt.Errorf("map %d bytes", size)
	}
	return make([]byte, size), nil
}

// dropPages does nothing: files are on the heap.
func dropPages([]byte) {}

func unmapFile([]byte) error { return nil }

// syncDir does nothing: these systems keep names in order by themselves.
func syncDir(string) error { return nil }

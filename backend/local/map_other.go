//go:build !unix

package local

import (
	"fmt"
	"io"
	"math"
	"os"
)

// mapFile reads a whole file of the given size into memory. The garbage collector frees
// the bytes; unmapFile does nothing.
func mapFile(f *os.File, size int64) ([]byte, error) {
	if size <= 0 || size > math.MaxInt {
		return nil, fmt.Errorf("read a file of %d bytes", size)
	}
	data := make([]byte, size)
	_, err := io.ReadFull(io.NewSectionReader(f, 0, size), data)
	return data, err
}

// mapMemory returns size bytes of memory, which the garbage collector frees.
func mapMemory(size int64) ([]byte, error) {
	if size <= 0 || size > math.MaxInt {
		return nil, fmt.Errorf("map %d bytes", size)
	}
	return make([]byte, size), nil
}

// dropPages does nothing, because mapFile puts files on the heap.
func dropPages([]byte) {}

func unmapFile([]byte) error { return nil }

// syncDir does nothing: folders cannot be synced on these systems.
func syncDir(string) error { return nil }

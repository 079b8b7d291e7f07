//go:build cgo && (linux || darwin || freebsd)

package sealedvfs

/*
#cgo CFLAGS: -O2
#cgo darwin LDFLAGS: -Wl,-undefined,dynamic_lookup
#include <stdlib.h>
#include "vfs.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/contextmem/contextmem/internal/atrest"
)

// ciphers are those of the file systems, by number.
var (
	ciphers sync.Map // int32 -> *atrest.Cipher
	numbers atomic.Int32
)

// Register makes a file system that seals with c, and returns its name. release takes it away; no database may be open in it.
func Register(c *atrest.Cipher) (name string, release func(), err error) {
	n := numbers.Add(1)
	name = fmt.Sprintf("contextmem-sealed-%d", n)
	ciphers.Store(n, c)
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	v := C.sealed_register(cname, C.int(n))
	if v == nil {
		ciphers.Delete(n)
		return "", nil, errors.New("sqlite: no file system for encrypted files could be made")
	}
	return name, func() {
		C.sealed_unregister(v)
		ciphers.Delete(n)
	}, nil
}

func cipherOf(n C.int) *atrest.Cipher {
	c, _ := ciphers.Load(int32(n))
	x, _ := c.(*atrest.Cipher)
	return x
}

// places lends the bytes that are bound to a block.
var places = sync.Pool{New: func() any { return new([PlaceBytes]byte) }}

//export sealedSeal
func sealedSeal(number, kind C.int, block C.longlong, plain unsafe.Pointer, n C.int, stored unsafe.Pointer) C.int {
	c := cipherOf(number)
	if c == nil {
		return 1
	}
	p := places.Get().(*[PlaceBytes]byte)
	defer places.Put(p)
	place(p, Kind(kind), int64(block))
	if c.Seal(unsafe.Slice((*byte)(stored), int(n)+atrest.Overhead), unsafe.Slice((*byte)(plain), int(n)), p[:]) != nil {
		return 1
	}
	return 0
}

//export sealedOpen
func sealedOpen(number, kind C.int, block C.longlong, stored unsafe.Pointer, n C.int, plain unsafe.Pointer) C.int {
	c := cipherOf(number)
	if c == nil {
		return 1
	}
	p := places.Get().(*[PlaceBytes]byte)
	defer places.Put(p)
	place(p, Kind(kind), int64(block))
	if c.Open(unsafe.Slice((*byte)(plain), int(n)-atrest.Overhead), unsafe.Slice((*byte)(stored), int(n)), p[:]) != nil {
		return 1
	}
	return 0
}

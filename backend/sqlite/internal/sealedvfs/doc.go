// Package sealedvfs is a file system for SQLite in which every file that holds content is encrypted: databases, write-ahead logs,
// journals and temporary files, block by block. vfs.c describes the files.
package sealedvfs

import (
	"encoding/binary"
	"errors"
	"io"
	"os"

	"github.com/contextmem/contextmem/internal/atrest"
)

// Kind is what a block is of.
type Kind byte

// The kinds of vfs.c.
const (
	Other Kind = 0
	WAL   Kind = 1
)

// PlaceBytes is the length of what is bound to a block.
const PlaceBytes = 9

func place(p *[PlaceBytes]byte, kind Kind, block int64) {
	p[0] = byte(kind)
	binary.BigEndian.PutUint64(p[1:], uint64(block))
}

const pageBytes = 4096

// State is what a file is, by its first block.
type State int

// States of a file.
const (
	Absent  State = iota // not there, or empty
	Plain                // a database that is not encrypted
	Fits                 // encrypted with this key
	Foreign              // encrypted with another key, or damaged, or no database
)

// Look says what the database file is. c may be nil: no file fits then.
func Look(path string, c *atrest.Cipher) (State, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return Absent, nil
	}
	if err != nil {
		return 0, err
	}
	stored := make([]byte, pageBytes+atrest.Overhead)
	n, err := io.ReadFull(f, stored)
	if err = errors.Join(ignoreEnd(err), f.Close()); err != nil {
		return 0, err
	}
	switch stored = stored[:n]; {
	case n == 0:
		return Absent, nil
	case len(stored) >= 16 && string(stored[:16]) == "SQLite format 3\x00":
		return Plain, nil
	case c == nil || n < atrest.Overhead:
		return Foreign, nil
	}
	var p [PlaceBytes]byte
	place(&p, Other, 0)
	if c.Open(make([]byte, n-atrest.Overhead), stored, p[:]) != nil {
		return Foreign, nil
	}
	return Fits, nil
}

// ReadPage reads a page of a database file, counted from 0. One that is just being written does not open.
func ReadPage(f io.ReaderAt, at int64, c *atrest.Cipher) ([]byte, error) {
	stored := make([]byte, pageBytes+atrest.Overhead)
	if _, err := f.ReadAt(stored, at*int64(len(stored))); err != nil {
		return nil, err
	}
	page := make([]byte, pageBytes)
	var p [PlaceBytes]byte
	place(&p, Other, at)
	return page, c.Open(page, stored, p[:])
}

func ignoreEnd(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

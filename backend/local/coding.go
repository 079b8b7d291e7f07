package local

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// errFormat says that index files are damaged. The index then drops its files and is built again from the store.
var errFormat = errors.New("index file is damaged")

// encoder appends numbers and texts to a buffer.
type encoder struct{ buf []byte }

func (e *encoder) uint(v uint64)    { e.buf = binary.AppendUvarint(e.buf, v) }
func (e *encoder) int(v int64)      { e.buf = binary.AppendVarint(e.buf, v) }
func (e *encoder) fixed(v uint64)   { e.buf = binary.LittleEndian.AppendUint64(e.buf, v) }
func (e *encoder) fixed32(v uint32) { e.buf = binary.LittleEndian.AppendUint32(e.buf, v) }
func (e *encoder) byte(v byte)      { e.buf = append(e.buf, v) }
func (e *encoder) text(s string) {
	e.uint(uint64(len(s)))
	e.buf = append(e.buf, s...)
}

// decoder reads what an encoder wrote. After the first error it returns zeros, and
// err is set.
type decoder struct {
	buf []byte
	err error
}

func (d *decoder) fail() {
	d.buf = nil
	if d.err == nil {
		d.err = errFormat
	}
}

func (d *decoder) uint() uint64 {
	if b := d.buf; len(b) > 2 { // nearly all numbers have up to three bytes
		switch {
		case b[0] < 0x80:
			d.buf = b[1:]
			return uint64(b[0])
		case b[1] < 0x80:
			d.buf = b[2:]
			return uint64(b[0]&0x7f) | uint64(b[1])<<7
		case b[2] < 0x80:
			d.buf = b[3:]
			return uint64(b[0]&0x7f) | uint64(b[1]&0x7f)<<7 | uint64(b[2])<<14
		}
	}
	v, n := binary.Uvarint(d.buf)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.buf = d.buf[n:]
	return v
}

// uint32 reads a number below math.MaxUint32. That value is reserved for none.
func (d *decoder) uint32() uint32 {
	v := d.uint()
	if v >= math.MaxUint32 {
		d.fail()
		return 0
	}
	return uint32(v)
}

func (d *decoder) int() int64 {
	v := d.uint()
	return int64(v>>1) ^ -int64(v&1) // zigzag, as binary.Varint
}

func (d *decoder) bytes(n int) []byte {
	if n < 0 || n > len(d.buf) {
		d.fail()
		return nil
	}
	b := d.buf[:n]
	d.buf = d.buf[n:]
	return b
}

func (d *decoder) fixed() uint64 {
	if b := d.bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (d *decoder) fixed32() uint32 {
	if b := d.bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (d *decoder) byte() byte {
	if b := d.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

// count reads the number of items that follow. It fails if less than size bytes an item are left.
func (d *decoder) count(size int) int {
	n := d.uint()
	if n > uint64(len(d.buf)/size) {
		d.fail()
		return 0
	}
	return int(n)
}

func (d *decoder) text() string {
	n := d.count(1)
	return string(d.bytes(n))
}

// end returns the first error, or errFormat when bytes are left over.
func (d *decoder) end() error {
	if d.err == nil && len(d.buf) > 0 {
		d.fail()
	}
	return d.err
}

func updateChecksum(sum uint32, b []byte) uint32 { return crc32.Update(sum, castagnoli, b) }

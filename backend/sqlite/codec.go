package sqlite

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/half"
)

// never is the stand-in for the zero time where an order is needed: before all others.
const never = math.MinInt64

// micros is a time as it is compared; the zero time is never.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return never
	}
	return t.UnixMicro()
}

// stamp is a time as it is stored; the zero time is NULL.
func stamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

// stamped is a time as it comes back after it was stored.
func stamped(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return time.UnixMicro(t.UnixMicro()).UTC()
}

// time reads a stored time.
func (r *row) time(i int) time.Time {
	if r.vals[i] == nil {
		return time.Time{}
	}
	return time.UnixMicro(r.int(i)).UTC()
}

// castagnoli is the CRC-32C table; processors have an instruction for it.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// checked reads a blob and its checksum. NULL passes as nil.
func (r *row) checked(crc, data int, what string, num int64) []byte {
	b := r.blob(data)
	if got := int64(checksum(b)); r.err == nil && got != r.int(crc) {
		r.err = fmt.Errorf("%s %d: checksum %08x, stored %08x: %w", what, num, got, r.vals[crc], backend.ErrCorrupt)
	}
	return b
}

// hashOf names a text inside a partition in eight bytes; part 0 stands for all.
func hashOf(part int64, text string) int64 {
	var buf [256]byte
	b := binary.LittleEndian.AppendUint64(buf[:0], uint64(part))
	sum := sha256.Sum256(append(b, text...))
	return int64(binary.LittleEndian.Uint64(sum[:]))
}

// halfMark stands behind a vector of 16-bit numbers, whose length is odd by it.
const halfMark = 16

// packVector returns a vector as it is stored: little-endian float32, or, where that is the same, as for the vectors of embedders
// (see package pipeline), 16 bits each and halfMark.
func packVector(v []float32) []byte {
	if len(v) == 0 || slices.ContainsFunc(v, func(f float32) bool { return !half.Exact(f) }) {
		b := make([]byte, 0, 4*len(v))
		for _, f := range v {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
		}
		return b
	}
	b := make([]byte, 0, 2*len(v)+1)
	for _, f := range v {
		b = binary.LittleEndian.AppendUint16(b, half.Of(f))
	}
	return append(b, halfMark)
}

func unpackVector(b []byte) ([]float32, error) {
	if n := len(b) / 2; len(b)%2 == 1 && b[2*n] == halfMark {
		v := make([]float32, n)
		for i := range v {
			v[i] = half.Float(binary.LittleEndian.Uint16(b[2*i:]))
		}
		return v, nil
	}
	if len(b)%4 != 0 {
		return nil, fmt.Errorf("vector of %d bytes: %w", len(b), backend.ErrCorrupt)
	}
	v := make([]float32, len(b)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return v, nil
}

// packTags keeps nil and empty apart.
func packTags(tags []uint64) []byte {
	if tags == nil {
		return nil
	}
	b := make([]byte, 0, 8*len(tags))
	for _, t := range tags {
		b = binary.LittleEndian.AppendUint64(b, t)
	}
	return b
}

func unpackTags(b []byte) ([]uint64, error) {
	if b == nil {
		return nil, nil
	}
	if len(b)%8 != 0 {
		return nil, fmt.Errorf("tags of %d bytes: %w", len(b), backend.ErrCorrupt)
	}
	tags := make([]uint64, len(b)/8)
	for i := range tags {
		tags[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return tags, nil
}

// mention is a stored mention: the chunk by its place in the version, the entity of
// the key itself, and the key, so that the feed needs no look-up.
type mention struct {
	chunk  int64
	entity int64
	weight float32
	key    string
}

func appendMention(b []byte, m mention) []byte {
	b = binary.AppendUvarint(b, uint64(m.chunk))
	b = binary.AppendUvarint(b, uint64(m.entity))
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(m.weight))
	b = binary.AppendUvarint(b, uint64(len(m.key)))
	return append(b, m.key...)
}

func unpackMentions(b []byte) ([]mention, error) {
	out := make([]mention, 0, len(b)/16)
	for len(b) > 0 {
		var m mention
		for _, field := range []*int64{&m.chunk, &m.entity} {
			v, n := binary.Uvarint(b)
			if n <= 0 || v > math.MaxInt64 {
				return nil, fmt.Errorf("mentions: %w", backend.ErrCorrupt)
			}
			*field, b = int64(v), b[n:]
		}
		if len(b) < 4 {
			return nil, fmt.Errorf("mentions: %w", backend.ErrCorrupt)
		}
		m.weight, b = math.Float32frombits(binary.LittleEndian.Uint32(b)), b[4:]
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return nil, fmt.Errorf("mentions: %w", backend.ErrCorrupt)
		}
		m.key, b = string(b[n:n+int(size)]), b[n+int(size):]
		out = append(out, m)
	}
	return out, nil
}

package storerules

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/half"
)

// Never is the stand-in for the zero time where an order is needed: before all others.
const Never = math.MinInt64

// Micros is a time as it is compared; the zero time is [Never].
func Micros(t time.Time) int64 {
	if t.IsZero() {
		return Never
	}
	return t.UnixMicro()
}

// Stamp is a time as it is stored, in microseconds; the zero time is nil.
func Stamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

// Stamped is a time as it comes back after it was stored.
func Stamped(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return time.UnixMicro(t.UnixMicro()).UTC()
}

// DueFrom is when a source that waits for a time may be claimed, in microseconds: 0 stands for any time.
func DueFrom(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return max(at.UnixMicro(), 1)
}

// Castagnoli is the CRC-32C table; processors have an instruction for it.
var Castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum is the CRC-32C of bytes.
func Checksum(b []byte) uint32 { return crc32.Checksum(b, Castagnoli) }

// halfMark stands behind a vector of 16-bit numbers, whose length is odd by it.
const halfMark = 16

// PackVector returns a vector as it is stored: as [PackFloats] does, or, where that is the same, as for the vectors of embedders
// (see package pipeline), 16 bits each and halfMark.
func PackVector(v []float32) []byte {
	if len(v) == 0 {
		return PackFloats(v)
	}
	b := make([]byte, 2*len(v)+1)
	for i, f := range v {
		if !half.Exact(f) {
			return PackFloats(v)
		}
		binary.LittleEndian.PutUint16(b[2*i:], half.Of(f))
	}
	b[2*len(v)] = halfMark
	return b
}

// PackFloats returns a vector as little-endian float32.
func PackFloats(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, f := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
	}
	return b
}

// UnpackVector reads what [PackVector] or [PackFloats] wrote.
func UnpackVector(b []byte) ([]float32, error) {
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

// PackTags is tags as bytes; it keeps nil and empty apart.
func PackTags(tags []uint64) []byte {
	if tags == nil {
		return nil
	}
	b := make([]byte, 0, 8*len(tags))
	for _, t := range tags {
		b = binary.LittleEndian.AppendUint64(b, t)
	}
	return b
}

// UnpackTags reads what [PackTags] wrote.
func UnpackTags(b []byte) ([]uint64, error) {
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

// Mention is a stored mention: the chunk by its place in the version, the entity of the key itself, and the key, so that the feed needs
// no look-up.
type Mention struct {
	Chunk  int64
	Entity int64
	Weight float32
	Key    string
}

func appendMention(b []byte, m Mention) []byte {
	b = binary.AppendUvarint(b, uint64(m.Chunk))
	b = binary.AppendUvarint(b, uint64(m.Entity))
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(m.Weight))
	b = binary.AppendUvarint(b, uint64(len(m.Key)))
	return append(b, m.Key...)
}

// UnpackMentions reads the mentions of a version.
func UnpackMentions(b []byte) ([]Mention, error) {
	out := make([]Mention, 0, len(b)/16)
	for len(b) > 0 {
		var m Mention
		for _, field := range []*int64{&m.Chunk, &m.Entity} {
			v, n := binary.Uvarint(b)
			if n <= 0 || v > math.MaxInt64 {
				return nil, fmt.Errorf("mentions: %w", backend.ErrCorrupt)
			}
			*field, b = int64(v), b[n:]
		}
		if len(b) < 4 {
			return nil, fmt.Errorf("mentions: %w", backend.ErrCorrupt)
		}
		m.Weight, b = math.Float32frombits(binary.LittleEndian.Uint32(b)), b[4:]
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return nil, fmt.Errorf("mentions: %w", backend.ErrCorrupt)
		}
		m.Key, b = string(b[n:n+int(size)]), b[n+int(size):]
		out = append(out, m)
	}
	return out, nil
}

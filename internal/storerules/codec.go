package storerules

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/fixed"
	"github.com/contextmem/contextmem/internal/half"
)

// Never represents the zero time in comparisons. It is before all other times.
const Never = math.MinInt64

// Micros returns a time in microseconds for comparisons; the zero time is [Never].
func Micros(t time.Time) int64 {
	if t.IsZero() {
		return Never
	}
	return t.UnixMicro()
}

// Stamp returns a time in its stored form, in microseconds; the zero time is nil.
func Stamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

// Stamped returns a time rounded as if it had been stored and read back.
func Stamped(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return time.UnixMicro(t.UnixMicro()).UTC()
}

// DueFrom returns the time from which on a waiting source may be claimed, in microseconds; 0 means any time.
func DueFrom(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return max(at.UnixMicro(), 1)
}

// Castagnoli is the table of CRC-32C, for which processors have an instruction.
var Castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum returns the CRC-32C of bytes.
func Checksum(b []byte) uint32 { return crc32.Checksum(b, Castagnoli) }

// Marks stand behind a vector of shorter numbers, whose length is odd by that: of 16 bits, and of 12 bits, an even and an odd number of them.
const (
	halfMark       = 16
	twelveMark     = 12
	twelveOddMark  = 13
	twelvesMost    = 1<<11 - 1
	twelvesStep    = 4 // bytes of the step
	twelvesForTwo  = 3 // bytes
	twelvesLowBits = 0xFFF
)

// PackVector returns a vector as it is stored: as [PackFloats] does, or, where that is the same, as for the vectors of embedders
// (see package pipeline), 16 bits each and halfMark, or the step of package fixed and 12 bits each, shifted up to be positive.
func PackVector(v []float32) []byte {
	if len(v) == 0 {
		return PackFloats(v)
	}
	if step, ok := fixed.Step(v); ok {
		return packTwelves(v, step)
	}
	b := make([]byte, 0, 2*len(v)+1)
	var room [256]uint16
	for some := range slices.Chunk(v, len(room)) {
		if !half.Pack(room[:], some) {
			return PackFloats(v)
		}
		for _, h := range room[:len(some)] {
			b = binary.LittleEndian.AppendUint16(b, h)
		}
	}
	return append(b, halfMark)
}

func packTwelves(v []float32, step float32) []byte {
	b := make([]byte, 0, twelvesStep+(len(v)+1)/2*twelvesForTwo+2)
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(step))
	mark := byte(twelveMark)
	for i := 0; i < len(v); i += 2 {
		two := uint32(fixed.Multiple(v[i], step) + twelvesMost)
		if i+1 < len(v) {
			two |= uint32(fixed.Multiple(v[i+1], step)+twelvesMost) << 12
		} else {
			mark = twelveOddMark
		}
		b = append(b, byte(two), byte(two>>8), byte(two>>16))
	}
	if len(b)%2 == 1 {
		b = append(b, 0)
	}
	return append(b, mark)
}

// unpackTwelves reads what packTwelves wrote; nil: it is damaged.
func unpackTwelves(b []byte) []float32 {
	n := len(b) - twelvesStep - 1
	pairs := n / twelvesForTwo // a byte may be left
	if pairs < 1 || n%twelvesForTwo > 1 {
		return nil
	}
	step := math.Float32frombits(binary.LittleEndian.Uint32(b))
	v := make([]float32, 2*pairs)
	for i, at := 0, b[twelvesStep:]; i < len(v); i, at = i+2, at[twelvesForTwo:] {
		two := uint32(at[0]) | uint32(at[1])<<8 | uint32(at[2])<<16
		v[i] = float32(int32(two&twelvesLowBits)-twelvesMost) * step
		v[i+1] = float32(int32(two>>12)-twelvesMost) * step
	}
	if b[len(b)-1] == twelveOddMark {
		return v[:len(v)-1]
	}
	return v
}

// PackFloats encodes a vector as little-endian float32.
func PackFloats(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, f := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
	}
	return b
}

// UnpackVector decodes the result of [PackVector] or [PackFloats].
func UnpackVector(b []byte) ([]float32, error) {
	if n := len(b) / 2; len(b)%2 == 1 && b[2*n] == halfMark {
		v := make([]float32, n)
		for i := range v {
			v[i] = half.Float(binary.LittleEndian.Uint16(b[2*i:]))
		}
		return v, nil
	}
	if len(b)%2 == 1 && (b[len(b)-1] == twelveMark || b[len(b)-1] == twelveOddMark) {
		if v := unpackTwelves(b); v != nil {
			return v, nil
		}
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

// PackTags encodes tags. It distinguishes nil and empty tags.
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

// UnpackTags decodes the result of [PackTags].
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

// Mention is a stored mention. It has the index of the chunk in its version, the entity of the key itself, and the key, so that reading the feed
// needs no look-up.
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

// UnpackMentions decodes the mentions of a version.
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

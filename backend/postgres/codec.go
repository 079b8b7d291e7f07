package postgres

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"time"

	"github.com/contextmem/contextmem/backend"
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

// hashOf names a text in 16 bytes.
func hashOf(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:16]
}

func hashesOf(texts []string) [][]byte {
	out := make([][]byte, len(texts))
	for i, t := range texts {
		out[i] = hashOf(t)
	}
	return out
}

// keyHash names the key of a chunk of a partition.
func keyHash(part int64, key string) []byte {
	var buf [256]byte
	b := binary.LittleEndian.AppendUint64(buf[:0], uint64(part))
	sum := sha256.Sum256(append(b, key...))
	return sum[:16]
}

// unhash turns a stored hash into a key of maps.
func unhash(b []byte) (h [16]byte) {
	copy(h[:], b)
	return h
}

func packVector(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, f := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
	}
	return b
}

func unpackVector(b []byte) ([]float32, error) {
	if len(b)%4 != 0 {
		return nil, fmt.Errorf("vector of %d bytes: %w", len(b), backend.ErrCorrupt)
	}
	v := make([]float32, len(b)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return v, nil
}

// chunkSum is the checksum over what a chunk holds, in this order.
func chunkSum(ch *backend.Chunk) uint32 {
	var sum uint32
	for _, s := range []string{ch.Key, ch.Text, ch.Heading} {
		for len(s) > 0 {
			var buf [512]byte // a string is summed without a copy of all of it
			n := copy(buf[:], s)
			sum, s = crc32.Update(sum, castagnoli, buf[:n]), s[n:]
		}
	}
	return crc32.Update(crc32.Update(sum, castagnoli, ch.Layout), castagnoli, ch.Extra)
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

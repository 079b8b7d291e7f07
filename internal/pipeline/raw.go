package pipeline

import (
	"encoding/binary"
	"math"

	"github.com/contextmem/contextmem/backend"
)

// RawVector is a vector that the caller supplied.
type RawVector struct {
	Key    string // the caller's chunk id
	Vector []float32
}

// EncodeRaw is the stored original of a source of vectors: for each vector u32
// key length, key, u32 dimension, little-endian float32 values.
func EncodeRaw(vs []RawVector) []byte {
	n := 0
	for _, v := range vs {
		n += 8 + len(v.Key) + 4*len(v.Vector)
	}
	b := make([]byte, 0, n)
	for _, v := range vs {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(v.Key)))
		b = append(b, v.Key...)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(v.Vector)))
		for _, x := range v.Vector {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
	}
	return b
}

// DecodeRaw reads what EncodeRaw wrote; false when b is something else.
func DecodeRaw(b []byte) ([]RawVector, bool) {
	var vs []RawVector
	for len(b) > 0 {
		if len(b) < 4 {
			return nil, false
		}
		n := int(binary.LittleEndian.Uint32(b))
		b = b[4:]
		if n < 0 || n+4 > len(b) {
			return nil, false
		}
		v := RawVector{Key: string(b[:n])}
		b = b[n:]
		d := int(binary.LittleEndian.Uint32(b))
		b = b[4:]
		if d < 0 || d > len(b)/4 {
			return nil, false
		}
		v.Vector = make([]float32, d)
		for i := range v.Vector {
			v.Vector[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		}
		b = b[4*d:]
		vs = append(vs, v)
	}
	return vs, true
}

func (c *Config) prepareRaw(j *job, original []byte) {
	vs, ok := DecodeRaw(original)
	if !ok {
		j.fail = &failure{code: CodeDamaged, message: "the stored vectors are damaged"}
		return
	}
	for i, v := range vs {
		j.prep.chunks = append(j.prep.chunks, backend.Chunk{Ordinal: i, Key: v.Key, Vector: v.Vector})
		j.prep.embed = append(j.prep.embed, "")
	}
}

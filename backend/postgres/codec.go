package postgres

import (
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// hashOf returns a 16-byte hash of a text.
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

// keyHash returns the hash of a chunk key in a partition.
func keyHash(part int64, key string) []byte {
	var buf [256]byte
	b := binary.LittleEndian.AppendUint64(buf[:0], uint64(part))
	sum := sha256.Sum256(append(b, key...))
	return sum[:16]
}

// unhash converts a stored hash to a map key.
func unhash(b []byte) (h [16]byte) {
	copy(h[:], b)
	return h
}

// chunkSum returns the checksum of a chunk's fields. Their order is part of the format.
func chunkSum(ch *backend.Chunk) uint32 {
	var sum uint32
	for _, s := range []string{ch.Key, ch.Text, ch.Heading} {
		for len(s) > 0 {
			var buf [512]byte // copy strings in parts to avoid an allocation
			n := copy(buf[:], s)
			sum, s = crc32.Update(sum, storerules.Castagnoli, buf[:n]), s[n:]
		}
	}
	return crc32.Update(crc32.Update(sum, storerules.Castagnoli, ch.Layout), storerules.Castagnoli, ch.Extra)
}

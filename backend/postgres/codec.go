package postgres

import (
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

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

// chunkSum returns the checksum of a chunk's fields. Their order is part of the format.
func chunkSum(ch *backend.Chunk) uint32 {
	var sum uint32
	for _, s := range []string{ch.Key, ch.Text, ch.Heading} {
		for len(s) > 0 {
			var buf [512]byte // strings are copied in parts, not as a whole
			n := copy(buf[:], s)
			sum, s = crc32.Update(sum, storerules.Castagnoli, buf[:n]), s[n:]
		}
	}
	return crc32.Update(crc32.Update(sum, storerules.Castagnoli, ch.Layout), storerules.Castagnoli, ch.Extra)
}

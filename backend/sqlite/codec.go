package sqlite

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// time reads a stored time.
func (r *row) time(i int) time.Time {
	if r.vals[i] == nil {
		return time.Time{}
	}
	return time.UnixMicro(r.int(i)).UTC()
}

// checked reads a blob and compares its checksum. NULL gives nil.
func (r *row) checked(crc, data int, what string, num int64) []byte {
	b := r.blob(data)
	if got := int64(storerules.Checksum(b)); r.err == nil && got != r.int(crc) {
		r.err = fmt.Errorf("%s %d: checksum %08x, stored %08x: %w", what, num, got, r.vals[crc], backend.ErrCorrupt)
	}
	return b
}

// hashOf returns a hash of a text in a partition. part 0 means all partitions.
func hashOf(part int64, text string) int64 {
	var buf [256]byte
	b := binary.LittleEndian.AppendUint64(buf[:0], uint64(part))
	sum := sha256.Sum256(append(b, text...))
	return int64(binary.LittleEndian.Uint64(sum[:]))
}

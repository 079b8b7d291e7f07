// Package uid creates the identifiers used in a deployment.
package uid

import (
	"crypto/rand"
	"encoding/hex"
	"sync"

	"github.com/google/uuid"
)

// Request returns a random UUID (version 4) in its usual form, for the id of a request.
func Request() string {
	var id uuid.UUID
	from := randoms.Get().(*random)
	from.fill(id[:])
	randoms.Put(from)
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return id.String()
}

// random is a buffer of random bytes: reading a few takes as long as reading many.
type random struct {
	bytes [512]byte
	used  int // number of bytes used
}

var randoms = sync.Pool{New: func() any { return &random{used: len(random{}.bytes)} }}

// fill sets id to bytes that are used only once. The length of the buffer must be a multiple of len(id).
func (r *random) fill(id []byte) {
	if r.used == len(r.bytes) {
		_, _ = rand.Read(r.bytes[:]) // never fails
		r.used = 0
	}
	from := r.bytes[r.used:][:len(id)]
	copy(id, from)
	clear(from)
	r.used += len(id)
}

// New returns a random UUID (version 4, 122 random bits) as 32 lower-case hexadecimal digits without hyphens.
func New() string {
	id := uuid.New()
	return hex.EncodeToString(id[:])
}

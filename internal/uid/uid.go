// Package uid makes the identifiers of what a deployment holds.
package uid

import (
	"crypto/rand"
	"encoding/hex"

	"github.com/google/uuid"
)

// Request returns a random UUID (version 4) in its usual form, as requests have it.
func Request() string {
	var id uuid.UUID
	_, _ = rand.Read(id[:]) // never fails
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return id.String()
}

// New returns a random UUID (version 4, 122 random bits) as 32 lower-case hexadecimal digits without hyphens.
func New() string {
	id := uuid.New()
	return hex.EncodeToString(id[:])
}

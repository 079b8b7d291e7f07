// Package uid makes the identifiers of what a deployment holds.
package uid

import (
	"encoding/hex"

	"github.com/google/uuid"
)

// New returns a random UUID (version 4, 122 random bits) as 32 lower-case hexadecimal digits without hyphens.
func New() string {
	id := uuid.New()
	return hex.EncodeToString(id[:])
}

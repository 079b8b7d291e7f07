// Package uid creates the identifiers used in a deployment.
package uid

import (
	"encoding/hex"

	"github.com/google/uuid"
)

// Request returns a random UUID (version 4) in its usual form, for the id of a request.
func Request() string { return uuid.NewString() }

// New returns a random UUID (version 4, 122 random bits) as 32 lower-case hexadecimal digits without hyphens.
func New() string {
	id := uuid.New()
	return hex.EncodeToString(id[:])
}

package sqlite

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWithoutCgo runs alone, so that no other test has opened a database.
func TestWithoutCgo(t *testing.T) {
	was := current
	current = nil
	defer func() { current = was }()
	_, err := Open(t.Context(), t.TempDir(), nil)
	require.ErrorContains(t, err, "CGO_ENABLED=1")
	require.ErrorContains(t, err, "backend/sqlite/purego")
	require.ErrorContains(t, err, "another backend")
}

//go:build !cgo

package sqlite

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWithoutCgo(t *testing.T) {
	_, err := Open(t.Context(), t.TempDir(), nil)
	require.ErrorContains(t, err, "CGO_ENABLED=1")
	require.ErrorContains(t, err, "another backend")
}

package connector_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestProvidersLinkNoStorage: a provider is a small package that anybody can build without cgo, a database or a model.
func TestProvidersLinkNoStorage(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "./...").Output()
	require.NoError(t, err)
	deps := strings.Fields(string(out))
	require.Contains(t, deps, "github.com/contextmem/contextmem/connector/github")
	for _, d := range deps {
		require.NotEqual(t, "github.com/contextmem/contextmem", d)
		require.NotContains(t, d, "github.com/contextmem/contextmem/backend")
		require.NotContains(t, d, "sqlite")
		require.NotContains(t, d, "github.com/contextmem/contextmem/embed")
	}
}

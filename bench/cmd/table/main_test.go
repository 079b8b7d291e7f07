package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRun(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-inner", "-only", "insert", "-dir", t.TempDir()}, &out))
	require.Contains(t, out.String(), "### Durable insert")
	require.Contains(t, out.String(), "load average")
	require.ErrorContains(t, run(t.Context(), []string{"-only", "nonsense"}, &out), `no experiment "nonsense"`)
}

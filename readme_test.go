package contextmem_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
)

// readme is the Go program of README.md.
func readme(ctx context.Context) error {
	svc, err := contextmem.Open(ctx, "data", nil) // a directory; everything is in it
	if err != nil {
		return err
	}
	defer svc.Close()
	if _, err := svc.EnsureTenant(ctx, contextmem.TenantSpec{ID: "acme"}); err != nil {
		return err
	}
	alice := svc.Tenant("acme").Sub("alice") // a partition, typically one user
	if _, err := alice.Remember(ctx, contextmem.Memory{ID: "coffee", Text: "Alice takes her coffee black."}); err != nil {
		return err
	}
	res, err := alice.Recall(ctx, contextmem.Recall{Class: contextmem.ClassMemory, Query: "what does she drink?"})
	if err != nil {
		return err
	}
	for _, c := range res.Chunks {
		fmt.Println(c.Score, c.Text)
	}
	return nil
}

// TestReadme checks that README.md shows the program above, and that it finds the memory once, also when it runs again.
// It changes the working directory and os.Stdout, so it is not parallel.
func TestReadme(t *testing.T) {
	doc, err := os.ReadFile("README.md")
	require.NoError(t, err)
	source, err := os.ReadFile("readme_test.go")
	require.NoError(t, err)
	_, block, ok := strings.Cut(string(doc), "## In Go\n\n```go\n")
	require.True(t, ok)
	block, _, ok = strings.Cut(block, "```")
	require.True(t, ok)
	require.Contains(t, string(source), "\t"+strings.ReplaceAll(strings.TrimSpace(block), "\n", "\n\t"))

	t.Chdir(t.TempDir())
	for range 2 {
		r, w, err := os.Pipe()
		require.NoError(t, err)
		stdout := os.Stdout
		os.Stdout = w
		err = readme(t.Context())
		os.Stdout = stdout
		require.NoError(t, w.Close())
		require.NoError(t, err)
		out, err := io.ReadAll(r)
		require.NoError(t, err)
		require.Equal(t, 1, strings.Count(string(out), "\n"), "%s", out)
		require.Contains(t, string(out), "Alice takes her coffee black.")
	}
}

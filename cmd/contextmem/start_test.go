package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// BenchmarkStart measures the time from the start of the program on a directory of 1,000 memories until it answers: mcp
// its first client, serve its first request, and ingest of an empty folder its end. With e5 another column has the
// first recall, which loads the model.
func BenchmarkStart(b *testing.B) {
	for _, embedder := range []string{"static", "e5"} {
		dir := b.TempDir()
		fill(b, dir, embedder)
		empty := b.TempDir()
		for name, start := range map[string]func(ctx context.Context) (first time.Duration, err error){
			"mcp": func(ctx context.Context) (time.Duration, error) {
				began := time.Now()
				s, err := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil).Connect(ctx, &mcp.CommandTransport{Command: started(ctx, b, dir, embedder, "mcp")}, nil)
				if err != nil {
					return 0, err
				}
				took := time.Since(began)
				return took, s.Close()
			},
			"mcp and a recall": func(ctx context.Context) (time.Duration, error) {
				began := time.Now()
				s, err := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil).Connect(ctx, &mcp.CommandTransport{Command: started(ctx, b, dir, embedder, "mcp")}, nil)
				if err != nil {
					return 0, err
				}
				res, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "recall", Arguments: map[string]any{"question": "Who noted the number 7?"}})
				took := time.Since(began)
				if err == nil && res.IsError {
					err = fmt.Errorf("%v", res.Content[0])
				}
				if err != nil {
					return 0, err
				}
				return took, s.Close()
			},
			"serve": func(ctx context.Context) (time.Duration, error) {
				began := time.Now()
				cmd := started(ctx, b, dir, embedder, "serve", "--addr", "127.0.0.1:0", "--api-keys", "secret")
				errs, err := cmd.StderrPipe()
				if err != nil {
					return 0, err
				}
				if err := cmd.Start(); err != nil {
					return 0, err
				}
				line := make([]byte, 256)
				n, err := errs.Read(line) // that it is ready
				took := time.Since(began)
				if err != nil || !strings.Contains(string(line[:n]), "ready") {
					return 0, fmt.Errorf("serve: %q %v", line[:n], err)
				}
				_ = cmd.Process.Kill()
				_, _ = io.Copy(io.Discard, errs)
				_ = cmd.Wait()
				return took, nil
			},
			"ingest": func(ctx context.Context) (time.Duration, error) {
				began := time.Now()
				out, err := started(ctx, b, dir, embedder, "ingest", empty).CombinedOutput()
				if err != nil {
					return 0, fmt.Errorf("%s: %w", out, err)
				}
				return time.Since(began), nil
			},
		} {
			b.Run(name+"/"+embedder, func(b *testing.B) {
				var took []time.Duration
				for b.Loop() {
					d, err := start(b.Context())
					require.NoError(b, err)
					took = append(took, d)
				}
				slices.Sort(took)
				b.ReportMetric(float64(took[0].Microseconds())/1000, "least-ms")
				b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			})
		}
	}
}

func started(ctx context.Context, b *testing.B, dir, embedder string, args ...string) *exec.Cmd {
	cmd := program(ctx, b, dir, args...)
	cmd.Env = append(cmd.Env, "CONTEXTMEM_EMBEDDER="+embedder)
	return cmd
}

// fill creates a directory of 1,000 memories.
func fill(b *testing.B, dir, embedder string) {
	b.Helper()
	ctx := b.Context()
	s, err := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil).Connect(ctx, &mcp.CommandTransport{Command: started(ctx, b, dir, embedder, "mcp")}, nil)
	require.NoError(b, err)
	for i := range 1000 {
		res, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "remember", Arguments: map[string]any{"text": fmt.Sprintf("Person %d noted the number %d in the book of room %d.", i%7, i, i%13), "id": fmt.Sprint(i)}})
		require.NoError(b, err)
		require.False(b, res.IsError)
	}
	require.NoError(b, s.Close())
}

// TestModelCache checks that programs store prepared weights of models in the folder of --model-cache, that the next
// one reads them from there, and that with none nothing is written.
func TestModelCache(t *testing.T) {
	t.Parallel()
	folder, dir := filepath.Join(t.TempDir(), "models"), t.TempDir()
	files := func() map[string]time.Time {
		out := map[string]time.Time{}
		entries, err := os.ReadDir(folder)
		require.True(t, err == nil || errors.Is(err, fs.ErrNotExist), err)
		for _, e := range entries {
			info, err := e.Info()
			require.NoError(t, err)
			out[e.Name()] = info.ModTime()
		}
		return out
	}
	recall := func(cache string) {
		out, err := program(t.Context(), t, dir, "recall", "--embedder", "e5", "--model-cache", cache, "what does she drink?").CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	out, err := program(t.Context(), t, dir, "add", "--embedder", "e5", "--model-cache", "none", "Alice takes her coffee black.").CombinedOutput()
	require.NoError(t, err, "%s", out)
	recall("none")
	require.Empty(t, files())
	recall(folder)
	first := files()
	require.NotEmpty(t, first)
	recall(folder)
	require.Equal(t, first, files())
}

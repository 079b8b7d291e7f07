package durability_test

import (
	"bufio"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// childLarge is set for a child process that ingests a text so large that it is completed before its index files are written.
const childLarge = "CONTEXTMEM_TEST_CHILD_LARGE"

const (
	largeText  = 9 << 20 // internal/pipeline flushes the indexes of a batch from 8 MiB on
	largeMarks = 24
)

// largeMark returns a sentence that one place of the large text has.
func largeMark(n int) string {
	return fmt.Sprintf("The kiln named %s fires at %d degrees.", largeName(n), 700+n)
}

func largeName(n int) string { return "zorb" + string(rune('a'+n)) + "ilm" + string(rune('z'-n)) }

// writeLarge ingests the large text and prints when it is completed. Then it goes on until it is killed.
func writeLarge(dir string) error {
	ctx := context.Background()
	svc, err := contextmem.Open(ctx, dir, nil)
	if err != nil {
		return err
	}
	var b strings.Builder
	for n := 0; b.Len() < largeText; n++ {
		if n%5000 == 0 && n/5000 < largeMarks {
			b.WriteString(largeMark(n/5000) + "\n\n")
		}
		fmt.Fprintf(&b, "Paragraph %d speaks of the glaze of bowl %d and of its rim.\n\n", n, n*31%977)
	}
	if _, err := svc.Tenant("acme").Sub("s").AddKnowledge(ctx, contextmem.KnowledgeBatch{Files: []contextmem.File{{ID: "large", Name: "large.txt", Data: []byte(b.String())}}}); err != nil {
		return err
	}
	fmt.Println("acknowledged")
	return svc.DrainProgress(ctx, func(p contextmem.Progress) {
		if p.Completed == 1 {
			fmt.Println("completed")
		}
	})
}

// TestKillBeforeIndexFiles kills processes after a large text is completed: before its index files are written, while they are, and after.
// The text must be found whenever it was.
func TestKillBeforeIndexFiles(t *testing.T) {
	t.Parallel()
	delays := []time.Duration{0, 150 * time.Millisecond}
	if !testing.Short() {
		delays = []time.Duration{0, 25, 50, 100, 200, 300, 400, 600, 800, 1200, 2000}
		for i := range delays {
			delays[i] *= time.Millisecond
		}
	}
	exe, err := os.Executable()
	require.NoError(t, err)
	early := 0
	for round, delay := range delays {
		dir := filepath.Join(t.TempDir(), "data")
		svc, err := contextmem.Open(t.Context(), dir, nil)
		require.NoError(t, err)
		servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"})
		require.NoError(t, svc.Close())
		cmd := exec.CommandContext(t.Context(), exe)
		cmd.Env = append(os.Environ(), childDir+"="+dir, childLarge+"=1")
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		sc := bufio.NewScanner(out)
		for sc.Scan() && sc.Text() != "completed" {
		}
		require.Equal(t, "completed", sc.Text(), "round %d", round)
		time.AfterFunc(delay, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait() // killed
		written := indexBytes(t, dir)
		t.Logf("killed %v after completed: %d bytes of index files", delay, written)
		if written < largeText/100 {
			early++
		}
		findMarks(t, dir)
		require.NoError(t, os.RemoveAll(dir))
	}
	require.Positive(t, early, "no kill fell before the index files were written")
}

// indexBytes returns the size of all index files.
func indexBytes(t *testing.T, dir string) (n int64) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".idx" {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	}))
	return n
}

// findMarks opens a directory that a killed process left, and asks for each of the marked sentences.
func findMarks(t *testing.T, dir string) {
	t.Helper()
	svc, err := contextmem.Open(t.Context(), dir, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, svc.Close()) }()
	s := svc.Tenant("acme").Sub("s")
	st, err := s.Status(t.Context(), "large")
	require.NoError(t, err)
	require.Equal(t, contextmem.StatusCompleted, st[0].Status)
	require.NoError(t, svc.Drain(t.Context()))
	for n := range largeMarks {
		res, err := s.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassKnowledge, Query: largeName(n), MaxResults: 3})
		require.NoError(t, err)
		require.True(t, slices.ContainsFunc(res.Chunks, func(c contextmem.Chunk) bool { return strings.Contains(c.Text, largeMark(n)) }), "mark %d is not found", n)
	}
	report, err := svc.Verify(t.Context())
	require.NoError(t, err)
	require.True(t, report.OK(), "%+v", report.Problems)
}

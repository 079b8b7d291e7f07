//go:build unix && cgo

package durability_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
)

// TestFewFileDescriptors runs a service with many tenants in a process with a low limit of open files.
func TestFewFileDescriptors(t *testing.T) {
	t.Parallel()
	if os.Getenv("CONTEXTMEM_TEST_FEW_FILES") != "" {
		runWithFewFiles(t)
		return
	}
	for _, limit := range []int{64, 128} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), "sh", "-c", fmt.Sprintf("ulimit -n %d && exec %q -test.run '^TestFewFileDescriptors$'", limit, os.Args[0]))
			cmd.Env = append(os.Environ(), "CONTEXTMEM_TEST_FEW_FILES=1")
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
		})
	}
}

func runWithFewFiles(t *testing.T) {
	var log bytes.Buffer
	svc, err := contextmem.Open(t.Context(), t.TempDir(), &contextmem.Options{Logger: slog.New(slog.NewTextHandler(&log, nil)), Workers: 2})
	require.NoError(t, err)
	const tenants = 40
	for i := range tenants {
		id := fmt.Sprint("t", i)
		_, err := svc.CreateTenant(t.Context(), contextmem.TenantSpec{ID: id})
		require.NoError(t, err)
		require.NoError(t, svc.Tenant(id).WaitReady(t.Context()))
		_, err = svc.Tenant(id).AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "m", Text: "The kettle is on the shelf."}}})
		require.NoError(t, err)
	}
	require.NoError(t, svc.Drain(t.Context()))
	for i := range tenants {
		res, err := svc.Tenant(fmt.Sprint("t", i)).Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "Where is the kettle?"})
		require.NoError(t, err)
		require.Len(t, res.Chunks, 1)
	}
	require.NoError(t, svc.Close())
	require.True(t, strings.Contains(log.String(), "the limit of open files is low"), "%s", log.String())
}

package testtool

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestPromotionIsPrompt checks that a standby does not sleep for the 5 s of PostgreSQL's default before it takes over. A busy machine may take as long for
// other reasons, hence three attempts.
func TestPromotionIsPrompt(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	var took []time.Duration
	for range 3 {
		took = append(took, promotion(t))
		if took[len(took)-1] < 4*time.Second {
			return
		}
	}
	require.Fail(t, "each promotion took 4 s or more", "%v", took)
}

// promotion promotes a standby while its attempt to connect to the killed primary fails, and returns how long that took. The startup process
// of PostgreSQL then notices the failure first, and sleeps for wal_retrieve_retry_interval before it looks whether it was
// promoted. It makes this order certain: it is a primary that does not answer, and suspends the startup process.
func promotion(t *testing.T) time.Duration {
	primary, err := StartPostgres(false)
	if errors.Is(err, ErrNoPostgres) {
		Missing(t, err.Error())
	}
	require.NoError(t, err)
	defer primary.Stop()
	standby, err := primary.Standby()
	require.NoError(t, err)
	defer standby.Stop()
	ask := func(sql string) string {
		t.Helper()
		out, err := standby.SQL("postgres", sql)
		require.NoError(t, err)
		return out
	}
	until := func(f func() bool) {
		t.Helper()
		require.Eventually(t, f, time.Minute, 5*time.Millisecond)
	}
	startup, err := strconv.Atoi(ask("SELECT pid FROM pg_stat_activity WHERE backend_type = 'startup'"))
	require.NoError(t, err)

	primary.Kill()
	socket := filepath.Join(primary.Dir, ".s.PGSQL.5432")
	require.NoError(t, os.Remove(socket))
	silent, err := net.Listen("unix", socket)
	require.NoError(t, err)
	defer func() { _ = silent.Close() }()
	require.NoError(t, os.Chmod(socket, 0o777))
	attempt, err := silent.Accept()
	require.NoError(t, err)
	until(func() bool {
		return ask("SELECT wait_event FROM pg_stat_activity WHERE backend_type = 'startup'") == "RecoveryWalStream"
	})

	require.NoError(t, syscall.Kill(startup, syscall.SIGSTOP))
	defer func() { _ = syscall.Kill(startup, syscall.SIGCONT) }()
	until(func() bool { return strings.HasPrefix(status(t, startup, "State:"), "T") }) // otherwise the next signal may be taken before this one
	ask("SELECT pg_promote(false)")
	until(func() bool { return pends(t, startup, syscall.SIGUSR2) })
	require.NoError(t, silent.Close())
	require.NoError(t, attempt.Close())
	until(func() bool {
		return ask("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'walreceiver'") == "0"
	})

	began := time.Now()
	require.NoError(t, syscall.Kill(startup, syscall.SIGCONT))
	until(func() bool { return ask("SELECT pg_is_in_recovery()") == "f" })
	return time.Since(began)
}

// pends reports whether a signal was sent to a process that has not received it.
func pends(t *testing.T, pid int, sig syscall.Signal) bool {
	set, err := strconv.ParseUint(status(t, pid, "ShdPnd:"), 16, 64)
	require.NoError(t, err)
	return set&(1<<(sig-1)) != 0
}

// status returns a field of the kernel's status of a process.
func status(t *testing.T, pid int, name string) string {
	all, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(t, err)
	for line := range strings.Lines(string(all)) {
		if value, ok := strings.CutPrefix(line, name); ok {
			return strings.TrimSpace(value)
		}
	}
	require.Fail(t, "the status has no "+name)
	return ""
}

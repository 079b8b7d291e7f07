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

// TestPromotionIsPrompt promotes a standby while its attempt to connect to the killed primary fails. The startup process
// of PostgreSQL then notices the failure first, and sleeps for wal_retrieve_retry_interval before it looks whether it was
// promoted. The test makes this order certain: it is a primary that does not answer, and suspends the startup process.
func TestPromotionIsPrompt(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
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
	require.Less(t, time.Since(began), 4*time.Second, "the promotion; 5 s are the interval of the default")
}

// pends reports whether a signal was sent to a process that has not received it.
func pends(t *testing.T, pid int, sig syscall.Signal) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(t, err)
	for line := range strings.Lines(string(status)) {
		if mask, ok := strings.CutPrefix(line, "ShdPnd:"); ok {
			set, err := strconv.ParseUint(strings.TrimSpace(mask), 16, 64)
			require.NoError(t, err)
			return set&(1<<(sig-1)) != 0
		}
	}
	return false
}

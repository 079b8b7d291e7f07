package durability_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// childDir is set for a child process that is to be killed.
const childDir = "CONTEXTMEM_TEST_CHILD_DIR"

func TestMain(m *testing.M) {
	dir := os.Getenv(childDir)
	if dir == "" {
		os.Exit(m.Run())
	}
	var err error
	if prefix, kill := os.Getenv(childHook), os.Getenv(childSync); prefix != "" {
		err = sendUntilKilled(dir, prefix)
	} else if kill != "" {
		err = syncPagedProvider(dir, kill)
	} else if how := os.Getenv(childDelete); how != "" {
		err = deleteMany(dir, how)
	} else if how := os.Getenv(childJoint); how != "" {
		err = deleteBoth(dir, how)
	} else if os.Getenv(childLarge) != "" {
		err = writeLarge(dir)
	} else {
		err = writeUntilKilled(dir, os.Getenv("CONTEXTMEM_TEST_CHILD_SEED"))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

const (
	writers     = 3
	idsPerChild = 12
)

// writeUntilKilled adds, replaces, edits and deletes items and makes backups until the process is killed. It prints
// each operation before it begins and after it is acknowledged.
func writeUntilKilled(dir, seedText string) error {
	seed, err := strconv.ParseUint(seedText, 10, 64)
	if err != nil {
		return err
	}
	ctx := context.Background()
	svc, err := contextmem.Open(ctx, dir, nil)
	if err != nil {
		return err
	}
	sub := svc.Tenant("acme").Sub("s")
	var mu sync.Mutex
	say := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(os.Stdout, format+"\n", args...)
	}
	say("ready")
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(w)))
			for n := 0; ; n++ {
				id := fmt.Sprintf("m%d-%d", w, rng.IntN(idsPerChild))
				version := fmt.Sprintf("v%dw%dn%d", seed, w, n)
				if rng.IntN(4) == 0 {
					say("try delete %s -", id)
					if _, err := sub.DeleteItems(ctx, contextmem.DeleteItemsRequest{IDs: []string{id}}); err != nil {
						return
					}
					say("ack delete %s -", id)
					continue
				}
				if rng.IntN(4) == 0 {
					say("try edit %s %s", id, version)
					_, err := sub.EditMetadata(ctx, contextmem.EditMetadataRequest{Class: contextmem.ClassMemory, ID: id, Additional: map[string]any{"mark": version}})
					if err == nil {
						say("ack edit %s %s", id, version)
					} else if !errors.Is(err, contextmem.ErrNotFound) {
						return
					}
					continue
				}
				say("try put %s %s", id, version)
				if _, err := sub.AddMemories(ctx, contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: id, Text: body(id, version)}}}); err != nil {
					return
				}
				say("ack put %s %s", id, version)
			}
		})
	}
	wg.Go(func() { // a backup is always a whole one, whenever it was cut off
		for {
			if _, err := svc.Backup(ctx, dir+"-backup"); err != nil {
				return
			}
		}
	})
	wg.Wait()
	return nil
}

func body(id, version string) string {
	return fmt.Sprintf("The note %s holds the mark %s and says that the kettle is on the left shelf.", strings.ReplaceAll(id, "-", "x"), version)
}

// expected is what the parent process knows of an id: the last acknowledged state, and states that may have followed.
type expected struct {
	edit  string // of the version that is there, when its edit was acknowledged and none followed
	acked string // version, "" deleted or never there
	maybe []string
}

// TestKill kills a process that writes, again and again. Every acknowledged item must be recalled, and no acknowledged
// delete.
func TestKill(t *testing.T) {
	t.Parallel()
	rounds := 100
	if testing.Short() {
		rounds = 10
	}
	if n, err := strconv.Atoi(os.Getenv("CONTEXTMEM_KILLS")); err == nil { // more of them, for a day when there is time
		rounds = n
	}
	dir := filepath.Join(t.TempDir(), "data")
	svc, err := contextmem.Open(t.Context(), dir, nil)
	require.NoError(t, err)
	servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"})
	require.NoError(t, svc.Close())
	fates := map[string]*expected{}
	rng := rand.New(rand.NewPCG(7, 11))
	acks := 0
	for round := range rounds {
		acks += kill(t, dir, round, time.Duration(1+rng.IntN(60))*time.Millisecond, fates)
		verify(t, dir, round, fates)
		if round%10 == 9 {
			verifyBackup(t, dir+"-backup")
		}
	}
	require.GreaterOrEqual(t, acks, rounds/2, "the children must have got some work done")
}

// killAfterWord starts this program again with more variables in its environment, and kills it when it has printed a word.
func killAfterWord(t *testing.T, word string, env ...string) {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env, cmd.Stderr = append(os.Environ(), env...), os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	sc := bufio.NewScanner(out)
	require.True(t, sc.Scan())
	require.Equal(t, word, sc.Text())
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // killed
}

func kill(t *testing.T, dir string, round int, after time.Duration, fates map[string]*expected) int {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), childDir+"="+dir, "CONTEXTMEM_TEST_CHILD_SEED="+strconv.Itoa(round))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	sc := bufio.NewScanner(out)
	require.True(t, sc.Scan(), "the child did not start")
	require.Equal(t, "ready", sc.Text())
	die := func() *time.Timer { return time.AfterFunc(after, func() { _ = cmd.Process.Kill() }) }
	var timer *time.Timer
	if round%2 == 0 { // else from the first acknowledgement on, however busy the machine is
		timer = die()
	}
	acks := 0
	for sc.Scan() {
		f := strings.Fields(sc.Text())
		if len(f) != 4 {
			continue // the last line may be cut
		}
		x := fates[f[2]]
		if x == nil {
			x = &expected{}
			fates[f[2]] = x
		}
		version := strings.TrimPrefix(f[3], "-")
		if f[1] == "edit" {
			if x.edit = ""; f[0] == "ack" {
				x.edit = version
			}
			continue
		}
		x.edit = "" // a new version has no metadata
		if f[0] == "try" {
			x.maybe = append(x.maybe, version)
		} else {
			acks++
			x.acked, x.maybe = version, nil
			if timer == nil {
				timer = die()
			}
		}
	}
	_ = cmd.Wait() // killed
	return acks
}

// verifyBackup restores the backup left by the killed processes and reads all of it.
func verifyBackup(t *testing.T, backup string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(backup, "BACKUP.json")); errors.Is(err, fs.ErrNotExist) {
		return // none was finished yet
	}
	dir := filepath.Join(t.TempDir(), "restored")
	require.NoError(t, contextmem.Restore(t.Context(), backup, dir))
	svc, err := contextmem.Open(t.Context(), dir, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, svc.Close()) }()
	require.NoError(t, svc.Drain(t.Context()))
	report, err := svc.Verify(t.Context())
	require.NoError(t, err)
	require.True(t, report.OK(), "%+v", report.Problems)
	require.NoError(t, os.RemoveAll(dir))
}

func verify(t *testing.T, dir string, round int, fates map[string]*expected) {
	t.Helper()
	svc, err := contextmem.Open(t.Context(), dir, nil)
	require.NoError(t, err, "round %d", round)
	defer func() { require.NoError(t, svc.Close()) }()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	require.NoError(t, svc.Drain(ctx), "round %d", round)
	sub := svc.Tenant("acme").Sub("s")
	live := 0
	for id, f := range fates {
		st, err := sub.Status(ctx, id)
		require.NoError(t, err)
		f.acked, f.maybe = checkItem(t, ctx, sub, round, id, st[0], f), nil
		if f.acked != "" {
			live++
		}
	}
	p, err := sub.List(ctx, contextmem.ListRequest{Class: contextmem.ClassMemory, PageSize: 1})
	require.NoError(t, err)
	require.Equal(t, live, p.Total, "round %d: items listed", round)
}

// checkItem checks one id and returns the stored version.
func checkItem(t *testing.T, ctx context.Context, sub contextmem.Sub, round int, id string, st contextmem.ItemStatus, f *expected) string {
	t.Helper()
	possible := append([]string{f.acked}, f.maybe...)
	if st.Unknown {
		require.Contains(t, possible, "", "round %d: %s was acknowledged as %q and is gone", round, id, f.acked)
		res, err := sub.BooleanRecall(ctx, contextmem.BooleanRecallRequest{Class: contextmem.ClassMemory, Query: strings.ReplaceAll(id, "-", "x"), Operator: contextmem.OperatorAnd})
		require.NoError(t, err)
		require.Empty(t, res.Chunks, "round %d: deleted %s is recalled", round, id)
		return ""
	}
	require.Equal(t, contextmem.StatusCompleted, st.Status, "round %d: %s %s %s", round, id, st.ErrorCode, st.ErrorMessage)
	res, err := sub.BooleanRecall(ctx, contextmem.BooleanRecallRequest{Class: contextmem.ClassMemory, Query: strings.ReplaceAll(id, "-", "x"), Operator: contextmem.OperatorAnd})
	require.NoError(t, err)
	require.Len(t, res.Chunks, 1, "round %d: %s", round, id)
	if f.edit != "" {
		require.Equal(t, f.edit, res.Chunks[0].Additional["mark"], "round %d: the edit of %s", round, id)
	}
	for _, v := range possible {
		if v != "" && res.Chunks[0].Text == body(id, v) {
			return v
		}
	}
	require.Fail(t, "wrong version", "round %d: %s is %q, acknowledged %q, possible %q", round, id, res.Chunks[0].Text, f.acked, f.maybe)
	return ""
}

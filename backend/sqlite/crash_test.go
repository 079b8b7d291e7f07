package sqlite

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// writeForEver ingests, deletes and places items until the process is killed. It prints
// each acknowledged operation on standard output.
func writeForEver(t *testing.T, dir string, o *Options) {
	d, err := Open(t.Context(), dir, o)
	require.NoError(t, err)
	defer d.Close()
	s, err := d.OpenStore(t.Context(), testUID)
	require.NoError(t, err)
	var seed uint64
	if seq := s.LastSeq(); seq != 0 {
		seed = seq >> storerules.SeqShift
	}
	r := rand.New(rand.NewPCG(seed, 3))
	for n := int(seed) * 1000; ; n += 8 {
		for i, a := range ingest(t, s, r, n, n+8) {
			src, err := s.SourcesByNum(t.Context(), []int64{a.Num})
			require.NoError(t, err)
			fmt.Printf("put %s\n", src[0].ID)
			if i%3 == 0 {
				res, err := s.Delete(t.Context(), testPart, []string{src[0].ID}, backend.DeleteOptions{})
				require.NoError(t, err)
				require.True(t, res[0].Found)
				fmt.Printf("del %s\n", src[0].ID)
			}
		}
		in, ix, _ := memory(r, n)
		ix.Chunks[0].Text = ""
		_, err := s.Place(t.Context(), []backend.Placed{{Incoming: in, Chunks: ix.Chunks, Event: true}})
		require.NoError(t, err)
		fmt.Printf("put %s\n", in.ID)
	}
}

func TestKill(t *testing.T) {
	t.Parallel()
	kills := 25
	if testing.Short() {
		kills = 5
	}
	for what, o := range plainAndEncrypted("write", "write encrypted") {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			killAndVerify(t, kills, what, o)
		})
	}
}

func killAndVerify(t *testing.T, kills int, what string, o *Options) {
	dir := t.TempDir()
	alive := make(map[string]bool)
	r := rand.New(rand.NewPCG(11, 12))
	for range kills {
		cmd := child(t, what, dir)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		lines := bufio.NewReader(out)
		first, err := lines.ReadString('\n')
		require.NoError(t, err)
		time.AfterFunc(time.Duration(r.IntN(40_000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
		rest, err := io.ReadAll(lines)
		require.NoError(t, err)
		require.Error(t, cmd.Wait(), "it was killed")
		for _, line := range strings.SplitAfter(first+string(rest), "\n") {
			if verb, id, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " "); ok && strings.HasSuffix(line, "\n") {
				alive[id] = verb == "put"
			}
		}
		verifyAlive(t, dir, o, alive)
	}
}

// verifyAlive opens a directory and checks that the store is intact and has everything acknowledged.
func verifyAlive(t *testing.T, dir string, o *Options, alive map[string]bool) {
	t.Helper()
	d, err := Open(t.Context(), dir, o)
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	opened, err := d.OpenStore(t.Context(), testUID)
	require.NoError(t, err)
	s := opened.(*store)
	check(t, s)
	gone, here := 0, 0
	for id, want := range alive {
		srcs, err := s.Sources(t.Context(), testPart, []string{id})
		require.NoError(t, err)
		if !want {
			gone++
			require.Nil(t, srcs[0], "an acknowledged deletion of %s came undone", id)
			continue
		}
		here++
		if srcs[0] == nil {
			// The deletion may have been in progress.
			continue
		}
		require.Equal(t, backend.Completed, srcs[0].State)
		data, err := s.Content(t.Context(), srcs[0].Num, backend.Original)
		require.NoError(t, err)
		require.NotEmpty(t, data)
	}
	require.Positive(t, here)
	require.Equal(t, len(alive), gone+here)
}

// TestCopyWhileWriting copies the files between writes, with much in the write-ahead log, as a
// power cut leaves them. It opens the copies, also without the last part of the log.
func TestCopyWhileWriting(t *testing.T) {
	t.Parallel()
	for what, o := range plainAndEncrypted("plain", "encrypted") {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			copyWhileWriting(t, o)
		})
	}
}

func copyWhileWriting(t *testing.T, o *Options) {
	d, s := reopenWith(t, t.TempDir(), o)
	r := rand.New(rand.NewPCG(5, 6))
	ingest(t, s, r, 0, 64)
	ingest(t, s, r, 64, 128)
	from := d.path(testUID)
	wal, err := os.ReadFile(filepath.Join(from, "store.db-wal"))
	require.NoError(t, err)
	db, err := os.ReadFile(filepath.Join(from, "store.db"))
	require.NoError(t, err)
	for range 20 {
		dir := t.TempDir()
		e, err := Open(t.Context(), dir, o)
		require.NoError(t, err)
		require.NoError(t, e.Close())
		to := filepath.Join(dir, "tenants", testUID[:2], testUID)
		require.NoError(t, os.MkdirAll(to, 0o700))
		cut := r.IntN(len(wal) + 1)
		torn := append([]byte(nil), wal[:cut]...)
		if cut > 100 {
			torn[cut-1] ^= 0x55 // the last sector was half written
		}
		require.NoError(t, os.WriteFile(filepath.Join(to, "store.db"), db, 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(to, "store.db-wal"), torn, 0o600))
		_, copied := reopenWith(t, dir, o)
		check(t, copied)
		_, err = copied.Accept(context.Background(), item("after the crash"))
		require.NoError(t, err)
	}
}

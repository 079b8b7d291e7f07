//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/embed/neural"
	"github.com/contextmem/contextmem/embed/static"
)

// startEnv makes the test binary run as a child process of BenchmarkStart. Its lines are model, directory, question, class and cache
// folder.
const startEnv = "CONTEXTMEM_TEST_START"

func TestMain(m *testing.M) {
	if job := os.Getenv(startEnv); job != "" {
		s, err := start(context.Background(), strings.Split(job, "\n"))
		if err == nil {
			err = json.NewEncoder(os.Stdout).Encode(s)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// started is what a child process measured: the time from Open to the answer of its first recall, and its resident memory after a hundred
// recalls.
type started struct {
	Wall, CPU        time.Duration
	Anonymous, Files int64 // resident bytes: private memory, and pages of mapped files
}

// models returns the options with one of the embedders that BenchmarkStart compares. Judge and reranker are those of the server.
func models(name string) *contextmem.Options {
	if name == "static" {
		return &contextmem.Options{Embedder: static.New(), Reranker: contextmem.NoReranker}
	}
	return nil
}

var classes = map[string]contextmem.Class{"memory": contextmem.ClassMemory, "knowledge": contextmem.ClassKnowledge, "all": contextmem.ClassAll}

func start(ctx context.Context, job []string) (s started, err error) {
	if err := neural.CacheInHome(job[4]); err != nil {
		return s, err
	}
	began, before := time.Now(), used()
	svc, err := contextmem.Open(ctx, job[1], models(job[0]))
	if err != nil {
		return s, err
	}
	q := contextmem.Recall{Class: classes[job[3]], Query: job[2]}
	for i := range 100 {
		res, err := svc.Tenant("acme").Sub("").Recall(ctx, q)
		if err != nil {
			return s, err
		}
		if len(res.Chunks) == 0 {
			return s, errors.New("nothing was found")
		}
		if i == 0 {
			s.Wall, s.CPU = time.Since(began), used()-before
		}
		q.Query = fmt.Sprintf("%s (%d)", job[2], i)
	}
	if s.Anonymous, s.Files, err = resident(); err != nil {
		return s, err
	}
	return s, svc.Close()
}

// used is the processor time of this process.
func used() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// resident returns the resident memory of the process in bytes.
func resident() (anonymous, files int64, err error) {
	b, err := os.ReadFile("/proc/self/smaps_rollup")
	if err != nil {
		return 0, 0, err
	}
	kb := map[string]int64{}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) == 3 && f[2] == "kB" {
			kb[f[0]], _ = strconv.ParseInt(f[1], 10, 64)
		}
	}
	return kb["Anonymous:"] << 10, (kb["Rss:"] - kb["Anonymous:"]) << 10, nil
}

// BenchmarkStart starts processes on a directory of 200 memories and 20 files, in English or in German. Each asks one question and then a
// hundred more. It shows what a model costs, compared with the word table, in time to the first answer and in resident memory.
func BenchmarkStart(b *testing.B) {
	exe, err := os.Executable()
	require.NoError(b, err)
	stores := []struct{ name, class, memory, file, question string }{
		{"English memories", "memory", "On day %d I walked along the river with Ann and we bought %d pears.", "", "who came along to the water?"},
		{"German memories", "memory", "Am Tag %d bin ich mit Anna am Fluss spazieren gegangen, wir haben %d Birnen gekauft.", "", "Wer kam mit ans Wasser?"},
		{"English files", "knowledge", "", "Machine %d must be oiled every %d days by the night shift.", "how often does a device need maintenance?"},
		{"English both", "all", "On day %d I walked along the river with Ann and we bought %d pears.", "Machine %d must be oiled every %d days by the night shift.", "who came along to the water?"},
	}
	for _, store := range stores {
		for _, model := range []string{"static", "e5-bge"} {
			b.Run(store.name+"/"+model, func(b *testing.B) {
				dir := b.TempDir()
				kept := os.Getenv("CONTEXTMEM_MODEL_CACHE")
				if kept == "" {
					kept = filepath.Join(dir, "models")
				}
				require.NoError(b, neural.CacheInHome(kept))
				fill(b, dir, model, store.memory, store.file)
				var sum started
				for b.Loop() {
					cmd := exec.CommandContext(b.Context(), exe)
					cmd.Env = append(os.Environ(), startEnv+"="+strings.Join([]string{model, dir, store.question, store.class, kept}, "\n"))
					cmd.Stderr = os.Stderr
					out, err := cmd.Output()
					require.NoError(b, err)
					var s started
					require.NoError(b, json.Unmarshal(out, &s))
					sum.Wall, sum.CPU, sum.Anonymous, sum.Files = sum.Wall+s.Wall, sum.CPU+s.CPU, sum.Anonymous+s.Anonymous, sum.Files+s.Files
				}
				n := float64(b.N)
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(float64(sum.Wall)/1e6/n, "ms-first")
				b.ReportMetric(float64(sum.CPU)/1e6/n, "cpu-ms-first")
				b.ReportMetric(float64(sum.Anonymous)/1e6/n, "MB-anonymous")
				b.ReportMetric(float64(sum.Files)/1e6/n, "MB-files")
			})
		}
	}
}

// fill makes a deployment and waits until all is indexed.
func fill(b *testing.B, dir, model, memory, file string) {
	ctx := b.Context()
	svc, err := contextmem.Open(ctx, dir, models(model))
	require.NoError(b, err)
	_, err = svc.CreateTenant(ctx, contextmem.TenantSpec{ID: "acme"})
	require.NoError(b, err)
	acme := svc.Tenant("acme")
	require.NoError(b, acme.WaitReady(ctx))
	if memory != "" {
		var batch contextmem.MemoryBatch
		for i := range 200 {
			batch.Memories = append(batch.Memories, contextmem.Memory{ID: fmt.Sprint("m", i), Text: fmt.Sprintf(memory, i, i%9+2)})
		}
		_, err = acme.Sub("").AddMemories(ctx, batch)
		require.NoError(b, err)
	}
	if file != "" {
		var batch contextmem.KnowledgeBatch
		for i := range 20 {
			batch.Files = append(batch.Files, contextmem.File{ID: fmt.Sprint("f", i), Name: fmt.Sprintf("f%d.txt", i), Data: fmt.Appendf(nil, file, i, i%9+2)})
		}
		_, err = acme.AddKnowledge(ctx, batch)
		require.NoError(b, err)
	}
	require.NoError(b, svc.Drain(ctx))
	require.NoError(b, acme.WaitRefined(ctx))
	require.NoError(b, svc.Close())
}

// Command soak puts mixed load on a contextmem server for a while and watches its memory, its file descriptors and the size of its
// write-ahead logs. It is for Linux, whose /proc it reads.
//
//	(cd ../cmd/contextmem && go build -o /tmp/contextmem .)
//	go run ./cmd/soak -server /tmp/contextmem -minutes 30
//
// The load consists of bulk additions with replacements, recalls of both classes, deletions, metadata edits, file uploads, lists and graph reads.
// It runs over several databases that are created and deleted meanwhile. Each sample is a line of CSV. The last lines report whether memory was
// level after the first third, the logs stayed below 64 MiB in all and descriptors did not grow. The exit status is 1 when one of these fails.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/client"
)

func main() {
	server := flag.String("server", "", "the contextmem program")
	minutes := flag.Float64("minutes", 30, "how long")
	workers := flag.Int("workers", 6, "requests at once")
	key := flag.String("encryption-key", "", "passed on to the server")
	items := flag.Int("items", 2000, "memories of a sub-tenant at most, and a fortieth as many files: with 60 the data stops growing after a minute")
	heap := flag.String("heap", "", "a directory for heap profiles of the server, after the first third and at the end")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ok, err := run(ctx, *server, time.Duration(*minutes*float64(time.Minute)), *workers, *key, *items, *heap)
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

const apiKey = "soak-key-of-one-run"

// loader makes requests until its context ends.
type loader struct {
	c             *client.Client
	url           string
	items         int
	heap          string // file for heap profiles; empty writes none
	calls, failed atomic.Int64
	mu            sync.Mutex
	last          error
}

func run(ctx context.Context, server string, long time.Duration, workers int, key string, items int, heap string) (ok bool, err error) {
	dir, err := os.MkdirTemp("", "contextmem-soak-")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	addr, err := freeAddr()
	if err != nil {
		return false, err
	}
	cmd := exec.CommandContext(ctx, server, "serve", "--data", filepath.Join(dir, "data"), "--addr", addr, "--api-keys", apiKey, "--embedder", "static")
	if key != "" {
		cmd.Args = append(cmd.Args, "--encryption-key", key)
	}
	if heap != "" {
		cmd.Args = append(cmd.Args, "--pprof")
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return false, err
	}
	defer func() {
		_ = cmd.Process.Signal(os.Interrupt)
		err = errors.Join(err, cmd.Wait())
	}()
	if err := await(ctx, "http://"+addr); err != nil {
		return false, err
	}
	c, err := client.New("http://"+addr, apiKey, nil)
	if err != nil {
		return false, err
	}
	ld := &loader{c: c, url: "http://" + addr, items: items, heap: heap}
	loading, end := context.WithTimeout(ctx, long)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() { ld.work(loading, w) })
	}
	samples := watch(loading, ld, cmd.Process.Pid, dir, long)
	end()
	wg.Wait()
	return judge(samples, ld), ctx.Err()
}

// freeAddr returns a local address on which no process listens.
func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// await waits until the server answers.
func await(ctx context.Context, url string) error {
	for range 600 {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/", nil)
		if err != nil {
			return err
		}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
			return resp.Body.Close()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	return errors.New("the server does not answer")
}

var words = strings.Fields("harbour lantern copper meadow violin saddle winter orchard ember falcon granite marble puzzle quartz ribbon silver timber umbrella velvet walnut")

func text(r *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(words[r.IntN(len(words))])
		b.WriteByte(' ')
	}
	return fmt.Sprintf("Anna number %d works at %s Industries and speaks of %s.", r.IntN(500), words[r.IntN(len(words))], b.String())
}

func (l *loader) work(ctx context.Context, w int) {
	r := rand.New(rand.NewPCG(uint64(w), 7))
	tenant := ""
	for n := 0; ctx.Err() == nil; n++ {
		if n%2000 == 0 { // create a new database now and then, in place of the previous one
			if tenant != "" && w%2 == 1 {
				l.note(l.c.Tenant(tenant).Delete(ctx))
				tenant = ""
			}
			if tenant == "" {
				tenant = fmt.Sprintf("soak-%d-%d", w, n)
				l.note(l.c.CreateTenant(ctx, contextmem.TenantSpec{ID: tenant}))
				l.note(l.c.Tenant(tenant).WaitReady(ctx))
			}
		}
		l.note(l.step(ctx, r, tenant, l.c.Tenant(tenant).Sub(fmt.Sprint("user-", r.IntN(5)))))
	}
}

func (l *loader) note(err error) {
	l.calls.Add(1)
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return
	}
	l.failed.Add(1)
	l.mu.Lock()
	l.last = err
	l.mu.Unlock()
}

func (l *loader) step(ctx context.Context, r *rand.Rand, tenant string, sub client.Sub) error {
	id := func() string { return fmt.Sprint("m", r.IntN(l.items)) }
	switch x := r.IntN(100); {
	case x < 12:
		var batch []contextmem.Memory
		for range 1 + r.IntN(40) {
			batch = append(batch, contextmem.Memory{ID: id(), Text: text(r, 5+r.IntN(60)), Metadata: map[string]any{"n": r.IntN(9)}})
		}
		_, err := sub.AddMemories(ctx, contextmem.MemoryBatch{Memories: batch})
		return err
	case x < 15:
		_, err := sub.AddKnowledge(ctx, contextmem.KnowledgeBatch{Files: []contextmem.File{
			{ID: fmt.Sprint("f", r.IntN(1+l.items/40)), Name: "notes.txt", Data: []byte(strings.Repeat(text(r, 30)+"\n\n", 1+r.IntN(400)))}}})
		return err
	case x < 19:
		_, err := sub.DeleteItems(ctx, contextmem.DeleteItemsRequest{Class: contextmem.ClassMemory, IDs: []string{id(), id()}})
		return err
	case x < 23:
		return l.edit(ctx, tenant, sub.Name(), id(), r.IntN(9))
	case x < 27:
		_, err := sub.List(ctx, contextmem.ListRequest{Class: contextmem.ClassMemory, PageSize: 50})
		return err
	case x < 45:
		_, err := sub.Recall(ctx, contextmem.Recall{Class: contextmem.ClassKnowledge, Query: text(r, 3), MaxResults: 10})
		return err
	}
	_, err := sub.Recall(ctx, contextmem.Recall{Class: contextmem.ClassMemory, Query: text(r, 3), MaxResults: 10, GraphContext: r.IntN(4) == 0})
	return err
}

// edit changes the metadata of an item. The item may have been deleted.
func (l *loader) edit(ctx context.Context, tenant, sub, id string, n int) error {
	body := fmt.Sprintf(`{"database":%q,"collection":%q,"type":"memory","additional_metadata":{"n":%d}}`, tenant, sub, n)
	req, err := http.NewRequestWithContext(ctx, http.MethodPatch, l.url+"/context/"+id+"/metadata", strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+apiKey)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusNotFound {
		return fmt.Errorf("edit: %s: %s", resp.Status, answer)
	}
	return nil
}

// saveHeap writes a heap profile of the server, taken after a garbage collection.
func (l *loader) saveHeap(ctx context.Context, name string) {
	if l.heap == "" {
		return
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, l.url+"/debug/pprof/heap?gc=1", nil)
	if err == nil {
		req.Header.Set("Authorization", "Bearer "+apiKey)
		var resp *http.Response
		if resp, err = http.DefaultClient.Do(req); err == nil {
			var b []byte
			b, err = io.ReadAll(resp.Body)
			if resp.StatusCode != http.StatusOK {
				err = errors.Join(err, errors.New(resp.Status))
			}
			if err = errors.Join(err, resp.Body.Close()); err == nil {
				err = os.WriteFile(filepath.Join(l.heap, name), b, 0o600)
			}
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak: profile:", err)
	}
}

type sample struct {
	at       time.Duration
	rss, wal int64 // bytes
	fds      int
}

// watch takes a sample every ten seconds until ctx ends.
func watch(ctx context.Context, l *loader, pid int, dir string, long time.Duration) (out []sample) {
	start := time.Now()
	tick := time.NewTicker(min(10*time.Second, long/30))
	defer tick.Stop()
	saved, ended := false, false
	fmt.Println("seconds,rss_mib,wal_mib,descriptors,calls,failed")
	for {
		select {
		case <-ctx.Done():
			return out
		case <-tick.C:
		}
		if third := long / 3; !saved && time.Since(start) > third {
			saved = true
			l.saveHeap(ctx, "heap-1.pprof")
		}
		if !ended && time.Since(start) > long-min(20*time.Second, long/20) {
			ended = true
			l.saveHeap(ctx, "heap-2.pprof")
		}
		s := sample{at: time.Since(start), rss: rss(pid), wal: logs(dir), fds: descriptors(pid)}
		out = append(out, s)
		fmt.Printf("%.0f,%.1f,%.1f,%d,%d,%d\n", s.at.Seconds(), float64(s.rss)/(1<<20), float64(s.wal)/(1<<20), s.fds, l.calls.Load(), l.failed.Load())
	}
}

func rss(pid int) int64 {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	var size, resident int64
	_, _ = fmt.Sscan(string(b), &size, &resident)
	return resident * int64(os.Getpagesize())
}

func descriptors(pid int) int {
	d, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return len(d)
}

func logs(dir string) (n int64) {
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, "-wal") {
			if i, err := e.Info(); err == nil {
				n += i.Size()
			}
		}
		return nil
	})
	return n
}

// judge reports whether the run passed. It compares the second third of the samples with the last third.
func judge(samples []sample, l *loader) bool {
	third := len(samples) / 3
	if third < 5 {
		fmt.Println("too few samples")
		return false
	}
	mean := func(s []sample, f func(sample) float64) (m float64) {
		for _, x := range s {
			m += f(x) / float64(len(s))
		}
		return m
	}
	ok := true
	say := func(what string, holds bool, format string, args ...any) {
		ok = ok && holds
		fmt.Printf("%s: %t (%s)\n", what, holds, fmt.Sprintf(format, args...))
	}
	mib := func(s sample) float64 { return float64(s.rss) / (1 << 20) }
	before, after := mean(samples[third:2*third], mib), mean(samples[2*third:], mib)
	say("memory is level", after < 1.15*before+16, "%.0f MiB in the second third, %.0f in the last", before, after)
	most := int64(0)
	for _, s := range samples {
		most = max(most, s.wal)
	}
	say("logs are bounded", most <= 64<<20, "at most %.1f MiB in all", float64(most)/(1<<20))
	fds := func(s sample) float64 { return float64(s.fds) }
	f1, f2 := mean(samples[third:2*third], fds), mean(samples[2*third:], fds)
	say("descriptors are flat", f2 < 1.1*f1+8, "%.0f in the second third, %.0f in the last", f1, f2)
	l.mu.Lock()
	defer l.mu.Unlock()
	say("calls succeed", l.failed.Load()*1000 <= l.calls.Load(), "%d of %d failed, last: %v", l.failed.Load(), l.calls.Load(), l.last)
	return ok
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/bench/internal/prose"
)

// ingest builds the deployment and prints the speed at each doubling of its size.
func ingest(ctx context.Context, s *settings) error {
	svc, sub, err := open(ctx, s)
	if err != nil {
		return err
	}
	if _, err := svc.CreateTenant(ctx, contextmem.TenantSpec{ID: tenantID}); err != nil {
		return err
	}
	if err := svc.Tenant(tenantID).WaitReady(ctx); err != nil {
		return err
	}
	whole := start()
	for from, to := 0, min(10_000, s.n); from < s.n; from, to = to, min(2*to, s.n) {
		w := start()
		if err := add(ctx, sub, from, to); err != nil {
			return err
		}
		accepted := w.took()
		if err := svc.Drain(ctx); err != nil {
			return err
		}
		n := float64(to - from)
		fmt.Printf("to %d: %.0f/s completed, %.0f/s accepted, %.0f us cpu each\n", to, n/w.took().Seconds(), n/accepted.Seconds(), w.spent().Seconds()*1e6/n)
	}
	fmt.Printf("all: %.0f/s, %.1f s, cpu %.1f s\n", float64(s.n)/whole.took().Seconds(), whole.took().Seconds(), whole.spent().Seconds())
	if err := svc.Close(); err != nil {
		return err
	}
	return printDiskUse(s, s.n)
}

// rest waits until background upkeep has finished, then prints the disk usage.
func rest(ctx context.Context, s *settings) (err error) {
	w := start()
	svc, sub, err := open(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, svc.Close()) }()
	if _, err := ask(ctx, sub, 0, contextmem.Recall{}); err != nil { // opens the tenant
		return err
	}
	const still = 40 * time.Second // upkeep begins after ten seconds of quiet, and looks every ten
	cpu, since := used(), time.Now()
	for time.Since(since) < still {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
		now := used()
		if now-cpu > 50*time.Millisecond { // a running job uses more than this in a second
			since = time.Now()
		}
		cpu = now
	}
	fmt.Printf("at rest after %.0f s, cpu %.1f s\n", w.took().Seconds(), w.spent().Seconds())
	return printDiskUse(s, s.n)
}

func printDiskUse(s *settings, items int) error {
	all, indexes, err := sizes(s)
	fmt.Printf("on disk: %.1f MB, of which indexes %.1f MB; %.0f bytes an item\n", float64(all)/1e6, float64(indexes)/1e6, float64(all)/float64(items))
	return err
}

// ask asks question i.
func ask(ctx context.Context, sub contextmem.Sub, i int, q contextmem.Recall) (*contextmem.Result, error) {
	q.Query = prose.Question(i)
	if q.Class == 0 {
		q.Class = contextmem.ClassMemory
	}
	return sub.Recall(ctx, q)
}

// first measures the time from opening to the first answer, for each class of items.
func first(ctx context.Context, s *settings) error {
	for _, x := range []struct {
		name  string
		class contextmem.Class
	}{{"memories", contextmem.ClassMemory}, {"knowledge", contextmem.ClassKnowledge}} {
		var all []time.Duration
		for range 5 {
			w := start()
			svc, sub, err := open(ctx, s)
			if err != nil {
				return err
			}
			opened := w.took()
			f := start()
			res, err := ask(ctx, sub, 1, contextmem.Recall{Class: x.class})
			if err != nil {
				return err
			}
			took := f.took()
			second := start()
			if _, err := ask(ctx, sub, 2, contextmem.Recall{Class: x.class}); err != nil {
				return err
			}
			fmt.Printf("%s: Open %.1f ms, first answer %.1f ms (cpu %.1f ms, %d hits), second %.1f ms\n", x.name, ms(opened), ms(took), ms(f.spent()), len(res.Chunks), ms(second.took()))
			all = append(all, took)
			if err := svc.Close(); err != nil {
				return err
			}
		}
		slices.Sort(all)
		fmt.Printf("%s: first answer, median of %d: %.1f ms\n", x.name, len(all), ms(all[len(all)/2]))
	}
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// recalls measures the latency of recall.
func recalls(ctx context.Context, s *settings) (err error) {
	svc, sub, err := open(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, svc.Close()) }()
	for _, x := range []struct {
		name string
		q    contextmem.Recall
	}{
		{"fast", contextmem.Recall{}}, {"fast with graph", contextmem.Recall{GraphContext: true}}, {"thinking", contextmem.Recall{Mode: contextmem.ModeThinking}},
		{"knowledge", contextmem.Recall{Class: contextmem.ClassKnowledge}},
	} {
		for i := range 100 { // warm up: some structures are built at first use
			if _, err := ask(ctx, sub, i, x.q); err != nil {
				return err
			}
		}
		var took []time.Duration
		w := start()
		for i := 100; i < 1100; i++ {
			began := time.Now()
			if _, err := ask(ctx, sub, i, x.q); err != nil {
				return err
			}
			took = append(took, time.Since(began))
		}
		fmt.Printf("%s: %s; cpu %.2f ms\n", x.name, quantiles(took), ms(w.spent())/1000)
	}
	fmt.Printf("resident: %.0f MB\n", resident())
	return nil
}

// kill leaves the deployment as a kill before the last texts are indexed would: with the older indexes.
func kill(ctx context.Context, s *settings) error {
	dir, err := indexDir(s)
	if err != nil {
		return err
	}
	if err := os.CopyFS(s.dir+".indexes", os.DirFS(dir)); err != nil {
		return err
	}
	svc, sub, err := open(ctx, s)
	if err != nil {
		return err
	}
	w := start()
	if err := add(ctx, sub, s.n, s.n+s.behind); err != nil {
		return err
	}
	if err := svc.Drain(ctx); err != nil {
		return err
	}
	fmt.Printf("%d more: %.0f/s\n", s.behind, float64(s.behind)/w.took().Seconds())
	if err := svc.Close(); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.Rename(s.dir+".indexes", dir)
}

// behind measures opening with outdated indexes: the time to the first answer, and the time until the indexes have caught up.
func behind(ctx context.Context, s *settings) (err error) {
	w := start()
	svc, sub, err := open(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, svc.Close()) }()
	fmt.Printf("Open %.1f ms\n", ms(w.took()))
	var took []time.Duration
	for i := 0; ; i++ {
		began := time.Now()
		res, err := ask(ctx, sub, i, contextmem.Recall{})
		if err != nil {
			return err
		}
		took = append(took, time.Since(began))
		partial := ""
		for _, x := range res.Warnings {
			if x.Code == "partial" {
				partial = x.Message
			}
		}
		if i == 0 {
			fmt.Printf("first answer %.1f ms, %d hits; %q\n", ms(took[0]), len(res.Chunks), partial)
		}
		if partial == "" {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	fmt.Printf("caught up after %.2f s (cpu %.2f s): %.0f items/s; recall meanwhile %s\n", w.took().Seconds(), w.spent().Seconds(), float64(s.behind)/w.took().Seconds(), quantiles(took))
	return nil
}

// halve deletes every other item while recalls run, then samples the disk usage of the otherwise idle deployment.
func halve(ctx context.Context, s *settings) (err error) {
	if err := printDiskUse(s, s.n+s.behind); err != nil {
		return err
	}
	svc, sub, err := open(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, svc.Close()) }()
	if _, err := ask(ctx, sub, 0, contextmem.Recall{}); err != nil {
		return err
	}
	var took []time.Duration
	var failed error
	asking, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; asking.Err() == nil; i++ {
			began := time.Now()
			if _, err := ask(ctx, sub, i, contextmem.Recall{}); err != nil {
				failed = err
				return
			}
			took = append(took, time.Since(began))
		}
	})
	w := start()
	for at := 0; at < s.n+s.behind && err == nil; at += batchSize {
		for _, class := range []contextmem.Class{contextmem.ClassMemory, contextmem.ClassKnowledge} {
			var ids []string
			for i := at; i < min(at+batchSize, s.n+s.behind); i += 2 {
				if abstract(i+i/2%2) == (class == contextmem.ClassKnowledge) {
					ids = append(ids, id(i+i/2%2))
				}
			}
			if len(ids) > 0 && err == nil {
				_, err = sub.DeleteItems(ctx, contextmem.DeleteItemsRequest{Class: class, IDs: ids})
			}
		}
	}
	deleted := w.took()
	stop()
	wg.Wait()
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	fmt.Printf("half deleted in %.1f s; recall meanwhile %s\n", deleted.Seconds(), quantiles(took))
	took = nil
	for at := range 10 {
		if err := printDiskUse(s, (s.n+s.behind)/2); err != nil {
			return err
		}
		for end := time.Now().Add(10 * time.Second); at < 9 && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			began := time.Now()
			if _, err := ask(ctx, sub, len(took), contextmem.Recall{}); err != nil {
				return err
			}
			took = append(took, time.Since(began))
		}
	}
	fmt.Printf("recall while room is given back: %s\n", quantiles(took))
	return nil
}

// resident returns the resident memory of the process in MB.
func resident() float64 {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(data), &size, &pages); err != nil {
		return 0
	}
	return float64(pages*int64(os.Getpagesize())) / 1e6
}

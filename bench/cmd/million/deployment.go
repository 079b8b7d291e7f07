package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/bench/internal/prose"
	"github.com/contextmem/contextmem/content"
)

const (
	tenantID, subID = "million", "s"
	batchSize       = 1000
)

// open opens the deployment and returns its service and sub-tenant.
func open(ctx context.Context, s *settings) (*contextmem.Service, contextmem.Sub, error) {
	svc, err := contextmem.Open(ctx, s.dir, nil)
	if err != nil {
		return nil, contextmem.Sub{}, err
	}
	return svc, svc.Tenant(tenantID).Sub(subID), nil
}

// abstract reports whether text i is an abstract.
func abstract(i int) bool { return i%10 == 9 }

func id(i int) string { return fmt.Sprintf("t%08d", i) }

// add adds the texts numbered from <= i < to, in batches as a caller would.
func add(ctx context.Context, sub contextmem.Sub, from, to int) error {
	began := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for at := from; at < to; at += batchSize {
		var memories contextmem.MemoryBatch
		var knowledge contextmem.KnowledgeBatch
		for i := at; i < min(at+batchSize, to); i++ {
			if abstract(i) {
				knowledge.Apps = append(knowledge.Apps, contextmem.AppItem{ID: id(i), Type: "abstract", Title: "Abstract " + fmt.Sprint(i), Content: &content.AppContent{Text: prose.Abstract(i)}})
				continue
			}
			memories.Memories = append(memories.Memories, contextmem.Memory{ID: id(i), Text: prose.Turn(i), Session: fmt.Sprint("chat", i/prose.Session),
				Time: began.Add(time.Duration(i) * 17 * time.Second)})
		}
		if _, err := sub.AddMemories(ctx, memories); err != nil {
			return err
		}
		if _, err := sub.AddKnowledge(ctx, knowledge); err != nil {
			return err
		}
	}
	return nil
}

// watch measures elapsed wall-clock time and the processor time used meanwhile.
type watch struct {
	began time.Time
	cpu   time.Duration
}

func start() watch { return watch{time.Now(), used()} }

func (w watch) took() time.Duration { return time.Since(w.began) }

func (w watch) spent() time.Duration { return used() - w.cpu }

// used returns the processor time that the process has used.
func used() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// sizes returns the bytes on disk of the deployment: of all its files, and of its index files alone.
func sizes(s *settings) (all, indexes int64, err error) {
	err = filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil {
			return err
		}
		all += info.Size()
		if _, err := os.Stat(filepath.Join(filepath.Dir(path), manifest)); err == nil {
			indexes += info.Size()
		}
		return nil
	})
	return all, indexes, err
}

// manifest is the name of the manifest file in a directory of index files.
const manifest = "MANIFEST"

// indexDir returns the directory of the indexes of the deployment's only tenant.
func indexDir(s *settings) (dir string, err error) {
	err = filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == manifest {
			dir = filepath.Dir(path)
		}
		return err
	})
	if err == nil && dir == "" {
		err = fmt.Errorf("no indexes below %s", s.dir)
	}
	return dir, err
}

// quantiles formats the median, the 99th percentile and the maximum of took.
func quantiles(took []time.Duration) string {
	slices.Sort(took)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	return fmt.Sprintf("p50 %.2f ms, p99 %.2f ms, max %.1f ms", ms(took[len(took)/2]), ms(took[len(took)*99/100]), ms(took[len(took)-1]))
}

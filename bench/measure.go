package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Subject is a contender in one experiment.
type Subject struct {
	Name string
	// Search answers query q with rows, best first.
	Search func(q int) ([]int, error)
	// Queries bounds how many queries are asked, where all would take too long; 0: all.
	Queries int
	// Truth judges the answers; nil: Recall stays negative.
	Truth *Truth
}

// Timing is what searches of one subject took. P50 and P99 are processor time of the whole
// process on one processor, garbage collection included: what a query takes on an idle
// machine, whatever else runs on this one. The harness adds half a microsecond.
type Timing struct {
	Name     string
	P50, P99 time.Duration
	Wall     time.Duration // the median by the clock on the wall
	Recall   float64       // recall@10; negative: not judged
	Asked    int
}

// round is how many timed queries a subject answers before it is the next one's turn. Half as many
// go before them, untimed.
const round = 100

// Measure asks every subject the queries 0..n-1, in turns, repeatedly until each was
// asked at least atLeast times in all, on one processor. A first pass over all is counted for recall
// alone.
func Measure(n, atLeast int, subjects ...*Subject) ([]Timing, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	runtime.GC()
	out := make([]Timing, len(subjects))
	cpu := make([][]time.Duration, len(subjects))
	wall := make([][]time.Duration, len(subjects))
	judged := make([]float64, len(subjects))
	for i, s := range subjects {
		if s.Queries == 0 || s.Queries > n {
			s.Queries = n
		}
		out[i] = Timing{Name: s.Name, Recall: -1}
		for q := range s.Queries {
			rows, err := s.Search(q)
			if err != nil {
				return nil, fmt.Errorf("%s: query %d: %w", s.Name, q, err)
			}
			if s.Truth != nil {
				judged[i] += s.Truth.Recall(q, rows)
			}
		}
		if s.Truth != nil {
			out[i].Recall = judged[i] / float64(s.Queries)
		}
	}
	for busy := true; busy; {
		busy = false
		for i, s := range subjects {
			enough := min(atLeast, atLeast*s.Queries/n)
			if len(cpu[i]) >= enough {
				continue
			}
			busy = true
			for j := range min(round/2, s.Queries) { // the caches hold another subject's data
				q := (len(cpu[i]) + s.Queries/2 + j) % s.Queries
				if _, err := s.Search(q); err != nil {
					return nil, fmt.Errorf("%s: query %d: %w", s.Name, q, err)
				}
			}
			var failed error
			pprof.Do(context.Background(), pprof.Labels("subject", s.Name), func(context.Context) {
				for range min(round, s.Queries) {
					q := len(cpu[i]) % s.Queries
					e := begin()
					_, err := s.Search(q)
					if err != nil {
						failed = fmt.Errorf("%s: query %d: %w", s.Name, q, err)
						return
					}
					w, c := e.since()
					cpu[i], wall[i] = append(cpu[i], c), append(wall[i], w)
				}
			})
			if failed != nil {
				return nil, failed
			}
		}
	}
	for i := range out {
		out[i].Asked = len(cpu[i])
		out[i].P50, out[i].P99 = Percentiles(cpu[i])
		out[i].Wall, _ = Percentiles(wall[i])
	}
	return out, nil
}

// measure is Measure with the profile that c asks for, in which samples are labelled by subject.
// A later call replaces the profile of an earlier one.
func (c *Config) measure(n, atLeast int, subjects ...*Subject) ([]Timing, error) {
	if c.Profile == "" {
		return Measure(n, atLeast, subjects...)
	}
	f, err := os.Create(c.Profile)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	times, err := Measure(n, atLeast, subjects...)
	pprof.StopCPUProfile()
	return times, errors.Join(err, f.Close())
}

// Throughput is the queries a second that workers reach together in about the given
// time, after which they stop.
func Throughput(workers int, length time.Duration, s *Subject, n int) (float64, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(workers))
	var wg sync.WaitGroup
	errs := make([]error, workers)
	asked := make([]int, workers)
	start := time.Now()
	for w := range workers {
		wg.Go(func() {
			for q := w * n / workers; time.Since(start) < length; q++ {
				if _, err := s.Search(q % n); err != nil {
					errs[w] = err
					return
				}
				asked[w]++
			}
		})
	}
	wg.Wait()
	total := 0
	for w, err := range errs {
		if err != nil {
			return 0, fmt.Errorf("%s: %w", s.Name, err)
		}
		total += asked[w]
	}
	return float64(total) / time.Since(start).Seconds(), nil
}

// Percentiles returns the median and the 99th of a hundred. It sorts took.
func Percentiles(took []time.Duration) (p50, p99 time.Duration) {
	if len(took) == 0 {
		return 0, 0
	}
	slices.Sort(took)
	return took[len(took)/2], took[len(took)*99/100]
}

// CPUTime is the processor time of this process so far, all threads and the kernel's
// work for them included.
func CPUTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// elapsed is a start by both clocks.
type elapsed struct {
	wall time.Time
	cpu  time.Duration
}

func begin() elapsed { return elapsed{time.Now(), CPUTime()} }

func (e elapsed) since() (wall, cpu time.Duration) {
	cpu = CPUTime() - e.cpu
	return time.Since(e.wall), cpu
}

// Memory is what a process keeps.
type Memory struct {
	Heap      int64 // live Go heap
	Resident  int64 // all resident pages
	Anonymous int64 // those that belong to no file: heaps, stacks, tables of the runtime
	Mapped    int64 // resident pages of files mapped below a folder
}

// since is what came on top of before.
func (m Memory) since(before Memory) Memory {
	return Memory{m.Heap - before.Heap, m.Resident - before.Resident, m.Anonymous - before.Anonymous, m.Mapped - before.Mapped}
}

// index is what an index takes: Go heap and mapped pages.
func (m Memory) index() int64 { return m.Heap + m.Mapped }

// MeasureMemory collects garbage, gives it back and looks; dir names the folder whose mapped
// files are counted, if any.
func MeasureMemory(dir string) Memory {
	debug.FreeOSMemory()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	m := Memory{Heap: int64(stats.HeapAlloc)}
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return m
	}
	defer f.Close()
	mapped := false
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := lines.Text()
		name, rest, _ := strings.Cut(line, " ")
		if strings.Contains(name, "-") && !strings.HasSuffix(name, ":") { // the head of a mapping
			mapped = dir != "" && strings.Contains(rest, dir+string(filepath.Separator))
			continue
		}
		if name != "Rss:" && name != "Anonymous:" {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
		switch {
		case err != nil:
		case name == "Anonymous:":
			m.Anonymous += n << 10
		default:
			m.Resident += n << 10
			if mapped {
				m.Mapped += n << 10
			}
		}
	}
	return m
}

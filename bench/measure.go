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
	// Queries limits the number of queries for slow subjects; 0: all.
	Queries int
	// Truth judges the answers; nil: Recall stays negative.
	Truth *Truth
}

// Timing holds the times of one subject's searches. P50 and P99 are processor time of the
// whole process on one processor, garbage collection included. So they do not depend on
// other load on the machine. The harness adds half a microsecond.
type Timing struct {
	Name     string
	P50, P99 time.Duration
	Wall     time.Duration // median wall-clock time
	Recall   float64       // recall@10; negative: not judged
	Asked    int
}

// round is the number of timed queries that a subject answers before the next subject's turn.
// Half as many untimed queries precede them.
const round = 100

// Measure asks the subjects the queries 0..n-1 in turns on one processor, until each subject has
// answered at least atLeast queries. A first pass over all queries is untimed: it measures recall.
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

// measure calls Measure and writes the profile that c asks for, with samples labelled by subject.
// A later call overwrites the profile of an earlier one.
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

// Throughput returns the queries a second that all workers together answer, measured over
// about the given length of time.
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

// Percentiles returns the median and the 99th percentile. It sorts took.
func Percentiles(took []time.Duration) (p50, p99 time.Duration) {
	if len(took) == 0 {
		return 0, 0
	}
	slices.Sort(took)
	return took[len(took)/2], took[len(took)*99/100]
}

// CPUTime returns the processor time of this process so far, of all threads, in user and
// kernel mode.
func CPUTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// elapsed is a start time by wall clock and processor time.
type elapsed struct {
	wall time.Time
	cpu  time.Duration
}

func begin() elapsed { return elapsed{time.Now(), CPUTime()} }

func (e elapsed) since() (wall, cpu time.Duration) {
	cpu = CPUTime() - e.cpu
	return time.Since(e.wall), cpu
}

// Memory holds the memory of a process in bytes.
type Memory struct {
	Heap      int64 // live Go heap
	Resident  int64 // all resident pages
	Anonymous int64 // resident pages that belong to no file: heaps, stacks, tables of the runtime
	Mapped    int64 // resident pages of files mapped below a folder
}

// since returns the difference m - before.
func (m Memory) since(before Memory) Memory {
	return Memory{m.Heap - before.Heap, m.Resident - before.Resident, m.Anonymous - before.Anonymous, m.Mapped - before.Mapped}
}

// index returns the memory of an index: Go heap and mapped pages.
func (m Memory) index() int64 { return m.Heap + m.Mapped }

// MeasureMemory collects garbage, returns it to the system and measures. dir is the folder
// whose mapped files are counted; it may be empty.
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
		if strings.Contains(name, "-") && !strings.HasSuffix(name, ":") { // first line of a mapping
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

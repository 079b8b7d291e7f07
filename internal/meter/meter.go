// Package meter counts the activity of a service and writes the counts in the Prometheus text format. Counting takes no lock.
package meter

import (
	"io"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Counter is a monotonically increasing number.
type Counter struct{ n atomic.Int64 }

// Add adds n.
func (c *Counter) Add(n int) { c.n.Add(int64(n)) }

// Value returns the number.
func (c *Counter) Value() int64 { return c.n.Load() }

// bounds are the upper bounds of a histogram's 21 buckets: 50 microseconds, doubling up to 52 seconds.
var bounds = func() (b [21]time.Duration) {
	for i := range b {
		b[i] = 50 * time.Microsecond << i
	}
	return b
}()

// Histogram counts durations in buckets.
type Histogram struct {
	buckets [len(bounds) + 1]atomic.Int64
	sum     atomic.Int64 // nanoseconds
}

// Observe counts d.
func (h *Histogram) Observe(d time.Duration) {
	i := 0
	if d > bounds[0] {
		i = min(bits.Len64(uint64((d-1)/bounds[0])), len(bounds)) // each bound is twice the previous one
	}
	h.buckets[i].Add(1)
	h.sum.Add(int64(d))
}

// Quantile returns an upper bound of the q-quantile, with q in [0,1]: the bound of the bucket that holds it. It returns 0 for
// an empty histogram.
func (h *Histogram) Quantile(q float64) time.Duration {
	var total int64
	for i := range h.buckets {
		total += h.buckets[i].Load()
	}
	if total == 0 {
		return 0
	}
	want, seen := int64(math.Ceil(q*float64(total))), int64(0)
	for i := range bounds {
		if seen += h.buckets[i].Load(); seen >= want {
			return bounds[i]
		}
	}
	return 2 * bounds[len(bounds)-1]
}

// Count returns the number of observed durations.
func (h *Histogram) Count() (n int64) {
	for i := range h.buckets {
		n += h.buckets[i].Load()
	}
	return n
}

// Family is the set of series of one metric, keyed by label values. The zero Family is empty and ready to use. It keeps at most
// maxSeries series; any further ones are counted under the label value "other".
type Family[T any] struct {
	series atomic.Pointer[map[string]*T] // keyed by joined label values; immutable: a new series replaces the map
	adding sync.Mutex
}

const maxSeries = 2000

// Of returns the series with the given label values.
func (f *Family[T]) Of(labels ...string) *T {
	var room [128]byte // most keys fit, so that the lookup does not allocate
	key := append(room[:0], labels[0]...)
	for _, l := range labels[1:] {
		key = append(append(key, '\xff'), l...)
	}
	if all := f.series.Load(); all != nil {
		if v, ok := (*all)[string(key)]; ok {
			return v
		}
	}
	return f.add(string(key), len(labels))
}

// add returns the series of a key of n labels, creating it if needed.
func (f *Family[T]) add(key string, n int) *T {
	f.adding.Lock()
	defer f.adding.Unlock()
	var before map[string]*T
	if all := f.series.Load(); all != nil {
		before = *all
	}
	if len(before) >= maxSeries {
		if v, ok := before[key]; ok {
			return v
		}
		key = strings.Repeat("other\xff", n)[:n*6-1]
	}
	if v, ok := before[key]; ok {
		return v
	}
	all := make(map[string]*T, len(before)+1)
	maps.Copy(all, before)
	v := new(T)
	all[key] = v
	f.series.Store(&all)
	return v
}

// Each calls fn with each series and its labels, in the order of the labels.
func (f *Family[T]) Each(fn func(labels []string, v *T)) {
	all := f.series.Load()
	if all == nil {
		return
	}
	for _, k := range slices.Sorted(maps.Keys(*all)) {
		fn(strings.Split(k, "\xff"), (*all)[k])
	}
}

// Writer writes metrics as text and keeps the first error.
type Writer struct {
	w   io.Writer
	buf []byte
	err error
}

// NewWriter returns a writer. The caller must end it with Flush.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Flush writes the buffered text and returns the first error.
func (w *Writer) Flush() error {
	if w.err == nil {
		_, w.err = w.w.Write(w.buf)
	}
	w.buf = w.buf[:0]
	return w.err
}

// Head begins a metric. kind is counter, gauge or histogram.
func (w *Writer) Head(name, kind, help string) {
	w.buf = append(w.buf, "# HELP "+name+" "+help+"\n# TYPE "+name+" "+kind+"\n"...)
}

// Sample writes one value. Label names and values are in the same order.
func (w *Writer) Sample(name string, names, values []string, v float64) {
	w.buf = append(w.buf, name...)
	w.labels(names, values, "")
	w.buf = append(w.buf, ' ')
	w.buf = strconv.AppendFloat(w.buf, v, 'g', -1, 64)
	w.buf = append(w.buf, '\n')
}

func (w *Writer) labels(names, values []string, le string) {
	if len(names) == 0 && le == "" {
		return
	}
	w.buf = append(w.buf, '{')
	for i, n := range names {
		if i > 0 {
			w.buf = append(w.buf, ',')
		}
		w.buf = append(w.buf, n+`="`+escape.Replace(strings.ToValidUTF8(values[i], "?"))+`"`...)
	}
	if le != "" {
		if len(names) > 0 {
			w.buf = append(w.buf, ',')
		}
		w.buf = append(w.buf, `le="`+le+`"`...)
	}
	w.buf = append(w.buf, '}')
}

var escape = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// Gauge writes a gauge without labels.
func (w *Writer) Gauge(name, help string, v float64) {
	w.Head(name, "gauge", help)
	w.Sample(name, nil, nil, v)
}

// Counters writes a family of counters. It writes nothing for an empty family.
func (w *Writer) Counters(name, help string, names []string, f *Family[Counter]) {
	w.Head(name, "counter", help)
	f.Each(func(labels []string, c *Counter) { w.Sample(name, names, labels, float64(c.Value())) })
}

// Histograms writes a family of histograms in seconds.
func (w *Writer) Histograms(name, help string, names []string, f *Family[Histogram]) {
	w.Head(name, "histogram", help)
	f.Each(func(labels []string, h *Histogram) {
		var n int64
		for i := range h.buckets {
			n += h.buckets[i].Load()
			le := "+Inf"
			if i < len(bounds) {
				le = strconv.FormatFloat(float64(bounds[i])/float64(time.Second), 'g', -1, 64)
			}
			w.buf = append(w.buf, name+"_bucket"...)
			w.labels(names, labels, le)
			w.buf = append(w.buf, ' ')
			w.buf = strconv.AppendInt(w.buf, n, 10)
			w.buf = append(w.buf, '\n')
		}
		w.Sample(name+"_sum", names, labels, time.Duration(h.sum.Load()).Seconds())
		w.Sample(name+"_count", names, labels, float64(n))
	})
}

package meter

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/internal/testtool"
	"github.com/contextmem/contextmem/observe"
)

func TestHistogram(t *testing.T) {
	t.Parallel()
	var h Histogram
	assert.Zero(t, h.Quantile(.5))
	for range 98 {
		h.Observe(90 * time.Microsecond)
	}
	h.Observe(50 * time.Microsecond) // a bound belongs to its bucket
	h.Observe(time.Hour)
	assert.Equal(t, int64(100), h.Count())
	assert.Equal(t, 50*time.Microsecond, h.Quantile(.01))
	assert.Equal(t, 100*time.Microsecond, h.Quantile(.5))
	assert.Equal(t, 100*time.Microsecond, h.Quantile(.99))
	assert.Greater(t, h.Quantile(1), 50*time.Second)
}

// TestFamilyIsBounded checks that labels chosen by callers do not fill memory.
func TestFamilyIsBounded(t *testing.T) {
	t.Parallel()
	var f Family[Counter]
	for i := range 3 * maxSeries {
		f.Of(strings.Repeat("x", i%7)+string(rune('a'+i%26))+time.Duration(i).String(), "y").Add(1)
	}
	n, total := 0, int64(0)
	f.Each(func(_ []string, c *Counter) { n++; total += c.Value() })
	assert.LessOrEqual(t, n, maxSeries+1)
	assert.Equal(t, int64(3*maxSeries), total)
	assert.Equal(t, int64(2*maxSeries), f.Of("other", "other").Value())
}

func TestText(t *testing.T) {
	t.Parallel()
	s := NewService()
	var l observe.Laps
	l.Begin(observe.Recall, true)
	l.Lap("rank")
	l.Mode = "fast"
	l.End(t.Context(), s, nil)
	s.Deliveries.Of("a \"quoted\"\\\nname").Add(2)
	s.Errored.Of("E1002").Add(1)
	var b bytes.Buffer
	w := NewWriter(&b)
	s.Write(w, &Gauges{Queued: 3, Items: map[Item]int{{State: "completed"}: 4, {State: "errored", Error: "E1002"}: 2}, IndexBudget: 5, IndexFileBytes: -1, StoreBytes: -1})
	require.NoError(t, w.Flush())
	text := b.String()
	assert.True(t, strings.Contains(text, `contextmem_webhook_attempts_total{outcome="a \"quoted\"\\\nname"} 2`+"\n"))
	assert.True(t, strings.Contains(text, `contextmem_stage_duration_seconds_bucket{operation="recall",stage="rank",le="+Inf"} 1`+"\n"))
	assert.True(t, strings.Contains(text, `le="1.6384"`), "bounds are written as they are")
	assert.NotContains(t, text, "file_bytes")
	testtool.Promtool(t, text)
}

// BenchmarkRecall measures the cost of measuring and counting one recall with ten stages.
func BenchmarkRecall(b *testing.B) {
	s := NewService()
	o := observe.Several(s)
	b.ReportAllocs()
	for b.Loop() {
		var l observe.Laps
		l.Begin(observe.Recall, true)
		for _, name := range stages[observe.Recall] {
			l.Lap(name)
		}
		l.Mode = "fast"
		l.End(b.Context(), o, nil)
	}
}

package schedule

import (
	"log/slog"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/contextmem/contextmem/internal/pipeline"
)

// TestMemoryIsGivenBack checks that memory is returned to the system after much text was processed, when no work is left, and only once.
func TestMemoryIsGivenBack(t *testing.T) {
	forced := func() uint32 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.NumForcedGC
	}
	c := &Scheduler{Config: Config{Pipeline: &pipeline.Config{}, Logger: slog.New(slog.DiscardHandler)}}
	before := forced()
	c.Pipeline.Handled.Add(giveBackAfter - 1)
	c.giveBack()
	assert.Equal(t, before, forced(), "little text")
	c.Pipeline.Handled.Add(1)
	c.running = 1
	c.giveBack()
	assert.Equal(t, before, forced(), "another worker is busy")
	c.running = 0
	c.giveBack()
	assert.Greater(t, forced(), before)
	assert.Zero(t, c.Pipeline.Handled.Load())
}

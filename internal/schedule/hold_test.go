package schedule

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/internal/workspace"
)

// TestHeldWorkspace checks that hold waits for background jobs in a workspace, and that these process other workspaces meanwhile.
func TestHeldWorkspace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := workspace.NewGate()
		defer func() { require.NoError(t, gate.Shut(time.Second, func() error { return nil })) }()
		e, other := newBackgroundJob(refining, "refine"), newBackgroundJob(comparing, "compare")
		c := &Scheduler{gate: gate, state: map[string]*attention{}, changed: make(chan struct{}), refiner: e, comparer: other}
		require.True(t, c.enter(e, "a"))
		held := false
		go func() {
			c.hold("a")
			held = true
		}()
		synctest.Wait()
		assert.False(t, held, "it is worked on")
		assert.False(t, c.enter(other, "a"))
		assert.True(t, c.enter(other, "b"))
		c.mu.Lock()
		e.at = ""
		c.mu.Unlock()
		c.signal()
		synctest.Wait()
		assert.True(t, held)
		assert.False(t, c.enter(e, "a"))
		assert.Equal(t, []string{"a"}, e.line, "it is not forgotten")
		c.hold("")
		assert.Equal(t, "a", c.next(e))
		assert.True(t, c.enter(e, "a"))
	})
}

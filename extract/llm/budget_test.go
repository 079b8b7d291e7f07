package llm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/extract"
)

func TestConcurrencyIsBounded(t *testing.T) {
	t.Parallel()
	var now, most atomic.Int32
	s := serve(t, func(w http.ResponseWriter, r request, _ int) {
		n := now.Add(1)
		for {
			m := most.Load()
			if n <= m || most.CompareAndSwap(m, n) {
				break
			}
		}
		time.Sleep(2 * time.Millisecond)
		now.Add(-1)
		say(w, answer(r), "stop", 1, 1)
	})
	e := open(t, s, func(c *Config) { c.BatchItems, c.MaxConcurrent = 1, 2 })
	texts := make([]string, 12)
	for i := range texts {
		texts[i] = "Anna lives in Porto."
	}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			_, err := e.Extract(t.Context(), inputs(texts...))
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	assert.LessOrEqual(t, most.Load(), int32(2))
	assert.Equal(t, int32(24), s.calls.Load())
}

func TestBudgetHoldsOverTheDay(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r request, _ int) { say(w, answer(r), "stop", 3000, 1000) })
	e := open(t, s, func(c *Config) { c.MaxTokensPerDay, c.MaxAnswerTokens, c.MaxConcurrent = 8500, 500, 1 })
	clock := time.Date(2024, 1, 1, 23, 0, 0, 0, time.UTC)
	e.budget.Now = func() time.Time { return clock }
	reasons := func() (got []string) {
		for range 3 {
			out, err := e.Extract(t.Context(), inputs("Anna lives in Porto."))
			require.NoError(t, err)
			got = append(got, out[0].Usage.Fallback)
		}
		return got
	}
	assert.Equal(t, []string{"", "", reasonBudget}, reasons())
	clock = clock.Add(2 * time.Hour)
	assert.Equal(t, []string{"", "", reasonBudget}, reasons(), "a new day has a new budget")
}

type failing struct{ outputs int }

func (failing) Name() string { return "failing" }

func (f failing) Extract(context.Context, []extract.Input) ([]extract.Output, error) {
	if f.outputs > 0 {
		return make([]extract.Output, f.outputs), nil
	}
	return nil, errors.New("disk on fire")
}

func TestFallbackFailures(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r request, _ int) { say(w, answer(r), "stop", 1, 1) })
	for _, f := range []failing{{0}, {2}} {
		t.Run(fmt.Sprint(f.outputs), func(t *testing.T) {
			_, err := open(t, s, func(c *Config) { c.Fallback = f }).Extract(t.Context(), inputs("Anna lives in Porto."))
			require.Error(t, err)
			assert.NotContains(t, err.Error(), "Porto")
		})
	}
	assert.Zero(t, s.calls.Load())
}

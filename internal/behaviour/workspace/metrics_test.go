package workspace_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/servicetest"
	"github.com/contextmem/contextmem/internal/testtool"
	"github.com/contextmem/contextmem/observe"
)

// recordingObserver records what an observer receives.
type recordingObserver struct {
	mu   sync.Mutex
	list []observe.Record
}

func (s *recordingObserver) Observe(_ context.Context, r *observe.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := *r
	c.Stages = append([]observe.Stage(nil), r.Stages...)
	s.list = append(s.list, c)
}

func (s *recordingObserver) recordsOf(operation string) (out []observe.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.list {
		if r.Operation == operation {
			out = append(out, r)
		}
	}
	return out
}

// stageNames returns the names of the stages, without their parts.
func stageNames(r observe.Record) (out []string) {
	for _, s := range r.Stages {
		if s.Within == "" {
			out = append(out, s.Name)
		}
	}
	return out
}

func TestObserverAndMetrics(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	var told recordingObserver
	svc, err := contextmem.Open(ctx, t.TempDir(), &contextmem.Options{Observer: &told})
	require.NoError(t, err)
	defer svc.Close()
	_, err = svc.EnsureTenant(ctx, contextmem.TenantSpec{ID: "acme"})
	require.NoError(t, err)
	sub := svc.Tenant("acme").Sub("alice")
	_, err = sub.Remember(ctx, contextmem.Memory{ID: "a", Text: "I moved to Lisbon in May.", Infer: true}, contextmem.Memory{ID: "b", Text: "My dog is called Rex."})
	require.NoError(t, err)
	_, err = sub.AddKnowledge(ctx, contextmem.KnowledgeBatch{Files: []contextmem.File{{ID: "bad", Name: "bad.pdf", Data: []byte("%PDF-1.4 broken")}}})
	require.NoError(t, err)
	require.NoError(t, svc.Drain(ctx))
	_, err = sub.Recall(ctx, contextmem.Recall{Query: "Where do I live?", Class: contextmem.ClassMemory, GraphContext: true, Temporal: &contextmem.Temporal{}})
	require.NoError(t, err)
	_, err = svc.Tenant("nobody").Recall(ctx, contextmem.Recall{Query: "x"})
	require.ErrorIs(t, err, contextmem.ErrNotFound)

	accepted := told.recordsOf(observe.Accept)
	require.NotEmpty(t, accepted)
	assert.Equal(t, []string{"check", "store"}, stageNames(accepted[0]))
	assert.Equal(t, 2, accepted[0].Items)
	assert.Equal(t, "acme", accepted[0].Tenant)
	processed := told.recordsOf(observe.Process)
	require.NotEmpty(t, processed)
	assert.Equal(t, []string{"claim", "parse", "embed", "index", "follow", "extract", "refine", "finish", "settle"}, stageNames(processed[0]))
	completed, errored := 0, []string(nil)
	for _, r := range processed {
		completed += r.Completed
		errored = append(errored, r.Errors...)
	}
	assert.Equal(t, 2, completed)
	require.Len(t, errored, 1)
	recalls := told.recordsOf(observe.Recall)
	require.Len(t, recalls, 2)
	assert.Equal(t, []string{"open", "rank", "read", "order", "succeed", "judge", "context", "graph", "temporal", "shape"}, stageNames(recalls[0]))
	assert.Equal(t, "fast", recalls[0].Mode)
	assert.ErrorIs(t, recalls[1].Err, contextmem.ErrNotFound)

	var b bytes.Buffer
	require.NoError(t, svc.WriteMetrics(ctx, &b))
	text := b.String()
	for _, line := range []string{
		`contextmem_recalls_total{mode="fast",degraded="false",outcome="ok"} 1`, `contextmem_recalls_total{mode="none",degraded="false",outcome="error"} 1`,
		"contextmem_items_accepted_total 3", "contextmem_items_completed_total 2", fmt.Sprintf("contextmem_items_errored_total{code=%q} 1", errored[0]),
		`contextmem_queue_items{state="queued"} 0`, `contextmem_items{state="completed",error=""} 2`, `contextmem_items{state="errored",error="E2001"} 1`,
		`contextmem_stage_duration_seconds_count{operation="recall",stage="rank"} 1`,
	} {
		t.Run(line, func(t *testing.T) {
			assert.Contains(t, text, line+"\n")
		})
	}
	for _, name := range []string{"contextmem_index_memory_bytes", "contextmem_index_file_bytes", "contextmem_store_file_bytes", "contextmem_index_cache_loads_total"} {
		t.Run(name, func(t *testing.T) {
			assert.Contains(t, text, "\n"+name+" ")
		})
	}
	testtool.Promtool(t, text)
	a, err := svc.Activity(ctx)
	require.NoError(t, err)
	assert.Equal(t, int64(2), a.Recalls)
	assert.Positive(t, a.RecallP95)
	assert.Equal(t, map[string]int64{errored[0]: 1}, a.Errors)
	require.NoError(t, svc.Ping(ctx))
}

// TestMetricsOfClosedTenants checks that items of all tenants are counted, open or closed, also after a restart.
func TestMetricsOfClosedTenants(t *testing.T) {
	t.Parallel()
	ctx, dir := t.Context(), t.TempDir()
	o := &contextmem.Options{MaxOpenTenants: 1}
	svc, err := contextmem.Open(ctx, dir, o)
	require.NoError(t, err)
	defer func() { require.NoError(t, svc.Close()) }()
	for i := range 5 {
		id := fmt.Sprint("t", i)
		s := servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: id}).Sub("u")
		servicetest.Remember(t, s, contextmem.Memory{ID: "a", Text: "The kettle is on."}, contextmem.Memory{ID: "b", Text: "It boils."})
		_, err := s.AddKnowledge(ctx, contextmem.KnowledgeBatch{Files: []contextmem.File{{ID: "bad", Name: "bad.pdf", Data: []byte("%PDF-1.4 broken")}}})
		require.NoError(t, err)
	}
	require.NoError(t, svc.Drain(ctx))
	items := func(completed, errored int) []string {
		return []string{fmt.Sprintf(`contextmem_items{state="completed",error=""} %d`, completed), fmt.Sprintf(`contextmem_items{state="errored",error="E2001"} %d`, errored),
			`contextmem_items{state="queued",error=""} 0`}
	}
	has := func(want ...string) {
		t.Helper()
		var b bytes.Buffer
		require.NoError(t, svc.WriteMetrics(ctx, &b))
		var lines []string
		for line := range strings.Lines(b.String()) {
			if strings.HasPrefix(line, "contextmem_items{") {
				lines = append(lines, strings.TrimSpace(line))
			}
		}
		assert.Subset(t, lines, want)
		assert.NotContains(t, b.String(), `state="errored",error=""`)
	}
	has(items(10, 5)...)
	require.NoError(t, svc.Close())
	svc, err = contextmem.Open(ctx, dir, o)
	require.NoError(t, err)
	has(items(10, 5)...)
	servicetest.Remember(t, svc.Tenant("t3").Sub("u"), contextmem.Memory{ID: "c", Text: "Tea."})
	require.NoError(t, svc.Tenant("t3").Sub("u").Retry(ctx, contextmem.ClassKnowledge, "bad"))
	require.NoError(t, svc.Drain(ctx))
	has(items(11, 5)...)
	require.NoError(t, svc.Tenant("t1").Delete(ctx))
	has(items(9, 4)...)
	require.NoError(t, svc.Close())
	svc, err = contextmem.Open(ctx, dir, o)
	require.NoError(t, err)
	has(items(9, 4)...)
}

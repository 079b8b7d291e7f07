package backendtest

import (
	"context"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// indexAndReport calls IndexAndReport and compares the changes that it returns with the feed. It calls Index if
// the Store does not implement [backend.IndexReporter].
func (m *model) indexAndReport(ctx context.Context, items []backend.Indexed) ([]bool, error) {
	t, ok := m.got.(backend.IndexReporter)
	if !ok {
		return m.got.Index(ctx, items)
	}
	before := m.got.LastSeq()
	indexed, placed, err := t.IndexAndReport(ctx, items)
	if err == nil && placed != nil {
		m.did["reported"]++
		m.inFeed(ctx, before, placed)
	}
	return indexed, err
}

// finishAndReport finishes, and checks that the changes that the Store returns make the mentions of its feed before those of its feed after.
func (m *model) finishAndReport(ctx context.Context, items []backend.Finished) ([]bool, error) {
	t, ok := m.got.(backend.FinishReporter)
	if !ok {
		return m.got.Finish(ctx, items)
	}
	before, graph := m.got.LastSeq(), m.graphFeed(ctx)
	finished, placed, err := t.FinishAndReport(ctx, items)
	if err != nil || placed == nil {
		return finished, err
	}
	require.Equal(m.t, before, placed.After)
	for _, c := range placed.Changes {
		require.Greater(m.t, c.Seq, before)
		if before = c.Seq; c.Kind == backend.PutGraph {
			m.did["reported graph"]++
			graph[c.Source] = c
			continue
		}
		require.Equal(m.t, backend.FoldEntity, c.Kind)
		m.did["folded"]++
		for _, g := range graph {
			for i := range g.Mentions {
				if g.Part == c.Part && g.Mentions[i].Entity == c.From {
					g.Mentions[i].Entity = c.Into
				}
			}
		}
	}
	require.Equal(m.t, m.got.LastSeq(), before)
	feed := m.graphFeed(ctx)
	for source, c := range graph {
		c.Seq = feed[source].Seq
		graph[source] = c
	}
	require.Equal(m.t, feed, graph)
	return finished, nil
}

// graphFeed returns the PutGraph changes of the feed, by source.
func (m *model) graphFeed(ctx context.Context) map[int64]backend.Change {
	feed, err := m.got.Changes(ctx, 0, 1<<20)
	require.NoError(m.t, err)
	out := make(map[int64]backend.Change)
	for _, c := range feed {
		if c.Kind == backend.PutGraph {
			out[c.Source] = c
		}
	}
	return out
}

// inFeed checks that the changes that a Store returned equal those in its feed after a sequence number.
func (m *model) inFeed(ctx context.Context, before uint64, placed *backend.Placement) {
	require.Equal(m.t, before, placed.After)
	feed, err := m.got.Changes(ctx, before, 1<<20)
	require.NoError(m.t, err)
	require.GreaterOrEqual(m.t, len(feed), len(placed.Changes))
	for i := range placed.Changes {
		require.Equal(m.t, feed[i], placed.Changes[i])
	}
}

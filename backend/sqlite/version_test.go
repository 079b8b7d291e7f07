package sqlite

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// Checks that the cache is neither read nor filled during a commit.
func TestVersionWhileCommitting(t *testing.T) {
	t.Parallel()
	_, s := openTest(t)
	nums := ingest(t, s, rand.New(rand.NewPCG(5, 6)), 0, 3)
	require.Len(t, nums, 3)
	before, quiet := s.commits.load()
	require.True(t, quiet)
	s.commits.begin()
	_, quiet = s.commits.load()
	assert.False(t, quiet)
	hs, err := s.Chunks(t.Context(), []int64{1, 2}, testTime)
	require.NoError(t, err)
	assert.Len(t, hs, 2)
	assert.Empty(t, s.cache.items)
	s.commits.end()
	s.commits.end() // a second end changes nothing
	after, quiet := s.commits.load()
	assert.True(t, quiet)
	assert.Equal(t, before+2, after)
}

// TestReadsWaitForRunningCommit checks that reads of the state of items wait for a running commit, whose changes
// LastSeq does not count yet.
func TestReadsWaitForRunningCommit(t *testing.T) {
	t.Parallel()
	_, s := openTest(t)
	nums := ingest(t, s, rand.New(rand.NewPCG(7, 8)), 0, 2)
	src, err := s.SourcesByNum(t.Context(), []int64{nums[0].Num})
	require.NoError(t, err)
	p := backend.Peek(s)
	peeks := map[string]func(ctx context.Context) error{ // they wait for nothing
		"Sources":      func(ctx context.Context) error { _, err := p.Sources(ctx, testPart, []string{src[0].ID}); return err },
		"SourcesByNum": func(ctx context.Context) error { _, err := p.SourcesByNum(ctx, []int64{nums[0].Num}); return err },
		"Subs":         func(ctx context.Context) error { _, err := p.Subs(ctx); return err },
	}
	for name, ask := range map[string]func(ctx context.Context) error{
		"Sources":      func(ctx context.Context) error { _, err := s.Sources(ctx, testPart, []string{src[0].ID}); return err },
		"SourcesByNum": func(ctx context.Context) error { _, err := s.SourcesByNum(ctx, []int64{nums[0].Num}); return err },
		"List": func(ctx context.Context) error {
			_, _, err := s.List(ctx, backend.ListQuery{Part: testPart, Limit: 9})
			return err
		},
		"Backlog": func(ctx context.Context) error { _, _, err := s.Backlog(ctx); return err },
		"Events":  func(ctx context.Context) error { _, err := s.Events(ctx, 9); return err },
		"Subs":    func(ctx context.Context) error { _, err := s.Subs(ctx); return err },
		"Stats":   func(ctx context.Context) error { _, err := s.Stats(ctx, testPart.Class); return err },
	} {
		t.Run(name, func(t *testing.T) {
			s.commits.begin()
			brief, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			require.ErrorIs(t, ask(brief), context.DeadlineExceeded, name)
			cancel()
			if peek := peeks[name]; peek != nil {
				require.NoError(t, peek(t.Context()), name)
			}
			told := make(chan error, 1)
			go func() { told <- ask(t.Context()) }()
			s.commits.end()
			require.NoError(t, <-told, name)
			require.NoError(t, ask(t.Context()), name)
		})
	}
}

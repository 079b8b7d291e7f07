package postgres

import (
	"context"
	"fmt"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
	"github.com/contextmem/contextmem/internal/storerules"
)

func withUser(t *testing.T, raw, user string) string {
	u, err := url.Parse(raw)
	require.NoError(t, err)
	u.User = url.User(user)
	return u.String()
}

func placedMemory(id string) backend.Placed {
	return backend.Placed{
		Incoming: backend.Incoming{Source: backend.Source{Part: backend.Partition{Class: backend.Memory, Sub: "s"}, ID: id, CreatedAt: time.Unix(1, 0)}},
		Chunks:   []backend.Chunk{{Key: id, Text: "text of " + id, Vector: []float32{1, 0}}},
	}
}

// openProcesses opens one workspace in n deployments, as several processes do.
func openProcesses(t *testing.T, name string, n int, o *Options) (out []backend.Store) {
	for range n {
		d := openTest(t, name, o)
		t.Cleanup(func() { assert.NoError(t, d.Close()) })
		s, err := d.OpenStore(t.Context(), backendtest.UID(name))
		require.NoError(t, err)
		out = append(out, s)
	}
	return out
}

// TestFeedUnderConcurrentCommits checks that the feed has no gap and never shows a later entry before an earlier one,
// while three processes write and a fourth reads.
func TestFeedUnderConcurrentCommits(t *testing.T) {
	const writers, each = 3, 40
	stores := openProcesses(t, t.Name(), writers+1, nil)
	ctx, reader := t.Context(), stores[writers]
	var wg sync.WaitGroup
	for w, s := range stores[:writers] {
		for half := range 2 { // calls of one process share transactions
			wg.Go(func() {
				for i := range each / 2 {
					_, err := s.Place(ctx, []backend.Placed{placedMemory(fmt.Sprintf("%d-%d-%d", w, half, i))})
					assert.NoError(t, err)
				}
			})
		}
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	next, after := uint64(1), uint64(0)
	for {
		finished := false
		select {
		case <-done:
			finished = true
		default:
		}
		changes, err := reader.Changes(ctx, after, 7)
		require.NoError(t, err)
		for _, c := range changes {
			require.Equal(t, next<<storerules.SeqShift, c.Seq, "every entry, in order")
			require.Len(t, c.Rows, 1)
			next, after = next+1, c.Seq
		}
		if finished && len(changes) == 0 {
			break
		}
	}
	assert.EqualValues(t, writers*each, next-1)
	found, err := reader.Sources(ctx, backend.Partition{Class: backend.Memory, Sub: "s"}, []string{"0-0-0", "2-1-3"})
	require.NoError(t, err)
	assert.NotNil(t, found[0])
	assert.NotNil(t, found[1])
}

// TestClaimsOfProcesses checks that workers of several processes that share a queue claim each source once.
func TestClaimsOfProcesses(t *testing.T) {
	const n = 60
	stores := openProcesses(t, t.Name(), 3, nil)
	ctx := t.Context()
	var items []backend.Incoming
	for i := range n {
		items = append(items, placedMemory(fmt.Sprint(i)).Incoming)
	}
	_, err := stores[0].Accept(ctx, items)
	require.NoError(t, err)
	var mu sync.Mutex
	claimed := make(map[int64]int)
	var wg sync.WaitGroup
	now := time.Now()
	for i, s := range stores {
		for range 2 {
			wg.Go(func() {
				for {
					claims, err := s.Claim(ctx, fmt.Sprint("worker ", i), now, now.Add(time.Hour), 4, 0)
					if !assert.NoError(t, err) || len(claims) == 0 {
						return
					}
					mu.Lock()
					for _, c := range claims {
						claimed[c.Num]++
					}
					mu.Unlock()
				}
			})
		}
	}
	wg.Wait()
	for num, times := range claimed {
		assert.Equal(t, 1, times, "source %d", num)
	}
	left, err := stores[0].Claim(ctx, "last", now, now.Add(time.Hour), n, 0)
	require.NoError(t, err)
	assert.Len(t, left, n-len(claimed), "what two saw at once is left for later, and not lost")
}

// TestNotificationsOfOtherProcesses checks that a process is notified of another's write at once with LISTEN, and by
// polling without it.
func TestNotificationsOfOtherProcesses(t *testing.T) {
	for name, o := range map[string]*Options{
		"told": {Poll: time.Hour}, "asked": {Poll: 20 * time.Millisecond, ListenURL: "postgres://nobody@/none?host=/nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			stores := openProcesses(t, t.Name(), 2, o)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			for i := 0; stores[1].LastSeq() == 0; i++ { // the listener may still be on its way
				_, err := stores[0].Place(ctx, []backend.Placed{placedMemory(fmt.Sprint(i))})
				require.NoError(t, err)
				require.True(t, pause(ctx, 50*time.Millisecond), "nothing was heard")
			}
		})
	}
}

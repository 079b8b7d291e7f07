package inmem

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// TestListsHoldWhatAScanFinds makes random calls, and compares the lists of versions with a scan of all items.
func TestListsHoldWhatAScanFinds(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	rng := rand.New(rand.NewPCG(3, 4))
	w, err := New().OpenWorkspace(ctx, "0123456789abcdef0123456789abcdef")
	require.NoError(t, err)
	s := w.Store().(*store)
	d := s.d
	part := backend.Partition{Class: backend.Memory, Sub: "s"}
	now := time.Unix(1000, 0)
	var claims []backend.Claim
	take := func() (c backend.Claim) {
		c, claims = claims[0], claims[1:]
		return c
	}
	key, compared, gone, followed := 0, 0, 0, 0
	for step := range 3000 {
		now = now.Add(time.Second)
		switch n := rng.IntN(9); {
		case n < 2:
			in := backend.Incoming{Source: backend.Source{Part: part, ID: fmt.Sprint(rng.IntN(40)), UpdatedAt: now}}
			if rng.IntN(3) == 0 {
				in.ExpiresAt = now.Add(time.Duration(rng.IntN(300)) * time.Second)
			}
			_, err = s.Accept(ctx, []backend.Incoming{in})
		case n == 2:
			var more []backend.Claim
			more, err = s.Claim(ctx, fmt.Sprint(step), now, now.Add(20*time.Second), 1+rng.IntN(4), 0)
			claims = append(claims, more...)
		case n < 5 && len(claims) > 0:
			c, chunks := claims[0], make([]backend.Chunk, rng.IntN(3))
			for i := range chunks {
				key++
				chunks[i] = backend.Chunk{Key: fmt.Sprint(key), Ordinal: i}
			}
			_, err = s.Index(ctx, []backend.Indexed{{Num: c.Num, Token: c.Token, Chunks: chunks, Compared: int64(rng.IntN(3))}})
		case n == 5 && len(claims) > 0:
			c := take()
			_, err = s.Finish(ctx, []backend.Finished{{Num: c.Num, Token: c.Token, State: []backend.State{backend.Completed, backend.Errored}[rng.IntN(2)]}})
		case n == 6 && len(claims) > 0:
			c := take()
			err = s.Defer(ctx, []backend.Deferred{{Num: c.Num, Token: c.Token, State: backend.Queued, NotBefore: now.Add(time.Second)}})
		case n == 7:
			if rng.IntN(2) == 0 {
				_, err = s.Delete(ctx, part, []string{fmt.Sprint(rng.IntN(40))}, backend.DeleteOptions{})
			} else if src := d.order.after(0); len(src) > 1 {
				a, b := src[rng.IntN(len(src))], src[rng.IntN(len(src))]
				found := backend.Compared{Source: a.src.Version()}
				if a != b {
					found.Found = []backend.Succession{{Later: a.src.Num, Earlier: b.src.Num}}
				}
				var ok []bool
				ok, err = s.Compare(ctx, int64(rng.IntN(3)), []backend.Compared{found})
				if ok[0] {
					compared++
				}
			}
		case n == 8:
			var n int
			n, _, err = s.Expire(ctx, now, 3)
			gone += n
		}
		require.NoError(t, err)
		followed = max(followed, len(d.followed))
		scan(t, s)
	}
	require.NotZero(t, compared)
	require.NotZero(t, gone)
	require.NotZero(t, followed)
}

// scan compares the lists of a store with a scan of its items.
func scan(t *testing.T, s *store) {
	t.Helper()
	d := s.d
	states, versions, expiring, compared := map[backend.State]int{}, map[int64]bool{}, 0, map[int64][]int64{}
	var first time.Time
	for _, p := range d.parts {
		for _, it := range p.items {
			states[it.newest.src.State]++
			for _, v := range []*version{it.newest, it.older} {
				if v == nil {
					continue
				}
				require.Equal(t, v == it.older, v.src.Replaced)
				versions[v.src.Num] = true
				if !v.src.ExpiresAt.IsZero() {
					expiring++
					first = earliest(first, v.src.ExpiresAt)
				}
				if v.indexed && len(v.chunks) > 0 {
					compared[v.compared] = append(compared[v.compared], v.src.Num)
				}
			}
		}
	}
	counts, _, err := s.Backlog(t.Context())
	require.NoError(t, err)
	require.Equal(t, states, counts)
	require.Len(t, d.order, len(versions))
	require.Len(t, d.versions, len(versions))
	require.True(t, slices.IsSortedFunc(d.expiring, sooner))
	require.Len(t, d.expiring, expiring)
	if expiring > 0 {
		require.Equal(t, first, d.expiring[0].src.ExpiresAt)
	}
	for generation := range int64(3) {
		var want []int64
		for under, nums := range compared {
			if under != generation {
				want = append(want, nums...)
			}
		}
		slices.Sort(want)
		nums, err := s.Uncompared(t.Context(), generation, 0, 1000)
		require.NoError(t, err)
		require.Equal(t, want, nums)
	}
	for _, x := range d.followed {
		require.True(t, versions[x.Later] && versions[x.Earlier])
		require.Same(t, x, d.successionOf(x.Later, x.Earlier))
	}
	for num, list := range d.touching {
		for _, x := range list {
			require.True(t, x.Later == num || x.Earlier == num)
			at, ok := d.followed.find(x.Num)
			require.True(t, ok)
			require.Same(t, x, d.followed[at])
		}
	}
	for _, v := range d.order {
		if !v.src.Replaced && !v.src.State.Terminal() {
			require.Contains(t, d.queue, v.src.Num, "it waits for work")
		}
	}
}

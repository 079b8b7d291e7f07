// Package usage remembers how often and when memories were recalled, for forgetting. What is noted waits in memory and is written to the Store in
// batches, a small value for each run of versions that are numbered one after another; a process that dies loses what waited.
package usage

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/cas"
)

const (
	shardBits  = 8    // of a number: versions of one value
	maxPending = 4096 // versions with uses that are not stored; those of others are lost until they are
	maxShards  = 1024 // values kept in memory, of at most 2.3 KB each
	entryBytes = 9    // of a version in a value: its place, its uses and their hour

	useHalfLife = 60 * 24 * time.Hour  // of uses
	ageHalfLife = 180 * 24 * time.Hour // of freshness, since a memory was told or used
	usesToHalf  = 3                    // so many uses gain half of what uses can
	least       = .05                  // uses that are forgotten
)

// Use is how much a version was used: Count uses as of Last, each of which counts half after 60 days.
type Use struct {
	Count float64
	Last  time.Time // zero: never
}

// at returns the uses as of a later time.
func (u Use) at(now time.Time) float64 {
	return u.Count * math.Exp2(-float64(max(now.Sub(u.Last), 0))/float64(useHalfLife))
}

// plus returns u with other uses, as of the later of both.
func (u Use) plus(o Use) Use {
	if u.Last.Before(o.Last) {
		u, o = o, u
	}
	return Use{u.Count + o.at(u.Last), u.Last}
}

// Factor is the weight of a memory that was told at a time: .5 for one that was told long ago and is never used, 1 for a new one, up to 1.5 for one that
// is used again and again. Freshness halves every 180 days since it was told or used last; half of what uses can gain is gained by three of them.
func (u Use) Factor(told, now time.Time) float64 {
	since := told
	if u.Last.After(since) {
		since = u.Last
	}
	fresh := math.Exp2(-float64(max(now.Sub(since), 0)) / float64(ageHalfLife))
	return .5 + .5*fresh + .5*(1-math.Exp2(-u.at(now)/usesToHalf))
}

// Tally is the uses in a workspace. It is safe for concurrent use.
type Tally struct {
	st backend.Store

	mu      sync.Mutex
	pending map[int64]Use
	shards  map[int64]shard
}

// shard is what a value holds, by version.
type shard map[int64]Use

// New returns the uses that a store keeps. It does no I/O.
func New(st backend.Store) *Tally {
	return &Tally{st: st, pending: map[int64]Use{}, shards: map[int64]shard{}}
}

// Note counts a use of each of the versions. It does no I/O.
func (t *Tally) Note(now time.Time, nums ...int64) {
	now = now.UTC().Truncate(time.Hour)
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, n := range nums {
		if u, ok := t.pending[n]; ok || len(t.pending) < maxPending {
			t.pending[n] = u.plus(Use{1, now})
		}
	}
}

func valueName(key int64) string { return fmt.Sprintf("usage/%x", key) }

// Uses returns what is known of versions, in their order.
func (t *Tally) Uses(ctx context.Context, nums []int64) ([]Use, error) {
	out := make([]Use, len(nums))
	for i, n := range nums {
		t.mu.Lock()
		s, ok := t.shards[n>>shardBits]
		out[i] = s[n].plus(t.pending[n])
		t.mu.Unlock()
		if ok {
			continue
		}
		b, err := t.st.Get(ctx, valueName(n>>shardBits))
		if err != nil {
			return nil, err
		}
		if s, err = decode(n>>shardBits, b); err != nil {
			return nil, err
		}
		t.mu.Lock()
		t.keep(n>>shardBits, s)
		out[i] = s[n].plus(t.pending[n])
		t.mu.Unlock()
	}
	return out, nil
}

// keep keeps what a value holds in memory; the caller has the lock.
func (t *Tally) keep(key int64, s shard) {
	if len(t.shards) >= maxShards {
		clear(t.shards)
	}
	t.shards[key] = s
}

// Flush stores what waits. What could not be stored waits on. It is one call at a time.
func (t *Tally) Flush(ctx context.Context) error {
	t.mu.Lock()
	by := map[int64]shard{}
	for n, u := range t.pending {
		if by[n>>shardBits] == nil {
			by[n>>shardBits] = shard{}
		}
		by[n>>shardBits][n] = u
	}
	t.mu.Unlock()
	for key, uses := range by {
		if err := t.store(ctx, key, uses); err != nil {
			return err
		}
	}
	return nil
}

// store adds uses that wait to a value.
func (t *Tally) store(ctx context.Context, key int64, uses shard) error {
	var s shard
	err := cas.Retry(ctx, func() error {
		old, err := t.st.Get(ctx, valueName(key))
		if err != nil {
			return err
		}
		if s, err = decode(key, old); err != nil { // it is damaged: what it held is lost
			s = shard{}
		}
		now := time.Now()
		for n, u := range uses {
			s[n] = s[n].plus(u)
		}
		for n, u := range s {
			if u.at(now) < least {
				delete(s, n)
			}
		}
		return t.st.Set(ctx, valueName(key), old, s.encode())
	})
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.keep(key, s)
	for n, u := range uses {
		if left := t.pending[n]; left.Count > u.at(left.Last) { // more came meanwhile
			t.pending[n] = Use{left.Count - u.at(left.Last), left.Last}
		} else {
			delete(t.pending, n)
		}
	}
	return nil
}

func (s shard) encode() []byte {
	nums := make([]int64, 0, len(s))
	for n := range s {
		nums = append(nums, n)
	}
	slices.Sort(nums)
	var b []byte
	for _, n := range nums {
		b = append(b, byte(n))
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(s[n].Count)))
		b = binary.LittleEndian.AppendUint32(b, uint32(s[n].Last.Unix()/3600))
	}
	return b
}

func decode(key int64, b []byte) (shard, error) {
	if len(b)%entryBytes != 0 {
		return nil, fmt.Errorf("usage of sources: %w", backend.ErrCorrupt)
	}
	s := make(shard, len(b)/entryBytes)
	for ; len(b) > 0; b = b[entryBytes:] {
		u := Use{float64(math.Float32frombits(binary.LittleEndian.Uint32(b[1:]))), time.Unix(int64(binary.LittleEndian.Uint32(b[5:]))*3600, 0).UTC()}
		if !(u.Count >= 0 && u.Count < 1e9) {
			return nil, fmt.Errorf("usage of sources: %w", backend.ErrCorrupt)
		}
		s[key<<shardBits|int64(b[0])] = u
	}
	return s, nil
}

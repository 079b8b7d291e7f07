// Package usage records how often and when memories were recalled. Forgetting weighs memories by these records. New uses are
// buffered in memory and written to the Store in batches, one small value for each range of consecutive version numbers. A
// process crash loses the buffered uses.
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
	shardBits  = 8    // of a version number: versions per value
	maxPending = 4096 // versions with unwritten uses; while the buffer is full, uses of other versions are lost
	maxShards  = 1024 // values cached in memory, of at most 2.3 KB each
	entryBytes = 9    // per version in a value: its index, its uses and their hour

	useHalfLife = 60 * 24 * time.Hour  // half-life of uses
	ageHalfLife = 180 * 24 * time.Hour // half-life of freshness, since a memory was stated or used
	usesToHalf  = 3                    // number of uses that gain half of the largest bonus
	least       = .05                  // fewer uses than this are dropped
)

// Use is the decayed use count of a version: Count uses as of Last. A use loses half of its weight in 60 days.
type Use struct {
	Count float64
	Last  time.Time // zero: never
}

// at returns the use count decayed to the time now.
func (u Use) at(now time.Time) float64 {
	return u.Count * math.Exp2(-float64(max(now.Sub(u.Last), 0))/float64(useHalfLife))
}

// plus returns the sum of u and o, as of the later of both times.
func (u Use) plus(o Use) Use {
	if u.Last.Before(o.Last) {
		u, o = o, u
	}
	return Use{u.Count + o.at(u.Last), u.Last}
}

// Factor returns the weight of a memory that was stated at the time told. The weight is .5 for an old memory that is never
// used, 1 for a new one, and up to 1.5 for one that is used often. Freshness halves every 180 days since the memory was stated
// or last used. Three uses gain half of the largest bonus.
func (u Use) Factor(told, now time.Time) float64 {
	since := told
	if u.Last.After(since) {
		since = u.Last
	}
	fresh := math.Exp2(-float64(max(now.Sub(since), 0)) / float64(ageHalfLife))
	return .5 + .5*fresh + .5*(1-math.Exp2(-u.at(now)/usesToHalf))
}

// Tally records the uses in a workspace. It is safe for concurrent use.
type Tally struct {
	st backend.Store

	mu      sync.Mutex
	pending map[int64]Use
	shards  map[int64]shard
}

// shard is the decoded content of one stored value: uses by version number.
type shard map[int64]Use

// New returns a Tally over a store. It does no I/O.
func New(st backend.Store) *Tally {
	return &Tally{st: st, pending: map[int64]Use{}, shards: map[int64]shard{}}
}

// Note records one use of each of the versions. It does no I/O.
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

// Uses returns the recorded uses of the versions, in the order of nums.
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

// keep caches the content of a value. The caller must hold the lock.
func (t *Tally) keep(key int64, s shard) {
	if len(t.shards) >= maxShards {
		clear(t.shards)
	}
	t.shards[key] = s
}

// Flush writes the buffered uses. Uses that could not be written stay buffered. Calls must not overlap.
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

// store adds buffered uses to a stored value.
func (t *Tally) store(ctx context.Context, key int64, uses shard) error {
	var s shard
	err := cas.Retry(ctx, func() error {
		old, err := t.st.Get(ctx, valueName(key))
		if err != nil {
			return err
		}
		if s, err = decode(key, old); err != nil { // the value is damaged: its content is lost
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
		if left := t.pending[n]; left.Count > u.at(left.Last) { // more uses were noted during the write
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

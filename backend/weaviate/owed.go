package weaviate

import (
	"fmt"
	"sync"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// shortage is what replicas of a tenant lack, or may come to lack. Changes are stored on all of them, so that whichever answers a search has what
// was acknowledged. While one is away a majority has to do: then a single node stores and searches, and what was
// stored is kept in memory, to be stored again on all of them once they are back. Should that node go away too, another one
// gets what was kept before it is searched.
//
// What was stored in that way, or by a request that nobody answered, is in doubt for a while: the cluster goes on with such a request for up to
// 20 s, and may carry it out after what came later. So it is kept until that time is over, and then compared with what each replica has. Until then
// the state of the process says that not all replicas have it, and whoever opens the workspace after its end begins before it.
type shortage struct {
	mu      sync.Mutex
	late    time.Duration // for how long something is in doubt
	through *node         // that has all; nil: all have
	kept    []batch
	healed  int // how many of kept all replicas have
	bytes   int
	round   uint64    // grows whenever what is kept is forgotten
	until   time.Time // then whatever was sent has been carried out, or never will be
	lost    bool      // something is in doubt that was too much to be kept: it has to be read from the feed again
}

// batch is changes that were applied together.
type batch struct {
	changes []backend.Change
	end     point
	bytes   int
	at      time.Time // when it was begun
	until   time.Time // it is in doubt
}

const (
	// maxKept bounds what is kept.
	maxKept = 64 << 20
	// lateWrites is how long the cluster may take to carry out a request that nobody waits for any more: Weaviate gives its replicas 20 s.
	lateWrites = 25 * time.Second
)

// clear forgets what is kept. What is under way stays in doubt.
func (s *shortage) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.through, s.kept, s.healed, s.bytes, s.lost = nil, nil, 0, 0, false
	s.round++
}

// now tells which round it is.
func (s *shortage) now() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.round
}

// node is the only one that has all, nil when all have.
func (s *shortage) node() *node {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.through
}

// lead notes which node has all.
func (s *shortage) lead(n *node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.through = n
}

// doubt notes that what is being stored may be carried out late.
func (s *shortage) doubt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doubtFrom(s.healed)
}

// doubtAll is doubt of all that is kept.
func (s *shortage) doubtAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doubtFrom(0)
}

func (s *shortage) doubtFrom(i int) {
	s.until = time.Now().Add(s.late)
	for ; i < len(s.kept); i++ {
		s.kept[i].until = s.until
	}
}

// settled reports whether all replicas have all, for good.
func (s *shortage) settled() bool { return s.settles(0) }

// settles reports whether all is settled once the first batches are.
func (s *shortage) settles(n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.through == nil && len(s.kept) == n && !s.lost && time.Now().After(s.until)
}

// keep remembers changes that end with a point and were begun at a time. Where they are too many it is an error, unless all replicas have them.
func (s *shortage) keep(changes []backend.Change, end point, began time.Time, everywhere bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n := len(s.kept); n > 0 && s.kept[n-1].end.seq >= changes[0].Seq; n-- { // of a call that failed
		s.bytes -= s.kept[n-1].bytes
		s.kept = s.kept[:n-1]
	}
	s.healed = min(s.healed, len(s.kept))
	size := 0
	for _, c := range changes {
		size += objectBytes + len(c.Title) + 8*len(c.Tags)
		for _, r := range c.Rows {
			size += objectBytes + len(r.Text) + len(r.Heading) + len(r.Extra) + 4*len(r.Vector)
		}
	}
	if s.lost && everywhere { // it is read again anyhow
		return nil
	}
	if s.bytes+size > maxKept {
		if !everywhere {
			return fmt.Errorf("weaviate: replicas have been away for too long: %w", backend.ErrUnavailable)
		}
		s.kept, s.healed, s.bytes, s.lost = nil, 0, 0, true
		s.round++
		return nil
	}
	s.bytes += size
	s.kept = append(s.kept, batch{owned(changes), end, size, began, s.until})
	return nil
}

// stored notes that all replicas have what is kept, until it is told that one lacks it.
func (s *shortage) stored() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.through, s.healed = nil, len(s.kept)
}

// lacking is what not all replicas have, and since when.
func (s *shortage) lacking() (out []backend.Change, since time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.kept[s.healed:] {
		if since.IsZero() {
			since = b.at
		}
		out = append(out, b.changes...)
	}
	return out, since
}

// next returns the first batches that not all replicas have, as many as have about so many changes but one at least.
func (s *shortage) next(most int) (changes []backend.Change, n int, since time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.kept[s.healed:] {
		if n > 0 && len(changes)+len(b.changes) > most {
			break
		}
		if n == 0 {
			since = b.at
		}
		changes = append(changes, b.changes...)
		n++
	}
	return changes, n, since
}

// heal notes that all replicas have so many more batches, and reports whether they have all.
func (s *shortage) heal(n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.healed += n
	return s.healed == len(s.kept)
}

// all returns all changes that are kept.
func (s *shortage) all() (out []backend.Change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.kept {
		out = append(out, b.changes...)
	}
	return out
}

// ripe returns all changes that are kept, how many of the first batches are not in doubt any more, and where these end. lost: what was in doubt is
// not kept.
func (s *shortage) ripe() (all []backend.Change, n int, end point, lost bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.through != nil {
		return nil, 0, point{}, false
	}
	now := time.Now()
	if s.lost {
		return nil, 0, point{}, now.After(s.until)
	}
	for n < s.healed && now.After(s.kept[n].until) {
		end = s.kept[n].end
		n++
	}
	if n > 0 {
		for _, b := range s.kept {
			all = append(all, b.changes...)
		}
	}
	return all, n, end, false
}

// settle forgets the first batches: all replicas have them.
func (s *shortage) settle(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.kept[:n] {
		s.bytes -= b.bytes
	}
	s.kept, s.healed = append([]batch(nil), s.kept[n:]...), s.healed-n
}

// owned copies changes: the caller's slices are not kept.
func owned(changes []backend.Change) []backend.Change {
	out := make([]backend.Change, len(changes))
	for i, c := range changes {
		c.Tags, c.Rows, c.Mentions = append([]uint64(nil), c.Tags...), append([]backend.Row(nil), c.Rows...), nil
		for j := range c.Rows {
			r := &c.Rows[j]
			r.Vector, r.Extra = append([]float32(nil), r.Vector...), append([]byte(nil), r.Extra...)
		}
		out[i] = c
	}
	return out
}

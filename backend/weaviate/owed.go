package weaviate

import (
	"fmt"
	"sync"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// shortage tracks the changes that replicas of a tenant lack, or may come to lack. A change is normally stored on all
// replicas, so that any node that answers a search has every acknowledged change. While a replica is away, a majority is
// enough. A single node then stores and searches, and the changes are kept in memory until they can be stored on all
// replicas. If that node goes away too, another node gets the kept changes before it is searched.
//
// Changes stored by a majority, or by a request that got no response, are unconfirmed for a while. The cluster continues
// such a request for up to 20 s, and may carry it out after later ones. So the changes are kept until that time is over
// and are then compared with the content of each replica. Until then the state of the process says that not all replicas
// have them. A process that opens the workspace after this one ended begins before them.
type shortage struct {
	mu      sync.Mutex
	late    time.Duration // how long a write stays unconfirmed
	through *node         // the only node that has all changes; nil: all nodes have them
	kept    []batch
	healed  int // number of the first batches of kept that all replicas have
	bytes   int
	round   uint64    // grows whenever the kept changes are dropped
	until   time.Time // end of the unconfirmed time: every request sent has been carried out by then, or never will be
	lost    bool      // unconfirmed changes were too large to keep and have to be read from the feed again
}

// batch is a list of changes that were applied together.
type batch struct {
	changes []backend.Change
	end     point
	bytes   int
	at      time.Time // when its write began
	until   time.Time // end of its unconfirmed time
}

const (
	// maxKept is the maximum size of the kept changes, in bytes.
	maxKept = 64 << 20
	// lateWrites is the maximum time in which the cluster carries out a request whose client has gone. Weaviate gives its
	// replicas 20 s.
	lateWrites = 25 * time.Second
)

// clear drops the kept changes. Pending requests stay unconfirmed.
func (s *shortage) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.through, s.kept, s.healed, s.bytes, s.lost = nil, nil, 0, 0, false
	s.round++
}

// now returns the current round.
func (s *shortage) now() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.round
}

// node returns the only node that has all changes, or nil if all nodes have them.
func (s *shortage) node() *node {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.through
}

// lead sets the node that has all changes.
func (s *shortage) lead(n *node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.through = n
}

// doubt marks the batches that not all replicas have as unconfirmed from now on.
func (s *shortage) doubt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doubtFrom(s.healed)
}

// doubtAll marks all kept batches as unconfirmed from now on.
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

// settled reports whether all replicas have all changes, confirmed.
func (s *shortage) settled() bool { return s.settles(0) }

// settles reports whether all replicas have all changes, confirmed, once the first n batches are settled.
func (s *shortage) settles(n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.through == nil && len(s.kept) == n && !s.lost && time.Now().After(s.until)
}

// keep stores a batch of changes in memory. end is its last change, began the time when its write began, and everywhere
// says whether all replicas have it. If the changes exceed maxKept, keep returns [backend.ErrUnavailable] unless
// everywhere is set; then it drops all batches and sets lost.
func (s *shortage) keep(changes []backend.Change, end point, began time.Time, everywhere bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n := len(s.kept); n > 0 && s.kept[n-1].end.seq >= changes[0].Seq; n-- { // a batch of a call that failed
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
	if s.lost && everywhere { // the changes are read from the feed again anyway
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

// stored records that all replicas have the kept batches.
func (s *shortage) stored() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.through, s.healed = nil, len(s.kept)
}

// lacking returns the changes that not all replicas have, and when the first of them was begun.
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

// next returns the changes of the first n batches that not all replicas have: at most about most changes, but at least one
// batch. since is when the first batch was begun.
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

// heal records that all replicas have n more batches. It reports whether they have all batches.
func (s *shortage) heal(n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.healed += n
	return s.healed == len(s.kept)
}

// all returns the changes of all kept batches.
func (s *shortage) all() (out []backend.Change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.kept {
		out = append(out, b.changes...)
	}
	return out
}

// ripe returns all kept changes, the number n of first batches that are no longer unconfirmed, and the last change of
// those. lost reports whether unconfirmed changes were dropped and their time is over.
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

// settle drops the first n batches, which all replicas have.
func (s *shortage) settle(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.kept[:n] {
		s.bytes -= b.bytes
	}
	s.kept, s.healed = append([]batch(nil), s.kept[n:]...), s.healed-n
}

// owned returns a deep copy of changes, without mentions.
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

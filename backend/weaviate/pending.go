package weaviate

import (
	"fmt"
	"sync"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// pendingWrites tracks the changes that replicas of a tenant lack, or may come to lack. A change is normally stored on all
// replicas, so that any node that answers a search has every acknowledged change. While a replica is away, a majority is
// enough. A single node, the primary, then coordinates all writes and answers all searches. The changes are kept in memory
// until they can be stored on all replicas. If the primary goes away too, another node gets the kept changes and becomes
// the primary before it is searched.
//
// Changes stored by a majority, or by a request that got no response, are unconfirmed for a while. The cluster continues
// such a request for up to 20 s, and may carry it out after later ones. So the changes are kept until that time is over
// and are then compared with the content of each replica. Until then the state of the process says that not all replicas
// have them. A process that opens the workspace after this one ended begins before them.
type pendingWrites struct {
	mu             sync.Mutex
	unconfirmedFor time.Duration // how long a write stays unconfirmed
	limit          int           // maximum size of the kept changes, in bytes
	primary        *node         // the only node known to have all changes; nil: all nodes have them
	kept           []batch
	healed         int // number of the first batches of kept that all replicas have
	bytes          int
	round          uint64    // grows whenever the kept changes are dropped
	confirmedAt    time.Time // end of the unconfirmed time: every request sent has been carried out by then, or never will be
	dropped        bool      // unconfirmed changes were too large to keep and have to be read from the feed again
}

// batch is a list of changes that were applied together.
type batch struct {
	changes     []backend.Change
	end         point
	bytes       int
	began       time.Time // when its write began
	confirmedAt time.Time // end of its unconfirmed time
}

const (
	// maxKept is the maximum size of the kept changes of a workspace, in bytes.
	maxKept = 64 << 20
	// maxWriteDelay is the maximum time in which the cluster carries out a request whose client has gone. Weaviate gives its
	// replicas 20 s.
	maxWriteDelay = 25 * time.Second
)

// clear drops the kept changes. Pending requests stay unconfirmed.
func (p *pendingWrites) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.primary, p.kept, p.healed, p.bytes, p.dropped = nil, nil, 0, 0, false
	p.round++
}

// currentRound returns the current round.
func (p *pendingWrites) currentRound() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.round
}

// primaryNode returns the primary, or nil if all nodes have all changes.
func (p *pendingWrites) primaryNode() *node {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.primary
}

// setPrimary makes n the primary.
func (p *pendingWrites) setPrimary(n *node) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.primary = n
}

// markUnconfirmed marks the batches that not all replicas have as unconfirmed from now on.
func (p *pendingWrites) markUnconfirmed() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.markUnconfirmedFrom(p.healed)
}

// markAllUnconfirmed marks all kept batches as unconfirmed from now on.
func (p *pendingWrites) markAllUnconfirmed() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.markUnconfirmedFrom(0)
}

func (p *pendingWrites) markUnconfirmedFrom(i int) {
	p.confirmedAt = time.Now().Add(p.unconfirmedFor)
	for ; i < len(p.kept); i++ {
		p.kept[i].confirmedAt = p.confirmedAt
	}
}

// allConfirmed reports whether all replicas have all changes, confirmed.
func (p *pendingWrites) allConfirmed() bool { return p.allConfirmedAfter(0) }

// allConfirmedAfter reports whether all replicas have all changes, confirmed, once the first n batches are dropped.
func (p *pendingWrites) allConfirmedAfter(n int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.primary == nil && len(p.kept) == n && !p.dropped && time.Now().After(p.confirmedAt)
}

// keep stores a batch of changes in memory. end is its last change, began the time when its write began, and replicated
// says whether all replicas have it. If the changes exceed the limit, keep returns [backend.ErrUnavailable] unless
// replicated is set; then it drops all batches and sets dropped.
func (p *pendingWrites) keep(changes []backend.Change, end point, began time.Time, replicated bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for n := len(p.kept); n > 0 && p.kept[n-1].end.seq >= changes[0].Seq; n-- { // a batch of a call that failed
		p.bytes -= p.kept[n-1].bytes
		p.kept = p.kept[:n-1]
	}
	p.healed = min(p.healed, len(p.kept))
	size := 0
	for _, c := range changes {
		size += objectBytes + len(c.Title) + 8*len(c.Tags)
		for _, r := range c.Rows {
			size += objectBytes + len(r.Text) + len(r.Heading) + len(r.Extra) + 4*len(r.Vector)
		}
	}
	if p.dropped && replicated { // the changes are read from the feed again anyway
		return nil
	}
	if p.bytes+size > p.limit {
		if !replicated {
			return fmt.Errorf("weaviate: replicas have been away for too long: %w", backend.ErrUnavailable)
		}
		p.kept, p.healed, p.bytes, p.dropped = nil, 0, 0, true
		p.round++
		return nil
	}
	p.bytes += size
	p.kept = append(p.kept, batch{cloneChanges(changes), end, size, began, p.confirmedAt})
	return nil
}

// markReplicated records that all replicas have the kept batches.
func (p *pendingWrites) markReplicated() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.primary, p.healed = nil, len(p.kept)
}

// unreplicated returns the changes that not all replicas have, and when the first of them was begun.
func (p *pendingWrites) unreplicated() (out []backend.Change, since time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.kept[p.healed:] {
		if since.IsZero() {
			since = b.began
		}
		out = append(out, b.changes...)
	}
	return out, since
}

// nextUnreplicated returns the changes of the first n batches that not all replicas have: about limit changes at most, but at
// least one batch. since is when the first batch was begun.
func (p *pendingWrites) nextUnreplicated(limit int) (changes []backend.Change, n int, since time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.kept[p.healed:] {
		if n > 0 && len(changes)+len(b.changes) > limit {
			break
		}
		if n == 0 {
			since = b.began
		}
		changes = append(changes, b.changes...)
		n++
	}
	return changes, n, since
}

// markHealed records that all replicas have n more batches. It reports whether they have all batches.
func (p *pendingWrites) markHealed(n int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.healed += n
	return p.healed == len(p.kept)
}

// allChanges returns the changes of all kept batches.
func (p *pendingWrites) allChanges() (out []backend.Change) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.kept {
		out = append(out, b.changes...)
	}
	return out
}

// due returns all kept changes, the number n of first batches that are no longer unconfirmed, and the last change of
// those. dropped reports whether unconfirmed changes were dropped and their time is over.
func (p *pendingWrites) due() (all []backend.Change, n int, end point, dropped bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.primary != nil {
		return nil, 0, point{}, false
	}
	now := time.Now()
	if p.dropped {
		return nil, 0, point{}, now.After(p.confirmedAt)
	}
	for n < p.healed && now.After(p.kept[n].confirmedAt) {
		end = p.kept[n].end
		n++
	}
	if n > 0 {
		for _, b := range p.kept {
			all = append(all, b.changes...)
		}
	}
	return all, n, end, false
}

// dropFirst drops the first n batches, which all replicas have.
func (p *pendingWrites) dropFirst(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.kept[:n] {
		p.bytes -= b.bytes
	}
	p.kept, p.healed = append([]batch(nil), p.kept[n:]...), p.healed-n
}

// cloneChanges returns a deep copy of changes, without mentions.
func cloneChanges(changes []backend.Change) []backend.Change {
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

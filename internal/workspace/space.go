package workspace

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/pipeline"
	"github.com/contextmem/contextmem/internal/recent"
	"github.com/contextmem/contextmem/internal/usage"
)

// Space is an open workspace and what runs over it. It is safe for concurrent use.
type Space struct {
	UID       string
	Workspace backend.Workspace
	Store     backend.Store
	Follower  *pipeline.Follower
	// Unflushed counts the chunks of items completed, long ones several times, and the items deleted, since the indexes last wrote what they hold.
	Unflushed atomic.Int64
	// Edits is held over a read, a change and a compare-and-set, which then seldom meets a conflict.
	Edits sync.Mutex

	serving atomic.Pointer[Serving]
	stale   atomic.Bool // another process may have changed the identity of the embedder
	uses    *usage.Tally
	reembed chan struct{} // has room for the one call that embeds again

	refining  pass
	comparing pass

	docs recent.Table[*item.Doc] // by stored form; sources of one kind often have equal ones

	mu      sync.Mutex
	changed chan struct{} // closed and replaced when states change

	reading sync.Map // number of a source to the [2]int of pages that were read, and all
}

// Reading notes that so many pages of a source were read, and wakes those who wait for a state.
func (sp *Space) Reading(num int64, done, total int) {
	sp.reading.Store(num, [2]int{done, total})
	sp.StateChanged()
}

// Read forgets what Reading noted.
func (sp *Space) Read(num int64) { sp.reading.Delete(num) }

// Pages returns how many pages of a source were read so far, and of how many; zeros while nothing counts.
func (sp *Space) Pages(num int64) (done, total int) {
	if v, ok := sp.reading.Load(num); ok {
		n := v.([2]int)
		return n[0], n[1]
	}
	return 0, 0
}

func newSpace(uid string, ws backend.Workspace) *Space {
	sp := &Space{UID: uid, Workspace: ws, Store: ws.Store(), Follower: pipeline.NewFollower(ws), uses: usage.New(ws.Store()), changed: make(chan struct{}), reembed: make(chan struct{}, 1)}
	if _, shared := sp.Store.(backend.Guarder); shared {
		sp.Follower.Saw = sp.saw
	}
	return sp
}

// Uses is how much the versions of the space were used.
func (sp *Space) Uses() *usage.Tally { return sp.uses }

// Doc returns the record of a source without its fingerprint, by which the records of files differ that are equal in all
// else. Nobody may change it.
func (sp *Space) Doc(src *backend.Source) (*item.Doc, error) {
	key := item.WithoutFingerprint(src.Doc)
	if doc, ok := recent.Get(&sp.docs, key); ok {
		return doc, nil
	}
	doc, err := item.Decode(src.Doc)
	if err != nil {
		return nil, err
	}
	doc.Fingerprint = nil
	recent.Put(&sp.docs, key, doc)
	return doc, nil
}

// StateChanged wakes those who wait for a state in the space.
func (sp *Space) StateChanged() {
	sp.mu.Lock()
	close(sp.changed)
	sp.changed = make(chan struct{})
	sp.mu.Unlock()
}

// Changes returns a channel that is closed at the next change of a state.
func (sp *Space) Changes() <-chan struct{} {
	sp.mu.Lock()
	defer sp.mu.Unlock()
	return sp.changed
}

// Fresh lets the indexes catch up before a search, when they are behind.
func (sp *Space) Fresh(ctx context.Context) error {
	return sp.Follower.Fresh(ctx)
}

// FreshOrLate is Fresh for a search that can say that it does not know all; late is how many changes the indexes lack, at most.
func (sp *Space) FreshOrLate(ctx context.Context) (late uint64, err error) {
	return sp.Follower.FreshOrLate(ctx)
}

// ResolveSub returns the name under which a sub-tenant is stored: the default one under the tenant's id.
func (sp *Space) ResolveSub(ctx context.Context, tenant, sub string) (string, error) {
	switch sub {
	case "", tenant:
		return tenant, nil
	case "default":
		subs, err := backend.Peek(sp.Store).Subs(ctx)
		if err != nil {
			return "", err
		}
		for _, x := range subs {
			if x.Sub == "default" {
				return "default", nil
			}
		}
		return tenant, nil
	}
	return sub, nil
}

// Ref is a space that a call uses, with the tenant's record.
type Ref struct {
	*Space
	Record *Record
	set    *Set
}

// Release gives the space back and ends the call.
func (r *Ref) Release() {
	r.set.spaces.Release(r.UID)
	r.set.gate.Leave()
}

package workspace

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/intact"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/pipeline"
	"github.com/contextmem/contextmem/internal/recent"
	"github.com/contextmem/contextmem/internal/usage"
)

// Space is an open workspace with its follower, caches and states. It is safe for concurrent use.
type Space struct {
	UID       string
	Workspace backend.Workspace
	Store     backend.Store
	Follower  *pipeline.Follower
	// Unflushed counts the chunks of completed items and the deleted items since the indexes were last flushed. A long chunk
	// counts several times. If several processes share the workspace, it counts the changes that this process has applied.
	Unflushed atomic.Int64
	// Deletion is a semaphore: full while this process carries out a deletion of many items. NoDeletion is set when the process has seen that none is recorded.
	Deletion   chan struct{}
	NoDeletion atomic.Bool
	// Edits is locked during a read, a change and a compare-and-set, so that these seldom conflict.
	Edits sync.Mutex

	upkeep  func() // called when a shared workspace has enough to flush; nil: not called
	serving atomic.Pointer[Serving]
	stale   atomic.Bool // another process may have changed the identity of the embedder
	uses    *usage.Tally
	reembed chan struct{} // a semaphore: full while one call re-embeds

	refining  pass
	comparing pass

	docs recent.Table[*item.Doc] // stored form -> decoded doc; many sources have equal ones

	mu      sync.Mutex
	changed chan struct{} // closed and replaced when states change

	damage  seen     // errors of damaged rows that were met
	reading sync.Map // number of a source -> [2]int: pages read so far, and all pages
}

// Reading records the number of pages of a source read so far, and wakes goroutines that wait for a state.
func (sp *Space) Reading(num int64, done, total int) {
	sp.reading.Store(num, [2]int{done, total})
	sp.StateChanged()
}

// Read removes what Reading has recorded.
func (sp *Space) Read(num int64) { sp.reading.Delete(num) }

// Pages returns the number of pages of a source read so far, and the number of all pages. Both are 0 unless Reading was called.
func (sp *Space) Pages(num int64) (done, total int) {
	if v, ok := sp.reading.Load(num); ok {
		n := v.([2]int)
		return n[0], n[1]
	}
	return 0, 0
}

func newSpace(uid string, ws backend.Workspace) *Space {
	sp := &Space{UID: uid, Workspace: ws, Store: ws.Store(), Follower: pipeline.NewFollower(ws), uses: usage.New(ws.Store()), changed: make(chan struct{}), reembed: make(chan struct{}, 1), Deletion: make(chan struct{}, 1)}
	if sp.Shared() {
		sp.Follower.Saw = sp.saw
	}
	return sp
}

// seen is a set of texts. It is safe for concurrent use.
type seen struct {
	mu    sync.Mutex
	texts map[string]bool
}

// Len returns the number of texts.
func (s *seen) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.texts)
}

// Add adds a text, and reports whether it is new.
func (s *seen) Add(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.texts[text] {
		return false
	}
	if s.texts == nil {
		s.texts = map[string]bool{}
	}
	s.texts[text] = true
	return true
}

// Shared reports whether several processes may have the workspace open.
func (sp *Space) Shared() bool {
	_, shared := sp.Store.(backend.Guarder)
	return shared
}

const (
	// flushAfter is the number of unflushed chunks from which on a flush is worth it. flushShared is the same for a workspace
	// that several processes share, where each of them may restart at any time and has to catch up.
	flushAfter, flushShared = 2000, 500
)

// FlushAfter returns the number of unflushed chunks from which on the indexes are to be flushed when nothing waits.
func (sp *Space) FlushAfter() int64 {
	if sp.Shared() {
		return flushShared
	}
	return flushAfter
}

// AddUnflushed adds to Unflushed what a call has changed, unless changes are counted when they are applied.
func (sp *Space) AddUnflushed(n int) {
	if !sp.Shared() {
		sp.Unflushed.Add(int64(n))
	}
}

// saw is called with changes that the indexes of a shared workspace have applied, whichever process has committed them.
func (sp *Space) saw(changes []backend.Change) {
	n := int64(0)
	for i := range changes {
		n += int64(max(1, len(changes[i].Rows)))
	}
	if now := sp.Unflushed.Add(n); now >= flushShared && now-n < flushShared && sp.upkeep != nil {
		sp.upkeep()
	}
	sp.checkLanes(changes)
}

// Uses returns the counts of uses of the space's versions.
func (sp *Space) Uses() *usage.Tally { return sp.uses }

// Doc returns the record of a source without its fingerprint, so that equal records of files share one Doc. The caller must
// not change it.
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

// StateChanged wakes goroutines that wait for a state in the space.
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

// Fresh lets the indexes catch up before a search.
func (sp *Space) Fresh(ctx context.Context) error {
	return sp.Follower.Fresh(ctx)
}

// FreshOrLate is Fresh for a search whose result can be marked as incomplete. late is an upper bound of the changes that the indexes lack.
func (sp *Space) FreshOrLate(ctx context.Context) (late uint64, err error) {
	return sp.Follower.FreshOrLate(ctx)
}

// ResolveSub returns the stored name of a sub-tenant. The default sub-tenant is stored under the tenant's id.
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

// Ref is a space pinned for a call, with the tenant's record.
type Ref struct {
	*Space
	Record *Record
	set    *Set
}

// Intact returns the Store of a call that leaves out what is damaged.
func (r *Ref) Intact() *intact.Store { return &intact.Store{Store: r.Store, Notice: r} }

// maxDamage is the number of damaged rows of an open workspace that are told apart.
const maxDamage = 1000

// Damaged notes damaged rows that a read left out. Each is logged and counted once while the workspace is open.
func (r *Ref) Damaged(d *backend.DamageError) {
	for err := range d.All() {
		if r.damage.Len() >= maxDamage || !r.damage.Add(err.Error()) {
			continue
		}
		r.set.damaged.Add(1)
		r.set.Logger.Error("a stored row is damaged and was left out of an answer: verify the deployment, which names its item", "uid", r.UID, "err", err)
	}
}

// Release unpins the space and ends the call.
func (r *Ref) Release() {
	r.set.spaces.Release(r.UID)
	r.set.gate.Leave()
}

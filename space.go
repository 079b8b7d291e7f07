package contextmem

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/pipeline"
	"github.com/contextmem/contextmem/internal/recent"
	"github.com/contextmem/contextmem/internal/spaces"
)

// space is an open workspace and what runs over it.
type space struct {
	uid      string
	ws       backend.Workspace
	store    backend.Store
	follower *pipeline.Follower
	// reembedding is set while the vectors belong to another embedder than the service's.
	reembedding atomic.Bool
	// unflushed counts the items completed since the shadows last wrote what they hold.
	unflushed atomic.Int64
	edits     sync.Mutex              // held while something stored is read, changed and written again
	docs      recent.Table[*item.Doc] // by stored form; sources of one kind often have equal ones

	mu      sync.Mutex
	changed chan struct{} // closed and replaced when states change
}

// held is a space that a call uses, with the tenant's record.
type held struct {
	*space
	svc *Service
	rec *tenantRecord
}

// release gives the space back and ends the call.
func (h *held) release() {
	h.svc.spaces.Release(h.uid)
	h.svc.end()
}

// open admits a call on a tenant that is ready and acquires its space.
func (s *Service) open(ctx context.Context, op, org, tenant string) (*held, error) {
	if err := s.begin(); err != nil {
		return nil, err
	}
	h, err := s.acquire(ctx, op, org, tenant)
	if err != nil {
		s.end()
		return nil, err
	}
	return h, nil
}

// enter opens the tenant of a sub-tenant and finds the name that its partitions are kept under.
func (s Sub) enter(ctx context.Context, op string) (*held, string, error) {
	h, err := s.svc.open(ctx, op, s.org, s.tenant)
	if err != nil {
		return nil, "", err
	}
	name, err := s.resolve(ctx, h)
	if err != nil {
		h.release()
		return nil, "", wrap(op, ResourceSub, s.sub, err)
	}
	return h, name, nil
}

func (s *Service) acquire(ctx context.Context, op, org, tenant string) (*held, error) {
	rec, err := s.tenantRecord(ctx, op, org, tenant)
	if err != nil {
		return nil, err
	}
	switch rec.rec.State {
	case backend.TenantProvisioning:
		return nil, &Error{Op: op, Kind: KindNotReady, Resource: ResourceTenant, ID: shortID(tenant), Err: errors.New("tenant is still being provisioned")}
	case backend.TenantFailed:
		return nil, &Error{Op: op, Kind: KindNotReady, Resource: ResourceTenant, ID: shortID(tenant), Err: errors.New("provisioning failed; create the tenant again")}
	}
	sp, err := s.spaces.Acquire(ctx, rec.rec.UID)
	if errors.Is(err, spaces.ErrClosed) {
		return nil, &Error{Op: op, Kind: KindClosed, Err: ErrClosed}
	}
	if err != nil {
		return nil, wrap(op, ResourceTenant, tenant, err)
	}
	return &held{space: sp, svc: s, rec: rec}, nil
}

// openSpace opens a workspace for the cache: the identity of the embedder is
// checked, and the shadows catch up.
func (s *Service) openSpace(ctx context.Context, uid string) (*space, error) {
	if _, gone := s.doomed.Load(uid); gone {
		return nil, fmt.Errorf("workspace: %w", backend.ErrNotFound)
	}
	ws, err := s.be.OpenWorkspace(ctx, uid)
	if err != nil {
		return nil, err
	}
	sp := &space{uid: uid, ws: ws, store: ws.Store(), follower: pipeline.NewFollower(ws), changed: make(chan struct{})}
	if k, ok := sp.store.(backend.WordKeeper); ok {
		k.KeepWords(relationWords)
	}
	if err := s.checkEmbedder(ctx, sp); err != nil {
		return nil, errors.Join(err, ws.Close())
	}
	if err := sp.follower.Sync(ctx); err != nil {
		return nil, errors.Join(err, ws.Close())
	}
	if _, leased := s.leased.Load(uid); leased {
		if v, ok := sp.store.(backend.LeaseVoider); ok {
			if err := v.VoidLeases(ctx); err != nil {
				return nil, errors.Join(err, ws.Close())
			}
		}
		s.leased.Delete(uid)
	}
	return sp, nil
}

func (s *Service) closeSpace(sp *space) error {
	ctx, cancel := context.WithTimeout(context.Background(), closePatience)
	defer cancel()
	return errors.Join(sp.follower.Flush(ctx), sp.ws.Close())
}

// docOf returns the record of a source, which nobody may change.
func (sp *space) docOf(src *backend.Source) (*item.Doc, error) {
	if doc, ok := recent.Get(&sp.docs, src.Doc); ok {
		return doc, nil
	}
	doc, err := item.Decode(src.Doc)
	if err != nil {
		return nil, err
	}
	recent.Put(&sp.docs, src.Doc, doc)
	return doc, nil
}

// stateChanged wakes those who wait for a state in the space.
func (sp *space) stateChanged() {
	sp.mu.Lock()
	close(sp.changed)
	sp.changed = make(chan struct{})
	sp.mu.Unlock()
}

// changes returns a channel that is closed at the next change of a state.
func (sp *space) changes() <-chan struct{} {
	sp.mu.Lock()
	defer sp.mu.Unlock()
	return sp.changed
}

// fresh lets the shadows catch up before a search, when they are behind.
func (sp *space) fresh(ctx context.Context) error {
	if !sp.follower.Behind() {
		return nil
	}
	return sp.follower.Sync(ctx)
}

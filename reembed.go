package contextmem

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// embedderName is the workspace value that holds the identity of the embedder.
const embedderName = "embedder"

// identity says which embedder made the vectors of a workspace.
type identity struct {
	Model string `json:"model"`
	Dim   int    `json:"dim"`
	// Next is the identity of an embedder that the workspace is being embedded with
	// again; Model and Dim are then the old one.
	Next *identity `json:"next,omitempty"`
}

func (i identity) String() string { return fmt.Sprintf("%s (%d dimensions)", i.Model, i.Dim) }

func (s *Service) identity() identity {
	return identity{Model: s.embedder.Model(), Dim: s.embedder.Dim()}
}

// checkEmbedder compares the stored identity with the service's embedder: a new
// workspace takes the service's; another one is an error, unless it is being
// embedded again with the service's.
func (s *Service) checkEmbedder(ctx context.Context, sp *space) error {
	have, err := readIdentity(ctx, sp)
	if err != nil {
		return err
	}
	want := s.identity()
	switch {
	case have == nil:
		return writeIdentity(ctx, sp, want)
	case have.Next != nil && have.Next.Model == want.Model && have.Next.Dim == want.Dim:
		sp.reembedding.Store(true)
	case have.Model != want.Model || have.Dim != want.Dim || have.Next != nil:
		if _, ok := s.reembed.Load(sp.uid); ok {
			sp.reembedding.Store(true)
			return nil
		}
		return &Error{Op: "open tenant", Kind: KindConflict, Resource: ResourceEmbedding, Err: &foreignEmbedder{*have, want}}
	}
	return nil
}

// foreignEmbedder says that the vectors of a tenant were made by another embedder than the service's.
type foreignEmbedder struct{ have, want identity }

func (e *foreignEmbedder) Error() string {
	return fmt.Sprintf("its vectors were made by %v, and the service uses %v: open it with the old embedder or call Tenant.Reembed", e.have, e.want)
}

func readIdentity(ctx context.Context, sp *space) (*identity, error) {
	b, err := sp.store.Get(ctx, embedderName)
	if err != nil || b == nil {
		return nil, err
	}
	var id identity
	if err := json.Unmarshal(b, &id); err != nil {
		return nil, fmt.Errorf("identity of the embedder: %w", backend.ErrCorrupt)
	}
	return &id, nil
}

func writeIdentity(ctx context.Context, sp *space, id identity) error {
	b, err := json.Marshal(id)
	if err != nil {
		return err
	}
	return sp.store.Set(ctx, embedderName, b)
}

// Reembed makes the vectors of every item of the tenant anew with the service's
// embedder. The tenant can be used meanwhile; until the end recall searches
// keywords alone, and says so. A call that is interrupted goes on where it stopped
// when it is repeated. It returns the number of items embedded by this call.
func (t Tenant) Reembed(ctx context.Context) (int, error) {
	const op = "reembed"
	if err := t.svc.begin(); err != nil {
		return 0, err
	}
	defer t.svc.end()
	rec, err := t.svc.tenantRecord(ctx, op, t.org, t.tenant)
	if err != nil {
		return 0, err
	}
	t.svc.reembed.Store(rec.rec.UID, struct{}{})
	defer t.svc.reembed.Delete(rec.rec.UID)
	h, err := t.svc.acquire(ctx, op, t.org, t.tenant)
	if err != nil {
		return 0, err
	}
	defer t.svc.spaces.Release(h.uid)
	t.svc.sched.unpark(h.uid)
	n, err := t.svc.reembedSpace(ctx, h.space)
	return n, wrap(op, ResourceTenant, t.tenant, err)
}

// reembedBegun is the workspace value that holds the highest version number that still has old vectors.
const reembedBegun = "reembed_until"

func (s *Service) reembedSpace(ctx context.Context, sp *space) (int, error) {
	have, err := readIdentity(ctx, sp)
	if err != nil {
		return 0, err
	}
	want := s.identity()
	if have != nil && have.Next == nil && *have == want {
		return 0, nil
	}
	if have == nil || have.Next == nil || *have.Next != want {
		from := want
		if have != nil {
			from = identity{Model: have.Model, Dim: have.Dim}
		}
		from.Next = &want
		// Versions accepted from here on are embedded by the new embedder.
		if err := sp.store.Set(ctx, reembedBegun, []byte(time.Now().UTC().Format(time.RFC3339Nano))); err != nil {
			return 0, err
		}
		if err := writeIdentity(ctx, sp, from); err != nil {
			return 0, err
		}
	}
	sp.reembedding.Store(true)
	stamp, err := sp.store.Get(ctx, reembedBegun)
	if err != nil {
		return 0, err
	}
	begun, err := time.Parse(time.RFC3339Nano, string(stamp))
	if err != nil {
		return 0, fmt.Errorf("start of embedding again: %w", backend.ErrCorrupt)
	}
	subs, err := sp.store.Subs(ctx)
	if err != nil {
		return 0, err
	}
	total := 0
	for _, sub := range subs {
		for _, class := range []backend.Class{backend.Knowledge, backend.Memory} {
			n, err := s.reembedPartition(ctx, sp, backend.Partition{Class: class, Sub: sub.Sub}, begun)
			total += n
			if err != nil {
				return total, err
			}
		}
	}
	if err := s.sched.drainSpace(ctx, sp.uid); err != nil {
		return total, err
	}
	if err := writeIdentity(ctx, sp, want); err != nil {
		return total, err
	}
	sp.reembedding.Store(false)
	return total, nil
}

// reembedPartition accepts every item of a partition once more, with its content; what was
// accepted since begun has the new vectors already. Newest come first in a list, so the walk goes
// on until a page holds nothing older than begun.
func (s *Service) reembedPartition(ctx context.Context, sp *space, part backend.Partition, begun time.Time) (int, error) {
	total := 0
	for {
		// Items accepted again move to the front, so the oldest stand at the end of the list.
		_, all, err := sp.store.List(ctx, backend.ListQuery{Part: part, Limit: 1, Now: time.Now()})
		if err != nil {
			return total, err
		}
		const page = 200
		srcs, _, err := sp.store.List(ctx, backend.ListQuery{Part: part, Offset: max(0, all-page), Limit: page, Now: time.Now()})
		if err != nil {
			return total, err
		}
		var items []backend.Incoming
		for _, src := range srcs {
			if !src.UpdatedAt.Before(begun) {
				continue
			}
			inc := backend.Incoming{Source: *src}
			inc.UpdatedAt = time.Now().UTC()
			for _, kind := range []backend.ContentKind{backend.Original, backend.Supplied} {
				data, err := sp.store.Content(ctx, src.Num, kind)
				if errors.Is(err, backend.ErrNotFound) {
					continue
				}
				if err != nil {
					return total, err
				}
				inc.Blobs = append(inc.Blobs, backend.Blob{Kind: kind, Data: data})
			}
			if len(inc.Blobs) > 0 {
				items = append(items, inc)
			}
		}
		if len(items) == 0 {
			return total, nil
		}
		err = s.sched.admit(ctx, sp.uid, func() error {
			_, err := sp.store.Accept(ctx, items)
			return err
		})
		if err != nil {
			return total, err
		}
		total += len(items)
		if err := s.sched.drainSpace(ctx, sp.uid); err != nil {
			return total, err
		}
	}
}

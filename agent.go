package contextmem

import (
	"context"
	"errors"

	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/documents"
	"github.com/contextmem/contextmem/internal/metadata"
	"github.com/contextmem/contextmem/internal/workspace"
)

// Remember adds memories and waits until each is completed or errored. It returns their states, in input order; an error of the call means that nothing was accepted,
// or with states, that ctx or the service ended while they were processed, which then goes on.
func (s scope) Remember(ctx context.Context, ms ...Memory) ([]ItemStatus, error) {
	res, err := s.AddMemories(ctx, MemoryBatch{Memories: ms})
	if err != nil {
		return nil, err
	}
	return s.Wait(ctx, res.IDs()...)
}

// EnsureTenant makes a tenant where there is none and waits until it is ready. To one that is there it adds the fields of spec.Schema that it lacks. fault.ErrConflict when it differs otherwise: in
// the kind of tenant, the dimension or the type of a field.
func (o Organisation) EnsureTenant(ctx context.Context, spec TenantSpec) (TenantInfo, error) {
	const op = "ensure tenant"
	t := o.Tenant(spec.ID)
	if _, err := o.CreateTenant(ctx, spec); err != nil && !errors.Is(err, fault.ErrExists) {
		return TenantInfo{}, err
	}
	info, err := TenantInfo{}, t.WaitReady(ctx)
	if err == nil {
		info, err = t.Info(ctx)
	}
	if err != nil {
		return info, err
	}
	if info.Embeddings != spec.Embeddings || spec.Embeddings && spec.Dimension != 0 && info.Dimension != spec.Dimension {
		return info, &fault.Error{Op: op, Kind: fault.KindConflict, Resource: fault.Tenant, ID: fault.ShortID(spec.ID), Field: "Embeddings", Err: errors.New("the tenant is of another kind or dimension")}
	}
	missing, err := metadata.Missing(op, info.Schema, spec.Schema)
	if err != nil || len(missing) == 0 {
		return info, err
	}
	if _, err := t.AddSchemaFields(ctx, missing); err != nil {
		return info, err
	}
	return t.Info(ctx)
}

// Sessions returns the named sessions of the memories, by name. Memories without Memory.Session are in none.
func (s scope) Sessions(ctx context.Context, r content.SessionsRequest) (*content.SessionPage, error) {
	return entered(ctx, s, "sessions", func(ref *workspace.Ref, name string) (*content.SessionPage, error) {
		return documents.Sessions(ctx, ref.Space, name, r)
	})
}

// SessionMessages returns the messages of a named session in order: memories by time, those without one first, then as they came, and the messages of each in turn; of a memory that is no
// conversation its text. A session that is not there has none.
func (s scope) SessionMessages(ctx context.Context, r content.SessionMessagesRequest) (*content.MessagePage, error) {
	return entered(ctx, s, "session messages", func(ref *workspace.Ref, name string) (*content.MessagePage, error) {
		return documents.Messages(ctx, ref.Space, name, r)
	})
}

// UpdateMemory replaces what an edit names of a memory and keeps the rest: metadata, relations, session, expiry. It returns when the new version is durable; until it is indexed the older one is
// found. fault.ErrNotFound when there is no such memory.
func (s scope) UpdateMemory(ctx context.Context, id string, e content.MemoryEdit) (*IngestItem, error) {
	return entered(ctx, s, "update memory", func(ref *workspace.Ref, name string) (*IngestItem, error) {
		items, err := s.svc.intake.Update(ctx, ref, name, id, e)
		if err != nil {
			return nil, err
		}
		return &s.ingested(items, nil).Items[0], nil
	})
}

// DeleteMatching removes all items of a class that a filter, a session or both name, as DeleteItems does, and returns how many. Items that come in meanwhile may stay.
func (s scope) DeleteMatching(ctx context.Context, r content.Matching) (int, error) {
	return entered(ctx, s, "delete", func(ref *workspace.Ref, name string) (int, error) {
		return s.svc.documents.DeleteMatching(ctx, ref, name, r)
	})
}

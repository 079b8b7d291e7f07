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

// Remember adds memories and waits until each is completed or errored. It returns their states in input order.
// An error without states means that nothing was accepted. An error with states means that ctx ended, or the service
// was closed, while the memories were being processed; the service continues to process them.
func (s scope) Remember(ctx context.Context, ms ...Memory) ([]ItemStatus, error) {
	res, err := s.AddMemories(ctx, MemoryBatch{Memories: ms})
	if err != nil {
		return nil, err
	}
	return s.Wait(ctx, res.IDs()...)
}

// EnsureTenant creates the tenant if it does not exist, and waits until it is ready. If the tenant exists, EnsureTenant adds
// the missing fields of spec.Schema to it. It returns fault.ErrConflict if the existing tenant differs from spec in
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

// Sessions returns the named sessions of the memories, sorted by name. A memory without Memory.Session belongs to no session.
func (s scope) Sessions(ctx context.Context, r content.SessionsRequest) (*content.SessionPage, error) {
	return entered(ctx, s, "sessions", func(ref *workspace.Ref, name string) (*content.SessionPage, error) {
		return documents.Sessions(ctx, ref, name, r)
	})
}

// SessionMessages returns the messages of a named session in order. Memories are sorted by time, then by arrival; memories
// without a time come first. A memory that is a conversation contributes its messages in order, any other memory contributes
// its text as one message. An unknown session has no messages.
func (s scope) SessionMessages(ctx context.Context, r content.SessionMessagesRequest) (*content.MessagePage, error) {
	return entered(ctx, s, "session messages", func(ref *workspace.Ref, name string) (*content.MessagePage, error) {
		return documents.Messages(ctx, ref, name, r)
	})
}

// UpdateMemory replaces the parts of a memory that the edit sets. It keeps the others, such as metadata, relations, session
// and expiry. It returns when the new version is durable. Recalls find the older version until the new one is indexed.
// It returns fault.ErrNotFound if there is no such memory.
func (s scope) UpdateMemory(ctx context.Context, id string, e content.MemoryEdit) (*IngestItem, error) {
	return entered(ctx, s, "update memory", func(ref *workspace.Ref, name string) (*IngestItem, error) {
		items, err := s.svc().intake.Update(ctx, ref, name, id, e)
		if err != nil {
			return nil, err
		}
		return &s.ingested(items, nil).Items[0], nil
	})
}

// DeleteMatching removes all items of a class that match a filter, a session or both, as DeleteItems does. It returns
// the number of removed items. Items that are added during the call may remain.
func (s scope) DeleteMatching(ctx context.Context, r content.Matching) (int, error) {
	return entered(ctx, s, "delete", func(ref *workspace.Ref, name string) (int, error) {
		return s.svc().documents.DeleteMatching(ctx, ref, name, r)
	})
}

package contextmem

import (
	"context"
	"slices"

	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/internal/block"
	"github.com/contextmem/contextmem/internal/workspace"
)

// Facts returns a page of facts, by default of memories. Its request and result are declared in package facts.
func (s scope) Facts(ctx context.Context, r facts.Request) (*facts.Page, error) {
	return entered(ctx, s, "facts", func(ref *workspace.Ref, name string) (*facts.Page, error) {
		return s.svc().profiles.Facts(ctx, ref, name, r)
	})
}

// RestoreFact makes a superseded fact current again. Facts, Profile, the graph and the dated facts of recalls then show it beside the
// facts that had superseded it. Facts that are told later may supersede it again. Other facts of the same item do not change; Restore
// restores all facts of a memory. The restoration lasts until the fact's item, or the item that had superseded it, is replaced or
// deleted, or until RetireFact undoes it. RestoreFact returns the restored fact. Class 0 means ClassMemory; id is Fact.ID. It returns
// fault.ErrNotFound if the sub-tenant has no such fact, and fault.ErrConflict if the fact is not superseded or the tenant has 10,000 restored facts.
func (s scope) RestoreFact(ctx context.Context, class Class, id string) (*facts.Fact, error) {
	return entered(ctx, s, "restore fact", func(ref *workspace.Ref, name string) (*facts.Fact, error) {
		return s.svc().profiles.RestoreFact(ctx, ref.Store, name, class, id)
	})
}

// RetireFact undoes RestoreFact, so that the fact is superseded again. It returns fault.ErrConflict for a fact without Fact.Restored.
func (s scope) RetireFact(ctx context.Context, class Class, id string) (*facts.Fact, error) {
	return entered(ctx, s, "retire fact", func(ref *workspace.Ref, name string) (*facts.Fact, error) {
		return s.svc().profiles.RetireFact(ctx, ref.Store, name, class, id)
	})
}

// ListEntities returns a page of the entities of the graph, sorted by name. Entities looks up entities by their names.
func (s scope) ListEntities(ctx context.Context, r facts.EntityRequest) (*facts.EntityPage, error) {
	return entered(ctx, s, "entities", func(ref *workspace.Ref, name string) (*facts.EntityPage, error) {
		return s.svc().profiles.Entities(ctx, ref, name, r)
	})
}

// Profile returns the current facts about a subject, by slot, with a summary of bounded length. It reads facts, which inference produces (see
// Memory.Infer). With an embedder that implements embed.StatementReader it also reads messages about a slot, in any language.
func (s scope) Profile(ctx context.Context, r facts.ProfileRequest) (*facts.Profile, error) {
	return entered(ctx, s, "profile", func(ref *workspace.Ref, name string) (*facts.Profile, error) {
		return s.svc().profiles.Profile(ctx, ref, name, r)
	})
}

// opened runs f in the open tenant of a sub-tenant.
func opened[T any](ctx context.Context, s scope, op string, f func(*workspace.Ref) (T, error)) (out T, err error) {
	ref, err := s.svc().set.Open(ctx, op, s.org, s.tenant)
	if err != nil {
		return out, err
	}
	defer ref.Release()
	return f(ref)
}

// entered runs f in the open tenant of a sub-tenant, with the name under which the store keeps the sub-tenant's partitions.
func entered[T any](ctx context.Context, s scope, op string, f func(*workspace.Ref, string) (T, error)) (out T, err error) {
	ref, name, err := s.enter(ctx, op)
	if err != nil {
		return out, err
	}
	defer ref.Release()
	return f(ref, name)
}

// ContextBlock returns the standing instructions and the chunks of the result, best first, as a text of at most maxTokens tokens.
// Each chunk has a line with its number, day and title, and a note if it is superseded or told after Recall.AsOf; its text follows. Inferred forms of a chunk
// that is itself in the text are left out. The first chunk that does not fit is cut; a later chunk is included if it fits.
func (r *Result) ContextBlock(maxTokens int) facts.Block {
	var lead []string
	for _, x := range r.Instructions {
		lead = append(lead, "Instruction: "+x.Text)
	}
	entries := make([]block.Entry, 0, len(r.Chunks))
	for i := range r.Chunks {
		c := &r.Chunks[i]
		if !c.Inferred || !slices.ContainsFunc(r.Chunks, func(o Chunk) bool { return o.SourceID == c.SourceID && o.Sub == c.Sub && !o.Inferred }) {
			entries = append(entries, block.Entry{Source: c.SourceID, Title: block.OwnTitle(c.Title, c.Text), Time: c.Time, Text: c.Text, ToldLater: c.ToldLater})
			if s := c.SupersededBy; s != nil {
				entries[len(entries)-1].Superseded = block.Notice(s, c.ValidTo, c.Retracted)
			}
		}
	}
	return block.Build(lead, entries, maxTokens)
}

package contextmem

import (
	"context"
	"slices"

	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/internal/block"
	"github.com/contextmem/contextmem/internal/workspace"
)

// Facts returns a page of facts, by default of memories; what it is asked and answers is declared in package facts.
func (s scope) Facts(ctx context.Context, r facts.Request) (*facts.Page, error) {
	return entered(ctx, s, "facts", func(ref *workspace.Ref, name string) (*facts.Page, error) {
		return s.svc.profiles.Facts(ctx, ref, name, r)
	})
}

// RestoreFact lets a fact hold again that later ones took the place of: it holds beside what the items say that retired it until now, for
// Facts, Profile, the graph and dated facts of recalls. What is told later may retire it again. Other facts of its item stay as they
// are; Restore is for all facts of a memory. It lasts until its item, or the one beside which it stands, is told anew or deleted, or until
// RetireFact. It returns the fact as it is then. class 0 is ClassMemory; id is Fact.ID. fault.ErrNotFound when the sub-tenant has no such fact,
// fault.ErrConflict when nothing took its place, or the tenant keeps 10,000 restored facts.
func (s scope) RestoreFact(ctx context.Context, class Class, id string) (*facts.Fact, error) {
	return entered(ctx, s, "restore fact", func(ref *workspace.Ref, name string) (*facts.Fact, error) {
		return s.svc.profiles.RestoreFact(ctx, ref.Store, name, class, id)
	})
}

// RetireFact takes RestoreFact back: what took the place of the fact does so again. Facts with Fact.Restored can be retired; fault.ErrConflict for others.
func (s scope) RetireFact(ctx context.Context, class Class, id string) (*facts.Fact, error) {
	return entered(ctx, s, "retire fact", func(ref *workspace.Ref, name string) (*facts.Fact, error) {
		return s.svc.profiles.RetireFact(ctx, ref.Store, name, class, id)
	})
}

// ListEntities returns a page of the entities of the graph, by name; Entities looks some up.
func (s scope) ListEntities(ctx context.Context, r facts.EntityRequest) (*facts.EntityPage, error) {
	return entered(ctx, s, "entities", func(ref *workspace.Ref, name string) (*facts.EntityPage, error) {
		return s.svc.profiles.Entities(ctx, ref.Store, name, r)
	})
}

// Profile returns what holds of somebody, by slot, with a summary of bounded length. It reads facts, which inference makes (see Memory.Infer), and, with an
// embed.StatementReader, messages that tell of a slot in any language.
func (s scope) Profile(ctx context.Context, r facts.ProfileRequest) (*facts.Profile, error) {
	return entered(ctx, s, "profile", func(ref *workspace.Ref, name string) (*facts.Profile, error) {
		return s.svc.profiles.Profile(ctx, ref, name, r)
	})
}

// opened runs f in the open tenant of a sub-tenant.
func opened[T any](ctx context.Context, s scope, op string, f func(*workspace.Ref) (T, error)) (out T, err error) {
	ref, err := s.svc.set.Open(ctx, op, s.org, s.tenant)
	if err != nil {
		return out, err
	}
	defer ref.Release()
	return f(ref)
}

// entered runs f in the open tenant of a sub-tenant, with the name that its partitions are kept under.
func entered[T any](ctx context.Context, s scope, op string, f func(*workspace.Ref, string) (T, error)) (out T, err error) {
	ref, name, err := s.enter(ctx, op)
	if err != nil {
		return out, err
	}
	defer ref.Release()
	return f(ref, name)
}

// ContextBlock returns the standing instructions and the chunks of the result, best first, as a text of at most maxTokens: a line with number, day and title each, and whether it holds no longer, and what is said below
// it. What is an inferred form of a chunk that stands there too is left out. The first chunk that does not fit is cut, later ones come in where they fit.
func (r *Result) ContextBlock(maxTokens int) facts.Block {
	var lead []string
	for _, x := range r.Instructions {
		lead = append(lead, "Instruction: "+x.Text)
	}
	entries := make([]block.Entry, 0, len(r.Chunks))
	for i := range r.Chunks {
		c := &r.Chunks[i]
		if !c.Inferred || !slices.ContainsFunc(r.Chunks, func(o Chunk) bool { return o.SourceID == c.SourceID && o.Sub == c.Sub && !o.Inferred }) {
			entries = append(entries, block.Entry{Source: c.SourceID, Title: block.OwnTitle(c.Title, c.Text), Time: c.Time, Text: c.Text})
			if s := c.SupersededBy; s != nil {
				entries[len(entries)-1].Superseded = block.Notice(s.ID, c.ValidTo, c.Retracted)
			}
		}
	}
	return block.Build(lead, entries, maxTokens)
}

package documents

import (
	"context"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/workspace"
)

// Stats counts the contents of a tenant whose texts have vectors of length dim.
func Stats(ctx context.Context, ref *workspace.Ref, dim int) (content.TenantStats, error) {
	var out content.TenantStats
	for _, c := range []struct {
		class backend.Class
		to    *content.StoreStats
		dim   int
	}{{backend.Knowledge, &out.Knowledge, dim}, {backend.Memory, &out.Memory, dim}, {backend.Raw, &out.Raw, ref.Record.Data.Dimension}} {
		s, err := ref.Store.Stats(ctx, c.class)
		if err != nil {
			return out, err
		}
		*c.to = content.StoreStats{Chunks: s.Chunks, Sources: s.Sources, Dimension: c.dim}
	}
	counts, _, err := ref.Store.Backlog(ctx)
	if err != nil {
		return out, err
	}
	out.States = make(map[content.Status]int, len(counts))
	for state, n := range counts {
		out.States[item.StatusOf(state)] = n
	}
	subs, err := ref.Store.Subs(ctx)
	if err != nil {
		return out, err
	}
	for _, s := range subs {
		out.Subs = append(out.Subs, content.SubStats{Name: s.Sub, Knowledge: s.Knowledge, Memory: s.Memory, Raw: s.Raw})
	}
	return out, nil
}

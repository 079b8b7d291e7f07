package vectors

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/cas"
	"github.com/contextmem/contextmem/internal/workspace"
)

// Delete removes vectors by source or chunk id and returns the number removed.
func (e *Engine) Delete(ctx context.Context, op string, ref *workspace.Ref, sub string, r content.VectorSelection) (int, error) {
	if err := check(op, r); err != nil {
		return 0, err
	}
	part, err := partition(ctx, op, ref, sub)
	if err != nil {
		return 0, err
	}
	ref.Edits.Lock() // serialise the deletions of one process, to avoid repeated work
	defer ref.Edits.Unlock()
	deleted := 0
	err = cas.Retry(ctx, func() error {
		n, err := e.deleteOnce(ctx, op, ref, part, r)
		deleted += n
		return err
	})
	return deleted, err
}

// deleteOnce deletes the currently selected vectors and returns their number. It replaces only the versions that it read. If
// one of them was replaced or deleted in between, it returns [backend.ErrConflict]; vectors deleted before that stay deleted.
func (e *Engine) deleteOnce(ctx context.Context, op string, ref *workspace.Ref, part backend.Partition, r content.VectorSelection) (deleted int, _ error) {
	found, err := rows(ctx, ref, part, r, math.MaxInt)
	if err != nil {
		return 0, fault.Wrap(op, fault.Embedding, "", err)
	}
	gone := map[string]map[string]bool{}
	read := map[string]backend.Version{}
	for _, row := range found {
		if gone[row.Src.ID] == nil {
			gone[row.Src.ID], read[row.Src.ID] = map[string]bool{}, row.Src.Version()
		}
		gone[row.Src.ID][row.Key] = true
	}
	var whole []string
	var expect []backend.Version
	var smaller []backend.Placed
	for id, keys := range gone {
		p, err := e.without(ctx, ref, part, id, read[id], keys)
		switch {
		case err != nil:
			return 0, fault.Wrap(op, fault.Embedding, id, err)
		case len(p.Chunks) > 0:
			smaller = append(smaller, *p)
		default:
			whole, expect = append(whole, id), append(expect, read[id])
		}
	}
	if len(smaller) > 0 {
		if err := e.place(ctx, op, ref, smaller); err != nil {
			return 0, err
		}
		for i := range smaller {
			deleted += len(gone[smaller[i].ID])
		}
	}
	if len(whole) == 0 {
		return deleted, nil
	}
	res, err := ref.Store.Delete(ctx, part, whole, backend.DeleteOptions{Expect: expect})
	if err != nil {
		return deleted, fault.Wrap(op, fault.Embedding, "", err)
	}
	ref.StateChanged()
	for i := range res {
		switch {
		case res[i].Conflict:
			err = fault.Wrap(op, fault.Embedding, whole[i], backend.ErrConflict)
		case res[i].Found:
			deleted += len(gone[whole[i]])
		}
	}
	return deleted, err
}

// without returns a source without the chunks named by keys. It is to be placed over the version read.
func (e *Engine) without(ctx context.Context, ref *workspace.Ref, part backend.Partition, id string, read backend.Version, keys map[string]bool) (*backend.Placed, error) {
	srcs, err := ref.Store.Sources(ctx, part, []string{id})
	if err != nil {
		return nil, err
	}
	if srcs[0] == nil || srcs[0].Version() != read {
		return nil, backend.ErrConflict
	}
	chunks, err := ref.Store.SourceChunks(ctx, read.Num, 0, math.MaxInt, true)
	if err != nil {
		return nil, err
	}
	chunks = slices.DeleteFunc(chunks, func(c backend.Chunk) bool { return keys[c.Key] })
	for i := range chunks {
		chunks[i].Ordinal = i
	}
	p := &backend.Placed{Incoming: backend.Incoming{Source: *srcs[0], Expect: read}, Chunks: chunks, Event: e.Wanted(ref.Record.Org)}
	p.SizeBytes, p.UpdatedAt = rawSize(chunks), time.Now().UTC()
	return p, nil
}

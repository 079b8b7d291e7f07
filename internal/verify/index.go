package verify

import (
	"context"
	"errors"
	"fmt"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/workspace"
)

const (
	feedRows = 2048 // feed rows per step
	attempts = 3    // tries to count without concurrent writes
)

// follow compares the indexes with the feed: an index must know every chunk that the feed adds, and no others.
func (r *run) follow(sp *workspace.Space) error {
	for range attempts {
		last := sp.Store.LastSeq() // before Sync: the indexes may lack what is written after it
		if err := sp.Follower.Sync(r.ctx); err != nil {
			return r.unless(err, Index, "it cannot follow the feed")
		}
		counts, err := r.feed(sp, last)
		if err != nil {
			return err
		}
		if counts == nil || sp.Store.LastSeq() != last { // counts are outdated by a concurrent write
			continue
		}
		return r.count(sp, counts, last)
	}
	return nil
}

// feed reads the feed up to the sequence number last and returns the number of chunks added in each partition. It returns nil
// if the feed was compacted in between. A gap in the feed, or a chunk unknown to an index, is reported as a problem.
func (r *run) feed(sp *workspace.Space, last uint64) (map[backend.Partition]int, error) {
	counts := map[backend.Partition]int{}
	for after := uint64(0); after < last; {
		changes, err := sp.Store.Changes(r.ctx, after, feedRows)
		if err != nil {
			return nil, r.unless(err, Feed, "it cannot be read")
		}
		if len(changes) == 0 {
			break
		}
		for _, c := range changes {
			if c.Seq <= after {
				r.found(Feed, backend.Finding{Part: c.Part, ItemID: c.SourceID, What: fmt.Sprintf("change %d comes after change %d", c.Seq, after)})
				return nil, nil
			}
			if after = c.Seq; after > last { // a later write: the indexes may lag behind it
				break
			}
			if c.Kind != backend.PutChunks {
				continue
			}
			counts[c.Part] += len(c.Rows)
			if err := r.known(r.ctx, sp, &c); err != nil {
				return nil, err
			}
		}
	}
	return counts, nil
}

// known checks that the vector index knows the chunks that a change adds.
func (r *run) known(ctx context.Context, sp *workspace.Space, c *backend.Change) error {
	nums := make([]int64, len(c.Rows))
	for i := range c.Rows {
		nums[i] = c.Rows[i].Chunk
	}
	r.report.Indexed += int64(len(nums))
	found, err := sp.Workspace.Graph().Neighbours(ctx, c.Part, nums)
	if err != nil {
		return r.unless(err, Index, "it cannot be read")
	}
	lacking := 0
	for _, n := range found {
		if n.Chunk == 0 {
			lacking++
		}
	}
	if lacking == 0 {
		return nil
	}
	if srcs, err := sp.Store.SourcesByNum(ctx, []int64{c.Source}); err == nil && srcs[0] == nil { // deleted in between
		return nil
	}
	r.found(Index, backend.Finding{Part: c.Part, ItemID: c.SourceID, What: fmt.Sprintf("%d of %d chunks are not known", lacking, len(nums))})
	return nil
}

// count compares the sizes of partitions, unless there are concurrent writes.
func (r *run) count(sp *workspace.Space, counts map[backend.Partition]int, last uint64) error {
	for part, want := range counts {
		info, err := sp.Workspace.Graph().Info(r.ctx, part)
		if err != nil {
			return r.unless(err, Index, "it cannot be read")
		}
		_, docs, _, err := sp.Workspace.Keywords().Terms(r.ctx, part, "a")
		if err != nil {
			return r.unless(err, Index, "it cannot be read")
		}
		if sp.Store.LastSeq() != last {
			return nil
		}
		if r.holes {
			return nil // a concurrent write may have added chunks
		}
		if info.Chunks != want {
			r.found(Index, backend.Finding{Part: part, What: fmt.Sprintf("it knows %d chunks, the store has %d", info.Chunks, want)})
		} else if docs != want {
			r.found(Index, backend.Finding{Part: part, What: fmt.Sprintf("its keywords know %d chunks, the store has %d", docs, want)})
		}
	}
	return nil
}

// unless records an error as a problem, unless the context has ended. Details that may name files go only to the log.
func (r *run) unless(err error, where, what string) error {
	if r.ctx.Err() != nil {
		return r.ctx.Err()
	}
	r.Set.Logger.Error("verification: "+what, "uid", r.tenant.UID, "where", where, "err", err)
	for _, known := range []error{backend.ErrCorrupt, backend.ErrNewerSchema, backend.ErrUnavailable} {
		if errors.Is(err, known) {
			what += ": " + known.Error()
			break
		}
	}
	r.found(where, backend.Finding{What: what})
	return nil
}

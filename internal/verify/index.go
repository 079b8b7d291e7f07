package verify

import (
	"context"
	"errors"
	"fmt"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/workspace"
)

const (
	feedRows = 2048 // of one step through the feed
	attempts = 3    // at counts that nothing was written beside
)

// follow compares what indexes hold with what the feed says that they should: each chunk that it puts is known, and no more
// are than it puts.
func (r *run) follow(sp *workspace.Space) error {
	for range attempts {
		if err := sp.Follower.Sync(r.ctx); err != nil {
			return r.unless(err, Index, "it cannot follow the feed")
		}
		last := sp.Store.LastSeq()
		counts, err := r.feed(sp, last)
		if err != nil {
			return err
		}
		if counts == nil || sp.Store.LastSeq() != last { // something was written: what is counted is no longer what was
			continue
		}
		return r.count(sp, counts, last)
	}
	return nil
}

// feed walks through the feed up to a number, and returns how many chunks it puts in each partition; nil when the feed was
// compacted meanwhile. What the feed lacks or an index does not know is a problem.
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
			if after = c.Seq; after > last { // written since: the indexes may not have followed
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

// known asks the index of neighbours for the chunks that a change puts.
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
	if srcs, err := sp.Store.SourcesByNum(ctx, []int64{c.Source}); err == nil && srcs[0] == nil { // deleted meanwhile
		return nil
	}
	r.found(Index, backend.Finding{Part: c.Part, ItemID: c.SourceID, What: fmt.Sprintf("%d of %d chunks are not known", lacking, len(nums))})
	return nil
}

// count compares the sizes of partitions, if nothing is written meanwhile.
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
			return nil // indexes may have more
		}
		if info.Chunks != want {
			r.found(Index, backend.Finding{Part: part, What: fmt.Sprintf("it knows %d chunks, the store has %d", info.Chunks, want)})
		} else if docs != want {
			r.found(Index, backend.Finding{Part: part, What: fmt.Sprintf("its keywords know %d chunks, the store has %d", docs, want)})
		}
	}
	return nil
}

// unless makes a problem of an error, unless the call has to end. What the error says of files is for the log.
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

package local

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/lexical"
)

// Bounds of the changes that a writer makes to one partition while it holds the partition's lock: about a millisecond of work.
// Searches hold that lock for milliseconds. A writer that took the lock for each change would wait for a search each time.
const (
	maxRun     = 256 // changes
	maxRunRows = 64  // new rows
	// A writer releases the lock after maxHold. It reads the clock after every holdEvery changes.
	maxHold   = 2 * time.Millisecond
	holdEvery = 16
)

// collectFrom is the size of texts, in bytes, from which on apply runs the garbage collector before it copies the vectors.
// Otherwise the texts and the copied vectors would be in memory together.
const collectFrom = 8 << 20

// analyzeAtOnce is the size of texts, in bytes, after which addWords runs the garbage collector. An analysis leaves a multiple of its text as garbage,
// and the words of large texts are added when most of what belongs to them is in memory.
const analyzeAtOnce = 5 << 20

// Apply makes changes searchable. It skips changes up to Applied.
// After an error the changes before the failing one are applied.
// Apply returns [backend.ErrUnavailable] when it finds damage in the index files. The next call drops the damaged indexes.
// That call returns [backend.ErrUnavailable] too if its changes begin after those applied before: the feed must start from its first change.
func (x *index) Apply(ctx context.Context, changes []backend.Change) error {
	return x.change(ctx, changes, false)
}

var _ backend.Consumer = (*index)(nil)

// Consume implements [backend.Consumer].
func (x *index) Consume(ctx context.Context, changes []backend.Change) error {
	return x.change(ctx, changes, true)
}

// FoldsEntities implements [backend.Folder].
func (x *index) FoldsEntities() bool { return true }

func (x *index) change(ctx context.Context, changes []backend.Change, taken bool) error {
	if err := x.enter(ctx); err != nil {
		return err
	}
	defer x.cache.shrink()
	defer x.leave()
	return x.applyAll(ctx, changes, taken)
}

func (x *index) applyAll(ctx context.Context, changes []backend.Change, taken bool) error {
	x.applying.Lock()
	defer x.applying.Unlock()
	if err := x.startOver(); err != nil {
		return err
	}
	if stale := x.stale; stale > 0 && len(changes) > 0 {
		x.stale = 0
		// A caller that read its changes before the damage was found begins after
		// the changes that were applied then.
		if changes[0].Seq > stale {
			return fmt.Errorf("apply: damaged indexes start again from the first change: %w", backend.ErrUnavailable)
		}
	}
	for len(changes) > 0 {
		if changes[0].Seq <= x.applied.Load() {
			changes = changes[1:]
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		run := changes[:runLength(changes)]
		done, full, err := x.apply(run, taken)
		if done > 0 {
			x.applied.Store(run[done-1].Seq)
		}
		if isDamage(err) {
			x.damage(err)
			return fmt.Errorf("apply change %d: %w: %w", run[done].Seq, err, backend.ErrUnavailable)
		}
		if err != nil {
			return fmt.Errorf("apply change %d: %w", run[done].Seq, err)
		}
		if full {
			x.flushSoon()
		}
		changes = changes[len(run):]
	}
	return nil
}

// runLength returns the number of leading changes that are applied together. They belong to one partition and number at most maxRun,
// with at most maxRunRows rows unless the first change alone has more. A change that is not of one partition is applied alone.
func runLength(changes []backend.Change) int {
	rows := 0
	for i := range min(len(changes), maxRun) {
		c := &changes[i]
		switch c.Kind {
		case backend.PutChunks, backend.PutVectors, backend.PutTags, backend.PutGraph, backend.FoldEntity, backend.Drop:
		default:
			return max(i, 1)
		}
		if rows += len(c.Rows); i > 0 && (c.Part != changes[0].Part || rows > maxRunRows) {
			return i
		}
	}
	return min(len(changes), maxRun)
}

// apply applies the changes of a run. done is the number of changes made before an error.
// full reports whether a partition has so many unflushed rows that it should be flushed.
// taken says that nobody reads the rows of the changes afterwards. The caller holds applying.
func (x *index) apply(run []backend.Change, taken bool) (done int, full bool, err error) {
	switch c := &run[0]; c.Kind {
	case backend.Mark:
		return 1, false, nil
	case backend.DropSub:
		x.emptyWhere(func(part backend.Partition) bool { return part.Sub == c.Part.Sub })
		return 1, false, nil
	case backend.DropVectors:
		x.dropLane(c.Lane)
		return 1, false, nil
	}
	base := make([]step, len(run))
	for i := range run {
		base[i] = step{at: i, Change: &run[i]}
		if c := &run[i]; c.Kind == backend.PutChunks {
			base[i].taken = taken && c.Lane == 0 // the vectors of another lane are read again below
			if c.Lane != 0 {
				base[i].Change = withoutVectors(c)
			}
		}
	}
	if done, full, err = x.applyTo(run[0].Part, base); done < len(run) {
		run = run[:done]
	}
	for lane := backend.Lane(1); lane < backend.LaneCount && len(run) > 0; lane++ {
		if x.find(inLane(run[0].Part, lane)) == nil && !fills(run, lane) {
			continue
		}
		n, long, laneErr := x.applyTo(inLane(run[0].Part, lane), laneSteps(base[:len(run)], run, lane))
		if full = full || long; laneErr != nil {
			done, err, run = n, laneErr, run[:n]
		}
	}
	return done, full, err
}

// step is a change of one partition, with the data that applying it needs.
type step struct {
	*backend.Change
	at      int  // index of the change in its run
	unknown bool // PutVectors of a source that the partition does not have

	// Set for PutChunks with rows.
	first uint32           // number of the first row
	order []int            // indexes into Rows, sorted by ordinal
	extra backend.RowExtra // of Rows[0]
	facts []rowFacts
	taken bool // nobody reads Rows after they were indexed
}

// applyTo applies changes of one partition. done is the index in the run of the first change that was not made.
// full reports whether the partition has so many unflushed rows that it should be flushed.
func (x *index) applyTo(part backend.Partition, steps []step) (done int, full bool, err error) {
	if len(steps) == 0 {
		return 0, false, nil
	}
	s := x.find(part)
	if s == nil {
		if !slices.ContainsFunc(steps, func(c step) bool { return c.Kind == backend.PutChunks && len(c.Rows) > 0 }) {
			for i := range steps {
				steps[i].unknown = true
			}
			return steps[len(steps)-1].at + 1, false, nil
		}
		s = &slot{part: part}
	}
	p, err := x.load(s)
	if err != nil {
		return steps[0].at, false, err
	}
	if p == nil {
		p = newPartition(part.Class)
	}
	if _, err := p.need(allFacets); err != nil {
		return steps[0].at, false, err
	}
	done, err = p.apply(steps)
	if p.liveSources == 0 {
		x.empty(s)
		return done, false, err
	}
	s.p.Store(p)
	x.weigh(s, p)
	x.mu.Lock()
	x.slots[part] = s
	x.mu.Unlock()
	return done, p.full(), err
}

// addWords adds prepared rows to the keyword index. The rows are numbered from first on; of holds the step of each row.
// added is the number of rows added before an error.
func (p *partition) addWords(first uint32, of []*step) (added int, err error) {
	size := 0
	for i := range of {
		size += len(of[i].Rows[i-int(of[i].first-first)].Text)
	}
	for parts := 1 + size/analyzeAtOnce; parts > 0 && err == nil; parts-- {
		if added > 0 {
			runtime.GC() // frees what the analysis of the previous part left behind
		}
		from := added
		n, e := p.words.AddAll(first+uint32(from), (len(of)-from)/parts, func(i int) lexical.Doc {
			return of[from+i].doc(from + i - int(of[from+i].first-first))
		})
		added, err = from+n, e
	}
	return added, err
}

// apply applies changes to the partition. done is the index in the run of the first change that was not made.
// It makes many changes under one hold of the lock, so that searches see them at once.
func (p *partition) apply(steps []step) (done int, err error) {
	done = steps[len(steps)-1].at + 1
	next := uint32(len(p.chunk))
	var of []*step // the step of each new row
	for i := range steps {
		c := &steps[i]
		if c.Kind != backend.PutChunks || len(c.Rows) == 0 {
			continue
		}
		if err = c.prepare(next); err != nil {
			done, steps = c.at, steps[:i]
			break
		}
		of = append(of, slices.Repeat([]*step{c}, len(c.order))...)
		next += uint32(len(c.order))
	}
	// Searches see only live rows. The rows added here are not live before put.
	first := uint32(len(p.chunk))
	added, full := p.addWords(first, of)
	end := first + uint32(added)
	if full != nil {
		err = full
		i := slices.IndexFunc(steps, func(c step) bool { return c.first+uint32(len(c.order)) > end })
		done, steps = steps[i].at, steps[:i]
	}
	dropped := 0
	for i := range steps {
		dropped += steps[i].dropTexts()
	}
	if dropped >= collectFrom {
		runtime.GC()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.sessions.settle(p)
	since := time.Now()
	for i := range steps {
		if i%holdEvery == holdEvery-1 && time.Since(since) > maxHold {
			p.sessions.settle(p)
			p.mu.Unlock()
			p.mu.Lock()
			since = time.Now()
		}
		c := &steps[i]
		switch c.Kind {
		case backend.PutChunks:
			if err := p.put(c); err != nil {
				return c.at, err
			}
		case backend.PutVectors:
			_, ok := p.find(c.Source)
			c.unknown = !ok
		case backend.PutTags:
			p.putTags(c.Source, c.Tags)
		case backend.PutGraph:
			p.putGraph(c.Source, c.Mentions)
		case backend.FoldEntity:
			p.foldEntity(c.From, c.Into)
		case backend.Drop:
			if err := p.drop(c.Source); err != nil {
				return c.at, err
			}
		}
	}
	p.undo(end)
	return done, err
}

package graph

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/cas"
)

// revivedName is the key of a workspace's restored memories and facts in the Store. There is no value while nothing was restored.
// The first byte is 1 if undone successions count for the graph; fixed-size records of restored facts follow.
const revivedName = "graph revived"

// maxRestored bounds the restored facts of a workspace, so that their value in the Store stays below 320 kB.
const maxRestored = 10_000

// Errors of [RestoreFact] and [RetireFact].
var (
	ErrHolds       = errors.New("nothing took the place of the fact")
	ErrNotRestored = errors.New("the fact was not restored")
	ErrTooMany     = fmt.Errorf("the tenant keeps %d restored facts already", maxRestored)
)

// standing says that statements of one version do not retire a given statement.
type standing struct {
	source int64  // version of the statement
	said   uint64 // hash of the statement; stays the same when the version is extracted again
	beside int64  // version whose statements do not retire it
}

// revived is what was restored in a workspace.
type revived struct {
	asked       bool
	successions bool // whether undone successions count
	facts       map[standing]time.Time
	sources     map[int64]bool // versions of the restored facts
	stored      []byte
}

func (v *revived) any() bool { return v.successions || len(v.facts) > 0 }

func (v *revived) add(s standing, at time.Time) {
	if v.facts == nil {
		v.facts, v.sources = map[standing]time.Time{}, map[int64]bool{}
	}
	v.facts[s], v.sources[s.source] = at, true
}

const recordBytes = 32

// readRevived reads what was restored in a workspace.
func readRevived(ctx context.Context, st backend.Store) (v revived, err error) {
	b, err := st.Get(ctx, revivedName)
	if err != nil {
		return v, err
	}
	v.asked, v.stored = true, b
	if len(b) == 0 {
		return v, nil
	}
	if len(b)%recordBytes != 1 || b[0] > 1 {
		return v, fmt.Errorf("restored facts: %w", backend.ErrCorrupt)
	}
	v.successions = b[0] == 1
	for b = b[1:]; len(b) > 0; b = b[recordBytes:] {
		n := binary.LittleEndian.Uint64
		v.add(standing{int64(n(b)), n(b[8:]), int64(n(b[16:]))}, time.UnixMicro(int64(n(b[24:]))).UTC())
	}
	return v, nil
}

// store writes v in place of the value that v was read from.
func (v *revived) store(ctx context.Context, st backend.Store) error {
	var b []byte
	if v.any() {
		b = []byte{0}
		if v.successions {
			b[0] = 1
		}
	}
	keys := make([]standing, 0, len(v.facts))
	for s := range v.facts {
		keys = append(keys, s)
	}
	slices.SortFunc(keys, func(a, b standing) int {
		return slices.Compare([]int64{a.source, int64(a.said), a.beside}, []int64{b.source, int64(b.said), b.beside})
	})
	for _, s := range keys {
		for _, n := range [...]uint64{uint64(s.source), s.said, uint64(s.beside), uint64(v.facts[s].UnixMicro())} {
			b = binary.LittleEndian.AppendUint64(b, n)
		}
	}
	return st.Set(ctx, revivedName, v.stored, b)
}

// forget drops facts of deleted versions and facts that stand beside deleted versions. It reports whether there were any.
func (v *revived) forget(ctx context.Context, st backend.Store) (found bool, err error) {
	var nums []int64
	for s := range v.facts {
		nums = append(nums, s.source, s.beside)
	}
	slices.Sort(nums)
	nums = slices.Compact(nums)
	there := map[int64]bool{}
	for some := range slices.Chunk(nums, 1000) {
		srcs, err := st.SourcesByNum(ctx, some)
		if err != nil {
			return false, err
		}
		for i, src := range srcs {
			there[some[i]] = src != nil
		}
	}
	for s := range v.facts {
		if !there[s.source] || !there[s.beside] {
			delete(v.facts, s)
			found = true
		}
	}
	return found, nil
}

// ForgetRestored removes the records of restored facts whose versions were deleted.
func ForgetRestored(ctx context.Context, st backend.Store) error {
	return cas.Retry(ctx, func() error {
		v, err := readRevived(ctx, st)
		if err != nil {
			return err
		}
		if found, err := v.forget(ctx, st); err != nil || !found {
			return err
		}
		return v.store(ctx, st)
	})
}

// statedBy returns a hash of what a relation says.
func statedBy(rel *backend.Relation) uint64 {
	h := fnv.New64a()
	for _, s := range [...]string{rel.FromKey, rel.Predicate, rel.ToKey, rel.Object} {
		_, _ = h.Write([]byte(s))
		_, _ = h.Write([]byte{0})
	}
	return h.Sum64()
}

// restoredAt returns when a fact was last restored; zero if never.
func (r *Reader) restoredAt(rel *backend.Relation) (at time.Time) {
	if !r.revived.sources[rel.Source] {
		return at
	}
	said := statedBy(rel)
	for s, t := range r.revived.facts {
		if s.source == rel.Source && s.said == said && t.After(at) {
			at = t
		}
	}
	return at
}

// RestoreFact makes a fact, given by the number of its relation, hold beside the statements that retire it now.
// Later statements may retire it again. The restoration lasts as long as the version of the fact and that of the retiring statement.
// It returns [backend.ErrNotFound] if the partition has no such fact, and [ErrHolds] if nothing retires the fact.
func RestoreFact(ctx context.Context, st backend.Store, part backend.Partition, num int64) error {
	return changeFact(ctx, st, part, num, func(r *Reader, rel *backend.Relation) error {
		if rel.SupersededBy == 0 {
			return ErrHolds
		}
		if _, err := r.revived.forget(ctx, st); err != nil {
			return err
		}
		said, now := statedBy(rel), time.Now()
		for rel.SupersededBy != 0 {
			by, err := st.Relations(ctx, backend.RelationQuery{Part: part, After: rel.SupersededBy - 1, AllTime: true, Limit: 1})
			if err != nil {
				return err
			}
			s := standing{source: rel.Source, said: said}
			if len(by) > 0 && by[0].Num == rel.SupersededBy {
				s.beside = by[0].Source
			}
			if _, again := r.revived.facts[s]; s.beside == 0 || again { // the fact changed meanwhile
				return backend.ErrConflict
			}
			if len(r.revived.facts) == maxRestored {
				return ErrTooMany
			}
			r.revived.add(s, now)
			if rel, err = r.relation(part, num); err != nil {
				return err
			}
		}
		return nil
	})
}

// RetireFact undoes [RestoreFact]: what retired the fact does so again. It returns [ErrNotRestored] if the fact was not restored.
func RetireFact(ctx context.Context, st backend.Store, part backend.Partition, num int64) error {
	return changeFact(ctx, st, part, num, func(r *Reader, rel *backend.Relation) error {
		said, n := statedBy(rel), len(r.revived.facts)
		for s := range r.revived.facts {
			if s.source == rel.Source && s.said == said {
				delete(r.revived.facts, s)
			}
		}
		if len(r.revived.facts) == n {
			return ErrNotRestored
		}
		return nil
	})
}

// changeFact calls f with a fact and stores r.revived as f leaves it.
func changeFact(ctx context.Context, st backend.Store, part backend.Partition, num int64, f func(r *Reader, rel *backend.Relation) error) error {
	return cas.Retry(ctx, func() error {
		r := NewReader(ctx, st, time.Now(), backend.Filter{}, nil)
		defer r.Release()
		rel, err := r.relation(part, num)
		if err != nil {
			return err
		}
		if err := f(r, rel); err != nil {
			return err
		}
		return r.revived.store(ctx, st)
	})
}

// relation reads a relation as it is believed. It returns [backend.ErrNotFound] if the partition has none with this number.
func (r *Reader) relation(part backend.Partition, num int64) (*backend.Relation, error) {
	rels, _, _, err := r.Relations(backend.RelationQuery{Part: part, After: num - 1, AllTime: true, Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(rels) == 0 || rels[0].Num != num || rels[0].Retracts {
		return nil, backend.ErrNotFound
	}
	return rels[0], nil
}

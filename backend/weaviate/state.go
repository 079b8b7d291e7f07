package weaviate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/weaviate/weaviate/entities/models"

	"github.com/contextmem/contextmem/backend"
)

// state is what a process says of how far it has applied the feed of a workspace. It stands in the cluster beside the
// chunks, an object for each process.
//
// A cluster has no transactions, and several processes may apply the same part of the feed at once. Applying it again is
// harmless, so long as whoever stores something also applies what comes later in the feed. So a process says what it is
// about to write before it writes it. What others have applied it takes for granted only where it has itself written nothing
// meanwhile; else it applies as much as they may have. One that died while it wrote has left an intent beyond what it finished:
// whoever opens the workspace next begins where that one had finished.
//
// Each of its numbers stands with the epoch of that change: together they name a history.
type state struct {
	Process string `json:"p"`
	Epoch   uint64 `json:"e"`  // of Seq
	Seq     uint64 `json:"s"`  // everything up to it is there
	Intent  uint64 `json:"i"`  // something up to it may be there
	Meant   uint64 `json:"ie"` // epoch of Intent
	Whole   uint64 `json:"w"`  // everything up to it is on all replicas
	WholeIn uint64 `json:"we"` // epoch of Whole
	Apart   bool   `json:"a"`  // the epochs are told apart; else an earlier release said this
	Dims    []int  `json:"d"`  // lengths of vectors that it knows of
	Content uint64 `json:"g"`  // generation of the content that it speaks of
}

// point is a change, by its number, and its epoch; 0: not known.
type point struct{ seq, epoch uint64 }

func (s *state) at() point       { return point{s.Seq, s.Epoch} }
func (s *state) intends() point  { return point{s.Intent, s.Meant} }
func (s *state) everyone() point { return point{s.Whole, s.WholeIn} }

// intend says that something up to p may be there. Less than was said before changes nothing.
func (s *state) intend(p point) {
	if p.seq >= s.Intent {
		s.Intent, s.Meant = p.seq, p.epoch
	}
}

// finish says that everything up to p is there. What it had meant to write beyond may be there by halves.
func (s *state) finish(p, whole point) {
	if p.seq >= s.Seq {
		s.Seq, s.Epoch = p.seq, p.epoch
	}
	s.intend(s.at())
	s.Whole, s.WholeIn = whole.seq, whole.epoch
}

// tell finds out the epochs of what an earlier release said: there is one, of what it meant to write or had finished.
func (s *state) tell() {
	if s.Apart {
		return
	}
	s.Apart, s.Meant = true, s.Epoch
	if s.Intent > s.Seq {
		s.Epoch = 0
	}
	if s.Whole == s.Seq {
		s.WholeIn = s.Epoch
	}
}

// spaceState is the space of states.
const spaceState = "state"

// generation names the object whose Epoch changes when the content of a tenant is deleted.
const generation = "generation"

// states reads what processes say.
func (x *index) states(ctx context.Context) (out []state, gen uint64, err error) {
	q := ask{collection: x.x.schema.chunks(), tenant: x.uid, where: equal(propSpace, spaceState), limit: most, fields: propBag}
	found, err := x.x.cluster.get(ctx, route{only: x.short.node()}, q)
	if err != nil {
		return nil, 0, err
	}
	var all []state
	for _, o := range found {
		var s state
		switch err := json.Unmarshal([]byte(o.text(propBag)), &s); {
		case err != nil:
			return nil, 0, fmt.Errorf("weaviate: a state cannot be read: %w", backend.ErrCorrupt)
		case s.Process == generation:
			gen = s.Epoch
		default:
			s.tell()
			x.x.schema.learn(s.Dims)
			all = append(all, s)
		}
	}
	for _, s := range all {
		if s.Content == gen { // else it is of a process that has not heard that all was deleted
			out = append(out, s)
		}
	}
	return out, gen, nil
}

// recover finds out where to begin.
func (x *index) recover(ctx context.Context) error {
	all, gen, err := x.states(ctx)
	if err != nil {
		return err
	}
	x.generation = gen
	x.met = all
	var least, own point
	for _, s := range all {
		if s.Seq >= least.seq {
			least = s.at()
		}
		x.alone = max(x.alone, s.Intent)
		if s.Process == x.x.process {
			own = s.intends() // what it has itself left by halves stays said until it is done
		}
	}
	whole := true
	lower := func(p point) {
		if whole = false; p.seq <= least.seq {
			least = p
		}
	}
	for _, s := range all {
		if s.Intent > s.Seq {
			lower(s.at())
		}
		if s.Whole < s.Seq {
			lower(s.everyone())
		}
	}
	if whole {
		x.alone = 0
	}
	x.anew = x.alone
	x.applied.Store(least.seq)
	x.epoch.Store(least.epoch)
	x.said.intend(own)
	x.said.finish(least, least)
	return nil
}

// SameHistory implements [backend.HistoryTeller]: it asks of all that processes had applied, or meant to, when the index was opened.
func (x *index) SameHistory(last uint64, of backend.Epochs) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.history = of
	var greatest uint64
	for _, s := range x.met {
		greatest = max(greatest, s.Seq, s.Intent)
	}
	for _, s := range x.met {
		for _, p := range []point{s.at(), s.intends()} {
			if p.seq == 0 {
				continue
			}
			epoch := of.EpochOf(p.seq)
			tells := p.seq == greatest || p.epoch != 0 && epoch != 0 // else one of them is too old for that
			if p.seq > last || tells && p.epoch != epoch {
				return false
			}
		}
	}
	return true
}

// follows reports whether what a process says is of the history that this one follows.
func (x *index) follows(p point) bool {
	if x.history == nil {
		return p.epoch == x.next.Load()
	}
	return p.epoch == x.history.EpochOf(p.seq)
}

// errReset says that another process has deleted the content of the tenant.
var errReset = errors.New("weaviate: another process builds the index anew")

// hear reads what other processes say, and returns up to where they have applied the same feed, on all replicas.
func (x *index) hear(ctx context.Context) (done uint64, err error) {
	all, gen, err := x.states(ctx)
	if err != nil {
		return 0, err
	}
	if gen != x.generation {
		x.generation, x.alone, x.wrote = gen, 0, false
		x.stats.forget()
		x.short.clear()
		x.said, x.met = state{Process: x.x.process}, nil
		x.applied.Store(0)
		x.epoch.Store(0)
		return 0, fmt.Errorf("%w: %w", errReset, backend.ErrUnavailable)
	}
	for _, s := range all {
		if s.Process == x.x.process {
			continue
		}
		if x.wrote {
			x.alone = max(x.alone, s.Intent, s.Seq)
		}
		if x.follows(s.everyone()) {
			done = max(done, s.Whole) // what not all replicas have this process might not find
		}
	}
	x.wrote = false
	return done, nil
}

// say stores what this process says of itself.
func (x *index) say(ctx context.Context, to target, s state) error {
	s.Process, s.Apart, s.Dims, s.Content = x.x.process, true, x.x.schema.dims(), x.generation
	if err := x.x.batches.put(ctx, to, []stored{s.object(x.x.schema.chunks(), x.uid)}); err != nil {
		return err
	}
	x.said = s
	return nil
}

// forget deletes the content of the tenant.
func (x *index) forget(ctx context.Context) error {
	err := x.deleteAll(ctx)
	if errors.Is(err, errShort) {
		return fmt.Errorf("weaviate: not all replicas can be reached: %w", backend.ErrUnavailable)
	}
	return err
}

func (x *index) deleteAll(ctx context.Context) error {
	to := target{level: levelAll} // as long as it takes: nothing may be left anywhere
	for _, collection := range x.x.schema.all() {
		there, err := x.x.schema.knows(ctx, collection, x.uid)
		if err != nil {
			return err
		}
		if !there {
			continue
		}
		// A filter that everything passes: every object has a space.
		if err := x.x.batches.remove(ctx, to, collection, x.uid, where{op: "Like", path: propSpace, texts: []string{"*"}}); err != nil {
			return err
		}
	}
	x.generation = rand.Uint64()
	mark := state{Process: generation, Epoch: x.generation}
	if err := x.x.batches.put(ctx, to, []stored{mark.object(x.x.schema.chunks(), x.uid)}); err != nil {
		return err
	}
	x.short.clear()
	x.alone, x.anew, x.wrote, x.said, x.met = 0, 0, false, state{Process: x.x.process}, nil
	return nil
}

// object is the state as the cluster keeps it.
func (s *state) object(collection, tenant string) stored {
	text, _ := json.Marshal(s) // never fails
	o := newObject(collection, tenant, "state", s.Process)
	o.Properties = map[string]any{propSpace: spaceState, propBag: string(text)}
	return stored{o, len(text) + objectBytes}
}

// objectBytes is about what an object takes in a request beside its texts.
const objectBytes = 400

func newObject(collection, tenant, kind, name string) *models.Object {
	return &models.Object{Class: collection, Tenant: tenant, ID: uuidOf(kind, name)}
}

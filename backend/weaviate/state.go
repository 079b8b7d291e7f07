package weaviate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

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
//
// A state is stored in a slot. Where nobody answered, the cluster may store it late, over what was said since: the next ones go to another
// slot. The one with the greatest version counts.
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
	Version uint64 `json:"v"`  // grows whenever the process says something; 0: an earlier release said this
	Through string `json:"n"`  // address of the node that has everything up to Seq; everyNode: all have; "": an earlier release said this

	Taken map[string]uint64 `json:"t,omitempty"` // versions of other processes up to which this one has done what they had left by halves
}

// everyNode says that all replicas have something.
const everyNode = "*"

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

// spoken is what processes say.
type spoken struct {
	all   []state           // of the content that is there, but what others have done for those that ended
	gen   state             // of the content
	own   uint64            // greatest version that this process has said
	slots int               // that this process has used
	taken map[string]uint64 // what is done of what others had left by halves, see state
}

// byHalves reports whether something was begun and not ended, or may be carried out late.
func (s *state) byHalves() bool { return s.Intent > s.Seq || s.Whole < s.Seq }

// states reads what processes say, at as many nodes as it takes that one of them has what a majority of replicas was told.
func (x *index) states(ctx context.Context) (out spoken, err error) {
	a := ask{collection: x.x.schema.chunks(), tenant: x.uid, where: equal(propSpace, spaceState), limit: most, fields: propBag}
	var answers [][]object
	c, at := x.x.cluster, a.at()
	err = c.until(ctx, "read states", route{}, func() (bool, error) {
		answers, err = several(ctx, c, route{timeout: searchTimeout}, x.x.schema.informed(), at)
		return false, err
	})
	if err != nil {
		return spoken{}, err
	}
	newest, slots := map[string]state{}, map[string]bool{}
	for _, o := range slices.Concat(answers...) {
		var s state
		if json.Unmarshal([]byte(o.text(propBag)), &s) != nil {
			return spoken{}, fmt.Errorf("weaviate: a state cannot be read: %w", backend.ErrCorrupt)
		}
		if s.Process == x.x.process {
			slots[o.text(propChunk)] = true
		}
		old, known := newest[s.Process]
		if !known || s.Version > old.Version || s.Version == old.Version && s.Intent > old.Intent {
			newest[s.Process] = s
		}
	}
	out.gen, out.own, out.slots = newest[generation], newest[x.x.process].Version, len(slots)
	delete(newest, generation)
	taken := map[string]uint64{}
	for _, s := range newest {
		for process, version := range s.Taken {
			if s.Content == out.gen.Epoch {
				taken[process] = max(taken[process], version)
			}
		}
	}
	out.taken = taken
	for _, process := range slices.Sorted(maps.Keys(newest)) {
		s := newest[process]
		x.x.schema.learn(s.Dims)
		if s.Content != out.gen.Epoch { // of a process that has not heard that all was deleted
			continue
		}
		if s.tell(); s.Version > 0 && s.byHalves() && taken[process] >= s.Version {
			continue
		}
		out.all = append(out.all, s)
	}
	return out, nil
}

// informed is how many nodes have to be asked so that one of them has what a majority of replicas was told, where all nodes are known.
func (s *collections) informed() int {
	return max(1, len(s.cluster.nodes)-s.replicas/2)
}

// recover finds out where to begin.
func (x *index) recover(ctx context.Context) error {
	found, err := x.states(ctx)
	if err != nil {
		return err
	}
	x.met = found.all
	x.begin(found)
	return nil
}

// begin begins where everything is there that processes have said.
func (x *index) begin(found spoken) {
	x.generation, x.version = found.gen, max(x.version, found.own)
	var least, own point
	for _, s := range found.all {
		if s.Seq >= least.seq && (x.history == nil || x.follows(s.at())) {
			least = s.at()
		}
		x.alone = max(x.alone, s.Intent)
		if s.Process == x.x.process {
			own = s.intends() // what it has itself left by halves stays said until it is done
		}
	}
	if len(found.taken) > 0 {
		x.said.Taken = found.taken
	}
	x.said.intend(own)
	least, halves := x.takeOver(found.all, least)
	if !halves {
		x.alone = 0
	} else {
		x.short.doubt() // what was under way may still be
		for range found.slots {
			x.slots = append(x.slots, time.Now().Add(x.x.late))
		}
	}
	x.anew = x.alone
	x.applied.Store(least.seq)
	x.epoch.Store(least.epoch)
	x.said.Through = everyNode
	x.said.finish(least, least)
}

// takeOver returns where to begin so that all is done that processes have left by halves, and whether there is something.
func (x *index) takeOver(all []state, from point) (_ point, halves bool) {
	lower := func(s *state, p point) {
		if halves = true; p.seq <= from.seq {
			from = p
		}
		if s.Process != x.x.process {
			x.owes.add(s)
		}
	}
	for i := range all {
		s := &all[i]
		if s.Intent > s.Seq {
			lower(s, s.at())
		}
		if s.Whole < s.Seq {
			lower(s, s.everyone())
		}
	}
	return from, halves
}

// owed is what this process does for others that have ended.
type owed map[string]owing

type owing struct{ version, upto uint64 }

func (o *owed) add(s *state) {
	if s.Version == 0 { // of an earlier release: nothing tells whether it has gone on
		return
	}
	if *o == nil {
		*o = owed{}
	}
	(*o)[s.Process] = owing{s.Version, max(s.Intent, s.Seq)}
}

// settle says in a state what is done when all replicas have everything up to a point.
func (o *owed) settle(s *state, whole point) {
	for process, of := range *o {
		if of.upto > whole.seq {
			continue
		}
		s.Taken = maps.Clone(s.Taken)
		if s.Taken == nil {
			s.Taken = map[string]uint64{}
		}
		s.Taken[process] = max(s.Taken[process], of.version)
		delete(*o, process)
	}
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

// same begins anew, and says so, where another process has deleted the content of the tenant.
func (x *index) same(found spoken) error {
	if found.gen.Epoch == x.generation.Epoch {
		return nil
	}
	x.generation, x.version, x.alone, x.anew, x.wrote = found.gen, max(x.version, found.own), 0, 0, false
	x.stats.forget()
	x.short.clear()
	x.guide.Store(nil)
	x.said, x.met, x.owes, x.others = state{Process: x.x.process}, nil, nil, nil
	x.applied.Store(0)
	x.epoch.Store(0)
	return fmt.Errorf("%w: %w", errReset, backend.ErrUnavailable)
}

// hear reads what other processes say, and returns up to where they have applied the same feed, on all replicas.
func (x *index) hear(ctx context.Context) (done uint64, err error) {
	found, err := x.states(ctx)
	if err != nil {
		return 0, err
	}
	if err := x.same(found); err != nil {
		return 0, err
	}
	for _, s := range found.all {
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
	x.note(found.all)
	return done, nil
}

// beyond returns the last change that another process has stored something of, or was about to, and notes that this one has to apply as much itself.
func (x *index) beyond(ctx context.Context) (out point, err error) {
	found, err := x.states(ctx)
	if err != nil {
		return point{}, err
	}
	for _, s := range found.all {
		if s.Process == x.x.process {
			continue
		}
		if p := s.intends(); p.seq > out.seq {
			out = p
		}
	}
	x.alone = max(x.alone, out.seq)
	x.wrote = false
	x.note(found.all)
	return out, nil
}

// say stores what this process says of itself.
func (x *index) say(ctx context.Context, to target, s state) error {
	s.Process, s.Apart, s.Dims, s.Content = x.x.process, true, x.x.schema.dims(), x.generation.Epoch
	x.version++
	s.Version = x.version
	slot := x.slot()
	to.doubt, to.unanswered = nil, func() { x.slots[slot] = time.Now().Add(x.x.late) }
	if err := x.x.batches.put(ctx, to, []stored{s.object(x.x.schema.chunks(), x.uid, slot)}); err != nil {
		return err
	}
	x.said = s
	return nil
}

// mostSlots bounds the slots of a process: then the oldest is used again.
const mostSlots = 64

// slot returns the place that a state goes to: nothing is under way that may be stored there late.
func (x *index) slot() int {
	now, oldest := time.Now(), 0
	for i, until := range x.slots {
		if now.After(until) {
			return i
		}
		if until.Before(x.slots[oldest]) {
			oldest = i
		}
	}
	if len(x.slots) == mostSlots {
		return oldest
	}
	x.slots = append(x.slots, time.Time{})
	return len(x.slots) - 1
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
	to := target{level: levelAll, doubt: x.short.doubt} // as long as it takes: nothing may be left anywhere
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
	mark := state{Process: generation, Epoch: rand.Uint64(), Version: x.generation.Version + 1}
	if err := x.x.batches.put(ctx, to, []stored{mark.object(x.x.schema.chunks(), x.uid, 0)}); err != nil {
		return err
	}
	x.generation = mark
	x.short.clear()
	x.alone, x.anew, x.wrote, x.said, x.met, x.owes, x.others = 0, 0, false, state{Process: x.x.process}, nil, nil, nil
	return nil
}

// object is the state as the cluster keeps it.
func (s *state) object(collection, tenant string, slot int) stored {
	text, _ := json.Marshal(s) // never fails
	name := s.Process
	if slot > 0 {
		name += "#" + strconv.Itoa(slot)
	}
	o := newObject(collection, tenant, "state", name)
	o.Properties = map[string]any{propSpace: spaceState, propBag: string(text), propChunk: number(int64(slot))}
	return stored{o, len(text) + objectBytes}
}

// objectBytes is about what an object takes in a request beside its texts.
const objectBytes = 400

func newObject(collection, tenant, kind, name string) *models.Object {
	return &models.Object{Class: collection, Tenant: tenant, ID: uuidOf(kind, name)}
}

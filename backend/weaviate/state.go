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

// state records how far a process has applied the change feed of a workspace. Each process stores its state in the cluster as an object beside the
// chunks.
//
// A cluster has no transactions, and several processes may apply the same part of the feed concurrently. Applying changes again is harmless as long
// as the process that stores a change also applies the later ones. So a process stores the last change that it is about to write, its intent,
// before it writes. It skips changes that other processes have applied only if it has written nothing in the meantime. Otherwise it applies as many
// changes as they may have applied. A process that died during a write leaves an intent greater than the last change it finished. The next process
// that opens the workspace begins at that last finished change.
//
// Each sequence number is stored with the epoch of its change. Both together identify a history of the store.
//
// A state is stored in a slot. If a write gets no response, the cluster may still carry it out later and overwrite a newer state. So the next
// states go to another slot. The state with the greatest version counts.
type state struct {
	Process string `json:"p"`
	Epoch   uint64 `json:"e"`  // epoch of Seq
	Seq     uint64 `json:"s"`  // all changes up to it are stored
	Intent  uint64 `json:"i"`  // changes up to it may be stored, completely or partly
	Meant   uint64 `json:"ie"` // epoch of Intent
	Whole   uint64 `json:"w"`  // all changes up to it are stored on all replicas
	WholeIn uint64 `json:"we"` // epoch of Whole
	Apart   bool   `json:"a"`  // whether each number has its own epoch; false: stored by an earlier release
	Dims    []int  `json:"d"`  // vector lengths that the process knows of
	Content uint64 `json:"g"`  // generation of the content that the state describes
	Version uint64 `json:"v"`  // grows with every state that the process stores; 0: stored by an earlier release
	Through string `json:"n"`  // address of the only node that has all changes up to Seq; everyNode: all nodes have them; "": stored by an earlier release

	Taken map[string]uint64 `json:"t,omitempty"` // by process: version of the state whose unfinished work this process has completed
}

// everyNode is the value of Through if all replicas have the changes.
const everyNode = "*"

// point identifies a change by its sequence number and epoch. Epoch 0: unknown.
type point struct{ seq, epoch uint64 }

func (s *state) at() point       { return point{s.Seq, s.Epoch} }
func (s *state) intends() point  { return point{s.Intent, s.Meant} }
func (s *state) everyone() point { return point{s.Whole, s.WholeIn} }

// intend records that changes up to p may be stored. It ignores points before the current intent.
func (s *state) intend(p point) {
	if p.seq >= s.Intent {
		s.Intent, s.Meant = p.seq, p.epoch
	}
}

// finish records that all changes up to p are stored, and those up to whole on all replicas. It keeps an earlier intent beyond p.
func (s *state) finish(p, whole point) {
	if p.seq >= s.Seq {
		s.Seq, s.Epoch = p.seq, p.epoch
	}
	s.intend(s.at())
	s.Whole, s.WholeIn = whole.seq, whole.epoch
}

// tell derives the separate epochs of a state of an earlier release. Its only epoch is that of its intent, or of its last finished change if there
// is no intent.
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

// generation is the name of the object whose Epoch changes when the content of the tenant is deleted.
const generation = "generation"

// spoken is the states of all processes, as read from the cluster.
type spoken struct {
	all   []state           // states about the current content, without those whose unfinished work others have completed
	gen   state             // generation of the content
	own   uint64            // greatest version that this process has stored
	slots int               // number of slots that this process has used
	taken map[string]uint64 // unfinished work that has been completed; see state.Taken
}

// byHalves reports whether the process has unfinished work: a write was begun and not finished, or not all replicas are
// known to have it.
func (s *state) byHalves() bool { return s.Intent > s.Seq || s.Whole < s.Seq }

// states reads the states of all processes. It asks enough nodes for one of them to have every write that a majority of replicas has confirmed.
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
		if s.Content != out.gen.Epoch { // the process has not noticed yet that the content was deleted
			continue
		}
		if s.tell(); s.Version > 0 && s.byHalves() && taken[process] >= s.Version {
			continue
		}
		out.all = append(out.all, s)
	}
	return out, nil
}

// informed returns how many nodes to ask so that one has every write that a majority of replicas confirmed. It assumes that all nodes are known.
func (s *collections) informed() int {
	return max(1, len(s.cluster.nodes)-s.replicas/2)
}

// recover reads the states of all processes and determines the change to begin at.
func (x *index) recover(ctx context.Context) error {
	found, err := x.states(ctx)
	if err != nil {
		return err
	}
	x.met = found.all
	x.begin(found)
	return nil
}

// begin sets the position to the last change that any process of the same history has finished, or to an earlier one if a process left work
// unfinished.
func (x *index) begin(found spoken) {
	x.generation, x.version = found.gen, max(x.version, found.own)
	var least, own point
	for _, s := range found.all {
		if s.Seq >= least.seq && (x.history == nil || x.follows(s.at())) {
			least = s.at()
		}
		x.alone = max(x.alone, s.Intent)
		if s.Process == x.x.process {
			own = s.intends() // the intent of this process's own unfinished work remains until the work is done
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
		x.short.doubt() // pending writes may still be carried out
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

// takeOver returns the change to begin at so that the unfinished work of all processes is done again: at most from. halves
// reports whether there is any. takeOver adds the work of other processes to x.owes.
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

// owed is the unfinished work of ended processes that this process has taken over, by process.
type owed map[string]owing

type owing struct{ version, upto uint64 }

func (o *owed) add(s *state) {
	if s.Version == 0 { // an earlier release stored it, so it is unknown whether the process has continued
		return
	}
	if *o == nil {
		*o = owed{}
	}
	(*o)[s.Process] = owing{s.Version, max(s.Intent, s.Seq)}
}

// settle records in s the work that is complete once all replicas have every change up to whole, and removes it from o.
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

// SameHistory implements [backend.HistoryTeller]. It compares every change that processes had applied, or intended to
// apply, when the index was opened.
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
			tells := p.seq == greatest || p.epoch != 0 && epoch != 0 // false: one of the epochs is too old to compare
			if p.seq > last || tells && p.epoch != epoch {
				return false
			}
		}
	}
	return true
}

// follows reports whether p is in the history that this process follows.
func (x *index) follows(p point) bool {
	if x.history == nil {
		return p.epoch == x.next.Load()
	}
	return p.epoch == x.history.EpochOf(p.seq)
}

// errReset is returned after another process has deleted the content of the tenant.
var errReset = errors.New("weaviate: another process builds the index anew")

// same returns an error that wraps errReset and [backend.ErrUnavailable] if another process has deleted the content of the tenant. It then resets
// this process's position to 0.
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

// hear reads the states of other processes. It returns the last change up to which another process has applied the same feed on all replicas.
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
			done = max(done, s.Whole) // this process might not find changes that some replicas lack
		}
	}
	x.wrote = false
	x.note(found.all)
	return done, nil
}

// beyond returns the last change that another process has stored in part, or intended to store. This process then has to apply the changes up to it
// itself.
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

// say stores s as the state of this process, with the next version.
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

// mostSlots is the maximum number of slots of a process. Beyond that the slot with the earliest deadline is reused.
const mostSlots = 64

// slot returns the slot for the next state: one to which no late write can arrive, if there is one.
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

// forget deletes the content of the tenant. It returns [backend.ErrUnavailable] if not all replicas can be reached.
func (x *index) forget(ctx context.Context) error {
	err := x.deleteAll(ctx)
	if errors.Is(err, errShort) {
		return fmt.Errorf("weaviate: not all replicas can be reached: %w", backend.ErrUnavailable)
	}
	return err
}

func (x *index) deleteAll(ctx context.Context) error {
	to := target{level: levelAll, doubt: x.short.doubt} // no timeout: no replica may keep anything
	for _, collection := range x.x.schema.all() {
		there, err := x.x.schema.knows(ctx, collection, x.uid)
		if err != nil {
			return err
		}
		if !there {
			continue
		}
		// A filter that matches everything, since every object has a space.
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

// object returns the state as an object of the cluster, for a slot.
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

// objectBytes is the approximate size of an object in a request, without its texts.
const objectBytes = 400

func newObject(collection, tenant, kind, name string) *models.Object {
	return &models.Object{Class: collection, Tenant: tenant, ID: uuidOf(kind, name)}
}

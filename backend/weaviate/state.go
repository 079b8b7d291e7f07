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
	Process         string `json:"p"`
	Epoch           uint64 `json:"e"`  // epoch of Seq
	Seq             uint64 `json:"s"`  // all changes up to it are stored
	Intent          uint64 `json:"i"`  // changes up to it may be stored, completely or partly
	IntentEpoch     uint64 `json:"ie"` // epoch of Intent
	Replicated      uint64 `json:"w"`  // all changes up to it are stored on all replicas
	ReplicatedEpoch uint64 `json:"we"` // epoch of Replicated
	SeparateEpochs  bool   `json:"a"`  // whether each number has its own epoch; false: stored by an earlier release
	Dims            []int  `json:"d"`  // vector lengths that the process knows of
	Generation      uint64 `json:"g"`  // generation of the content that the state describes
	Version         uint64 `json:"v"`  // grows with every state that the process stores; 0: stored by an earlier release
	Primary         string `json:"n"`  // address of the only node that has all changes up to Seq; allNodes: all nodes have them; "": stored by an earlier release

	Rewrites  uint64            `json:"r,omitempty"` // number of rewrites that the process has made; 0: stored by an earlier release
	Ended     bool              `json:"x,omitempty"` // whether the process leaves its unfinished work to the leader; see confess
	Completed map[string]uint64 `json:"t,omitempty"` // by process: version of the state whose unfinished work this process has completed
}

// allNodes is the value of Primary if all replicas have the changes.
const allNodes = "*"

// point identifies a change by its sequence number and epoch. Epoch 0: unknown.
type point struct{ seq, epoch uint64 }

func (s *state) finishedPoint() point   { return point{s.Seq, s.Epoch} }
func (s *state) intentPoint() point     { return point{s.Intent, s.IntentEpoch} }
func (s *state) replicatedPoint() point { return point{s.Replicated, s.ReplicatedEpoch} }

// intend records that changes up to p may be stored. It ignores points before the current intent.
func (s *state) intend(p point) {
	if p.seq >= s.Intent {
		s.Intent, s.IntentEpoch = p.seq, p.epoch
	}
}

// finish records that all changes up to p are stored, and those up to whole on all replicas. It keeps an earlier intent beyond p.
func (s *state) finish(p, whole point) {
	if p.seq >= s.Seq {
		s.Seq, s.Epoch = p.seq, p.epoch
	}
	s.intend(s.finishedPoint())
	s.Replicated, s.ReplicatedEpoch = whole.seq, whole.epoch
}

// splitEpochs derives the separate epochs of a state of an earlier release. Its only epoch is that of its intent, or of its last finished change if there
// is no intent.
func (s *state) splitEpochs() {
	if s.SeparateEpochs {
		return
	}
	s.SeparateEpochs, s.IntentEpoch = true, s.Epoch
	if s.Intent > s.Seq {
		s.Epoch = 0
	}
	if s.Replicated == s.Seq {
		s.ReplicatedEpoch = s.Epoch
	}
}

// spaceState is the space of states.
const spaceState = "state"

// generation is the name of the object whose Epoch changes when the content of the tenant is deleted.
const generation = "generation"

// processStates is the states of all processes, as read from the cluster.
type processStates struct {
	all        []state           // states about the current content, without those whose unfinished work others have completed
	generation state             // generation of the content
	ownVersion uint64            // greatest version that this process has stored
	slots      int               // number of slots that this process has used
	completed  map[string]uint64 // unfinished work that has been completed; see state.Completed
}

// unfinished reports whether the process has unfinished work: a write was begun and not finished, or not all replicas are
// known to have it.
func (s *state) unfinished() bool { return s.Intent > s.Seq || s.Replicated < s.Seq }

// states reads the states of all processes. It asks enough nodes for one of them to have every write that a majority of replicas has confirmed.
func (x *index) states(ctx context.Context) (out processStates, err error) {
	a := searchRequest{collection: x.x.schema.chunks(), tenant: x.uid, where: equal(propSpace, spaceState), limit: maxResults, fields: propBag}
	var answers [][]object
	began := time.Now()
	c, at := x.x.cluster, a.onNode()
	err = c.until(ctx, "read states", route{}, func() (bool, error) {
		answers, err = askNodes(ctx, c, route{timeout: searchTimeout}, x.x.schema.readQuorum(), at)
		return false, err
	})
	if err != nil {
		return processStates{}, err
	}
	newest, slots := map[string]state{}, map[string]bool{}
	for _, o := range slices.Concat(answers...) {
		var s state
		if json.Unmarshal([]byte(o.text(propBag)), &s) != nil {
			return processStates{}, fmt.Errorf("weaviate: a state cannot be read: %w", backend.ErrCorrupt)
		}
		if s.Process == x.x.process {
			slots[o.text(propChunk)] = true
		}
		old, known := newest[s.Process]
		if !known || s.Version > old.Version || s.Version == old.Version && s.Intent > old.Intent {
			newest[s.Process] = s
		}
	}
	x.marks.set(x.x.process, newest, began)
	out.generation, out.ownVersion, out.slots = newest[generation], newest[x.x.process].Version, len(slots)
	delete(newest, generation)
	taken := map[string]uint64{}
	for _, s := range newest {
		for process, version := range s.Completed {
			if s.Generation == out.generation.Epoch {
				taken[process] = max(taken[process], version)
			}
		}
	}
	out.completed = taken
	for _, process := range slices.Sorted(maps.Keys(newest)) {
		s := newest[process]
		x.x.schema.addDims(s.Dims)
		if s.Generation != out.generation.Epoch { // the process has not noticed yet that the content was deleted
			continue
		}
		if s.splitEpochs(); s.Version > 0 && s.unfinished() && taken[process] >= s.Version {
			continue
		}
		out.all = append(out.all, s)
	}
	return out, nil
}

// readQuorum returns how many nodes to ask so that one has every write that a majority of replicas confirmed. It assumes that all nodes are known.
func (s *collections) readQuorum() int {
	return max(1, len(s.cluster.nodes)-s.replicas/2)
}

// recover reads the states of all processes and determines the change to begin at.
func (x *index) recover(ctx context.Context) error {
	found, err := x.states(ctx)
	if err != nil {
		return err
	}
	x.statesAtOpen = found.all
	x.resumeFrom(found)
	return nil
}

// resumeFrom sets the position to the last change that any process of the same history has finished, or to an earlier one if a process left work
// unfinished.
func (x *index) resumeFrom(found processStates) {
	x.generation, x.version = found.generation, max(x.version, found.ownVersion)
	var least, own point
	for _, s := range found.all {
		if s.Seq >= least.seq && (x.history == nil || x.inHistory(s.finishedPoint())) {
			least = s.finishedPoint()
		}
		x.mustApplyTo = max(x.mustApplyTo, s.Intent)
		if s.Process == x.x.process {
			own = s.intentPoint() // the intent of this process's own unfinished work remains until the work is done
		}
	}
	if len(found.completed) > 0 {
		x.ownState.Completed = found.completed
	}
	x.ownState.intend(own)
	least, unfinished := x.takeOver(found.all, least)
	if !unfinished {
		x.mustApplyTo = 0
	} else {
		x.pending.markUnconfirmed() // pending writes may still be carried out
		for range found.slots {
			x.slots = append(x.slots, time.Now().Add(x.x.unconfirmedFor))
		}
	}
	x.deleteFirstTo = x.mustApplyTo
	x.rewindFrom.Store(0)
	x.applied.Store(least.seq)
	x.epoch.Store(least.epoch)
	x.ownState.Primary = allNodes
	x.ownState.finish(least, least)
}

// takeOver returns the change to begin at so that the unfinished work of all processes is done again: at most from. unfinished
// reports whether there is any. takeOver adds the work of other processes to x.takenOver.
func (x *index) takeOver(all []state, from point) (_ point, unfinished bool) {
	lower := func(s *state, p point) {
		if unfinished = true; p.seq <= from.seq {
			from = p
		}
		if s.Process != x.x.process {
			x.takenOver.add(s)
		}
	}
	for i := range all {
		s := &all[i]
		if s.Intent > s.Seq {
			lower(s, s.finishedPoint())
		}
		if s.Replicated < s.Seq {
			lower(s, s.replicatedPoint())
		}
	}
	return from, unfinished
}

// takenOver is the unfinished work of ended processes that this process has taken over, by process.
type takenOver map[string]takenWork

type takenWork struct{ version, upto uint64 }

func (o *takenOver) add(s *state) {
	if s.Version == 0 { // an earlier release stored it, so it is unknown whether the process has continued
		return
	}
	if *o == nil {
		*o = takenOver{}
	}
	(*o)[s.Process] = takenWork{s.Version, max(s.Intent, s.Seq)}
}

// markCompleted records in s the work that is complete once all replicas have every change up to whole, and removes it from o.
func (o *takenOver) markCompleted(s *state, whole point) {
	for process, of := range *o {
		if of.upto > whole.seq {
			continue
		}
		s.Completed = maps.Clone(s.Completed)
		if s.Completed == nil {
			s.Completed = map[string]uint64{}
		}
		s.Completed[process] = max(s.Completed[process], of.version)
		delete(*o, process)
	}
}

// SameHistory implements [backend.HistoryChecker]. It compares every change that processes had applied, or intended to
// apply, when the index was opened.
func (x *index) SameHistory(last uint64, of backend.Epochs) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.history = of
	var greatest uint64
	for _, s := range x.statesAtOpen {
		greatest = max(greatest, s.Seq, s.Intent)
	}
	for _, s := range x.statesAtOpen {
		for _, p := range []point{s.finishedPoint(), s.intentPoint()} {
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

// inHistory reports whether p is in the history that this process follows.
func (x *index) inHistory(p point) bool {
	if x.history == nil {
		return p.epoch == x.next.Load()
	}
	return p.epoch == x.history.EpochOf(p.seq)
}

// errReset is returned after another process has deleted the content of the tenant.
var errReset = errors.New("weaviate: another process builds the index anew")

// checkGeneration returns an error that wraps errReset and [backend.ErrUnavailable] if another process has deleted the content of the tenant. It then resets
// this process's position to 0.
func (x *index) checkGeneration(found processStates) error {
	if found.generation.Epoch == x.generation.Epoch {
		return nil
	}
	x.generation, x.version, x.mustApplyTo, x.storedTo, x.deleteFirstTo, x.wroteSinceRead = found.generation, max(x.version, found.ownVersion), 0, 0, 0, false
	x.forget()
	x.pending.clear()
	x.leaderPrimary.Store(nil)
	x.ownState, x.statesAtOpen, x.takenOver, x.unfinishedOthers = state{Process: x.x.process}, nil, nil, nil
	x.rewindFrom.Store(0)
	x.applied.Store(0)
	x.epoch.Store(0)
	return fmt.Errorf("%w: %w", errReset, backend.ErrUnavailable)
}

// readProgress reads the states of other processes. It returns the last change up to which another process has applied the same feed on all replicas.
func (x *index) readProgress(ctx context.Context) (done uint64, err error) {
	found, err := x.states(ctx)
	if err != nil {
		return 0, err
	}
	if err := x.checkGeneration(found); err != nil {
		return 0, err
	}
	for _, s := range found.all {
		if s.Process == x.x.process {
			continue
		}
		if x.wroteSinceRead {
			x.mustApplyTo = max(x.mustApplyTo, s.Intent, s.Seq)
		}
		if x.inHistory(s.replicatedPoint()) {
			done = max(done, s.Replicated) // this process might not find changes that some replicas lack
		}
	}
	x.wroteSinceRead = false
	x.noteUnfinished(found.all)
	return done, nil
}

// readIntents returns the last change that another process has stored in part, or intended to store. This process then has to apply the changes up to it
// itself.
func (x *index) readIntents(ctx context.Context) (out point, err error) {
	found, err := x.states(ctx)
	if err != nil {
		return point{}, err
	}
	for _, s := range found.all {
		if s.Process == x.x.process {
			continue
		}
		if p := s.intentPoint(); p.seq > out.seq {
			out = p
		}
	}
	x.mustApplyTo = max(x.mustApplyTo, out.seq)
	x.wroteSinceRead = false
	x.noteUnfinished(found.all)
	return out, nil
}

// storeState stores s as the state of this process, with the next version.
func (x *index) storeState(ctx context.Context, to target, s state) error {
	s.Process, s.SeparateEpochs, s.Dims, s.Generation = x.x.process, true, x.x.schema.dims(), x.generation.Epoch
	x.version++
	s.Version, s.Rewrites = x.version, x.rewritten
	slot := x.slot()
	to.onUnconfirmed, to.onNoResponse = nil, func() { x.slots[slot] = time.Now().Add(x.x.unconfirmedFor) }
	if err := x.x.batches.put(ctx, to, []stored{s.object(x.x.schema.chunks(), x.uid, slot)}); err != nil {
		return err
	}
	x.ownState = s
	return nil
}

// maxSlots is the maximum number of slots of a process. Beyond that the slot with the earliest deadline is reused.
const maxSlots = 64

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
	if len(x.slots) == maxSlots {
		return oldest
	}
	x.slots = append(x.slots, time.Time{})
	return len(x.slots) - 1
}

// deleteContent deletes the content of the tenant. It returns [backend.ErrUnavailable] if not all replicas can be reached.
func (x *index) deleteContent(ctx context.Context) error {
	err := x.deleteAll(ctx)
	if errors.Is(err, errShort) {
		return fmt.Errorf("weaviate: not all replicas can be reached: %w", backend.ErrUnavailable)
	}
	return err
}

func (x *index) deleteAll(ctx context.Context) error {
	to := target{level: levelAll, onUnconfirmed: x.pending.markUnconfirmed} // no timeout: no replica may keep anything
	for _, collection := range x.x.schema.all() {
		there, err := x.x.schema.tenantExists(ctx, collection, x.uid)
		if err != nil {
			return err
		}
		if !there {
			continue
		}
		if err := x.x.batches.remove(ctx, to, collection, x.uid, everything); err != nil {
			return err
		}
	}
	mark := state{Process: generation, Epoch: rand.Uint64(), Version: x.generation.Version + 1}
	if err := x.x.batches.put(ctx, to, []stored{mark.object(x.x.schema.chunks(), x.uid, 0)}); err != nil {
		return err
	}
	x.generation = mark
	x.pending.clear()
	x.mustApplyTo, x.storedTo, x.deleteFirstTo, x.wroteSinceRead, x.ownState, x.statesAtOpen, x.takenOver, x.unfinishedOthers = 0, 0, 0, false, state{Process: x.x.process}, nil, nil, nil
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
	// A node that writes a segment of deletions alone ranks wrongly from then on; see weighingOf. A process stores a state before what it
	// deletes and after it, and each has another word.
	o.Properties = map[string]any{propSpace: spaceState, propBag: string(text), propChunk: number(int64(slot)), propWords: wordOf(spaceState, number(int64(s.Version)))}
	return stored{o, len(text) + objectBytes}
}

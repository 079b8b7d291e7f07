package weaviate

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/go-openapi/strfmt"

	"github.com/contextmem/contextmem/backend"
)

// compareReplicas compares changes that are no longer unconfirmed with the content of each replica. It stores missing objects and
// deletes surplus ones. Once all replicas agree it records in the state of the process that they have the changes. Other
// changes may be applied meanwhile; sources that those modify are left to a later comparison.
func (x *index) compareReplicas(ctx context.Context) error {
	all, n, end, round, err := x.dueForComparison(ctx)
	if err != nil || n == 0 {
		return err
	}
	d := desired(all)
	wrong, err := x.compare(ctx, d, end.seq)
	if err != nil {
		return err
	}
	if len(wrong) > 0 {
		mended := 0
		for some := range slices.Chunk(slices.Sorted(maps.Keys(wrong)), repairVersions) {
			m, err := x.repairSome(ctx, d, wrong, some, round)
			if mended += m; err != nil {
				return err
			}
		}
		if mended > 0 {
			x.x.cluster.log.LogAttrs(ctx, slog.LevelWarn, "replicas of Weaviate lacked something or had too much", slog.String("uid", x.uid), slog.Int("sources", mended))
		}
		return nil // the next maintenance compares again
	}
	return x.confirmCompared(ctx, d, n, end, round)
}

// confirmCompared stores the tags and vectors in d again, which were not compared, and records that all replicas have the first n kept batches, of which end is the
// last change. It leaves out what changes have replaced since d was computed: those are kept, and compared later.
func (x *index) confirmCompared(ctx context.Context, d *content, n int, end point, round uint64) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.canRepairRound(round) {
		return nil
	}
	now := desired(x.pending.allChanges())
	maps.DeleteFunc(d.tags, func(source int64, c backend.Change) bool { return now.tags[source].Seq != c.Seq })
	maps.DeleteFunc(d.vectors, func(k laneKey, c backend.Change) bool { return now.vectors[k].Seq != c.Seq })
	to := x.toAllReplicas(nil)
	to.onUnconfirmed, to.timeout = x.pending.markAllUnconfirmed, healTimeout
	defer x.x.partitions.dropReadSince(x, time.Now())
	if len(d.tags)+len(d.vectors) > 0 {
		x.noteRewrite() // confirmReplicated tells the others
	}
	for _, c := range d.tags {
		if err := x.retag(ctx, to, &c); err != nil {
			return err
		}
	}
	for _, c := range d.vectors {
		if err := x.storeVectors(ctx, to, &c); err != nil {
			return err
		}
	}
	return x.confirmReplicated(ctx, n, end)
}

// dueForComparison returns pendingWrites.due and the round. n is 0 if this process may not compare now, because another one leads or not
// all nodes answer.
func (x *index) dueForComparison(ctx context.Context) (all []backend.Change, n int, end point, round uint64, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.mayRepair() || x.adopting() {
		return nil, 0, point{}, 0, nil
	}
	all, n, end, dropped := x.pending.due()
	if dropped {
		x.pending.clear()
		x.rewind(x.ownState.replicatedPoint(), x.ownState.Seq)
		return nil, 0, point{}, 0, nil
	}
	if !x.x.cluster.allReachable() {
		return nil, 0, point{}, 0, nil
	}
	if n == 0 && x.ownState.Replicated < x.ownState.Seq && x.applied.Load() >= x.ownState.Seq && x.pending.allConfirmed() {
		err = x.confirmReplicated(ctx, 0, x.ownState.finishedPoint())
	}
	return all, n, end, x.pending.currentRound(), err
}

// canRepairRound reports whether the kept changes are still those of a round and this process may repair replicas. The caller holds
// mu.
func (x *index) canRepairRound(round uint64) bool {
	return x.mayRepair() && x.pending.currentRound() == round && x.pending.primaryNode() == nil
}

// repairVersions is the number of versions repaired at a time.
const repairVersions = 8

// repairSome stores some of the wrong sources again. It skips sources that were changed after d was computed. mended is the
// number of sources stored.
func (x *index) repairSome(ctx context.Context, d *content, wrong map[int64]map[string][]strfmt.UUID, some []int64, round uint64) (mended int, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.canRepairRound(round) {
		return 0, nil
	}
	now, of := desired(x.pending.allChanges()), map[int64]map[string][]strfmt.UUID{}
	for _, source := range some {
		if now.touched[source] == d.touched[source] {
			of[source] = wrong[source]
		}
	}
	to := x.toAllReplicas(nil)
	to.onUnconfirmed, to.timeout = x.pending.markAllUnconfirmed, healTimeout
	x.wroteSinceRead = true
	defer x.forget() // what was read before may be wrong too
	err = x.repair(ctx, to, now, of)
	if x.noteRewrite(); err != nil { // the next state tells the others
		return len(of), err
	}
	return len(of), x.storeState(ctx, to, x.ownState)
}

// confirmReplicated records in the state of the process that all replicas have every change up to end, the last change of the first n kept batches. If
// nothing else is unconfirmed it records the last finished change instead. It then drops those batches.
func (x *index) confirmReplicated(ctx context.Context, n int, end point) error {
	beyond, err := x.readIntents(ctx)
	if err != nil {
		return err
	}
	s := x.ownState
	if x.pending.allConfirmedAfter(n) {
		end = s.finishedPoint()
	}
	x.takenOver.markCompleted(&s, end)
	s.Replicated, s.ReplicatedEpoch = end.seq, end.epoch
	s.intend(beyond)
	if err := x.storeState(ctx, x.toAllReplicas(nil), s); err != nil {
		return err
	}
	x.pending.dropFirst(n)
	return nil
}

// content is the combined effect of a list of changes.
type content struct {
	last    map[int64]uint64   // number of the change that put or dropped a version, by source
	touched map[int64]uint64   // number of the last change of any kind that concerns a source
	put     map[int64]*version // by source; nil: the version is deleted
	tags    map[int64]backend.Change
	vectors map[laneKey]backend.Change // of versions put by changes before the list
}

func desired(changes []backend.Change) *content {
	d := &content{last: map[int64]uint64{}, touched: map[int64]uint64{}, put: map[int64]*version{}, tags: map[int64]backend.Change{}, vectors: map[laneKey]backend.Change{}}
	for i := range changes {
		c := changes[i]
		v, known := d.put[c.Source]
		switch d.touched[c.Source] = c.Seq; c.Kind {
		case backend.PutChunks, backend.Drop:
			d.forget(c.Source)
			d.last[c.Source], d.put[c.Source] = c.Seq, nil
			if c.Kind == backend.PutChunks {
				d.put[c.Source] = newVersion(c)
			}
		case backend.PutTags:
			if v != nil {
				v.tags = c.Tags
			} else if !known {
				d.tags[c.Source] = c
			}
		case backend.PutVectors:
			if v != nil {
				v.setVectors(c.Lane, c.Rows)
			} else if !known {
				d.vectors[laneKey{c.Source, c.Lane}] = c
			}
		case backend.DropSub:
			for source, v := range d.put {
				if v != nil && v.put.Part.Sub == c.Part.Sub {
					d.put[source], d.touched[source] = nil, c.Seq
				}
			}
			maps.DeleteFunc(d.tags, func(_ int64, t backend.Change) bool { return t.Part.Sub == c.Part.Sub })
			maps.DeleteFunc(d.vectors, func(_ laneKey, t backend.Change) bool { return t.Part.Sub == c.Part.Sub })
		case backend.DropVectors:
			for source, v := range d.put {
				if v != nil {
					delete(v.vectors, c.Lane)
					d.touched[source] = c.Seq
				}
			}
			maps.DeleteFunc(d.vectors, func(k laneKey, _ backend.Change) bool { return k.lane == c.Lane })
		}
	}
	return d
}

func (d *content) forget(source int64) {
	delete(d.tags, source)
	for lane := range backend.LaneCount {
		delete(d.vectors, laneKey{source, lane})
	}
}

// maxCompared is the number of sources compared at a time.
const maxCompared = 500

// compare returns the sources, put or dropped by changes up to upto, whose content on a replica differs from d. For each
// source it returns the ids of its wrong objects by collection; missing objects have no entry.
func (x *index) compare(ctx context.Context, d *content, upto uint64) (wrong map[int64]map[string][]strfmt.UUID, err error) {
	var sources []int64
	for source, seq := range d.last {
		if seq <= upto {
			sources = append(sources, source)
		}
	}
	slices.Sort(sources)
	wrong = map[int64]map[string][]strfmt.UUID{}
	for some := range slices.Chunk(sources, maxCompared) {
		for _, n := range x.x.cluster.nodes {
			if err := x.compareOn(ctx, n, d, some, wrong); err != nil {
				return nil, err
			}
		}
	}
	return wrong, nil
}

// compareOn compares some sources on one node and adds the wrong ones to wrong.
func (x *index) compareOn(ctx context.Context, n *node, d *content, some []int64, wrong map[int64]map[string][]strfmt.UUID) error {
	want := map[string]map[strfmt.UUID]stored{}
	for _, collection := range x.x.schema.all() {
		want[collection] = map[strfmt.UUID]stored{}
	}
	objects := 0
	of := map[strfmt.UUID]int64{}
	for _, source := range some {
		if v := d.put[source]; v != nil {
			chunks, vectors := v.objects(x.x.schema, x.uid)
			for _, o := range slices.Concat(append(slices.Collect(maps.Values(vectors)), chunks)...) {
				want[o.Class][o.ID], of[o.ID] = o, source
				objects++
			}
		}
	}
	if objects > maxResults/2 && len(some) > 1 {
		for half := range slices.Chunk(some, (len(some)+1)/2) {
			if err := x.compareOn(ctx, n, d, half, wrong); err != nil {
				return err
			}
		}
		return nil
	}
	note := func(source int64, collection string, id strfmt.UUID) {
		if wrong[source] == nil {
			wrong[source] = map[string][]strfmt.UUID{}
		}
		if id != "" {
			wrong[source][collection] = append(wrong[source][collection], id)
		}
	}
	for _, collection := range x.x.schema.all() {
		there, err := x.x.schema.tenantExists(ctx, collection, x.uid)
		if err != nil {
			return err
		}
		var found []object
		name, kind := propChunk, "chunk"
		if collection != x.x.schema.chunks() {
			name, kind = propPlace, "vector"
		}
		if there {
			a := searchRequest{collection: collection, tenant: x.uid, where: anyOf(propSource, numbers(some)), limit: maxResults, fields: propSource + " " + name + " " + propTags}
			if found, err = x.x.cluster.get(ctx, route{only: n, patience: onePatience}, a); err != nil {
				return err
			}
			if err := x.checkIndexedOn(ctx, n, a, name, kind, want[collection], func(id strfmt.UUID) { note(of[id], collection, "") }); err != nil {
				return err
			}
		}
		seen := map[strfmt.UUID]bool{}
		for _, o := range found {
			id := uuidOf(kind, o.text(name))
			source, err := o.number(propSource)
			if err != nil {
				return err
			}
			w, ok := want[collection][id]
			if seen[id] = true; !ok || of[id] != source || !slices.Equal(userTags(o.texts(propTags)), userTags(w.Properties.(map[string]any)[propTags].([]string))) {
				note(source, collection, id)
			}
		}
		for id := range want[collection] {
			if !seen[id] {
				note(of[id], collection, "")
			}
		}
	}
	return nil
}

// checkIndexedOn calls lacks for each wanted object that a search on the node does not find by its words or its vector. That
// happens if the node died after it stored the object but before it indexed it, or if an earlier vector was stored late.
func (x *index) checkIndexedOn(ctx context.Context, n *node, a searchRequest, name, kind string, want map[strfmt.UUID]stored, lacks func(id strfmt.UUID)) error {
	looked := map[strfmt.UUID]bool{}
	words := map[string]bool{}
	for id, o := range want {
		if kind == "vector" {
			a.near, looked[id] = o.Vector, true
			continue
		}
		text, _ := o.Properties.(map[string]any)[propWords].(string)
		if first, _, _ := strings.Cut(text, " "); first != "" {
			words[first], looked[id] = true, true
		}
	}
	if len(looked) == 0 {
		return nil
	}
	if a.near != nil {
		a.fields = name + " _additional{distance}"
	} else {
		a.where, a.fields = allOf(a.where, anyOf(propWords, slices.Sorted(maps.Keys(words)))), name
	}
	found, err := x.x.cluster.get(ctx, route{only: n, patience: onePatience}, a)
	if err != nil {
		return err
	}
	for _, o := range found {
		id := uuidOf(kind, o.text(name))
		if w, ok := want[id]; ok && a.near != nil && !o.matchesVector(a.near, w.Vector) {
			continue // the object is indexed with another vector
		}
		delete(looked, id)
	}
	for id := range looked {
		lacks(id)
	}
	return nil
}

// sameDistance is the relative tolerance between the distance that a node returns and the true one, for vectors of about
// unit length.
const sameDistance = 1e-3

// matchesVector reports whether the distance of a search result from near is that of vector.
func (o object) matchesVector(near, vector []float32) bool {
	dot, size := 0.0, 1.0
	for i, x := range near {
		p := float64(x) * float64(vector[i])
		dot, size = dot+p, size+math.Abs(p)
	}
	d, ok := o.distance()
	return ok && math.Abs(d+dot) <= sameDistance*size
}

// userTags returns the tags of users, sorted and without duplicates.
func userTags(tags []string) []string {
	out := slices.DeleteFunc(slices.Clone(tags), func(t string) bool { return strings.HasPrefix(t, retagMark) })
	slices.SortFunc(out, cmp.Compare)
	return slices.Compact(out)
}

// repair deletes and stores again the sources that replicas have wrong.
func (x *index) repair(ctx context.Context, to target, d *content, wrong map[int64]map[string][]strfmt.UUID) error {
	for some := range slices.Chunk(slices.Sorted(maps.Keys(wrong)), rewriteVersions) {
		var chunks []stored
		vectors := map[int][]stored{}
		gone := map[string][]strfmt.UUID{}
		for _, source := range some {
			for collection, ids := range wrong[source] {
				gone[collection] = append(gone[collection], ids...)
			}
			if v := d.put[source]; v != nil {
				c, of := v.objects(x.x.schema, x.uid)
				chunks = append(chunks, c...)
				for dim, objects := range of {
					vectors[dim] = append(vectors[dim], objects...)
				}
			}
		}
		for _, o := range slices.Concat(append(slices.Collect(maps.Values(vectors)), chunks)...) {
			gone[o.Class] = append(gone[o.Class], o.ID)
		}
		end := x.rewrites.beginRewrite(ctx)
		err := x.replace(ctx, to, gone, vectors, chunks)
		end()
		if err != nil {
			return err
		}
	}
	return nil
}

// replace deletes objects by their ids and then stores others. A deletion by id also removes objects that are not indexed.
func (x *index) replace(ctx context.Context, to target, gone map[string][]strfmt.UUID, vectors map[int][]stored, chunks []stored) error {
	for _, collection := range slices.Sorted(maps.Keys(gone)) {
		there, err := x.x.schema.tenantExists(ctx, collection, x.uid)
		if err != nil {
			return err
		}
		slices.Sort(gone[collection])
		for _, id := range slices.Compact(gone[collection]) {
			if !there {
				break
			}
			if err := x.x.batches.removeOne(ctx, to, collection, x.uid, id); err != nil {
				return err
			}
		}
	}
	if err := x.putVectors(ctx, to, vectors); err != nil {
		return err
	}
	return x.x.batches.put(ctx, to, chunks)
}

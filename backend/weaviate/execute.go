package weaviate

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/weaviate/weaviate/entities/models"

	"github.com/contextmem/contextmem/backend"
)

// execute makes the changes of a plan in the cluster. It is idempotent. New objects are stored before old ones are
// deleted, so a concurrent search finds one or the other.
//
// A node that dies while it stores an object may come back with the object but without its entries in the keyword or
// vector index. If the same object is stored again, the node takes it for unchanged. In that case to.deleteFirst is set and
// objects are deleted before they are stored. Searches of this process wait meanwhile. Searches of other processes may
// miss the objects, so only a few versions at a time are stored in this way.
func (x *index) execute(ctx context.Context, to target, p *plan) error {
	if err := x.storeVersions(ctx, to, p); err != nil {
		return err
	}
	for _, source := range slices.Sorted(maps.Keys(p.tags)) {
		c := p.tags[source]
		if err := x.withRewriteLock(ctx, to, func() error { return x.retag(ctx, to, &c) }); err != nil {
			return err
		}
	}
	for _, c := range p.vectors {
		if err := x.withRewriteLock(ctx, to, func() error { return x.storeVectors(ctx, to, &c) }); err != nil {
			return err
		}
	}
	if p.sub != nil {
		return x.removeAll(ctx, to, equal(propSub, subOf(*p.sub)))
	}
	if p.lane != nil {
		for _, dim := range x.x.schema.dims() {
			if err := x.removeFrom(ctx, to, x.x.schema.vectors(dim), equal(propLane, number(int64(*p.lane)))); err != nil {
				return err
			}
		}
	}
	return nil
}

// executeAll carries out plans. latest reports whether they are those of the next changes of the feed, which are made in
// cached contents afterwards. A read beside a write that stores objects again may miss them. So executeAll drops contents
// that were read meanwhile, except where latest puts or deletes whole versions.
func (x *index) executeAll(ctx context.Context, to target, plans []*plan, latest bool) error {
	if !latest || to.deleteFirst || slices.ContainsFunc(plans, func(p *plan) bool { return len(p.tags)+len(p.vectors) > 0 }) {
		defer x.x.partitions.dropReadSince(x, time.Now())
	}
	if to.again || to.deleteFirst { // other processes see later changes themselves
		defer x.noteRewrite()
	}
	for _, p := range plans {
		if err := x.execute(ctx, to, p); err != nil {
			return err
		}
	}
	return nil
}

// withRewriteLock calls f. If the target deletes objects before it stores them, searches of this process wait for f.
func (x *index) withRewriteLock(ctx context.Context, to target, f func() error) error {
	if to.deleteFirst {
		defer x.rewrites.beginRewrite(ctx)()
	}
	return f()
}

// rewriteVersions is the number of versions that are deleted and stored again at a time.
const rewriteVersions = 16

// storeVersions stores the versions of p.puts. It deletes other objects of these versions and all objects of deleted
// versions.
func (x *index) storeVersions(ctx context.Context, to target, p *plan) error {
	if len(p.gone) == 0 {
		return nil
	}
	s := x.x.schema
	sources := slices.Sorted(maps.Keys(p.gone))
	step := len(sources)
	if to.deleteFirst {
		step = rewriteVersions
	}
	var chunks []stored
	vectors := map[int][]stored{}
	for some := range slices.Chunk(sources, step) {
		var c []stored
		v := map[int][]stored{}
		for _, source := range some {
			if put := p.puts[source]; put != nil {
				more, of := put.objects(s, x.uid)
				c = append(c, more...)
				for dim, objects := range of {
					v[dim] = append(v[dim], objects...)
				}
			}
		}
		err := x.withRewriteLock(ctx, to, func() error {
			if to.deleteFirst {
				if err := x.removeAll(ctx, to, anyOf(propSource, numbers(some))); err != nil {
					return err
				}
			}
			if err := x.putVectors(ctx, to, v); err != nil {
				return err
			}
			return x.x.batches.put(ctx, to, c)
		})
		if err != nil {
			return err
		}
		chunks = append(chunks, c...)
		for dim, objects := range v {
			vectors[dim] = append(vectors[dim], objects...)
		}
	}
	if to.deleteFirst { // all older objects have been deleted above
		return nil
	}
	var dropped, put []int64
	for _, source := range sources {
		if p.puts[source] == nil {
			dropped = append(dropped, source)
		} else {
			put = append(put, source)
		}
	}
	if len(dropped) > 0 {
		if err := x.removeAll(ctx, to, anyOf(propSource, numbers(dropped))); err != nil {
			return err
		}
	}
	if len(put) == 0 {
		return nil
	}
	older := anyOf(propSource, numbers(put))
	for _, dim := range s.dims() {
		if err := x.removeOlder(ctx, to, s.vectors(dim), excluding(older, propPlace, vectors[dim])); err != nil {
			return err
		}
	}
	return x.removeOlder(ctx, to, s.chunks(), excluding(older, propChunk, chunks))
}

// removeOlder deletes what a filter matches, which is usually nothing. It searches one node first, which costs less than a
// deletion on all replicas.
func (x *index) removeOlder(ctx context.Context, to target, collection string, w where) error {
	there, err := x.x.schema.tenantExists(ctx, collection, x.uid)
	if err != nil || !there {
		return err
	}
	found, err := x.x.cluster.get(ctx, route{only: to.from}, searchRequest{collection: collection, tenant: x.uid, where: w, limit: 1, fields: propSource})
	if err != nil || len(found) == 0 {
		return err
	}
	return x.x.batches.remove(ctx, to, collection, x.uid, w)
}

func numbers(all []int64) []string {
	out := make([]string, len(all))
	for i, n := range all {
		out[i] = number(n)
	}
	return out
}

// putVectors stores vectors, given by their length.
func (x *index) putVectors(ctx context.Context, to target, vectors map[int][]stored) error {
	for _, dim := range slices.Sorted(maps.Keys(vectors)) {
		if err := x.x.schema.tenant(ctx, x.x.schema.vectors(dim), x.uid); err != nil {
			return err
		}
		if err := x.x.batches.put(ctx, to, vectors[dim]); err != nil {
			return err
		}
	}
	return nil
}

// excluding excludes objects that were just stored from a filter.
func excluding(w where, path string, objects []stored) where {
	if len(objects) == 0 {
		return w
	}
	names := make([]string, len(objects))
	for i, o := range objects {
		names[i] = o.Properties.(map[string]any)[path].(string)
	}
	return allOf(w, noneOf(path, names))
}

// removeAll deletes what a filter matches, in all collections.
func (x *index) removeAll(ctx context.Context, to target, w where) error {
	for _, collection := range x.x.schema.all() {
		if err := x.removeFrom(ctx, to, collection, w); err != nil {
			return err
		}
	}
	return nil
}

// removeFrom deletes what a filter matches, in one collection.
func (x *index) removeFrom(ctx context.Context, to target, collection string, w where) error {
	there, err := x.x.schema.tenantExists(ctx, collection, x.uid)
	if err != nil || !there {
		return err
	}
	return x.x.batches.remove(ctx, to, collection, x.uid, w)
}

const (
	chunkFields  = propSpace + " " + propSub + " " + propSource + " " + propChunk + " " + propWords + " " + propStops + " " + propLength + " " + propBag + " _additional{id}"
	vectorFields = propSpace + " " + propSub + " " + propSource + " " + propChunk + " " + propPlace + " " + propLane + " _additional{id vector}"
	retagObjects = 1000 // maximum in one step
)

// retagMark is the prefix of a tag that marks the objects a call of retag has processed. Tags of users do not have it.
const retagMark = "="

// retag replaces the tags of a version's objects. It marks processed objects with a tag that is unique to the call, since
// a replica may lack what an earlier call stored.
func (x *index) retag(ctx context.Context, to target, c *backend.Change) error {
	done := retagMark + strconv.FormatUint(rand.Uint64(), 36)
	tags := append(tagsOf(c.Tags), done)
	w := allOf(equal(propSource, number(c.Source)), noneOf(propTags, []string{done}))
	for _, collection := range x.x.schema.all() {
		fields := vectorFields
		if collection == x.x.schema.chunks() {
			fields = chunkFields
		}
		there, err := x.x.schema.tenantExists(ctx, collection, x.uid)
		if err != nil {
			return err
		}
		for there {
			found, err := x.x.cluster.get(ctx, route{only: to.from}, searchRequest{collection: collection, tenant: x.uid, where: w, limit: retagObjects, fields: fields})
			if err != nil {
				return err
			}
			versions := [][]string{tags}
			if to.deleteFirst { // the indexes may differ from the stored object
				versions = [][]string{{done + "-"}, tags}
			}
			for _, v := range versions {
				objects := make([]stored, len(found))
				for i, o := range found {
					objects[i] = o.withTags(collection, x.uid, v)
				}
				if err := x.x.batches.put(ctx, to, objects); err != nil {
					return err
				}
			}
			there = len(found) == retagObjects
		}
	}
	return nil
}

// withTags returns an object as it was read, with other tags.
func (o object) withTags(collection, tenant string, tags []string) stored {
	properties, size := map[string]any{propTags: tags}, objectBytes+20*len(tags)
	for name, value := range o.props {
		if name == "_additional" || value == nil {
			continue
		}
		properties[name] = value
		if s, ok := value.(string); ok {
			size += len(s)
		}
	}
	out := &models.Object{Class: collection, Tenant: tenant, Properties: properties}
	out.ID = o.id()
	if vec := o.vector(); len(vec) > 0 {
		out.Vector = vec
		size += vectorBytes * len(vec)
	}
	return stored{out, size}
}

// maxChunksPerSearch is the maximum number of chunks that one search names.
const maxChunksPerSearch = 1000

// storeVectors replaces the vectors of a version in a lane.
func (x *index) storeVectors(ctx context.Context, to target, c *backend.Change) error {
	s := x.x.schema
	about := aboutOf(c, c.Tags)
	vectors := map[int][]stored{}
	for rows := range slices.Chunk(c.Rows, maxChunksPerSearch) {
		names := make([]string, len(rows))
		for i, r := range rows {
			names[i] = number(r.Chunk)
		}
		known, err := x.x.cluster.get(ctx, route{only: to.from}, searchRequest{collection: s.chunks(), tenant: x.uid, limit: len(rows), fields: propChunk + " " + propTags,
			where: allOf(equal(propSource, about.source), anyOf(propChunk, names))})
		if err != nil {
			return err
		}
		tags := map[string][]string{}
		for _, o := range known {
			tags[o.text(propChunk)] = o.texts(propTags)
		}
		for i, r := range rows {
			of, ok := tags[names[i]]
			if !ok || len(r.Vector) == 0 {
				continue
			}
			about.tags = of // the tags stored now
			vectors[len(r.Vector)] = append(vectors[len(r.Vector)], about.vector(s, x.uid, r.Chunk, c.Lane, r.Vector))
		}
	}
	old := allOf(equal(propSource, about.source), equal(propLane, laneOf(c.Part.Class, c.Lane)))
	for _, dim := range s.dims() {
		if !to.deleteFirst {
			break
		}
		if err := x.removeFrom(ctx, to, s.vectors(dim), old); err != nil {
			return err
		}
	}
	if err := x.putVectors(ctx, to, vectors); err != nil {
		return err
	}
	for _, dim := range s.dims() {
		if err := x.removeOlder(ctx, to, s.vectors(dim), excluding(old, propPlace, vectors[dim])); err != nil {
			return err
		}
	}
	return nil
}

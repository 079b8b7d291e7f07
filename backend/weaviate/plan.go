package weaviate

import (
	"slices"

	"github.com/weaviate/weaviate/entities/models"

	"github.com/contextmem/contextmem/backend"
)

// plan is the combined effect of some changes. It is carried out in this order: store new versions, delete versions that
// are gone, update tags and vectors of versions that stay, and finally drop a sub-tenant or a lane.
type plan struct {
	puts    map[int64]*version
	gone    map[int64]bool // all objects of these versions are deleted, except those that puts stores
	tags    map[int64]backend.Change
	vectors map[laneKey]backend.Change
	sub     *string       // sub-tenant to drop; nil: none
	lane    *backend.Lane // lane to drop; nil: none
}

type laneKey struct {
	source int64
	lane   backend.Lane
}

// version is a version to store.
type version struct {
	put     backend.Change
	tags    []uint64
	vectors map[backend.Lane]map[int64][]float32 // by chunk
}

func newPlan() *plan {
	return &plan{puts: map[int64]*version{}, gone: map[int64]bool{}, tags: map[int64]backend.Change{}, vectors: map[laneKey]backend.Change{}}
}

func (p *plan) empty() bool {
	return len(p.puts)+len(p.gone)+len(p.tags)+len(p.vectors) == 0 && p.sub == nil && p.lane == nil
}

// storesAgain reports whether the plan changes tags or vectors of versions of a partition that stay.
func (p *plan) storesAgain(part backend.Partition) bool {
	for _, c := range p.tags {
		if c.Part == part {
			return true
		}
	}
	for _, c := range p.vectors {
		if c.Part == part {
			return true
		}
	}
	return false
}

// planOf returns the plans for changes, or nil if nothing is to be done.
func planOf(changes []backend.Change) (out []*plan) {
	p := newPlan()
	end := func() {
		if !p.empty() {
			out = append(out, p)
		}
		p = newPlan()
	}
	for i := range changes {
		c := changes[i]
		switch c.Kind {
		case backend.PutChunks:
			p.markGone(c.Source)
			p.puts[c.Source] = newVersion(c)
		case backend.Drop:
			p.markGone(c.Source)
		case backend.PutTags:
			if v := p.puts[c.Source]; v != nil {
				v.tags = c.Tags
			} else if !p.gone[c.Source] {
				p.tags[c.Source] = c
			}
		case backend.PutVectors:
			if v := p.puts[c.Source]; v != nil {
				v.setVectors(c.Lane, c.Rows)
			} else if !p.gone[c.Source] {
				p.vectors[laneKey{c.Source, c.Lane}] = c
			}
		case backend.DropSub:
			p.sub = &c.Part.Sub
			end()
		case backend.DropVectors:
			p.lane = &c.Lane
			end()
		}
	}
	end()
	return out
}

// markGone records that everything stored of a version is to be deleted.
func (p *plan) markGone(source int64) {
	p.gone[source] = true
	delete(p.puts, source)
	delete(p.tags, source)
	for lane := range backend.LaneCount {
		delete(p.vectors, laneKey{source, lane})
	}
}

func newVersion(c backend.Change) *version {
	v := &version{put: c, tags: c.Tags, vectors: map[backend.Lane]map[int64][]float32{}}
	v.setVectors(c.Lane, c.Rows)
	return v
}

// setVectors replaces the vectors of a lane. It ignores rows that the version does not have.
func (v *version) setVectors(lane backend.Lane, rows []backend.Row) {
	of := map[int64][]float32{}
	for _, r := range rows {
		if len(r.Vector) > 0 && slices.ContainsFunc(v.put.Rows, func(own backend.Row) bool { return own.Chunk == r.Chunk }) {
			of[r.Chunk] = r.Vector
		}
	}
	v.vectors[lane] = of
}

// objects returns the objects of the version: its chunks, and its vectors by length.
func (v *version) objects(s *collections, tenant string) (chunks []stored, vectors map[int][]stored) {
	vectors = map[int][]stored{}
	about := aboutOf(&v.put, v.tags)
	for i := range v.put.Rows {
		r, fields := &v.put.Rows[i], v.fieldsOf(i)
		words, stops, length := wordsOf(about.space, fields)
		bag := bagOf(fields)
		o := newObject(s.chunks(), tenant, "chunk", number(r.Chunk))
		properties := about.properties(r.Chunk)
		properties[propSpace], properties[propWords], properties[propStops] = string(about.space), words, stops
		properties[propLength], properties[propBag] = length, bag
		o.Properties = properties
		chunks = append(chunks, stored{o, objectBytes + len(words) + len(stops) + len(bag) + about.size()})
		for lane, of := range v.vectors {
			if vec := of[r.Chunk]; vec != nil {
				vectors[len(vec)] = append(vectors[len(vec)], about.vector(s, tenant, r.Chunk, lane, vec))
			}
		}
	}
	return chunks, vectors
}

// about is what all objects of a version have in common.
type about struct {
	part   backend.Partition
	space  space
	sub    string
	source string
	tags   []string
}

func aboutOf(c *backend.Change, tags []uint64) about {
	return about{c.Part, spaceOf(c.Part), subOf(c.Part.Sub), number(c.Source), tagsOf(tags)}
}

func (a *about) size() int { return 20 * len(a.tags) }

func (a *about) properties(chunk int64) map[string]any {
	return map[string]any{propSub: a.sub, propSource: a.source, propChunk: number(chunk), propTags: a.tags}
}

// vectorBytes is the approximate size of one element of a vector in a request.
const vectorBytes = 12

// vector returns the object of a vector.
func (a *about) vector(s *collections, tenant string, chunk int64, lane backend.Lane, vec []float32) stored {
	at := place(chunk, lane)
	o := newObject(s.vectors(len(vec)), tenant, "vector", at)
	properties := a.properties(chunk)
	properties[propSpace], properties[propPlace], properties[propLane] = laneSpace(a.part, lane), at, laneOf(a.part.Class, lane)
	o.Properties = properties
	o.Vector = slices.Clone(vec)
	return stored{o, objectBytes + vectorBytes*len(vec) + a.size()}
}

// objectBytes is the approximate size of an object in a request, without its texts.
const objectBytes = 400

func newObject(collection, tenant, kind, name string) *models.Object {
	return &models.Object{Class: collection, Tenant: tenant, ID: uuidOf(kind, name)}
}

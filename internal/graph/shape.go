package graph

import (
	"strconv"
	"time"

	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/internal/reuse"
)

// Shape returns a group as users see it.
func (g *Group) Shape() facts.RelationGroup {
	links := g.Links
	l := &links[0]
	out := facts.RelationGroup{Source: *l.Subject, Target: l.Object(), ChunkID: l.Proof.Row.Key, Relations: make([]facts.Evidence, len(links))}
	for i := range links {
		links[i].Prove(&out.Relations[i])
	}
	return out
}

// Memory is the memory of a graph context, which the next result may use again.
type Memory struct {
	context  facts.GraphContext
	triplets []facts.Triplet
	chunkIDs []string
	groups   []string
}

// Size returns the number of triplets that the memory has room for.
func (m *Memory) Size() int { return cap(m.triplets) }

// Shape returns the graph around a result as users see it.
func (m *Memory) Shape(found *Context) *facts.GraphContext {
	gc := &m.context
	gc.QueryPaths, gc.ChunkRelations = reuse.Zeroed(gc.QueryPaths, len(found.QueryPaths)), reuse.Zeroed(gc.ChunkRelations, len(found.ChunkRelations))
	gc.Synthesis = found.Synthesis
	if gc.ChunkGroups == nil {
		gc.ChunkGroups = make(map[string][]string, len(found.ChunkRelations))
	}
	clear(gc.ChunkGroups)
	n := len(found.ChunkRelations) + len(found.QueryPaths)
	for i := range found.QueryPaths {
		if found.QueryPaths[i].Second != nil {
			n++
		}
	}
	m.triplets, m.chunkIDs = reuse.Zeroed(m.triplets, n), reuse.Zeroed(m.chunkIDs, n)
	room := pathRoom{m.triplets, m.chunkIDs}
	for i := range found.QueryPaths {
		room.path(&gc.QueryPaths[i], &found.QueryPaths[i], found.AsOf)
	}
	m.groups = append(m.groups[:0], groupIDs[:len(found.ChunkRelations)]...)
	for i := range found.ChunkRelations {
		p := &gc.ChunkRelations[i]
		room.path(p, &found.ChunkRelations[i], found.AsOf)
		p.GroupID = groupIDs[i]
		if of, ok := gc.ChunkGroups[p.ChunkIDs[0]]; ok {
			gc.ChunkGroups[p.ChunkIDs[0]] = append(of, p.GroupID)
		} else {
			gc.ChunkGroups[p.ChunkIDs[0]] = m.groups[i : i+1 : i+1]
		}
	}
	return gc
}

// groupIDs holds the ids of the groups of chunk relations.
var groupIDs = func() (ids [MaxChunkRelations]string) {
	for i := range ids {
		ids[i] = "p_" + strconv.Itoa(i)
	}
	return ids
}()

// pathRoom is a buffer for the contents of paths.
type pathRoom struct {
	triplets []facts.Triplet
	chunkIDs []string
}

// path fills p with found as users see it. asOf is the time that was asked about; zero: now.
func (room *pathRoom) path(p *facts.Path, found *Path, asOf time.Time) {
	links, n := found.Links()
	p.Score = found.Score
	p.Triplets, room.triplets = room.triplets[:n:n], room.triplets[n:]
	p.ChunkIDs, room.chunkIDs = room.chunkIDs[:0:n], room.chunkIDs[n:]
	for i, l := range links[:n] {
		t := &p.Triplets[i]
		t.Source = *l.Subject
		if loaded(l.Target) {
			t.Target = *l.Target
		} else {
			t.Target = l.Object()
		}
		l.Prove(&t.Relation)
		t.Relation.ToldLater = !asOf.IsZero() && t.Relation.Timestamp.After(asOf)
		if i == 0 || p.ChunkIDs[0] != l.Proof.Row.Key {
			p.ChunkIDs = append(p.ChunkIDs, l.Proof.Row.Key)
		}
		switch {
		case l.Context == "" || l.Context == p.Context:
		case p.Context == "":
			p.Context = l.Context
		default:
			p.Context += " " + l.Context
		}
	}
}

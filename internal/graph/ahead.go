package graph

import "github.com/contextmem/contextmem/backend"

// aheadChunks is the number of chunks of a partition from which on something is read ahead. In a smaller one that takes about as long as it takes
// to wake another thread.
const aheadChunks = 20_000

// prepared is what was read ahead for a question.
type prepared struct {
	done  bool
	first []Link // the relations of its entities
}

// Ahead returns a function that reads what the graph context of a question needs besides the hits: the entities that it names, and their
// relations. A caller that knows no hits yet may run it beside the search for them, and then calls Meet and Context with the same question.
//
// Ahead returns nil where that does not pay: unless the question is asked of one large partition of memories, whose relations may be read
// without their texts.
func (r *Reader) Ahead(q *Question) (func() error, error) {
	g := builder{Reader: r, Question: q}
	if len(q.Named) != 1 || q.Named[0].Part.Class != backend.Memory || !g.sketchable() {
		return nil, nil
	}
	info, err := q.Graph.Info(r.ctx, q.Named[0].Part)
	if err != nil || info.Chunks < aheadChunks {
		return nil, err
	}
	return g.prepare, nil
}

// prepare sets prepared, unless what holds is judged for the caller alone.
func (g *builder) prepare() error {
	if own, err := g.own(); own || err != nil {
		return err
	}
	if err := g.nameMemories(); err != nil {
		return err
	}
	if named := g.Named[0]; len(named.Entities) > 0 {
		g.words.ask(g.Query)
		first, err := g.reached(named.Part, named.Entities)
		if err != nil {
			return err
		}
		g.prepared.first = first
	}
	g.prepared.done = true
	return nil
}

// Meet sets the hits of a Reader that was made without them.
func (r *Reader) Meet(hits []Hit) { r.hits = hits }

package recall

import (
	"sync"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/graph"
	"github.com/contextmem/contextmem/internal/language"
)

// aroundHits is the graph around the hits of a recall.
type aroundHits struct {
	reader   *graph.Reader // nil until needed
	question graph.Question
	context  graph.Context
	met      bool            // whether the reader has the hits
	ahead    *sync.WaitGroup // of the reading beside the ranking; nil: there is none
	failed   error           // its error
}

// ask sets the question of the graph context, without the entities that ranking finds.
func (r *run) ask() *graph.Question {
	for i := range r.scopes {
		r.named = append(r.named, graph.Named{Part: r.scopes[i].Part})
	}
	r.around.question = graph.Question{Query: r.Query, Cues: func() *language.Cues { return r.cuesAt(r.Now) }, Named: r.named, UserKey: r.UserKey,
		Graph: r.Workspace.Graph, Keywords: r.Keywords, Filter: r.Filter, AsOf: r.AsOf, KnownAt: r.KnownAt}
	return &r.around.question
}

// readAhead starts to read what the graph context of a large partition needs besides the hits, if this is not a recall that thinks. await waits for it.
func (r *run) readAhead() error {
	if !r.Request.Graph || r.Mode != Fast {
		return nil
	}
	read, err := r.newReader().Ahead(r.ask())
	if read == nil || err != nil {
		return err
	}
	r.around.ahead = new(sync.WaitGroup)
	r.around.ahead.Go(func() { r.around.failed = fault.Guard(read) })
	return nil
}

// await waits for what is read beside the ranking.
func (r *run) await() {
	if r.around.ahead != nil {
		r.around.ahead.Wait()
	}
}

// newReader returns the graph reader of the recall. It may not have the hits.
func (r *run) newReader() *graph.Reader {
	if r.around.reader == nil {
		r.around.reader = graph.NewReader(r.ctx, r.Store, r.Now, r.Visible, nil)
		r.around.reader.Share(r.view)
	}
	return r.around.reader
}

// links returns the graph reader with the rows of the hits.
func (r *run) links() *graph.Reader {
	r.await()
	reader := r.newReader()
	if !r.around.met {
		r.around.met = true
		for _, h := range r.res.Hits {
			r.known = append(r.known, graph.Hit{Row: h.Row, Score: h.Score})
		}
		reader.Meet(r.known)
	}
	return reader
}

// graph fills the graph context.
func (r *run) graph() (err error) {
	reader := r.links()
	if r.around.failed != nil {
		return r.around.failed
	}
	q := &r.around.question
	if q.Graph == nil {
		q = r.ask()
	}
	for i := range r.scopes {
		if r.scopes[i].Part.Class != backend.Memory {
			q.Named[i].Entities = r.scopes[i].answer.Entities
		}
	}
	q.Thinking = r.res.Thinking
	r.around.context, err = reader.Context(q)
	r.res.Graph = &r.around.context
	return err
}

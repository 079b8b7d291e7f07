package recall

import (
	"strings"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/graph"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/rank"
)

const (
	appExactBoost  = 1.0  // the question contains the item's provider id
	appFieldBoost  = .15  // for each of the item's provider, kind, status and actors that the question names
	appFieldsMost  = 3    // maximal number of such names that count
	appThreadBoost = .1   // the item's thread or parent contains a good hit
	appThreadShare = .5   // score of an item found only by its thread, as a share of the good hit's
	appThreadHits  = 3    // number of best hits whose threads are read
	appThreadSpan  = 20   // items read of each thread
	maxAppLookups  = 20   // words of a question that are looked up as ids
	maxAppSame     = 5    // items read for one id
	maxAppWord     = 1024 // bytes of a word that is looked up
)

// appLane raises the scores of items of applications.
type appLane struct {
	*run
	hits []*Hit
	at   map[int64]int // chunk -> place in hits
	top  float64       // the best score
}

// apps runs the app lane. It finds items by exact provider id and by the threads of good hits. It raises the scores of
// hits whose provider, kind, status or people the question names. It never removes hits.
func (r *run) apps(hits []*Hit) ([]*Hit, error) {
	parts := r.knowledgeParts()
	if len(parts) == 0 {
		r.warn("ignored_flag", "Apps", "the app lane has no effect on memories")
		return hits, nil
	}
	a := &appLane{run: r, hits: hits, at: map[int64]int{}, top: 1}
	for i, h := range hits {
		a.at[h.Row.Num] = i
	}
	if len(hits) > 0 {
		a.top = hits[0].Score
	}
	for _, sc := range parts {
		if err := a.byID(sc); err != nil {
			return nil, err
		}
	}
	if err := a.byFields(); err != nil {
		return nil, err
	}
	if r.res.Thinking && len(a.hits) > 0 {
		if err := a.threads(); err != nil {
			return nil, err
		}
	}
	return a.hits, nil
}

// knowledgeParts returns the scopes that hold knowledge.
func (r *run) knowledgeParts() []*scope {
	var out []*scope
	for i := range r.scopes {
		if r.scopes[i].Part.Class == backend.Knowledge {
			out = append(out, &r.scopes[i])
		}
	}
	return out
}

// byID raises the scores of items whose provider id the question contains.
func (a *appLane) byID(sc *scope) error {
	for n, word := range strings.Fields(a.Query) {
		word = strings.Trim(word, ".,;:!?()[]{}\"'`“”‘’")
		if n == maxAppLookups || word == "" || len(word) > maxAppWord || !strings.ContainsAny(word, "0123456789-_#/:@.") {
			continue
		}
		srcs, err := graph.ByTag(a.ctx, a.Store, sc.Part, item.Tag(item.LayerApp, "external", word), maxAppSame)
		if err != nil {
			return err
		}
		for _, src := range srcs {
			if err := a.boost(src, sc, a.top*appExactBoost); err != nil {
				return err
			}
		}
	}
	return nil
}

// byFields raises the scores of hits whose provider, kind, status, priority or people the question names.
func (a *appLane) byFields() error {
	query := strings.ToLower(a.Query)
	for _, h := range a.hits {
		doc, err := a.Docs.Doc(h.Row.Src)
		if err != nil {
			return err
		}
		if doc.App == nil {
			continue
		}
		n := 0
		for _, w := range append([]string{doc.App.Provider, doc.App.Kind, doc.App.Status, doc.App.Priority}, doc.App.Actors...) {
			w = strings.ToLower(strings.ReplaceAll(w, "_", " "))
			if len(w) > 2 && strings.Contains(query, w) {
				n++
			}
		}
		if n > 0 {
			lift := a.top * appFieldBoost * float64(min(n, appFieldsMost))
			h.Score += lift
			h.Parts.App += lift
		}
	}
	return nil
}

// boost adds by to the score of a source's first chunk. It adds the chunk to the hits if it is not among them.
func (a *appLane) boost(src *backend.Source, sc *scope, by float64) error {
	if !a.allows(src) {
		return nil
	}
	chunks, err := a.Store.SourceChunks(a.ctx, src.Num, 0, 1, false)
	if err != nil || len(chunks) == 0 {
		return err
	}
	i, ok := a.at[chunks[0].Num]
	if !ok {
		rows, err := a.Store.Chunks(a.ctx, []int64{chunks[0].Num}, a.Now)
		if err != nil || len(rows) == 0 {
			return err
		}
		i = len(a.hits)
		a.at[chunks[0].Num] = i
		a.hits = append(a.hits, &Hit{Row: rows[0], Parts: new(Parts), ranked: rank.Scored{Chunk: rows[0].Num, Source: src.Num}, scope: sc})
	}
	h := a.hits[i]
	h.Score += by
	h.Parts.App += by
	return nil
}

// threads raises the scores of items in the thread, or with the parent, of the best hits.
func (a *appLane) threads() error {
	for _, h := range a.hits[:min(appThreadHits, len(a.hits))] {
		doc, err := a.Docs.Doc(h.Row.Src)
		if err != nil {
			return err
		}
		if doc.App == nil || doc.App.Provider == "" {
			continue
		}
		var tags []uint64
		for _, by := range [...]struct{ name, value string }{{"pthread", doc.App.ThreadID}, {"pexternal", doc.App.ParentID}, {"pparent", doc.App.ExternalID}} {
			if by.value != "" {
				tags = append(tags, item.Tag(item.LayerApp, by.name, doc.App.Provider+"\x00"+by.value))
			}
		}
		for _, t := range tags {
			if err := a.thread(h, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// thread raises the scores of items that have a tag in common with a hit and are therefore in one thread with it.
func (a *appLane) thread(h *Hit, tag uint64) error {
	srcs, err := graph.ByTag(a.ctx, a.Store, h.scope.Part, tag, appThreadSpan)
	if err != nil {
		return err
	}
	for _, src := range srcs {
		if src.Num == h.Row.Src.Num {
			continue
		}
		found := len(a.hits)
		if err := a.boost(src, h.scope, a.top*appThreadBoost); err != nil {
			return err
		}
		if len(a.hits) > found { // only the thread has found it
			x := a.hits[found]
			x.Score = max(x.Score, h.Score*appThreadShare)
			x.Parts.App = x.Score
		}
	}
	return nil
}

package recall

import (
	"strings"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/graph"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/rank"
)

const (
	appExactBoost  = 1.0  // the question holds the item's provider id
	appFieldBoost  = .15  // it names the item's provider, kind, status or an actor
	appFieldsMost  = 3    // names that count
	appThreadBoost = .1   // the item's thread or parent holds a good hit
	appThreadShare = .5   // of that hit's score, for an item that nothing else found
	appThreadHits  = 3    // good hits
	appThreadSpan  = 20   // items of a thread that are looked at
	maxAppLookups  = 20   // words of a question that are tried as ids
	maxAppSame     = 5    // items with one id
	maxAppWord     = 1024 // bytes
)

// appLane lifts items of applications.
type appLane struct {
	*run
	hits []*Hit
	at   map[int64]int // chunk -> place in hits
	top  float64       // the best score
}

// apps is the app lane: items are found by exact provider id, lifted by provider, kind, status and people named in
// the question, and by their thread. It adds to normal retrieval and never limits it.
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

// byID lifts the items of which the question holds the provider's id.
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
			if err := a.lift(src, sc, a.top*appExactBoost); err != nil {
				return err
			}
		}
	}
	return nil
}

// byFields lifts the hits whose provider, kind, status, priority or people the question names.
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

// lift adds to the score of a source's first chunk, bringing it in when it is not there.
func (a *appLane) lift(src *backend.Source, sc *scope, by float64) error {
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

// threads brings in the thread and the parent of the best hits.
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

// thread lifts the items with a tag, which stand in one thread with a hit.
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
		if err := a.lift(src, h.scope, a.top*appThreadBoost); err != nil {
			return err
		}
		if len(a.hits) > found { // it came in by the thread alone
			x := a.hits[found]
			x.Score = max(x.Score, h.Score*appThreadShare)
			x.Parts.App = x.Score
		}
	}
	return nil
}

package contextmem

import (
	"context"
	"strings"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/recall"
)

const (
	appExactBoost  = 1.0  // the question holds the item's provider id
	appFieldBoost  = .15  // it names the item's provider, kind, status or an actor
	appThreadBoost = .1   // the item's thread or parent holds a good hit
	appThreadShare = .5   // of that hit's score, for an item that nothing else found
	maxAppLookups  = 20   // words of a question that are tried as ids
	appThreadSpan  = 20   // items of a thread that are looked at
	maxAppWord     = 1024 // bytes
)

// apps is the app-aware lane: items are found by exact provider id, lifted by
// provider, kind, status and people named in the question, and by their thread.
// It adds to normal retrieval and never limits it.
func (r *recallRun) apps(ctx context.Context, hits *[]*scopeHit) error {
	if r.q.Class == ClassMemory {
		r.warn("ignored_flag", "query_apps", "the app lane has no effect on memories")
		return nil
	}
	query := strings.ToLower(r.q.Query)
	have := map[int64]int{}
	for i, h := range *hits {
		have[h.Chunk] = i
	}
	top := 1.0
	if len(*hits) > 0 {
		top = (*hits)[0].Score
	}
	parts := map[backend.Partition]bool{}
	for _, h := range *hits {
		parts[h.part] = true
	}
	for _, sc := range r.scopes {
		parts[sc.part] = true
	}
	for part := range parts {
		if part.Class != backend.Knowledge {
			continue
		}
		for n, word := range strings.Fields(r.q.Query) {
			word = strings.Trim(word, ".,;:!?()[]{}\"'`“”‘’")
			if n == maxAppLookups || word == "" || len(word) > maxAppWord || !strings.ContainsAny(word, "0123456789-_#/:@.") {
				continue
			}
			srcs, err := byTag(ctx, r.held.store, part, item.Tag(item.LayerApp, "external", word), 5)
			if err != nil {
				return err
			}
			for _, src := range srcs {
				if err := r.lift(ctx, hits, have, src, part, top*appExactBoost); err != nil {
					return err
				}
			}
		}
	}
	for i := range *hits {
		h := (*hits)[i]
		doc, err := r.held.docOf(h.row.Src)
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
			lift := top * appFieldBoost * float64(min(n, 3))
			h.Score += lift
			h.parts.App += lift
		}
	}
	if r.res.Mode == ModeThinking && len(*hits) > 0 {
		return r.threads(ctx, hits, have, top)
	}
	return nil
}

// lift adds to the score of a source's first chunk, bringing it in when it is not there.
func (r *recallRun) lift(ctx context.Context, hits *[]*scopeHit, have map[int64]int, src *backend.Source, part backend.Partition, by float64) error {
	if !item.Live(r.filter, src.Tags) {
		return nil
	}
	chunks, err := r.held.store.SourceChunks(ctx, src.Num, 0, 1, false)
	if err != nil || len(chunks) == 0 {
		return err
	}
	i, ok := have[chunks[0].Num]
	if !ok {
		rows, err := r.held.store.Chunks(ctx, []int64{chunks[0].Num}, r.now)
		if err != nil || len(rows) == 0 {
			return err
		}
		i = len(*hits)
		have[chunks[0].Num] = i
		*hits = append(*hits, &scopeHit{Scored: recall.Scored{Chunk: rows[0].Num, Source: src.Num}, scope: &scope{part: part, weight: 1}, row: rows[0], parts: new(Explain)})
	}
	h := (*hits)[i]
	h.Score += by
	h.parts.App += by
	return nil
}

// threads brings in the thread and the parent of the best hit.
func (r *recallRun) threads(ctx context.Context, hits *[]*scopeHit, have map[int64]int, top float64) error {
	for _, h := range (*hits)[:min(3, len(*hits))] {
		doc, err := r.held.docOf(h.row.Src)
		if err != nil {
			return err
		}
		if doc.App == nil || doc.App.Provider == "" {
			continue
		}
		var tags []uint64
		if doc.App.ThreadID != "" {
			tags = append(tags, item.Tag(item.LayerApp, "pthread", doc.App.Provider+"\x00"+doc.App.ThreadID))
		}
		if doc.App.ParentID != "" {
			tags = append(tags, item.Tag(item.LayerApp, "pexternal", doc.App.Provider+"\x00"+doc.App.ParentID))
		}
		if doc.App.ExternalID != "" {
			tags = append(tags, item.Tag(item.LayerApp, "pparent", doc.App.Provider+"\x00"+doc.App.ExternalID))
		}
		for _, t := range tags {
			srcs, err := byTag(ctx, r.held.store, h.part, t, appThreadSpan)
			if err != nil {
				return err
			}
			for _, src := range srcs {
				if src.Num == h.row.Src.Num {
					continue
				}
				found := len(*hits)
				if err := r.lift(ctx, hits, have, src, h.part, top*appThreadBoost); err != nil {
					return err
				}
				if len(*hits) > found { // it came in by the thread alone
					x := (*hits)[found]
					x.Score = max(x.Score, h.Score*appThreadShare)
					x.parts.App = x.Score
				}
			}
		}
	}
	return nil
}

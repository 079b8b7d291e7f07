package search

import (
	"math"

	"github.com/contextmem/contextmem/embed"
	"github.com/contextmem/contextmem/embed/static"
	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/intake"
	"github.com/contextmem/contextmem/internal/rank"
	"github.com/contextmem/contextmem/internal/recall"
	"github.com/contextmem/contextmem/internal/workspace"
	"github.com/contextmem/contextmem/rerank/local"
)

// Embedders are the embedders of a service.
type Embedders struct {
	Embedder embed.Embedder
	Fast     embed.Embedder   // used before a slow Embedder; nil: the embedded one
	Previous []embed.Embedder // for tenants that are not re-embedded yet
}

// models are the recall engines over the embedders.
type models struct {
	recallers []*recall.Engine   // over the embedders of Models
	refined   [][]*recall.Engine // for embedders that refine another one, by the indexes of both
	// Models are the embedders as workspaces need them. Slow is the index of the embedder that refines the vectors of the first
	// one; 0: none.
	Models []workspace.Model
	Slow   int
}

func (e *Engine) newModels() (m models) {
	all := []embed.Embedder{e.Embedder}
	if x, ok := e.Embedder.(embed.Slow); ok && x.Slow() {
		fast := e.Fast
		if fast == nil {
			fast = static.New()
		}
		if fast.Model() != e.Embedder.Model() || fast.Dim() != e.Embedder.Dim() {
			all, m.Slow = []embed.Embedder{fast, e.Embedder}, 1
		}
	}
	for _, x := range append(all, e.Previous...) {
		m.recallers = append(m.recallers, e.recaller(x))
		m.Models = append(m.Models, workspace.Model{Identity: workspace.Identity{Model: x.Model(), Dim: x.Dim()}, Embedder: x})
	}
	if m.Slow == 0 {
		return m
	}
	m.recallers[m.Slow].Ranker = m.recallers[m.Slow].Ranker.Over(nil)
	m.refined = make([][]*recall.Engine, len(m.Models))
	for i, base := range m.recallers {
		for _, over := range m.recallers {
			both := *over
			both.Ranker = over.Ranker.Over(base.Ranker)
			m.refined[i] = append(m.refined[i], &both)
		}
	}
	return m
}

// chooseVectors decides which vectors a search uses: the refined ones, with the other vectors for chunks that have none yet.
func (c *call) chooseVectors() {
	v := c.vectors
	c.ws.Lane, c.ws.DenseOff = v.Lane, v.Model < 0
	c.recaller = c.recallers[max(v.Model, 0)]
	if v.Refined == 0 {
		return
	}
	c.ws.Lane, c.ws.FastLane = v.RefinedLane, v.Lane
	if c.recaller = c.refined[v.Model][v.Refined]; c.ref.Refined() && v.RefineLane == v.RefinedLane {
		c.recaller = c.recallers[v.Refined]
	}
}

// recaller returns the recall engine for the capabilities of an embedder.
func (e *Engine) recaller(of embed.Embedder) *recall.Engine {
	return &recall.Engine{Ranker: ranker(of), Model: of.Model(), Reranker: e.Reranker, Judge: e.Judge, Budget: e.Budget, Boosts: e.Boosts,
		Slots: e.Profiles.Slots, UserKey: extract.Key(intake.DefaultUserName), Logger: e.Logger}
}

// ranker returns the rank engine for the vectors of an embedder.
func ranker(of embed.Embedder) *rank.Engine {
	r := &rank.Engine{Embedder: of, MemoryStrength: rank.DefaultAlpha, KnowledgeStrength: rank.DefaultAlpha}
	if c, ok := of.(embed.Covering); ok {
		r.Coverage = c.Coverage
	}
	if t, ok := of.(*static.Embedder); ok { // only the embedder itself: a wrapper may change its vectors
		r.Read = t.AppendQuery
	}
	if w, ok := of.(embed.WordEmbedder); ok {
		r.Words = local.NewLexicon(w)
	}
	if x, ok := of.(embed.Rated); ok {
		r.MemoryStrength, r.KnowledgeStrength = x.Strength()
	}
	if x, ok := of.(embed.MemoryQuerier); ok {
		r.MemoryQuery = x.MemoryQuery
	}
	if c, ok := of.(embed.Calibrated); ok {
		r.Unrelated = unrelated(c.Calibration())
	}
	if x, ok := of.(embed.MemoryEmbedder); ok {
		if m := x.Memories(); m != nil {
			r.Memories = ranker(m)
		}
	}
	return r
}

// unrelated returns the distribution of the scores of unrelated texts, or nil without a calibration. The mean inner product of
// independent vectors is the inner product of their means. The deviations of centred unit vectors shrink by the share of the
// length that the means take.
func unrelated(c *embed.Calibration) *rank.Spread {
	if c == nil || len(c.QueryMean) == 0 || len(c.QueryMean) != len(c.DocumentMean) || c.UnrelatedStd <= 0 {
		return nil
	}
	mean, query, document := 0.0, 0.0, 0.0
	for i, q := range c.QueryMean {
		d := float64(c.DocumentMean[i])
		mean, query, document = mean+float64(q)*d, query+float64(q)*float64(q), document+d*d
	}
	left := math.Sqrt(max(0, 1-query) * max(0, 1-document))
	return &rank.Spread{Mean: mean, Std: max(.001, float64(c.UnrelatedStd)*left)}
}

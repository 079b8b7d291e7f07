package contextmem

import (
	"bytes"
	"context"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/graph"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/metadata"
	"github.com/contextmem/contextmem/internal/pipeline"
	"github.com/contextmem/contextmem/internal/recall"
	"github.com/contextmem/contextmem/internal/reuse"
	"github.com/contextmem/contextmem/internal/search"
)

// Result is the result of a recall, best chunk first.
type Result struct {
	RequestID  string // names the query for feedback
	Chunks     []Chunk
	Sources    []SourceInfo     // the chunks' sources, each once, in order of their best chunk
	Graph      *GraphContext    // nil unless asked for
	Additional map[string]Chunk // chunks of forcefully related sources by chunk id
	Mode       Mode             // the mode that ran
	Alpha      float64          // the weight of semantic search that was applied, as the caller would name it
	Warnings   []fault.Warning
	Temporal   *TemporalResult
	// Rejected has candidates that are not in the result, best first; see Recall.Rejected and Recall.Missing. The item of
	// Missing comes last if it was no candidate.
	Rejected []Rejected
	// Instructions are the standing instructions to the assistant in the searched memories, independent of the query: newest first, at most 20.
	Instructions []facts.Instruction
}

// Chunk is a piece of a source.
type Chunk struct {
	ID        string // a UUID
	SourceID  string
	Sub       string
	Class     Class
	Text      string
	Title     string // of the source
	Kind      string // of the source
	Heading   string // headings above the chunk, outermost first, with " > " between them
	Page      int    // page, sheet or slide on which it begins, from 1; 0: the document has none
	Passage   Passage
	CreatedAt time.Time
	UpdatedAt time.Time
	Time      time.Time // the content's own time; zero unknown
	Layout    string    // JSON: {"offsets":{"document_level_start_index":n,...},"page":n}
	Score     float64   // higher is more relevant; comparable inside one result
	// Relevance is the probability, in [0,1], that the chunk answers the question, comparable between questions and tenants. With
	// Options.Judge, the judge computes it for the best three chunks (ten in thinking mode, fifty with Recall.MinRelevance), in chats of short
	// messages stored one by one for as many exchanges. To the odds of each of these, part of the odds of the two behind it is added. Later chunks do not exceed the least of these. Without a judge Relevance is a calibrated function of the chunk's dense score, and less precise. It is 0 without a dense score, as in boolean recall.
	Relevance       float64
	Metadata        map[string]any
	Additional      map[string]any
	ExtraContextIDs []string // keys of Result.Additional
	Explain         *Explain // nil for chunks that were added as context
	Related         bool     // added by RelatedChunks
	Inferred        bool     // an inferred statement, not the original
	Newer           Status   // status of a newer version that is not indexed, such as StatusErrored or StatusQueued; empty: this is the newest
	// SupersededBy describes the memory that supersedes this one, or the part of it that the query is about; nil: none, as known at Recall.AsOf and Recall.KnownAt.
	SupersededBy *Supersession
	ValidFrom    time.Time // of a memory: the time at which it was told; else zero
	ValidTo      time.Time // of a superseded memory: the time at which SupersededBy was told; zero: it still holds, at least in part
	ToldLater    bool      // a memory that was told after Recall.AsOf: what it says may not have been true then
	Retracted    bool      // SupersededBy retracts the memory without a replacement
	Statements   []string  // further statements inferred from the memory that match the question; see Recall.PerSource
	AlsoFrom     []string  // of an inferred statement: ids of other sources of its sub-tenant that have the same statement
}

// Rejected is a candidate that is not in a result.
type Rejected struct {
	// Chunk is the candidate, with Score and Explain as of its rejection. For an item that was no candidate only SourceID is set.
	Chunk  Chunk
	Reason Reason
	Place  int    // rank among all candidates before their rows were read, from 1; 0: it was no candidate
	By     string // for ReasonSuperseded: id of the superseding memory
	Status Status // of the item; empty for ReasonUnknown
}

// Reason says why a candidate is not in a result.
type Reason string

// Reasons.
const (
	ReasonRank       = Reason(recall.WhyRank)       // others match the question better
	ReasonSource     = Reason(recall.WhySource)     // other chunks of its source fill the bound of Recall.PerSource
	ReasonRepeats    = Reason(recall.WhyRepeats)    // an inferred statement that a hit states too
	ReasonSuperseded = Reason(recall.WhySuperseded) // another memory supersedes it, with SupersededDrop
	ReasonRelevance  = Reason(recall.WhyRelevance)  // it is below Recall.MinRelevance
	ReasonLater      = Reason(recall.WhyLater)      // it was learnt after Recall.KnownAt
	ReasonFilter     = Reason(recall.WhyFilter)     // Recall.Missing: filters, ids or titles exclude it
	ReasonUnmatched  = Reason(recall.WhyUnmatched)  // Recall.Missing: neither the keyword nor the vector search found it
	ReasonUnindexed  = Reason(recall.WhyUnindexed)  // Recall.Missing: it is not indexed yet, or ended in an error: see Status
	ReasonUnknown    = Reason(recall.WhyUnknown)    // Recall.Missing: the searched partitions have no such item that the caller may see
)

// Passage is the part of a chunk whose sentences match the words of the question; zero where none does. A chunk that is one
// sentence is its own passage.
type Passage struct {
	Text       string
	Start, End int // byte offsets in Chunk.Text
}

// resultMemory is the memory of a search and of its result: that of one value of each kind, which the REST handler lends again and again.
type resultMemory struct {
	chunks  []Chunk
	parts   []Explain
	sources []SourceInfo
	graph   graph.Memory
	titles  reuse.Texts
	result  *Result      // not part of the memory: a caller may keep it
	search  *search.Room // nor is this, which refers to the tenant
}

// maxResultMemory keeps the memory of a rare large result from being kept.
const maxResultMemory = 128

// resultMemoryFor returns memory for the result of a call.
func resultMemoryFor(ctx context.Context) *resultMemory {
	slot := reuse.From(ctx)
	m, _ := slot.Take().(*resultMemory)
	if m == nil || max(cap(m.chunks), cap(m.sources), m.graph.Size()) > maxResultMemory {
		m = &resultMemory{result: new(Result), search: new(search.Room)}
	}
	slot.Keep(m)
	return m
}

// shaper turns what a recall found into what users see.
type shaper struct {
	docs   recall.Docs
	newer  map[int64]backend.State
	layout pipeline.LayoutReader // of the chunk before
	titles *reuse.Texts
	left   int // chunks that may need room in titles

	raw []byte // of the source before
	doc *item.Doc
}

// title is item.ShortTitle of a text; those of a result share memory.
func (s *shaper) title(text string) string {
	line, cut := item.TitleLine(text)
	if !cut {
		return line
	}
	return s.titles.Join(line, item.CutSign, min(s.left+1, 16))
}

// shapeResult turns the hits of a search into a result, and ends the search.
func (m *resultMemory) shapeResult(ctx context.Context, op string, found *search.Found, err error) (*Result, error) {
	if err != nil {
		return nil, err
	}
	res, err := m.shape(found)
	found.Release(ctx, err)
	return res, fault.Wrap(op, fault.Search, "", err)
}

func (m *resultMemory) shape(found *search.Found) (*Result, error) {
	m.titles.Forget()
	s := shaper{docs: found.Docs, titles: &m.titles, newer: found.Newer, left: len(found.Hits) + len(found.Related)}
	m.chunks = reuse.Zeroed(m.chunks, len(found.Hits)+len(found.Related))
	m.parts = reuse.Zeroed(m.parts, len(found.Hits))
	m.sources = reuse.Zeroed(m.sources, found.Sources)
	res := m.result
	*res = Result{Mode: ModeFast, Alpha: found.Alpha, Chunks: m.chunks, Sources: m.sources[:0], Temporal: found.Temporal,
		RequestID: found.RequestID, Instructions: found.Instructions, Warnings: found.Warnings}
	if found.Thinking {
		res.Mode = ModeThinking
	}
	for i, h := range found.Hits {
		c := &res.Chunks[i]
		if err := s.chunk(c, h.Row); err != nil {
			return nil, err
		}
		m.parts[i] = *h.Parts
		if p := h.Passage; p.End > 0 {
			c.Passage = Passage{c.Text[p.Start:p.End], p.Start, p.End}
		}
		c.Score, c.Relevance, c.Explain, c.Statements, c.AlsoFrom, c.ExtraContextIDs, c.ToldLater = h.Score, h.Relevance, &m.parts[i], h.Statements, h.AlsoFrom, h.Extra, h.ToldLater
		c.SupersededBy, c.ValidTo, c.Retracted = h.SupersededBy.Shown()
	}
	for i, x := range found.Related {
		c := &res.Chunks[len(found.Hits)+i]
		if err := s.chunk(c, x.Row); err != nil {
			return nil, err
		}
		c.Related, c.Score, c.ToldLater = true, found.Hits[x.Hit].Score, found.Hits[x.Hit].ToldLater
	}
	if found.Extra != nil {
		res.Additional = make(map[string]Chunk, len(found.Extra))
		for _, row := range found.Extra {
			var c Chunk
			if err := s.chunk(&c, row); err != nil {
				return nil, err
			}
			res.Additional[c.ID] = c
		}
	}
	if err := s.sources(res, found.Result); err != nil {
		return nil, err
	}
	if found.Graph != nil {
		res.Graph = m.graph.Shape(found.Graph)
	}
	for i := range found.Rejected {
		x, err := s.rejected(&found.Rejected[i])
		if err != nil {
			return nil, err
		}
		res.Rejected = append(res.Rejected, x)
	}
	return res, nil
}

// rejected converts a candidate that is not in the result.
func (s *shaper) rejected(r *recall.Rejected) (out Rejected, err error) {
	out = Rejected{Reason: Reason(r.Why), Place: r.Place, By: r.By, Status: item.StatusOf(r.State)}
	if r.Row != nil {
		err = s.chunk(&out.Chunk, r.Row)
		e := r.Parts
		out.Chunk.Score, out.Chunk.Explain = r.Score, &e
	}
	return out, err
}

// chunk fills a zero chunk from a row.
func (s *shaper) chunk(c *Chunk, row *backend.Hydrated) error {
	s.left--
	s.layout.Read(row.Layout)
	src := row.Src
	c.ID, c.SourceID, c.Sub, c.Class, c.Text, c.Title, c.Kind, c.Heading = row.Key, src.ID, src.Part.Sub, Class(src.Part.Class), row.Text, src.Title, src.Kind, row.Heading
	c.CreatedAt, c.UpdatedAt, c.Time, c.Layout, c.Inferred = src.CreatedAt, src.UpdatedAt, src.Time, s.layout.Text(), s.layout.Inferred
	if c.Class == ClassMemory {
		c.ValidFrom = item.StatedAt(src)
	}
	c.Page = s.layout.Page
	if src.Replaced {
		c.Newer = item.StatusOf(s.newer[src.Num])
	}
	if c.Title == "" { // memories without one: titles are searched, so none is made up when they are stored
		c.Title = s.title(row.Text)
	}
	var err error
	if c.Metadata, err = metadata.DecodeMap(src.Metadata); err != nil {
		return err
	}
	c.Additional, err = metadata.DecodeMap(src.Additional)
	return err
}

// sources lists the sources of the hits, best first. The first chunks of the result are those of the hits.
func (s *shaper) sources(res *Result, found *recall.Result) error {
	for i, h := range found.Hits {
		if !h.First {
			continue
		}
		if s.doc == nil || !bytes.Equal(s.raw, h.Row.Src.Doc) {
			var err error
			if s.doc, err = s.docs.Doc(h.Row.Src); err != nil {
				return err
			}
			s.raw = h.Row.Src.Doc
		}
		res.Sources = res.Sources[:len(res.Sources)+1]
		info := &res.Sources[len(res.Sources)-1]
		if err := metadata.DescribeDecoded(info, h.Row.Src, s.doc); err != nil {
			return err
		}
		if info.Title == "" {
			info.Title = res.Chunks[i].Title // made of the same text
		}
	}
	return nil
}

// Package langchaingo stores documents and conversations of programs built with github.com/tmc/langchaingo in contextmem.
// [Store] is a vector store that needs no embedder. [Memory] is the memory of a chain.
package langchaingo

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/vectorstores"

	"github.com/contextmem/contextmem"
)

// Store stores documents as knowledge. It is safe for concurrent use.
type Store struct {
	// Partition returns the partition of a namespace. The namespace is "" in calls that name none. Required.
	Partition func(namespace string) contextmem.Memories
}

var _ vectorstores.VectorStore = Store{}

func options(list []vectorstores.Option) (o vectorstores.Options, err error) {
	for _, f := range list {
		f(&o)
	}
	if o.Embedder != nil {
		err = errors.New("contextmem embeds texts itself: an embedder can't be chosen for a call")
	}
	return o, err
}

// AddDocuments implements vectorstores.VectorStore. It returns when the documents are searchable. Metadata can be used in filters
// and takes at most 1024 bytes as JSON. A string under the key "id" is the document's id. A document with the same id is replaced.
func (s Store) AddDocuments(ctx context.Context, docs []schema.Document, opts ...vectorstores.Option) ([]string, error) {
	o, err := options(opts)
	if err != nil {
		return nil, err
	}
	var b contextmem.KnowledgeBatch
	for _, d := range docs {
		if o.Deduplicater != nil && o.Deduplicater(ctx, d) {
			continue
		}
		id, _ := d.Metadata["id"].(string)
		if id == "" {
			id = contextmem.NewRequestID()
		}
		b.Files = append(b.Files, contextmem.File{ID: id, Name: id + ".txt", ContentType: "text/plain; charset=utf-8", Data: []byte(d.PageContent), Additional: d.Metadata})
	}
	if len(b.Files) == 0 {
		return nil, nil
	}
	m := s.Partition(o.NameSpace)
	res, err := m.AddKnowledge(ctx, b)
	if err != nil {
		return nil, err
	}
	return res.IDs(), contextmem.Settled(ctx, m, res)
}

// SimilaritySearch implements vectorstores.VectorStore. A filter is a map[string]any whose entries the metadata must equal. Scores
// are comparable within one answer and are not cosines.
func (s Store) SimilaritySearch(ctx context.Context, query string, n int, opts ...vectorstores.Option) ([]schema.Document, error) {
	o, err := options(opts)
	if err != nil {
		return nil, err
	}
	q := contextmem.Recall{Query: query, MaxResults: n}
	var ok bool
	if q.Filters.Additional, ok = o.Filters.(map[string]any); !ok && o.Filters != nil {
		return nil, errors.New("filters must be a map[string]any")
	}
	res, err := s.Partition(o.NameSpace).Recall(ctx, q)
	if err != nil {
		return nil, err
	}
	var out []schema.Document
	for _, c := range res.Chunks {
		if float32(c.Score) >= o.ScoreThreshold {
			out = append(out, schema.Document{PageContent: c.Text, Metadata: c.Additional, Score: float32(c.Score)})
		}
	}
	return out, nil
}

// Memory is the memory of a chain. It recalls earlier exchanges about the chain's input, from any run.
type Memory struct {
	Memories contextmem.Memories // required
	// Input and Output are the keys of the chain's question and answer. Key is the key of the recalled text. Defaults: input, output, history.
	Input, Output, Key string
	// Max bounds the number of recalled memories. Default 10.
	Max int
}

var _ schema.Memory = Memory{}

// GetMemoryKey implements schema.Memory.
func (m Memory) GetMemoryKey(context.Context) string { return cmp.Or(m.Key, "history") }

// MemoryVariables implements schema.Memory.
func (m Memory) MemoryVariables(ctx context.Context) []string { return []string{m.GetMemoryKey(ctx)} }

// LoadMemoryVariables implements schema.Memory.
func (m Memory) LoadMemoryVariables(ctx context.Context, inputs map[string]any) (map[string]any, error) {
	question, _ := inputs[cmp.Or(m.Input, "input")].(string)
	if strings.TrimSpace(question) == "" {
		return map[string]any{m.GetMemoryKey(ctx): ""}, nil
	}
	res, err := m.Memories.Recall(ctx, contextmem.Recall{Class: contextmem.ClassMemory, Query: question, MaxResults: max(m.Max, 0)})
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(res.Chunks))
	for i, c := range res.Chunks {
		texts[i] = c.Text
	}
	return map[string]any{m.GetMemoryKey(ctx): strings.Join(texts, "\n")}, nil
}

// SaveContext implements schema.Memory.
func (m Memory) SaveContext(ctx context.Context, inputs, outputs map[string]any) error {
	user, _ := inputs[cmp.Or(m.Input, "input")].(string)
	assistant, _ := outputs[cmp.Or(m.Output, "output")].(string)
	res, err := m.Memories.AddMemories(ctx, contextmem.MemoryBatch{Memories: []contextmem.Memory{{Pairs: []contextmem.Pair{{User: user, Assistant: assistant}}}}})
	if err != nil {
		return err
	}
	return contextmem.Settled(ctx, m.Memories, res)
}

// Clear implements schema.Memory: it deletes every memory of the partition.
func (m Memory) Clear(ctx context.Context) error {
	for {
		p, err := m.Memories.List(ctx, contextmem.ListRequest{Class: contextmem.ClassMemory, PageSize: 100})
		if err != nil || len(p.Sources) == 0 {
			return err
		}
		var ids []string
		for _, s := range p.Sources {
			ids = append(ids, s.ID)
		}
		if _, err := m.Memories.DeleteItems(ctx, contextmem.DeleteItemsRequest{Class: contextmem.ClassMemory, IDs: ids}); err != nil {
			return err
		}
	}
}

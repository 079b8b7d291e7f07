// Package eino makes contextmem usable by agents built with github.com/cloudwego/eino. [Retriever] and [Indexer] work on
// documents. [Tools] returns tools that remember and recall.
package eino

import (
	"context"
	"errors"

	"github.com/cloudwego/eino/components/indexer"
	"github.com/cloudwego/eino/components/retriever"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/schema"

	"github.com/contextmem/contextmem"
)

// Partition returns the partition of a sub-index. The sub-index is "" in calls that name none.
type Partition func(subIndex string) contextmem.Memories

// Retriever finds documents and memories. It is safe for concurrent use.
type Retriever struct {
	Partition Partition        // required
	Class     contextmem.Class // searched class; default knowledge
}

// Indexer stores documents as knowledge. It is safe for concurrent use.
type Indexer struct{ Partition Partition }

var (
	_ retriever.Retriever = Retriever{}
	_ indexer.Indexer     = Indexer{}

	errEmbedding = errors.New("contextmem embeds texts itself: an embedder can't be chosen for a call")
)

// Retrieve implements retriever.Retriever. It returns an error for the options index, embedding and DSL. The option sub-index is supported.
func (r Retriever) Retrieve(ctx context.Context, query string, opts ...retriever.Option) ([]*schema.Document, error) {
	o := retriever.GetCommonOptions(&retriever.Options{}, opts...)
	switch {
	case o.Embedding != nil:
		return nil, errEmbedding
	case o.Index != nil || o.DSLInfo != nil:
		return nil, errors.New("contextmem knows sub-indexes alone, and no DSL")
	}
	q, sub := contextmem.Recall{Query: query, Class: r.Class}, ""
	if o.TopK != nil {
		q.MaxResults = *o.TopK
	}
	if o.SubIndex != nil {
		sub = *o.SubIndex
	}
	res, err := r.Partition(sub).Recall(ctx, q)
	if err != nil {
		return nil, err
	}
	var out []*schema.Document
	for _, c := range res.Chunks {
		if o.ScoreThreshold != nil && c.Score < *o.ScoreThreshold {
			continue
		}
		meta := map[string]any{"source_id": c.SourceID, "title": c.Title}
		for k, v := range c.Additional {
			meta[k] = v
		}
		out = append(out, (&schema.Document{ID: c.ID, Content: c.Text, MetaData: meta}).WithScore(c.Score))
	}
	return out, nil
}

// Store implements indexer.Indexer. It returns when the documents are searchable. A document's metadata may take up to 1024 bytes
// as JSON. Metadata set by the framework itself is left out.
func (i Indexer) Store(ctx context.Context, docs []*schema.Document, opts ...indexer.Option) (ids []string, err error) {
	o := indexer.GetCommonOptions(&indexer.Options{}, opts...)
	if o.Embedding != nil {
		return nil, errEmbedding
	}
	subs := o.SubIndexes
	if len(subs) == 0 {
		subs = []string{""}
	}
	var b contextmem.KnowledgeBatch
	for _, d := range docs {
		id := d.ID
		if id == "" {
			id = contextmem.NewRequestID()
		}
		meta := map[string]any{}
		for k, v := range d.MetaData {
			if len(k) == 0 || k[0] != '_' {
				meta[k] = v
			}
		}
		b.Files = append(b.Files, contextmem.File{ID: id, Name: id + ".txt", ContentType: "text/plain; charset=utf-8", Data: []byte(d.Content), Additional: meta})
		ids = append(ids, id)
	}
	for _, sub := range subs {
		m := i.Partition(sub)
		res, err := m.AddKnowledge(ctx, b)
		if err != nil {
			return nil, err
		}
		if err := contextmem.Settled(ctx, m, res); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// Question is the input of the tool recall.
type Question struct {
	Question string `json:"question" jsonschema:"required" jsonschema_description:"what you want to know, as a full sentence"`
}

// Note is the input of the tool remember.
type Note struct {
	Text string `json:"text" jsonschema:"required" jsonschema_description:"one self-contained sentence to remember"`
}

// Tools returns the tools remember and recall for a partition.
func Tools(m contextmem.Memories) ([]tool.InvokableTool, error) {
	remember, err := utils.InferTool("remember", "Store a lasting fact, preference or decision.", func(ctx context.Context, n *Note) (string, error) {
		res, err := m.AddMemories(ctx, contextmem.MemoryBatch{Memories: []contextmem.Memory{{Text: n.Text}}})
		if err != nil {
			return "", err
		}
		return "remembered", contextmem.Settled(ctx, m, res)
	})
	if err != nil {
		return nil, err
	}
	recall, err := utils.InferTool("recall", "Find what memories and documents say about a question.", func(ctx context.Context, q *Question) ([]string, error) {
		res, err := m.Recall(ctx, contextmem.Recall{Query: q.Question, Class: contextmem.ClassAll})
		if err != nil {
			return nil, err
		}
		texts := []string{}
		for _, c := range res.Chunks {
			texts = append(texts, c.Text)
		}
		return texts, nil
	})
	return []tool.InvokableTool{remember, recall}, err
}

// Package genkit makes contextmem a plugin of github.com/firebase/genkit/go. The plugin has the retriever "contextmem/recall".
// [Plugin.DefineTools] adds the tools "contextmem/remember" and "contextmem/search".
package genkit

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/core/api"
	"github.com/firebase/genkit/go/genkit"

	"github.com/contextmem/contextmem"
)

// Names that the plugin registers.
const (
	RetrieverName = "contextmem/recall"
	RememberName  = "contextmem/remember"
	SearchName    = "contextmem/search"
)

// Plugin is the contextmem plugin, to be passed to genkit.WithPlugins.
type Plugin struct {
	// Memories returns the partition for a call, such as the partition of the user in ctx. Required.
	Memories func(ctx context.Context) (contextmem.Memories, error)
}

var _ api.Plugin = (*Plugin)(nil)

// RetrieverOptions configures one call of the retriever; pass it with ai.WithConfig.
type RetrieverOptions struct {
	K    int    `json:"k,omitempty"`    // number of passages; default 10
	Kind string `json:"kind,omitempty"` // memory, knowledge or all; default all
}

// Name implements api.Plugin.
func (p *Plugin) Name() string { return "contextmem" }

// Init implements api.Plugin.
func (p *Plugin) Init(context.Context) []api.Action {
	schema := map[string]any{"type": "object", "additionalProperties": false, "properties": map[string]any{
		"k": map[string]any{"type": "integer", "minimum": 1}, "kind": map[string]any{"type": "string", "enum": []string{"memory", "knowledge", "all"}}}}
	retriever := ai.NewRetriever(RetrieverName, &ai.RetrieverOptions{Label: "contextmem", ConfigSchema: schema}, p.retrieve)
	return []api.Action{retriever.(api.Action)}
}

// DefineTools registers the tools remember and search, for ai.WithTools.
func (p *Plugin) DefineTools(g *genkit.Genkit) []ai.ToolRef {
	remember := genkit.DefineTool(g, RememberName, "Store a lasting fact, preference or decision, as one self-contained sentence.", func(c *ai.ToolContext, text string) (string, error) {
		m, err := p.Memories(c)
		if err != nil {
			return "", err
		}
		res, err := m.AddMemories(c, contextmem.MemoryBatch{Memories: []contextmem.Memory{{Text: text}}})
		if err != nil {
			return "", err
		}
		return "remembered", contextmem.Settled(c, m, res)
	})
	search := genkit.DefineTool(g, SearchName, "Find what memories and documents say about a question.", func(c *ai.ToolContext, question string) ([]string, error) {
		docs, err := p.find(c, question, RetrieverOptions{})
		texts := make([]string, len(docs))
		for i, d := range docs {
			texts[i] = d.Content[0].Text
		}
		return texts, err
	})
	return []ai.ToolRef{remember, search}
}

func (p *Plugin) retrieve(ctx context.Context, req *ai.RetrieverRequest) (*ai.RetrieverResponse, error) {
	var o RetrieverOptions
	if req.Options != nil { // a struct from the program, a map from the developer UI
		b, err := json.Marshal(req.Options)
		if err == nil {
			err = json.Unmarshal(b, &o)
		}
		if err != nil {
			return nil, errors.New("contextmem: the options are no RetrieverOptions")
		}
	}
	var question strings.Builder
	if req.Query != nil {
		for _, part := range req.Query.Content {
			question.WriteString(part.Text)
		}
	}
	docs, err := p.find(ctx, question.String(), o)
	return &ai.RetrieverResponse{Documents: docs}, err
}

var kinds = map[string]contextmem.Class{"": contextmem.ClassAll, "all": contextmem.ClassAll, "memory": contextmem.ClassMemory, "knowledge": contextmem.ClassKnowledge}

func (p *Plugin) find(ctx context.Context, question string, o RetrieverOptions) ([]*ai.Document, error) {
	class, ok := kinds[o.Kind]
	if !ok {
		return nil, errors.New("contextmem: kind must be memory, knowledge or all")
	}
	m, err := p.Memories(ctx)
	if err != nil {
		return nil, err
	}
	res, err := m.Recall(ctx, contextmem.Recall{Query: question, Class: class, MaxResults: o.K})
	if err != nil {
		return nil, err
	}
	docs := []*ai.Document{}
	for _, c := range res.Chunks {
		meta := map[string]any{"id": c.SourceID, "title": c.Title, "score": c.Score}
		for k, v := range c.Additional {
			meta[k] = v
		}
		docs = append(docs, ai.DocumentFromText(c.Text, meta))
	}
	return docs, nil
}

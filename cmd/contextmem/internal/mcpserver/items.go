package mcpserver

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/content"
)

type listIn struct {
	Kind string `json:"kind,omitempty" jsonschema:"memory or knowledge; default memory"`
	Page int    `json:"page,omitempty" jsonschema:"from 1"`
}

type listed struct {
	ID    string `json:"id"`
	Title string `json:"title,omitempty"`
	Text  string `json:"text,omitempty"`
	State string `json:"state,omitempty"`
	URI   string `json:"uri"`
}

type listOut struct {
	Items []listed `json:"items"`
	Page  int      `json:"page"`
	Pages int      `json:"pages"`
	Total int      `json:"total"`
}

// listChars is the maximal text length of a listed memory.
const listChars = 300

func (s *server) list(ctx context.Context, req *mcp.CallToolRequest, in listIn) (*mcp.CallToolResult, listOut, error) {
	p, err := s.at(ctx, req.ClientInfo(), req.Extra, false)
	if err != nil {
		return nil, listOut{}, err
	}
	if in.Kind == "" {
		in.Kind = "memory"
	}
	class, ok := kinds[in.Kind]
	if !ok || class == contextmem.ClassAll {
		return nil, listOut{}, errors.New("kind: must be memory or knowledge")
	}
	page, err := p.Memories.List(ctx, contextmem.ListRequest{Class: class, Page: in.Page, PageSize: 50, Content: class == contextmem.ClassMemory})
	if err != nil {
		return nil, listOut{}, plain(err)
	}
	out := listOut{Items: []listed{}, Page: page.Page, Pages: page.Pages(), Total: page.Total}
	for _, x := range page.Sources {
		text := []rune(x.Content)
		if len(text) > listChars {
			text = append(text[:listChars-1], '…')
		}
		s.seen.note(p.Name, x.ID, x.Content)
		out.Items = append(out.Items, listed{x.ID, x.Title, string(text), string(x.Status), itemURI(x.ID)})
	}
	return nil, out, nil
}

type readIn struct {
	ID      string `json:"id" jsonschema:"id of the memory or document"`
	History bool   `json:"history,omitempty" jsonschema:"true: also what earlier versions said"`
}

type readOut struct {
	ID      string    `json:"id"`
	Text    string    `json:"text"`
	Earlier []earlier `json:"earlier,omitempty" jsonschema:"what earlier versions said, the newest first"`
}

// earlier is an earlier version of an item.
type earlier struct {
	Version  int    `json:"version"`
	Text     string `json:"text"`
	Stored   string `json:"stored"`
	Replaced string `json:"replaced"`
}

func (s *server) text(ctx context.Context, p Place, id string) (string, error) {
	f, err := p.Memories.Fetch(ctx, contextmem.FetchRequest{ID: id, ParsedText: true})
	if err != nil {
		return "", err
	}
	s.seen.note(p.Name, id, f.Text)
	return f.Text, nil
}

func (s *server) read(ctx context.Context, req *mcp.CallToolRequest, in readIn) (*mcp.CallToolResult, readOut, error) {
	p, err := s.at(ctx, req.ClientInfo(), req.Extra, false)
	if err != nil {
		return nil, readOut{}, err
	}
	t, err := s.text(ctx, p, in.ID)
	if err != nil {
		return nil, readOut{}, plain(err)
	}
	out := readOut{ID: in.ID, Text: t}
	if in.History {
		h, err := p.Memories.History(ctx, content.HistoryRequest{ID: in.ID})
		if err != nil {
			return nil, readOut{}, plain(err)
		}
		for _, v := range h.Versions[1:] {
			out.Earlier = append(out.Earlier, earlier{v.Version, v.Text, v.Stored.UTC().Format(time.RFC3339), v.Replaced.UTC().Format(time.RFC3339)})
		}
	}
	return nil, out, nil
}

type ingestIn struct {
	Name string `json:"name" jsonschema:"file name with its ending, such as notes.md, which also tells the format"`
	Text string `json:"text" jsonschema:"the content, as text, Markdown, HTML, CSV or JSON"`
	URL  string `json:"url,omitempty" jsonschema:"where it comes from"`
}

type ingestOut struct {
	ID      string `json:"id"`
	Message string `json:"message"`
}

func (s *server) ingest(ctx context.Context, req *mcp.CallToolRequest, in ingestIn) (*mcp.CallToolResult, ingestOut, error) {
	p, err := s.at(ctx, req.ClientInfo(), req.Extra, true)
	if err != nil {
		return nil, ingestOut{}, err
	}
	if strings.TrimSpace(in.Name) == "" || in.Text == "" {
		return nil, ingestOut{}, errors.New("name and text: are required")
	}
	res, err := p.Memories.AddKnowledge(ctx, contextmem.KnowledgeBatch{Files: []contextmem.File{{Name: in.Name, URL: in.URL, Data: []byte(in.Text)}}})
	if err != nil {
		return nil, ingestOut{}, plain(err)
	}
	if res.Items[0].Err != nil {
		return nil, ingestOut{}, plain(res.Items[0].Err)
	}
	return nil, ingestOut{res.Items[0].ID, settle(ctx, p, res.Items[0].ID, "Ingested")}, nil
}

type forgetIn struct {
	IDs []string `json:"ids" jsonschema:"ids of memories or documents"`
}

type forgetOut struct {
	Deleted int      `json:"deleted"`
	Missing []string `json:"missing,omitempty" jsonschema:"ids that name nothing"`
}

func (s *server) forget(ctx context.Context, req *mcp.CallToolRequest, in forgetIn) (*mcp.CallToolResult, forgetOut, error) {
	p, err := s.at(ctx, req.ClientInfo(), req.Extra, true)
	if err != nil {
		return nil, forgetOut{}, err
	}
	res, err := p.Memories.DeleteItems(ctx, contextmem.DeleteItemsRequest{IDs: in.IDs})
	if err != nil {
		return nil, forgetOut{}, plain(err)
	}
	out := forgetOut{Deleted: res.Deleted}
	for _, it := range res.Items {
		if !it.Deleted {
			out.Missing = append(out.Missing, it.ID)
		}
		s.seen.drop(p.Name, it.ID)
	}
	return nil, out, nil
}

package mcpserver

import (
	"context"
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/contextmem/contextmem/facts"
)

type factsIn struct {
	Question string `json:"question,omitempty" jsonschema:"chooses the matter it asks about, such as homes or allergies; leave it out for all"`
	Subject  string `json:"subject,omitempty" jsonschema:"name of whom or what the facts are about; leave it out for anybody"`
	History  bool   `json:"history,omitempty" jsonschema:"true: also what holds no longer"`
	AsOf     string `json:"as_of,omitempty" jsonschema:"as it held then, RFC 3339; leave it out for now"`
	Max      int    `json:"max,omitempty" jsonschema:"most facts, 1 to 200; default 50"`
}

// factOut is a fact in the form returned to a model.
type factOut struct {
	Subject   string   `json:"subject"`
	Predicate string   `json:"predicate"`
	Object    string   `json:"object"`
	Status    string   `json:"status" jsonschema:"current, past, upcoming, superseded or ending"`
	Since     string   `json:"since,omitempty"`
	Until     string   `json:"until,omitempty"`
	Evidence  string   `json:"evidence" jsonschema:"the sentence that says so"`
	ToldLater bool     `json:"told_later,omitempty" jsonschema:"told after as_of: without since it may not have been true then"`
	ID        string   `json:"id" jsonschema:"id of the memory or document that says so"`
	Also      []string `json:"also,omitempty" jsonschema:"ids of others that say the same"`
}

// statementOut is a message about what the question asks from which no fact was extracted.
type statementOut struct {
	Text string `json:"text" jsonschema:"the message"`
	Said string `json:"said,omitempty" jsonschema:"when it was said"`
	ID   string `json:"id" jsonschema:"id of the memory that says so"`
}

type factsOut struct {
	Facts      []factOut      `json:"facts"`
	Statements []statementOut `json:"statements,omitempty" jsonschema:"messages of the subject about what was asked, beside the facts"`
	More       bool           `json:"more,omitempty" jsonschema:"true: there are more facts"`
}

func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}

// add appends the facts and statements of a page.
func (o *factsOut) add(page *facts.Page) {
	for i := range page.Facts {
		f := &page.Facts[i]
		x := factOut{Subject: f.Subject, Predicate: f.Predicate, Object: f.Object, Status: string(f.Status), Since: day(f.Since), Until: day(f.Until), Evidence: f.Evidence, ToldLater: f.ToldLater, ID: f.SourceID}
		for _, t := range f.Also {
			x.Also = append(x.Also, t.SourceID)
		}
		o.Facts = append(o.Facts, x)
	}
	for _, t := range page.Statements {
		o.Statements = append(o.Statements, statementOut{t.Text, day(t.Learnt), t.SourceID})
	}
}

func (s *server) facts(ctx context.Context, req *mcp.CallToolRequest, in factsIn) (*mcp.CallToolResult, factsOut, error) {
	p, err := s.at(ctx, req.ClientInfo(), req.Extra, false)
	if err != nil {
		return nil, factsOut{}, err
	}
	if in.Max == 0 {
		in.Max = 50
	}
	if in.Max < 1 || in.Max > 200 {
		return nil, factsOut{}, errors.New("max: must be between 1 and 200")
	}
	r := facts.Request{Question: in.Question, Subject: in.Subject, History: in.History, Limit: in.Max}
	if in.AsOf != "" {
		if r.AsOf, err = time.Parse(time.RFC3339, in.AsOf); err != nil {
			return nil, factsOut{}, errors.New("as_of: wants RFC 3339, such as 2025-12-31T08:00:00Z")
		}
	}
	out := factsOut{Facts: []factOut{}}
	for len(out.Facts) < in.Max { // a page may contain fewer facts than requested
		page, err := p.Memories.Facts(ctx, r)
		if err != nil {
			return nil, factsOut{}, plain(err)
		}
		out.add(page)
		for i := range page.Facts {
			f := &page.Facts[i]
			if f.Status != facts.Superseded { // a superseded fact counts as new when it is stored again
				s.seen.note(p.Name, f.SourceID, f.Evidence)
			}
		}
		for _, t := range page.Statements {
			s.seen.note(p.Name, t.SourceID, t.Text)
		}
		if r.Cursor = page.Next; page.Next == 0 {
			return nil, out, nil
		}
	}
	out.Facts, out.More = out.Facts[:in.Max], true
	return nil, out, nil
}

type profileIn struct {
	Subject string `json:"subject,omitempty" jsonschema:"name of the person; leave it out for the user"`
}

type profileOut struct {
	Subject      string   `json:"subject"`
	Summary      string   `json:"summary" jsonschema:"what is known, a statement a line, or in sentences"`
	Instructions []string `json:"instructions,omitempty" jsonschema:"what the user always wants from an assistant, newest first"`
	Truncated    bool     `json:"truncated,omitempty" jsonschema:"true: more is known"`
}

// profileTokens is the maximal length of the summary of a profile.
const profileTokens = 800

func (s *server) profile(ctx context.Context, req *mcp.CallToolRequest, in profileIn) (*mcp.CallToolResult, profileOut, error) {
	p, err := s.at(ctx, req.ClientInfo(), req.Extra, false)
	if err != nil {
		return nil, profileOut{}, err
	}
	who, err := p.Memories.Profile(ctx, facts.ProfileRequest{Subject: in.Subject, MaxTokens: profileTokens})
	if err != nil {
		return nil, profileOut{}, plain(err)
	}
	out := profileOut{Subject: who.Subject, Summary: who.Summary, Truncated: who.Truncated}
	for _, x := range who.Instructions {
		out.Instructions = append(out.Instructions, x.Text)
	}
	for _, x := range who.Slots {
		for i := range x.Facts {
			s.seen.note(p.Name, x.Facts[i].SourceID, x.Facts[i].Evidence)
		}
	}
	return nil, out, nil
}

// Package mcpserver offers memories over the Model Context Protocol. It has tools to remember, recall, list, read and forget memories.
// It also offers the items as resources, and a prompt with the known facts about a question.
package mcpserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/contextmem/contextmem"
)

// Caller describes the sender of a request.
type Caller struct {
	Client string          // name reported by the client; may be empty
	Token  *auth.TokenInfo // nil unless the transport is HTTP
	Header http.Header     // nil unless the transport is HTTP
}

// Place is the partition that a caller's requests read and write.
type Place struct {
	Memories contextmem.Memories
	Name     string // unique name of the partition
	ReadOnly bool   // remember, ingest and forget are refused
	NoRead   bool   // recall, list, read and resources are refused
}

// Config configures a server.
type Config struct {
	Version string
	// Place returns the partition of a caller. It creates the tenant if the tenant is missing.
	Place func(ctx context.Context, c Caller) (Place, error)
}

// server implements the tools.
type server struct {
	place func(ctx context.Context, c Caller) (Place, error)
	seen  *seen
}

const instructions = `This server is your long-term memory. Call recall before you answer something that may depend on earlier conversations or on the
user's documents. Call remember when you learn a lasting fact, preference or decision: one self-contained sentence each, with names instead of
pronouns. Do not remember what recall returned. Call forget when the user asks for it or a memory is wrong.`

// New returns a server for any number of sessions over any transport.
func New(c Config) *mcp.Server {
	s := &server{place: c.Place, seen: newSeen()}
	m := mcp.NewServer(&mcp.Implementation{Name: "contextmem", Title: "contextmem", Version: c.Version}, &mcp.ServerOptions{Instructions: instructions})
	no := false
	read := &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: &no}
	add := &mcp.ToolAnnotations{DestructiveHint: &no, OpenWorldHint: &no}
	replace := &mcp.ToolAnnotations{DestructiveHint: &no, IdempotentHint: true, OpenWorldHint: &no}
	remove := &mcp.ToolAnnotations{IdempotentHint: true, OpenWorldHint: &no}
	mcp.AddTool(m, &mcp.Tool{Name: "remember", Title: "Remember", Annotations: add,
		Description: "Store a lasting fact, preference, decision or note. What was recalled or is stored already is recognised and not stored again."}, s.remember)
	mcp.AddTool(m, &mcp.Tool{Name: "recall", Title: "Recall", Annotations: read,
		Description: "Find what memories and documents say about a question, what holds now first; a passage with superseded_by or retracted holds no longer. Ask in a full sentence."}, s.recall)
	mcp.AddTool(m, &mcp.Tool{Name: "facts", Title: "Facts", Annotations: read,
		Description: "List what is believed as facts with the sentence that says so, now or at another time."}, s.facts)
	mcp.AddTool(m, &mcp.Tool{Name: "profile", Title: "Profile", Annotations: read,
		Description: "What is known of the user or of another person, and what they always want. Call it when a conversation begins."}, s.profile)
	mcp.AddTool(m, &mcp.Tool{Name: "list", Title: "List", Annotations: read, Description: "List memories or documents, newest first."}, s.list)
	mcp.AddTool(m, &mcp.Tool{Name: "read", Title: "Read", Annotations: read, Description: "Read one memory or document in full, by its id."}, s.read)
	mcp.AddTool(m, &mcp.Tool{Name: "ingest", Title: "Ingest", Annotations: replace,
		Description: "Store a document, such as a page or meeting notes, as knowledge. The same name again replaces it."}, s.ingest)
	mcp.AddTool(m, &mcp.Tool{Name: "forget", Title: "Forget", Annotations: remove, Description: "Delete memories or documents for good, by their ids."}, s.forget)
	m.AddResourceTemplate(&mcp.ResourceTemplate{Name: "item", Title: "A memory or document", URITemplate: itemPrefix + "{id}", MIMEType: "text/plain",
		Description: "The text of a memory or document, by its id with percent signs for what a URI does not hold."}, s.resource)
	m.AddPrompt(&mcp.Prompt{Name: "with_memory", Title: "Ask with memory", Description: "A question with what memory says about it.",
		Arguments: []*mcp.PromptArgument{{Name: "question", Description: "the question", Required: true}}}, s.prompt)
	return m
}

var (
	errRead  = errors.New("this key may not read")
	errWrite = errors.New("this key may not change anything")
)

// at returns the place of a request.
func (s *server) at(ctx context.Context, info *mcp.Implementation, extra *mcp.RequestExtra, write bool) (Place, error) {
	var c Caller
	if info != nil {
		c.Client = info.Name
	}
	if extra != nil {
		c.Token, c.Header = extra.TokenInfo, extra.Header
	}
	p, err := s.place(ctx, c)
	switch {
	case err != nil:
		return p, plain(err)
	case write && p.ReadOnly:
		return p, errWrite
	case !write && p.NoRead:
		return p, errRead
	}
	return p, nil
}

// plain returns an error for a model, without the package name.
func plain(err error) error {
	var ce *contextmem.Error
	if errors.As(err, &ce) {
		return errors.New(ce.Message())
	}
	return err
}

type rememberIn struct {
	Text    string `json:"text" jsonschema:"what to remember: one self-contained sentence or note"`
	ID      string `json:"id,omitempty" jsonschema:"id of a memory to replace; leave it out for a new one"`
	Title   string `json:"title,omitempty" jsonschema:"short title"`
	Time    string `json:"time,omitempty" jsonschema:"when it happened or was said, RFC 3339, if not now"`
	Session string `json:"session,omitempty" jsonschema:"id of the conversation it belongs to"`
	Speaker string `json:"speaker,omitempty" jsonschema:"who says it, where it speaks of itself as I; default the user"`
}

type rememberOut struct {
	ID      string `json:"id,omitempty" jsonschema:"id of the memory"`
	Stored  bool   `json:"stored" jsonschema:"false: it was known already, nothing was stored"`
	Message string `json:"message"`
}

// enough is how long a response waits until recall can find a new memory. A memory that takes longer can be found soon afterwards.
const enough = 10 * time.Second

func (s *server) remember(ctx context.Context, req *mcp.CallToolRequest, in rememberIn) (*mcp.CallToolResult, rememberOut, error) {
	p, err := s.at(ctx, req.ClientInfo(), req.Extra, true)
	if err != nil {
		return nil, rememberOut{}, err
	}
	m := contextmem.Memory{ID: in.ID, Text: in.Text, Title: in.Title, Session: in.Session, Infer: true, UserName: in.Speaker}
	if strings.TrimSpace(in.Text) == "" {
		return nil, rememberOut{}, errors.New("text: there is nothing to remember")
	}
	if in.Time != "" {
		if m.Time, err = time.Parse(time.RFC3339, in.Time); err != nil {
			return nil, rememberOut{}, errors.New("time: wants RFC 3339, such as 2025-12-31T08:00:00Z")
		}
	}
	if in.ID == "" {
		var known string
		if m.Text, known = s.news(ctx, p, in.Text); m.Text == "" {
			return nil, rememberOut{ID: known, Message: "This is known already; nothing was stored."}, nil
		}
		m.ID = idOf(m.Text, in.Speaker)
	}
	res, err := p.Memories.AddMemories(ctx, contextmem.MemoryBatch{Memories: []contextmem.Memory{m}})
	if err != nil {
		return nil, rememberOut{}, plain(err)
	}
	if res.Items[0].Err != nil {
		return nil, rememberOut{}, plain(res.Items[0].Err)
	}
	return nil, rememberOut{ID: res.Items[0].ID, Stored: true, Message: settle(ctx, p, res.Items[0].ID, "Remembered")}, nil
}

// idOf returns the id of a memory without a given id. Equal texts have equal ids, so that a retry does not store the memory twice.
// A client retries when its server ended before the response, and recall may not find the stored memory yet.
func idOf(text, speaker string) string {
	h := sha256.Sum256([]byte(strings.Join(strings.Fields(text), " ") + "\x00" + speaker))
	return "said-" + hex.EncodeToString(h[:12])
}

// settle waits a limited time until an item can be recalled, and returns its state.
func settle(ctx context.Context, p Place, id, done string) string {
	wait, cancel := context.WithTimeout(ctx, enough)
	defer cancel()
	st, err := p.Memories.Wait(wait, id)
	switch {
	case err != nil || len(st) == 0:
		return done + "; it is stored and will be found soon."
	case st[0].Status == contextmem.StatusErrored:
		return fmt.Sprintf("Stored, but it can't be read: %s %s", st[0].ErrorCode, st[0].ErrorMessage)
	}
	return done + "."
}

type recallIn struct {
	Question string `json:"question" jsonschema:"what you want to know, as a full sentence"`
	Kind     string `json:"kind,omitempty" jsonschema:"memory, knowledge (documents) or all; default all"`
	Max      int    `json:"max,omitempty" jsonschema:"most passages, 1 to 50; default 8"`
	AsOf     string `json:"as_of,omitempty" jsonschema:"what was true then: a time of RFC 3339; default now"`
}

// passage is an item as recall returns it.
type passage struct {
	ID           string   `json:"id"`
	Title        string   `json:"title,omitempty"`
	Heading      string   `json:"heading,omitempty"`
	Page         int      `json:"page,omitempty"`
	Text         string   `json:"text"`
	Statements   []string `json:"statements,omitempty" jsonschema:"what was inferred from it"`
	Score        float64  `json:"score"`
	Relevance    float64  `json:"relevance" jsonschema:"how likely it answers the question, 0 to 1"`
	When         string   `json:"when,omitempty"`
	Until        string   `json:"held_until,omitempty" jsonschema:"since then it holds no longer"`
	SupersededBy string   `json:"superseded_by,omitempty" jsonschema:"id of what took its place: that is what holds now"`
	Part         string   `json:"superseded_part,omitempty" jsonschema:"the words that hold no longer: the rest of the text does"`
	Retracted    bool     `json:"retracted,omitempty" jsonschema:"it was taken back, and nothing took its place"`
	ToldLater    bool     `json:"told_later,omitempty" jsonschema:"told after as_of: it may not have been true then"`
	URI          string   `json:"uri"`
}

type recallOut struct {
	Passages     []passage `json:"passages"`
	Instructions []string  `json:"instructions,omitempty" jsonschema:"what the user asked for from now on, whatever the question is"`
	Warnings     []string  `json:"warnings,omitempty" jsonschema:"what this recall lacks"`
}

var kinds = map[string]contextmem.Class{"": contextmem.ClassAll, "all": contextmem.ClassAll, "memory": contextmem.ClassMemory, "knowledge": contextmem.ClassKnowledge}

func (s *server) find(ctx context.Context, p Place, in recallIn) (recallOut, error) {
	class, ok := kinds[in.Kind]
	if !ok {
		return recallOut{}, errors.New("kind: must be memory, knowledge or all")
	}
	if in.Max == 0 {
		in.Max = 8
	}
	if in.Max < 1 || in.Max > 50 {
		return recallOut{}, errors.New("max: must be between 1 and 50")
	}
	q := contextmem.Recall{Query: in.Question, Class: class, MaxResults: in.Max}
	if in.AsOf != "" {
		t, err := time.Parse(time.RFC3339, in.AsOf)
		if err != nil {
			return recallOut{}, errors.New("as_of: must be a time of RFC 3339, such as 2024-05-03T09:00:00Z")
		}
		q.AsOf = t
	}
	res, err := p.Memories.Recall(ctx, q)
	if err != nil {
		return recallOut{}, plain(err)
	}
	out := recallOut{Passages: []passage{}}
	times := map[string]time.Time{}
	for _, x := range res.Sources {
		times[x.ID] = x.Timestamp
	}
	for _, c := range res.Chunks {
		x := passage{ID: c.SourceID, Title: c.Title, Heading: c.Heading, Page: c.Page, Text: c.Text, Statements: c.Statements, Score: c.Score, Relevance: math.Round(c.Relevance*100) / 100,
			Retracted: c.Retracted, ToldLater: c.ToldLater, URI: itemURI(c.SourceID)}
		if c.SupersededBy != nil {
			if x.SupersededBy = c.SupersededBy.ID; c.SupersededBy.Partly {
				x.Part = c.SupersededBy.Matter
			}
			if !c.ValidTo.IsZero() {
				x.Until = c.ValidTo.UTC().Format(time.RFC3339)
			}
		}
		if t := times[c.SourceID]; !t.IsZero() {
			x.When = t.UTC().Format(time.RFC3339)
		}
		out.Passages = append(out.Passages, x)
		if c.SupersededBy == nil { // a superseded memory counts as new when it is stored again
			s.seen.note(p.Name, c.SourceID, c.Text)
		}
	}
	for _, x := range res.Instructions {
		out.Instructions = append(out.Instructions, x.Text)
	}
	for _, w := range res.Warnings {
		out.Warnings = append(out.Warnings, w.Message)
	}
	return out, nil
}

func (s *server) recall(ctx context.Context, req *mcp.CallToolRequest, in recallIn) (*mcp.CallToolResult, recallOut, error) {
	p, err := s.at(ctx, req.ClientInfo(), req.Extra, false)
	if err != nil {
		return nil, recallOut{}, err
	}
	out, err := s.find(ctx, p, in)
	return nil, out, err
}

// itemPrefix is the prefix of item URIs.
const itemPrefix = "contextmem://item/"

func itemURI(id string) string { return itemPrefix + url.PathEscape(id) }

func (s *server) resource(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	p, err := s.at(ctx, req.ClientInfo(), req.Extra, false)
	if err != nil {
		return nil, err
	}
	id, err := url.PathUnescape(strings.TrimPrefix(req.Params.URI, itemPrefix))
	if err != nil {
		return nil, mcp.ResourceNotFoundError(req.Params.URI)
	}
	t, err := s.text(ctx, p, id)
	if errors.Is(err, contextmem.ErrNotFound) {
		return nil, mcp.ResourceNotFoundError(req.Params.URI)
	}
	if err != nil {
		return nil, plain(err)
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: req.Params.URI, MIMEType: "text/plain", Text: t}}}, nil
}

func (s *server) prompt(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	p, err := s.at(ctx, req.ClientInfo(), req.Extra, false)
	if err != nil {
		return nil, err
	}
	question := req.Params.Arguments["question"]
	out, err := s.find(ctx, p, recallIn{Question: question})
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	b.WriteString("What memory holds about this, best first; it may be incomplete or out of date:\n\n")
	for _, x := range out.Passages {
		fmt.Fprintf(&b, "- %s", strings.Join(strings.Fields(x.Text), " "))
		switch {
		case x.Retracted:
			b.WriteString(" (taken back)")
		case x.Part != "":
			fmt.Fprintf(&b, " (%q holds no longer)", x.Part)
		case x.SupersededBy != "":
			b.WriteString(" (holds no longer)")
		}
		b.WriteByte('\n')
	}
	for _, x := range out.Instructions {
		fmt.Fprintf(&b, "\nThe user always wants: %s", x)
	}
	fmt.Fprintf(&b, "\nQuestion: %s", question)
	return &mcp.GetPromptResult{Description: "The question with what memory holds", Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: b.String()}}}}, nil
}

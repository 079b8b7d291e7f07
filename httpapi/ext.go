package httpapi

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/internal/wire"
)

// extension is a route outside the published contract, with its documentation. in and out are values of the request and data types.
type extension struct {
	route
	summary string
	in, out any
}

// extensions are served under /ext with the envelope of the second generation; GET /ext/openapi.json describes them.
var extensions = []extension{
	{route{method: "POST", path: "/ext/databases", family: gen2, body: bodyJSON, scope: manage, do: withTenant(extEnsure), request: "TenantSpec"}, "Make a database where there is none, and wait until it is ready", ensureRequest{}, ensuredRow{}},
	{route{method: "GET", path: "/ext/databases/{database}", family: gen2, scope: query, do: withPathTenant(extDatabase)}, "A database with its instructions", struct{}{}, storedDatabase{}},
	{route{method: "PATCH", path: "/ext/databases/{database}", family: gen2, body: bodyJSON, scope: manage, do: withPathTenant(extEditDatabase), request: "TenantEdit"}, "Rename a database, or set the instructions for its items", databaseEdit{}, storedDatabase{}},
	{route{method: "POST", path: "/ext/remember", family: gen2, body: bodyJSON, scope: ingest, do: withSub(extRemember)}, "Add memories and wait until they are completed", rememberRequest{}, rememberAnswer{}},
	{route{method: "PATCH", path: "/ext/memories/{source_id}", family: gen2, body: bodyJSON, scope: ingest, do: withSub(extUpdate), request: "MemoryEdit", status: 202}, "Change what is named of a memory and keep the rest", memoryEdit{}, wire.ItemRow{}},
	{route{method: "POST", path: "/ext/memories/{source_id}/supersede", family: gen2, body: bodyJSON, scope: ingest, do: withSub(extSupersede)}, "Say that another memory took the place of one", supersedeRequest{}, supersededRow{}},
	{route{method: "POST", path: "/ext/memories/{source_id}/restore", family: gen2, body: bodyJSON, scope: ingest, do: withSub(extRestore)}, "Let a memory hold again: nothing that took its place counts any more", struct{}{}, restoredRow{}},
	{route{method: "GET", path: "/ext/conflicts", family: gen2, scope: query, do: withSub(extConflicts)}, "Pairs of memories of which the later may have taken the place of the earlier", conflictsRequest{}, conflictsAnswer{}},
	{route{method: "GET", path: "/ext/items/{source_id}/history", family: gen2, scope: query, do: withSub(extHistory)}, "What the versions of an item say, with what changed between them, the newest first", historyRequest{}, historyAnswer{}},
	{route{method: "POST", path: "/ext/items/{source_id}/restore", family: gen2, body: bodyJSON, scope: ingest, do: withSub(extRestoreVersion), request: "RestoreVersionRequest", status: 202}, "Store what an earlier version of an item said as a new version", restoreVersionRequest{}, wire.ItemRow{}},
	{route{method: "POST", path: "/ext/delete", family: gen2, body: bodyJSON, scope: ingest, do: withSub(extDelete), request: "Matching"}, "Delete all items that a filter, a session or both name", matchingRequest{}, deletedCount{}},
	{route{method: "POST", path: "/ext/erase", family: gen2, body: bodyJSON, scope: manage, do: withSub(extErase), request: "EraseRequest"}, "Erase items from every file of the deployment, for a signed receipt", eraseRequest{}, wire.Receipt{}},
	{route{method: "POST", path: "/ext/erase/verify", family: gen2, body: bodyJSON, scope: manage, do: withTenant(extVerifyReceipt)}, "Check that a receipt is from this deployment and unchanged", wire.Receipt{}, verifiedRow{}},
	{route{method: "GET", path: "/ext/sessions", family: gen2, scope: query, do: withSub(extSessions)}, "Named sessions, by name", sessionsRequest{}, sessionsAnswer{}},
	{route{method: "GET", path: "/ext/sessions/messages", family: gen2, scope: query, do: withSub(extMessages)}, "Messages of a session, in order", messagesRequest{}, messagesAnswer{}},
	{route{method: "POST", path: "/ext/facts", family: gen2, body: bodyJSON, scope: query, do: withSub(extFacts)}, "Facts with their evidence", factsRequest{}, wire.FactsPage{}},
	{route{method: "POST", path: "/ext/facts/{fact_id}/restore", family: gen2, body: bodyJSON, scope: ingest, do: withSub(extRestoreFact)}, "Let a fact hold again that later ones took the place of, beside these", memoryClass{}, wire.Fact{}},
	{route{method: "POST", path: "/ext/facts/{fact_id}/retire", family: gen2, body: bodyJSON, scope: ingest, do: withSub(extRetireFact)}, "Take the restoring of a fact back", memoryClass{}, wire.Fact{}},
	{route{method: "GET", path: "/ext/entities", family: gen2, scope: query, do: withSub(extEntities)}, "Entities of the graph, by name", entitiesRequest{}, entitiesAnswer{}},
	{route{method: "GET", path: "/ext/entities/merges", family: gen2, scope: query, do: withSub(extMerges)}, "Merges of names, by callers and by sources that state them, with those that were undone", mergesRequest{}, mergesAnswer{}},
	{route{method: "POST", path: "/ext/entities/merges", family: gen2, body: bodyJSON, scope: ingest, do: withSub(extMerge), request: "MergeEntitiesRequest"}, "Merge an entity into another", mergeRequest{}, mergeRow{}},
	{route{method: "POST", path: "/ext/entities/merges/{merge_id}/undo", family: gen2, body: bodyJSON, scope: ingest, do: withSub(extUndoMerge)}, "Undo a merge", memoryClass{}, unmergedRow{}},
	{route{method: "POST", path: "/ext/profile", family: gen2, body: bodyJSON, scope: query, do: withSub(extProfile)}, "What holds of somebody, by slot", profileRequest{}, wire.Profile{}},
	{route{method: "POST", path: "/ext/context", family: gen2, body: bodyJSON, scope: query, do: withSub(extContext), request: "Recall"}, "A recall as a text for a prompt", contextRequest{}, contextAnswer{}},
	{route{method: "GET", path: "/ext/keys", family: gen2, scope: manage, wholeOrg: true, do: extKeys}, "API keys, with when each was used last", noRequest{}, keysAnswer{}},
	{route{method: "POST", path: "/ext/keys", family: gen2, body: bodyJSON, scope: manage, wholeOrg: true, do: extCreateKey, request: "KeySpec"}, "Make an API key, whose text is shown this once", newKeyRequest{}, newKeyAnswer{}},
	{route{method: "PATCH", path: "/ext/keys/{api_key_id}", family: gen2, body: bodyJSON, scope: manage, wholeOrg: true, do: extExpireKey}, "Set when a key ends", expireKeyRequest{}, keyRow{}},
	{route{method: "DELETE", path: "/ext/keys/{api_key_id}", family: gen2, scope: manage, wholeOrg: true, do: extRevokeKey}, "Revoke a key", noRequest{}, revokedKey{}},
}

// memoryClass is the type of a request that is about memories by default.
type memoryClass struct {
	Type string `json:"type" default:"memory" oneof:"knowledge,memory"`
}

func (o memoryClass) class() contextmem.Class {
	if o.Type == "knowledge" {
		return contextmem.ClassKnowledge
	}
	return contextmem.ClassMemory
}

type ensureRequest struct {
	Embeddings bool          `json:"is_embeddings_tenant"`
	Dimension  int           `json:"embeddings_dimension"`
	Schema     schemaEntries `json:"database_metadata_schema" also:"tenant_metadata_schema"`
}

// ensuredRow describes a database.
type ensuredRow struct {
	Database   string `json:"database"`
	Ready      bool   `json:"ready"`
	Embeddings bool   `json:"is_embeddings_tenant"`
	Dimension  int    `json:"embeddings_dimension"`
	Fields     int    `json:"schema_fields"`
}

func extEnsure(c *call, t contextmem.Tenant) (any, error) {
	var r ensureRequest
	if err := c.read(&r); err != nil {
		return nil, err
	}
	i, err := c.org.EnsureTenant(c.ctx, contextmem.TenantSpec{ID: t.ID(), Embeddings: r.Embeddings, Dimension: r.Dimension, Schema: r.Schema})
	if err != nil {
		return nil, err
	}
	return ensuredRow{i.ID, i.Ready(), i.Embeddings, i.Dimension, len(i.Schema)}, nil
}

type rememberRequest struct {
	Memories memoryItems `json:"memories" need:"list"`
	Timeout  int         `json:"timeout_seconds" default:"30" range:"1,300"`
}

// rememberAnswer contains the states of memories. Memories without a final state at the end of the waiting time are still being processed.
type rememberAnswer struct {
	Completed bool             `json:"completed"` // all memories are completed
	Results   []wire.StatusRow `json:"results"`
}

func extRemember(c *call, sub contextmem.Sub) (any, error) {
	var r rememberRequest
	if err := c.read(&r); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(c.ctx, time.Duration(r.Timeout)*time.Second)
	defer cancel()
	found, err := sub.Remember(ctx, r.Memories...)
	if err != nil && (len(found) == 0 || c.ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded)) {
		return nil, err
	}
	a := rememberAnswer{Completed: true, Results: make([]wire.StatusRow, len(found))}
	for i, s := range found {
		a.Results[i] = statusJSON(s, gen2)
		a.Completed = a.Completed && s.Status == contextmem.StatusCompleted
	}
	return a, nil
}

type memoryEdit struct {
	Text         *string  `json:"text"`
	Messages     turns    `json:"messages"`
	Markdown     *bool    `json:"is_markdown"`
	Title        *string  `json:"title"`
	UserName     *string  `json:"user_name"`
	Infer        *bool    `json:"infer"`
	Instructions *string  `json:"custom_instructions"`
	Time         *clock   `json:"timestamp"`
	Session      *string  `json:"session_id"`
	Expiry       *int     `json:"expiry_time"`
	Metadata     metadata `json:"metadata"`
	Additional   object   `json:"additional_metadata"`
}

func extUpdate(c *call, sub contextmem.Sub) (any, error) {
	var r memoryEdit
	if err := c.read(&r); err != nil {
		return nil, err
	}
	e := content.MemoryEdit{Text: r.Text, Messages: r.Messages, Markdown: r.Markdown, Title: r.Title, UserName: r.UserName, Infer: r.Infer, Instructions: r.Instructions, Time: (*time.Time)(r.Time),
		Session: r.Session, Metadata: r.Metadata, Additional: r.Additional}
	if r.Expiry != nil {
		ttl := time.Duration(*r.Expiry) * time.Second
		e.TTL = &ttl
	}
	it, err := sub.UpdateMemory(c.ctx, c.r.PathValue("source_id"), e)
	if err != nil {
		return nil, err
	}
	return c.itemJSON(*it), nil
}

type matchingRequest struct {
	memoryClass
	Filters filterMap `json:"filters" also:"metadata_filters"`
	Session string    `json:"session_id"`
}

// deletedCount has the number of deleted items.
type deletedCount struct {
	Deleted int `json:"deleted_count"`
}

func extDelete(c *call, sub contextmem.Sub) (any, error) {
	var r matchingRequest
	if err := c.read(&r); err != nil {
		return nil, err
	}
	n, err := sub.DeleteMatching(c.ctx, content.Matching{Class: r.class(), Filters: contextmem.Filters{Metadata: r.Filters.metadata, Additional: r.Filters.additional}, Session: r.Session})
	if err != nil {
		return nil, err
	}
	return deletedCount{n}, nil
}

type pageRequest struct {
	Cursor string `json:"cursor"`
	Limit  int    `json:"limit" default:"100" range:"1,1000"`
}

// sessionRow is a named session.
type sessionRow struct {
	Name     string `json:"session_id"`
	Memories int    `json:"memories"`
	First    string `json:"first"`
	Last     string `json:"last"`
}

type sessionsAnswer struct {
	Sessions []sessionRow `json:"sessions"`
	Next     string       `json:"next_cursor"`
}

type sessionsRequest struct {
	pageRequest
	ACL []string `json:"acl"`
}

func extSessions(c *call, sub contextmem.Sub) (any, error) {
	var r sessionsRequest
	if err := c.read(&r); err != nil {
		return nil, err
	}
	p, err := sub.Sessions(c.ctx, content.SessionsRequest{Principals: r.ACL, Cursor: r.Cursor, Limit: r.Limit})
	if err != nil {
		return nil, err
	}
	c.warns(p.Warnings)
	a := sessionsAnswer{make([]sessionRow, len(p.Sessions)), p.Next}
	for i, s := range p.Sessions {
		a.Sessions[i] = sessionRow{s.Name, s.Memories, wire.Time(s.First), wire.Time(s.Last)}
	}
	return a, nil
}

type messagesRequest struct {
	pageRequest
	Session string   `json:"session_id" need:"text"`
	ACL     []string `json:"acl"`
}

// messageRow is a message of a session.
type messageRow struct {
	MemoryID string `json:"memory_id"`
	Index    int    `json:"index"`
	Role     string `json:"role"`
	Name     string `json:"name"`
	Content  string `json:"content"`
	Time     string `json:"timestamp"`
}

type messagesAnswer struct {
	Messages []messageRow `json:"messages"`
	Next     string       `json:"next_cursor"`
}

func extMessages(c *call, sub contextmem.Sub) (any, error) {
	var r messagesRequest
	if err := c.read(&r); err != nil {
		return nil, err
	}
	p, err := sub.SessionMessages(c.ctx, content.SessionMessagesRequest{Session: r.Session, Principals: r.ACL, Cursor: r.Cursor, Limit: r.Limit})
	if err != nil {
		return nil, err
	}
	c.warns(p.Warnings)
	a := messagesAnswer{make([]messageRow, len(p.Messages)), p.Next}
	for i, m := range p.Messages {
		a.Messages[i] = messageRow{m.MemoryID, m.Index, string(m.Role), m.Name, m.Text, wire.Time(m.Time)}
	}
	return a, nil
}

type contextRequest struct {
	Type       string   `json:"type" default:"memory" oneof:"knowledge,memory,all"`
	Query      string   `json:"query" need:"text"`
	MaxResults int      `json:"max_results" default:"10" range:"1,1000"`
	MaxTokens  int      `json:"max_tokens" default:"1000" range:"1,100000"`
	Mode       string   `json:"mode" default:"fast" oneof:"fast,thinking,auto"`
	Principals []string `json:"acl"`
}

// contextAnswer is a recall result as text.
type contextAnswer struct {
	Text         string             `json:"text"`
	Tokens       int                `json:"tokens"`
	Sources      []string           `json:"source_ids"`
	Dropped      []droppedRow       `json:"dropped"`
	Instructions []wire.Instruction `json:"instructions"`
}

// droppedRow is a passage that did not fit into the text.
type droppedRow struct {
	SourceID string `json:"source_id"`
	Tokens   int    `json:"tokens"`
}

func extContext(c *call, sub contextmem.Sub) (any, error) {
	var r contextRequest
	if err := c.read(&r); err != nil {
		return nil, err
	}
	class := map[string]contextmem.Class{"knowledge": contextmem.ClassKnowledge, "memory": contextmem.ClassMemory, "all": contextmem.ClassAll}[r.Type]
	q := contextmem.Recall{Query: r.Query, Class: class, MaxResults: r.MaxResults, Mode: contextmem.Mode(r.Mode), Principals: r.Principals, RequestID: c.id}
	res, err := sub.Recall(c.ctx, q)
	if err != nil {
		return nil, err
	}
	b := res.ContextBlock(r.MaxTokens)
	a := contextAnswer{Text: b.Text, Tokens: b.Tokens, Sources: append([]string{}, b.Sources...), Dropped: make([]droppedRow, len(b.Dropped)), Instructions: wire.OfInstructions(res.Instructions)}
	for i, d := range b.Dropped {
		a.Dropped[i] = droppedRow(d)
	}
	c.warn = c.rename(res.Warnings)
	return a, nil
}

// isExtension reports whether a path belongs to an extension.
func isExtension(path string) bool { return path == "/ext" || strings.HasPrefix(path, "/ext/") }

package httpapi

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/wire"
)

// ofClass is the type of a request that concerns one class.
type ofClass struct {
	Type string `json:"type" also:"kind" default:"knowledge" oneof:"knowledge,memory"`
}

func (o *ofClass) class() contextmem.Class {
	if o.Type == "memory" {
		return contextmem.ClassMemory
	}
	return contextmem.ClassKnowledge
}

// class returns the class of the request.
func (c *call) class() (contextmem.Class, error) {
	var o ofClass
	err := c.read(&o)
	return o.class(), err
}

func v2Status(c *call, sub contextmem.Sub) (any, error) {
	var r struct {
		IDs []string `json:"ids"`
		ID  string   `json:"id"`
	}
	if err := c.read(&r); err != nil {
		return nil, err
	}
	ids := slices.DeleteFunc(append([]string{r.ID}, r.IDs...), func(s string) bool { return strings.TrimSpace(s) == "" })
	if len(ids) == 0 {
		return nil, bad(fault.KindInvalid, "ids", "needs at least one id")
	}
	found, err := c.statuses(sub, ids)
	if err == nil && len(found) == 0 { // the values held only commas and blanks
		err = bad(fault.KindInvalid, "ids", "needs at least one id")
	}
	return statuses(found, gen2), err
}

// retryAnswer is the response to a request to process an item again.
type retryAnswer struct {
	Success bool   `json:"success"`
	ID      string `json:"id"`
	Status  string `json:"indexing_status"`
	Message string `json:"message"`
}

// v2Retry processes a failed item again from its stored content.
func v2Retry(c *call, sub contextmem.Sub) (any, error) {
	var r struct {
		ofClass
		ID string `json:"id" also:"source_id" need:"text"`
	}
	if err := c.read(&r); err != nil {
		return nil, err
	}
	if err := sub.Retry(c.ctx, r.class(), r.ID); err != nil {
		return nil, err
	}
	return retryAnswer{true, r.ID, string(contextmem.StatusQueued), "The item is processed again"}, nil
}

func v2Inspect(c *call, sub contextmem.Sub) (any, error) {
	var r struct {
		ID string `json:"id" also:"source_id" need:"text"`
		fetchOptions
	}
	if err := c.read(&r); err != nil {
		return nil, err
	}
	q := r.request(r.ID, contextmem.FetchBoth)
	q.ParsedText = q.Mode == contextmem.FetchBoth
	a, err := c.fetch(sub, q)
	return a, unknownID(err)
}

// unknownID adds to the error about an id that names no item which field has it, and where the ids are listed.
func unknownID(err error) error {
	var e *contextmem.Error
	if !errors.As(err, &e) || e.Kind != fault.KindNotFound || e.Resource != fault.Source && e.Resource != fault.Memory {
		return err
	}
	named := *e
	named.Field, named.Err = "ID", fmt.Errorf("%w"+wire.WhereIDsAre, e.Err)
	return &named
}

// editRequest is the body of an edit of metadata.
type editRequest struct {
	Type       *string   `json:"type" also:"kind" oneof:"knowledge,memory"`
	Metadata   metadata  `json:"metadata" also:"tenant_metadata,database_metadata"`
	Additional metadata  `json:"additional_metadata"`
	ACL        *[]string `json:"acl"`
}

// editAnswer is the result of an edit of metadata. Some members have a second name, which the published documentation uses.
type editAnswer struct {
	scoped
	ID             string         `json:"id"`
	SourceID       string         `json:"source_id"`
	Collection     string         `json:"collection"`
	SubTenantID    string         `json:"sub_tenant_id"`
	Updated        bool           `json:"updated"`
	MetadataKeys   []string       `json:"database_metadata_keys"`
	TenantKeys     []string       `json:"tenant_metadata_keys"`
	AdditionalKeys []string       `json:"additional_metadata_keys"`
	Matched        int            `json:"chunk_rows_matched"`
	Modified       int            `json:"chunk_rows_modified"`
	SyncRequired   bool           `json:"vector_sync_required"`
	Synced         bool           `json:"vector_synced"`
	RowsSynced     int            `json:"vector_rows_synced"`
	MilvusRequired bool           `json:"milvus_sync_required"`
	MilvusSynced   bool           `json:"milvus_synced"`
	MilvusRows     int            `json:"milvus_rows_synced"`
	Metadata       map[string]any `json:"metadata"`
	Additional     map[string]any `json:"additional_metadata"`
	Message        string         `json:"message"`
}

func v2EditMetadata(c *call, sub contextmem.Sub) (any, error) {
	if c.in.has("document_metadata") {
		return nil, bad(fault.KindInvalid, "document_metadata", "invalid metadata edit: use additional_metadata")
	}
	var q editRequest
	if err := c.read(&q); err != nil {
		return nil, err
	}
	r := contextmem.EditMetadataRequest{ID: c.r.PathValue("source_id"), Metadata: q.Metadata, Additional: q.Additional, ACL: q.ACL}
	if q.Type != nil {
		r.Class = (&ofClass{*q.Type}).class()
	}
	res, err := sub.EditMetadata(c.ctx, r)
	if err != nil {
		return nil, err
	}
	name, err := c.in.string("collection")
	if err != nil {
		return nil, err
	}
	if name == "" {
		name = sub.Tenant().ID()
	}
	rows := 0
	if res.Reembedded {
		rows = res.Chunks
	}
	return editAnswer{scoped: scopeOf(sub.Tenant()), ID: res.ID, SourceID: res.ID, Collection: name, SubTenantID: name, Updated: res.Updated,
		MetadataKeys: orNone(res.MetadataKeys), TenantKeys: orNone(res.MetadataKeys), AdditionalKeys: orNone(res.AdditionalKeys),
		Matched: res.Chunks, Modified: res.Chunks, SyncRequired: res.Reembedded, Synced: res.Reembedded, RowsSynced: rows,
		MilvusRequired: res.Reembedded, MilvusSynced: res.Reembedded, MilvusRows: rows,
		Metadata: orEmpty(res.Metadata), Additional: orEmpty(res.Additional), Message: "Metadata updated"}, nil
}

// strictDelete is the error of a deletion that fails as a whole because the caller requested strict mode.
type strictDelete struct {
	err     *contextmem.Error
	results []wire.DeletedRow
}

// Error implements error.
func (s *strictDelete) Error() string { return s.err.Error() }

// Unwrap lets the error table match the error's kind.
func (s *strictDelete) Unwrap() error { return s.err }

// deleteRequest is the body of a deletion.
type deleteRequest struct {
	Type string `json:"type" also:"kind" default:"knowledge" oneof:"knowledge,memory,all"`
	idsRequest
}

func v2Delete(c *call, sub contextmem.Sub) (any, error) {
	var r deleteRequest
	if err := c.read(&r); err != nil {
		return nil, err
	}
	if len(r.IDs) == 0 {
		return nil, bad(fault.KindInvalid, "ids", "needs at least one id")
	}
	strict := false
	for _, h := range []string{"X-Service-Delete-Status", "X-HydraDB-Delete-Status"} {
		strict = strict || strings.EqualFold(c.r.Header.Get(h), "strict")
	}
	res, err := c.deleteItems(sub, &r, strict)
	if err != nil {
		return nil, err
	}
	a := c.deletedJSON(res)
	if strict && res.Deleted == 0 {
		e := &contextmem.Error{Kind: fault.KindNotFound, Err: constError("no id matched")}
		for _, it := range res.Items {
			if ce, ok := it.Err.(*contextmem.Error); ok && ce.Kind == fault.KindProcessing {
				e = ce
			}
		}
		return nil, &strictDelete{e, a.Results}
	}
	if r.Type == "memory" {
		a.Memories = &res.Deleted
	}
	return a, nil
}

// deleteItems deletes the items with the given ids in the classes of the request.
func (c *call) deleteItems(sub contextmem.Sub, r *deleteRequest, strict bool) (*contextmem.DeleteItemsResult, error) {
	classes := []contextmem.Class{queryClasses[r.Type]}
	if r.Type == "all" {
		classes = []contextmem.Class{contextmem.ClassKnowledge, contextmem.ClassMemory}
	}
	var all *contextmem.DeleteItemsResult
	for _, class := range classes {
		res, err := sub.DeleteItems(c.ctx, contextmem.DeleteItemsRequest{IDs: r.IDs, Class: class, KeepIndexing: strict})
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = res
			continue
		}
		for i, it := range res.Items {
			before := &all.Items[i]
			switch {
			case it.Deleted && !before.Deleted:
				all.Deleted++
				*before = it
			case !it.Deleted && !before.Deleted && !errors.Is(it.Err, contextmem.ErrNotFound):
				before.Err = it.Err
			}
		}
	}
	return all, nil
}

func v2Relations(c *call, sub contextmem.Sub) (any, error) {
	var q struct {
		ofClass
		ID     string   `json:"id" also:"source_id"`
		Limit  int      `json:"limit" default:"5000" range:"1,10000"`
		Cursor cursor   `json:"cursor"`
		ACL    []string `json:"acl"`
	}
	if err := c.read(&q); err != nil {
		return nil, err
	}
	p, err := sub.GraphRelations(c.ctx, contextmem.GraphRelationsRequest{Class: q.class(), SourceID: q.ID, Limit: q.Limit, Cursor: int64(q.Cursor), Principals: q.ACL})
	if err != nil {
		return nil, err
	}
	c.warns(p.Warnings)
	a := struct {
		Relations []relationGroup `json:"relations"`
		Truncated bool            `json:"is_truncated"`
		Next      *int64          `json:"next_cursor"`
		Success   bool            `json:"success"`
		Message   string          `json:"message"`
	}{groupsJSON(p.Groups), p.Truncated, nil, true, "Relations retrieved"}
	if p.Truncated {
		a.Next = &p.Next
	}
	return a, nil
}

// cursor is the position at which a list of relations continues.
type cursor int64

func (n *cursor) read(_ *decoder, at string, m member) error {
	s := m.plain()
	at64, err := strconv.ParseInt(s[len(s)-1], 10, 64)
	if s[len(s)-1] != "" && (err != nil || at64 < 0) {
		return bad(fault.KindInvalid, at, "is not one that was handed out")
	}
	*n = cursor(at64)
	return nil
}

// subgraphMember is a source in a subgraph.
type subgraphMember struct {
	SourceID      string  `json:"source_id"`
	Title         string  `json:"title"`
	AppKind       *string `json:"app_kind"`
	AppProvider   *string `json:"app_provider"`
	AppExternalID *string `json:"app_external_id"`
	ThreadID      *string `json:"thread_id"`
	Depth         int     `json:"depth"`
	Hydration     string  `json:"hydration"`
	Via           *string `json:"discovered_via"`
	Relation      *string `json:"discovered_relation"`
}

type subgraphAnswer struct {
	Seed               string           `json:"seed_source_id"`
	Sources            []subgraphMember `json:"sources"`
	Relations          []relationGroup  `json:"relations"`
	Auxiliary          []relationGroup  `json:"auxiliary_relations"`
	AuxiliaryTruncated bool             `json:"auxiliary_truncated"`
	Truncated          bool             `json:"is_truncated"`
	MaxDepthReached    int              `json:"max_depth_reached"`
	Success            bool             `json:"success"`
	Message            string           `json:"message"`
}

func v2Subgraph(c *call, sub contextmem.Sub) (any, error) {
	var q struct {
		ofClass
		ID         string   `json:"id"` // if the path does not contain the id
		Depth      int      `json:"depth" default:"5" range:"1,10"`
		MaxSources int      `json:"max_sources" default:"200" range:"1,1000"`
		ACL        []string `json:"acl"`
	}
	if err := c.read(&q); err != nil {
		return nil, err
	}
	if id := c.r.PathValue("source_id"); id != "" {
		q.ID = id
	}
	if strings.TrimSpace(q.ID) == "" {
		return nil, bad(fault.KindInvalid, "id", "is required")
	}
	g, err := sub.Subgraph(c.ctx, contextmem.SubgraphRequest{SourceID: q.ID, Class: q.class(), Depth: q.Depth, MaxSources: q.MaxSources,
		Principals: splitIDs(q.ACL, func(string) bool { return false })})
	if err != nil {
		return nil, err
	}
	c.warns(g.Warnings)
	a := subgraphAnswer{Seed: g.Seed, Sources: make([]subgraphMember, len(g.Members)), Relations: make([]relationGroup, len(g.Edges)), Auxiliary: []relationGroup{},
		Truncated: g.Truncated, MaxDepthReached: g.MaxDepthReached, Success: true, Message: "Subgraph retrieved"}
	names := map[string]string{}
	for i, m := range g.Members {
		names[m.Source.ID] = m.Source.Title
		x := subgraphMember{SourceID: m.Source.ID, Title: m.Source.Title, Depth: m.Depth, Hydration: "full", Via: wire.Null(m.Via), Relation: wire.Null(m.Relation)}
		if app := m.Source.App; app != nil {
			x.AppKind, x.AppProvider, x.AppExternalID, x.ThreadID = wire.Null(string(app.Kind)), wire.Null(app.Provider), wire.Null(app.ExternalID), wire.Null(app.ThreadID)
		}
		a.Sources[i] = x
	}
	node := func(id string) wire.Entity {
		return wire.OfEntity(&contextmem.Entity{ID: id, Name: names[id], Type: "SOURCE", Namespace: "default"})
	}
	for i, e := range g.Edges {
		ev := wire.OfEvidence(&contextmem.Evidence{ID: "link_" + strconv.Itoa(i), Canonical: e.Predicate, Raw: e.Predicate, Confidence: 1, SourceID: e.Source, TargetID: e.Target})
		a.Relations[i] = relationGroup{Source: node(e.Source), Target: node(e.Target), Relations: []wire.Evidence{ev}}
	}
	return a, nil
}

package httpapi

import (
	"slices"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/wire"
)

// listRequest is the body of /list/data and /context/list, without the class and the ids, whose names differ.
type listRequest struct {
	Page     int          `json:"page" default:"1" range:"1,"`
	PageSize int          `json:"page_size" default:"50" range:"1,100"`
	Filters  namedFilters `json:"filters"`
	Include  []string     `json:"include_fields"`
	ACL      []string     `json:"acl"`
}

type listFilters struct {
	Metadata         object       `json:"metadata"`
	TenantMetadata   object       `json:"tenant_metadata"`
	Additional       object       `json:"additional_metadata"`
	DocumentMetadata object       `json:"document_metadata"`
	Fields           sourceFields `json:"source_fields"`
}

// namedFilters is filters. A member that no filter has is ignored and told.
type namedFilters struct{ listFilters }

func (f *namedFilters) read(d *decoder, at string, m member) error {
	ms, err := m.members(at)
	if err != nil {
		return err
	}
	defer d.in.telling()()
	return d.object(at+".", ms, valueOf(&f.listFilters))
}

// sourceFields is filters.source_fields. Unknown members are errors.
type sourceFields contextmem.SourceFilter

// sourceFilter names the fields of a source that a list can be filtered by.
type sourceFilter struct {
	Title         string `json:"title"`
	Type          string `json:"type"`
	Description   string `json:"description"`
	URL           string `json:"url"`
	Timestamp     string `json:"timestamp"`
	AppKind       string `json:"app_kind"`
	AppProvider   string `json:"app_provider"`
	AppExternalID string `json:"app_external_id"`
	AppParentID   string `json:"app_parent_id"`
}

func (f *sourceFields) read(d *decoder, at string, m member) error {
	ms, err := m.members(at)
	if err != nil {
		return err
	}
	var x sourceFilter
	for k := range ms.all() {
		if !planFor[sourceFilter]().names[k] {
			return bad(fault.KindInvalid, at+"."+cut(k), "is not a field to filter by")
		}
	}
	if err := d.object(at+".", ms, valueOf(&x)); err != nil {
		return err
	}
	*f = sourceFields{Title: x.Title, Kind: x.Type, Description: x.Description, URL: x.URL, Timestamp: x.Timestamp, AppKind: x.AppKind, AppProvider: x.AppProvider,
		AppExternalID: x.AppExternalID, AppParentExternalID: x.AppParentID}
	return nil
}

// filters merges the two names of each map.
func (f *listFilters) filters() (out contextmem.Filters, err error) {
	for _, x := range []struct {
		to   *map[string]any
		m    object
		name string
	}{{&out.Metadata, f.Metadata, "metadata"}, {&out.Metadata, f.TenantMetadata, "tenant_metadata"}, {&out.Additional, f.Additional, "additional_metadata"}, {&out.Additional, f.DocumentMetadata, "document_metadata"}} {
		if err := unite(x.to, x.m, "filters."+x.name); err != nil {
			return out, err
		}
	}
	return out, nil
}

// v1ListRequest is the body of /list/data.
type v1ListRequest struct {
	Kind string   `json:"kind" default:"knowledge" oneof:"knowledge,memories,memory"`
	IDs  []string `json:"source_ids"`
	listRequest
}

// v2ListRequest is the body of /context/list.
type v2ListRequest struct {
	Type string `json:"type" also:"kind" default:"knowledge" oneof:"knowledge,memory,all"`
	idsRequest
	listRequest
}

func v1ListData(c *call) (any, error) {
	var r v1ListRequest
	sub, err := c.sub()
	if err != nil {
		return nil, err
	}
	if err := c.read(&r); err != nil {
		return nil, err
	}
	class := contextmem.ClassKnowledge
	if r.Kind != "knowledge" {
		class = contextmem.ClassMemory
	}
	return c.list(sub, class, r.IDs, &r.listRequest)
}

// listNames are the field names of a list request. group_threads is accepted and has no effect.
var listNames = []map[string]bool{planFor[v2ListRequest]().names, {"group_threads": true}}

func v2List(c *call, sub contextmem.Sub) (any, error) {
	var r v2ListRequest
	if err := c.read(&r); err != nil {
		return nil, err
	}
	c.warnUnknown(listNames)
	if r.Type == "all" {
		return c.listAll(sub, r.IDs, &r.listRequest)
	}
	return c.list(sub, queryClasses[r.Type], r.IDs, &r.listRequest)
}

// listAnswer is a page of a list of either knowledge sources or memories.
type listAnswer struct {
	Success    bool              `json:"success"`
	Message    string            `json:"message"`
	Total      int               `json:"total"`
	Pagination wire.Pagination   `json:"pagination"`
	Sources    *[]any            `json:"sources,omitempty"`
	Memories   *[]wire.MemoryRow `json:"user_memories,omitempty"`
}

// page returns the checked request for a page of one class. If ids is not nil, only these are listed.
func (c *call) page(class contextmem.Class, ids []string, q *listRequest) (contextmem.ListRequest, error) {
	r := contextmem.ListRequest{Class: class, IDs: ids, Page: q.Page, PageSize: q.PageSize, Fields: contextmem.SourceFilter(q.Filters.Fields), Principals: q.ACL}
	var err error
	if r.Filters, err = q.Filters.filters(); err != nil {
		return r, err
	}
	if class == contextmem.ClassMemory {
		return r, nil
	}
	for _, f := range q.Include {
		if !slices.Contains(listFields, f) && f != "id" {
			return r, bad(fault.KindInvalid, "include_fields", "%q is not a field of a source", cut(f))
		}
	}
	r.Content = slices.Contains(q.Include, "content")
	return r, nil
}

// list handles list requests of both generations.
func (c *call) list(sub contextmem.Sub, class contextmem.Class, ids []string, q *listRequest) (any, error) {
	r, err := c.page(class, ids, q)
	if err != nil {
		return nil, err
	}
	p, err := sub.List(c.ctx, r)
	if err != nil {
		return nil, err
	}
	c.warns(p.Warnings)
	a := listAnswer{Success: true, Message: "Items retrieved", Total: p.Total, Pagination: wire.OfPage(p)}
	if class == contextmem.ClassMemory {
		a.Memories = memoryRows(sub, p.Sources)
	} else {
		a.Sources = sourceRows(sub, p.Sources, q.Include)
	}
	return a, nil
}

func memoryRows(sub contextmem.Sub, list []contextmem.SourceInfo) *[]wire.MemoryRow {
	rows := make([]wire.MemoryRow, len(list))
	for i := range list {
		rows[i] = wire.OfMemory(sub.Tenant().ID(), &list[i])
	}
	return &rows
}

func sourceRows(sub contextmem.Sub, list []contextmem.SourceInfo, fields []string) *[]any {
	rows := make([]any, len(list))
	for i := range list {
		rows[i] = rowJSON(sub.Tenant().ID(), &list[i], fields)
	}
	return &rows
}

// listAll lists knowledge followed by memories as one list.
func (c *call) listAll(sub contextmem.Sub, ids []string, q *listRequest) (any, error) {
	r, err := c.page(contextmem.ClassKnowledge, ids, q)
	if err != nil {
		return nil, err
	}
	p, err := sub.List(c.ctx, r)
	if err != nil {
		return nil, err
	}
	c.warns(p.Warnings)
	knowledge := p.Total
	memories, total, err := c.memoriesFrom(sub, ids, q, max(0, (q.Page-1)*q.PageSize-knowledge), q.PageSize-len(p.Sources))
	if err != nil {
		return nil, err
	}
	all := contextmem.SourcePage{Page: q.Page, PageSize: q.PageSize, Total: knowledge + total}
	return listAnswer{Success: true, Message: "Items retrieved", Total: all.Total, Pagination: wire.OfPage(&all),
		Sources: sourceRows(sub, p.Sources, q.Include), Memories: memoryRows(sub, memories)}, nil
}

// memoriesFrom returns up to n memories from index from of their list, and the total number of memories.
func (c *call) memoriesFrom(sub contextmem.Sub, ids []string, q *listRequest, from, n int) (list []contextmem.SourceInfo, total int, err error) {
	r, err := c.page(contextmem.ClassMemory, ids, q)
	if err != nil {
		return nil, 0, err
	}
	skip := from % q.PageSize
	for r.Page = from/q.PageSize + 1; ; r.Page++ { // index from may be inside a page; then the n items span two pages
		p, err := sub.List(c.ctx, r)
		if err != nil {
			return nil, 0, err
		}
		c.warns(p.Warnings)
		total = p.Total
		list = append(list, p.Sources[min(skip, len(p.Sources)):]...)
		skip = 0
		if len(list) >= n || r.Page >= p.Pages() {
			return list[:min(max(n, 0), len(list))], total, nil
		}
	}
}

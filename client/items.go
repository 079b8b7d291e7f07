package client

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/wire"
)

var classNames = map[contextmem.Class]string{contextmem.ClassKnowledge: "knowledge", contextmem.ClassMemory: "memory", contextmem.ClassAll: "all"}

// className returns the name of a class over REST. 0 is knowledge.
func className(op string, c contextmem.Class, all bool) (string, error) {
	if c == 0 {
		c = contextmem.ClassKnowledge
	}
	name, ok := classNames[c]
	if !ok || c == contextmem.ClassAll && !all {
		return "", &fault.Error{Op: op, Kind: fault.KindInvalid, Field: "Class", Err: errors.New("is not a class that this call knows")}
	}
	return name, nil
}

// values returns the query string with the scope.
func (s scope) values() url.Values {
	v := url.Values{"database": {s.tenant}}
	if s.sub != "" {
		v.Set("collection", s.sub)
	}
	return v
}

// body returns a JSON body with the scope.
func (s scope) body() map[string]any {
	m := map[string]any{"database": s.tenant}
	if s.sub != "" {
		m["collection"] = s.sub
	}
	return m
}

// put sets a value in m unless it is empty.
func put(m map[string]any, k string, v any, empty bool) {
	if !empty {
		m[k] = v
	}
}

// listFields lists all fields of a source, which must be requested explicitly together with the content.
var listFields = []string{"attachments", "content", "description", "note", "relations", "timestamp", "title", "type", "url", "metadata", "additional_metadata"}

// List implements contextmem.Memories. With Content set, sources of knowledge lack Status, CreatedAt and UpdatedAt.
func (s scope) List(ctx context.Context, r contextmem.ListRequest) (*contextmem.SourcePage, error) {
	const op = "list"
	class, err := className(op, r.Class, false)
	if err != nil {
		return nil, err
	}
	if r.Filters.Strict {
		return nil, notOverREST(op, "Filters.Strict")
	}
	if r.Statuses != nil {
		return nil, notOverREST(op, "Statuses")
	}
	if r.After != "" || r.Before != "" {
		return nil, notOverREST(op, "After and Before")
	}
	body := s.body()
	body["type"] = class
	put(body, "ids", r.IDs, r.IDs == nil)
	put(body, "page", r.Page, r.Page == 0)
	put(body, "page_size", r.PageSize, r.PageSize == 0)
	put(body, "acl", r.Principals, r.Principals == nil)
	put(body, "include_fields", listFields, !r.Content || class == "memory")
	filters := map[string]any{}
	put(filters, "metadata", r.Filters.Metadata, r.Filters.Metadata == nil)
	put(filters, "additional_metadata", r.Filters.Additional, r.Filters.Additional == nil)
	fields := map[string]string{}
	for k, v := range map[string]string{"title": r.Fields.Title, "type": r.Fields.Kind, "description": r.Fields.Description, "url": r.Fields.URL, "timestamp": r.Fields.Timestamp,
		"app_kind": r.Fields.AppKind, "app_provider": r.Fields.AppProvider, "app_external_id": r.Fields.AppExternalID, "app_parent_id": r.Fields.AppParentExternalID} {
		if v != "" {
			fields[k] = v
		}
	}
	put(filters, "source_fields", fields, len(fields) == 0)
	put(body, "filters", filters, len(filters) == 0)
	var a struct {
		Total      int              `json:"total"`
		Pagination wire.Pagination  `json:"pagination"`
		Sources    []wire.SourceRow `json:"sources"`
		Memories   []wire.MemoryRow `json:"user_memories"`
	}
	m, err := s.c.send(ctx, request{op: op, method: http.MethodPost, path: "/context/list", json: body, of: r}, &a)
	if err != nil {
		return nil, err
	}
	p := &contextmem.SourcePage{Total: a.Total, Page: a.Pagination.Page, PageSize: a.Pagination.PageSize, Warnings: m.Warnings}
	for i := range a.Sources {
		p.Sources = append(p.Sources, a.Sources[i].Source(contextmem.ClassKnowledge))
	}
	for i := range a.Memories {
		p.Sources = append(p.Sources, a.Memories[i].Memory())
	}
	return p, nil
}

// Fetch implements contextmem.Memories. Text of a binary file is the parsed text, with FetchBoth alone.
func (s scope) Fetch(ctx context.Context, r contextmem.FetchRequest) (*contextmem.Fetched, error) {
	const op = "fetch"
	if r.Class != 0 {
		return nil, notOverREST(op, "Class")
	}
	mode := r.Mode
	if mode == "" {
		mode = contextmem.FetchContent
	}
	if r.ParsedText && mode == contextmem.FetchContent {
		mode = contextmem.FetchBoth
	}
	v := s.values()
	v.Set("id", r.ID)
	v.Set("mode", string(mode))
	if r.Original {
		v.Set("original", "true")
	}
	if r.Expiry != 0 {
		v.Set("expiry_seconds", strconv.Itoa(int(r.Expiry/time.Second)))
	}
	for _, p := range r.Principals {
		v.Add("acl", p)
	}
	var a wire.Fetched
	if _, err := s.c.send(ctx, request{op: op, method: http.MethodGet, path: "/context/inspect", query: v, of: r}, &a); err != nil {
		return nil, err
	}
	f := &contextmem.Fetched{ID: a.ID, Text: wire.Text(a.Content), Inferred: wire.Text(a.Inferred), URL: wire.Text(a.URL), ContentType: a.ContentType, Partial: a.Partial, Usage: a.Usage.Usage(), Warnings: wire.Warnings(a.Warnings)}
	if a.Size == nil {
		f.Class, f.SizeBytes = contextmem.ClassMemory, int64(len(f.Text))
	} else {
		f.Class, f.SizeBytes = contextmem.ClassKnowledge, *a.Size
	}
	if a.Base64 != nil {
		b, err := base64.StdEncoding.DecodeString(*a.Base64)
		if err != nil {
			return nil, &fault.Error{Op: op, Kind: fault.KindUpstream, Err: errors.New("the answer is not one of a contextmem server")}
		}
		f.Data, f.Binary = b, true
	}
	return f, nil
}

// statusIDs bounds the ids of one request, so that its URL is short enough for proxies.
const statusIDs = 50

// Status implements contextmem.Memories. Class and Attempts are not carried over REST.
func (s scope) Status(ctx context.Context, ids ...string) ([]contextmem.ItemStatus, error) {
	out := make([]contextmem.ItemStatus, 0, len(ids))
	for part := range slices.Chunk(ids, statusIDs) {
		v := s.values()
		v["ids"] = part
		var a struct {
			Statuses []wire.StatusRow `json:"statuses"`
		}
		if _, err := s.c.send(ctx, request{op: "status", method: http.MethodGet, path: "/context/status", query: v}, &a); err != nil {
			return nil, err
		}
		for i := range a.Statuses {
			out = append(out, a.Statuses[i].Item())
		}
	}
	return out, nil
}

// Wait implements contextmem.Memories. It polls the states, at most once a second.
func (s scope) Wait(ctx context.Context, ids ...string) (st []contextmem.ItemStatus, err error) {
	err = s.c.until(ctx, func() (bool, error) {
		var err error
		st, err = s.Status(ctx, ids...)
		return !slices.ContainsFunc(st, func(x contextmem.ItemStatus) bool { return !x.Status.Terminal() }), err
	})
	return st, err
}

// Retry implements contextmem.Memories.
func (s scope) Retry(ctx context.Context, class contextmem.Class, id string) error {
	const op = "retry"
	name, err := className(op, class, false)
	if err != nil {
		return err
	}
	body := s.body()
	body["type"], body["id"] = name, id
	_, err = s.c.send(ctx, request{op: op, method: http.MethodPost, path: "/context/retry", json: body, once: true}, nil)
	return err
}

// strictRefusal is the error of a deletion that was refused as a whole, with the outcome for each item.
type strictRefusal struct {
	err  *fault.Error
	rows []wire.DeletedRow
}

// Error implements error.
func (s *strictRefusal) Error() string { return s.err.Error() }

// Unwrap returns the error without the outcomes.
func (s *strictRefusal) Unwrap() error { return s.err }

// DeleteItems implements contextmem.Memories. When a request is repeated, items that the first try deleted are reported as not found.
func (s scope) DeleteItems(ctx context.Context, r contextmem.DeleteItemsRequest) (*contextmem.DeleteItemsResult, error) {
	if r.Class != 0 {
		return s.deleteOf(ctx, r)
	}
	r.Class = contextmem.ClassKnowledge
	res, err := s.deleteOf(ctx, r)
	if err != nil {
		return nil, err
	}
	var rest []string // ids that knowledge does not have
	for _, it := range res.Items {
		if errors.Is(it.Err, contextmem.ErrNotFound) {
			rest = append(rest, it.ID)
		}
	}
	if len(rest) == 0 {
		return res, nil
	}
	r.Class, r.IDs = contextmem.ClassMemory, rest
	more, err := s.deleteOf(ctx, r)
	if err != nil {
		return nil, err
	}
	fate := map[string]contextmem.DeleteItem{}
	for _, it := range more.Items {
		fate[it.ID] = it
	}
	for i, it := range res.Items {
		if f, ok := fate[it.ID]; ok && errors.Is(it.Err, contextmem.ErrNotFound) {
			res.Items[i] = f
		}
	}
	res.Deleted += more.Deleted
	return res, nil
}

func (s scope) deleteOf(ctx context.Context, r contextmem.DeleteItemsRequest) (*contextmem.DeleteItemsResult, error) {
	const op = "delete items"
	class, err := className(op, r.Class, false)
	if err != nil {
		return nil, err
	}
	body := s.body()
	body["type"], body["ids"] = class, r.IDs
	q := request{op: op, method: http.MethodDelete, path: "/context", json: body, of: r}
	if r.KeepIndexing {
		q.header = http.Header{"X-Service-Delete-Status": {"strict"}}
	}
	var a struct {
		Results []wire.DeletedRow `json:"results"`
	}
	_, err = s.c.send(ctx, q, &a)
	var strict *strictRefusal
	if errors.As(err, &strict) {
		a.Results, err = strict.rows, nil
	}
	if err != nil {
		return nil, err
	}
	res := &contextmem.DeleteItemsResult{Items: make([]contextmem.DeleteItem, len(a.Results))}
	for i, row := range a.Results {
		res.Items[i] = contextmem.DeleteItem{ID: row.ID, Deleted: row.Deleted}
		switch {
		case row.Deleted:
			res.Deleted++
		case strings.Contains(wire.Text(row.Error), "still being indexed"):
			res.Items[i].Err = &fault.Error{Op: op, Kind: fault.KindProcessing, Resource: fault.Source, ID: fault.ShortID(row.ID), RetryAfter: time.Second, Err: errors.New(wire.Text(row.Error))}
		default:
			res.Items[i].Err = &fault.Error{Op: op, Kind: fault.KindNotFound, Resource: fault.Source, ID: fault.ShortID(row.ID), Err: errors.New(wire.Text(row.Error))}
		}
	}
	return res, nil
}

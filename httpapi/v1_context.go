package httpapi

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/wire"
)

// verifyRequest is the query of /ingestion/verify_processing.
type verifyRequest struct {
	IDs    []string `json:"file_ids"`
	ID     string   `json:"file_id"`
	Tenant string   `json:"tenant_id"`
	Sub    string   `json:"sub_tenant_id"`
}

type statusesAnswer struct {
	Statuses []wire.StatusRow `json:"statuses"`
}

func statuses(list []contextmem.ItemStatus, f family) statusesAnswer {
	a := statusesAnswer{make([]wire.StatusRow, len(list))}
	for i, s := range list {
		a.Statuses[i] = statusJSON(s, f)
	}
	return a
}

// Bounds of status requests.
const (
	maxStatusIDs    = 1000    // ids in one request
	maxStatusLookup = 100_000 // ids times tenants in a request without a tenant
)

// v1VerifyProcessing reports states. Without a tenant it looks the ids up in all tenants to which the key has access.
func v1VerifyProcessing(c *call) (any, error) {
	var r verifyRequest
	if err := c.read(&r); err != nil {
		return nil, err
	}
	if r.ID != "" {
		r.IDs = append(r.IDs, r.ID)
	}
	if r.Tenant == "" {
		found, err := c.statusesAnywhere(r.IDs, r.Sub)
		return statuses(found, gen1), err
	}
	t, err := c.tenantNamed(r.Tenant)
	if err != nil {
		return nil, err
	}
	found, err := c.statuses(t.Sub(r.Sub), r.IDs)
	return statuses(found, gen1), err
}

// fewStatuses returns an error if there are too many ids.
func (c *call) fewStatuses(ids []string) error {
	if len(ids) > maxStatusIDs {
		return bad(fault.KindInvalid, c.wireField("IDs"), "has over %d ids", maxStatusIDs)
	}
	return nil
}

// statuses looks ids up. It first tries each id verbatim, and then split at commas.
func (c *call) statuses(sub contextmem.Sub, ids []string) ([]contextmem.ItemStatus, error) {
	if err := c.fewStatuses(ids); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(ids, func(id string) bool { return strings.Contains(id, ",") }) {
		return sub.Status(c.ctx, splitIDs(ids, nil)...)
	}
	whole, err := sub.Status(c.ctx, ids...)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, s := range whole {
		known[s.ID] = !s.Unknown
	}
	ids = splitIDs(ids, func(id string) bool { return known[id] })
	if err := c.fewStatuses(ids); err != nil {
		return nil, err
	}
	return sub.Status(c.ctx, ids...)
}

// splitIDs splits comma-joined ids that do not match an item as a whole.
func splitIDs(ids []string, known func(id string) bool) []string {
	var out []string
	for _, id := range ids {
		if strings.TrimSpace(id) == "" {
			continue
		}
		if !strings.Contains(id, ",") || known(id) {
			out = append(out, id)
			continue
		}
		for p := range strings.SplitSeq(id, ",") {
			if p = strings.TrimSpace(p); p != "" {
				out = append(out, p)
			}
		}
	}
	return out
}

func (c *call) statusesAnywhere(ids []string, sub string) ([]contextmem.ItemStatus, error) {
	if err := c.fewStatuses(ids); err != nil {
		return nil, err
	}
	ids = splitIDs(ids, func(string) bool { return false })
	if len(ids) == 0 {
		return nil, nil
	}
	if err := c.fewStatuses(ids); err != nil {
		return nil, err
	}
	tenants, _, err := c.visibleTenants()
	if err != nil {
		return nil, err
	}
	return c.lookEverywhere(ids, tenants, func(t contextmem.TenantInfo, ids []string) ([]contextmem.ItemStatus, error) {
		return c.org.Tenant(t.ID).Sub(sub).Status(c.ctx, ids...)
	})
}

// lookEverywhere looks up the missing ids in one tenant after the other.
func (c *call) lookEverywhere(ids []string, tenants []contextmem.TenantInfo, look func(contextmem.TenantInfo, []string) ([]contextmem.ItemStatus, error)) ([]contextmem.ItemStatus, error) {
	if len(ids)*len(tenants) > maxStatusLookup {
		return nil, bad(fault.KindInvalid, "tenant_id", "is required for %d ids in %d tenants", len(ids), len(tenants))
	}
	found := map[string]contextmem.ItemStatus{}
	missing := ids
	for _, t := range tenants {
		if len(missing) == 0 {
			break
		}
		st, err := look(t, missing)
		if errors.Is(err, contextmem.ErrNotFound) || errors.Is(err, contextmem.ErrNotReady) {
			continue
		}
		if err != nil {
			return nil, err
		}
		missing = nil
		for _, s := range st {
			if s.Unknown {
				missing = append(missing, s.ID)
			} else {
				found[s.ID] = s
			}
		}
	}
	out := make([]contextmem.ItemStatus, len(ids))
	for i, id := range ids {
		s, ok := found[id]
		if !ok {
			s = contextmem.ItemStatus{ID: id, Status: contextmem.StatusErrored, ErrorCode: "FILE_NOT_FOUND", ErrorMessage: "ID not found", Unknown: true}
		}
		out[i] = s
	}
	return out, nil
}

// deletedAnswer is the answer to a deletion by id.
type deletedAnswer struct {
	Success      bool              `json:"success"`
	Message      string            `json:"message"`
	Results      []wire.DeletedRow `json:"results"`
	DeletedCount int               `json:"deleted_count"`
	Memories     *int              `json:"user_memory_deleted,omitempty"`
}

func (c *call) deletedJSON(res *contextmem.DeleteItemsResult) deletedAnswer {
	message := "Some items were deleted"
	switch res.Deleted {
	case len(res.Items):
		message = "All items were deleted"
	case 0:
		message = "No item was deleted"
	}
	return deletedAnswer{Success: true, Message: message, Results: c.deletedRows(res), DeletedCount: res.Deleted}
}

// idsRequest names items.
type idsRequest struct {
	IDs []string `json:"ids"`
}

func v1DeleteKnowledge(c *call, sub contextmem.Sub) (any, error) {
	var r idsRequest
	if !c.in.has("ids") {
		return nil, bad(fault.KindInvalid, "ids", "is required")
	}
	if err := c.only("knowledge"); err != nil {
		return nil, err
	}
	if err := c.read(&r); err != nil {
		return nil, err
	}
	res, err := sub.DeleteItems(c.ctx, contextmem.DeleteItemsRequest{IDs: r.IDs, Class: contextmem.ClassKnowledge})
	if err != nil {
		return nil, err
	}
	return c.deletedJSON(res), nil
}

// only returns an error for a type that the route does not support. Ignoring the type could delete the wrong items.
func (c *call) only(class string) error {
	for _, name := range []string{"type", "kind"} {
		s, err := c.in.string(name)
		if err == nil && s != "" && s != class {
			err = bad(fault.KindInvalid, name, "must be %s on this route", class)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func v1DeleteMemory(c *call, sub contextmem.Sub) (any, error) {
	var r struct {
		ID string `json:"memory_id" need:"text"`
	}
	if err := c.read(&r); err != nil {
		return nil, err
	}
	if err := c.only("memory"); err != nil {
		return nil, err
	}
	res, err := sub.DeleteItems(c.ctx, contextmem.DeleteItemsRequest{IDs: []string{r.ID}, Class: contextmem.ClassMemory})
	if err != nil {
		return nil, err
	}
	if it := res.Items[0]; it.Err != nil {
		return nil, it.Err
	}
	return struct {
		Success bool `json:"success"`
		Deleted bool `json:"user_memory_deleted"`
	}{true, true}, nil
}

// fetchOptions select the parts of an original to return.
type fetchOptions struct {
	Mode   string   `json:"mode" oneof:"content,url,both"`
	Expiry int      `json:"expiry_seconds" default:"3600" range:"60,604800"`
	ACL    []string `json:"acl"`
	// Original requests the unchanged original of a text, instead of the extracted text.
	Original bool `json:"original"`
}

// request returns the fetch request for id. mode is the default mode.
func (o *fetchOptions) request(id string, mode contextmem.FetchMode) contextmem.FetchRequest {
	if o.Mode != "" {
		mode = contextmem.FetchMode(o.Mode)
	}
	return contextmem.FetchRequest{ID: id, Mode: mode, Expiry: time.Duration(o.Expiry) * time.Second, Principals: o.ACL, Original: o.Original}
}

func v1FetchContent(c *call, sub contextmem.Sub) (any, error) {
	var r struct {
		ID string `json:"source_id" need:"text"`
		fetchOptions
	}
	if err := c.read(&r); err != nil {
		return nil, err
	}
	return c.fetch(sub, r.request(r.ID, contextmem.FetchContent))
}

func (c *call) fetch(sub contextmem.Sub, r contextmem.FetchRequest) (any, error) {
	f, err := sub.Fetch(c.ctx, r)
	if err != nil {
		return nil, err
	}
	f.URL = c.absolute(f.URL)
	return fetchedJSON(f, r.Mode), nil
}

// relationsRequest is the query of /list/graph_relations_by_id.
type relationsRequest struct {
	ID     string `json:"source_id" need:"text"`
	Memory bool   `json:"is_memory"`
	Limit  int    `json:"limit" default:"250" range:"1,10000"`
	Tenant string `json:"tenant_id"`
	Sub    string `json:"sub_tenant_id"`
}

func v1GraphRelations(c *call) (any, error) {
	var q relationsRequest
	if err := c.read(&q); err != nil {
		return nil, err
	}
	r := contextmem.GraphRelationsRequest{SourceID: q.ID, Limit: q.Limit, Class: contextmem.ClassKnowledge}
	if q.Memory {
		r.Class = contextmem.ClassMemory
	}
	page, err := c.relations(q.Tenant, q.Sub, r)
	if err != nil {
		return nil, err
	}
	c.warns(page.Warnings)
	return struct {
		Relations []relationGroup `json:"relations"`
		Success   bool            `json:"success"`
		Message   string          `json:"message"`
	}{groupsJSON(page.Groups), true, "Graph relations retrieved"}, nil
}

// relations reads the relations of a source. Without a tenant it searches all tenants to which the key has access.
func (c *call) relations(tenant, sub string, r contextmem.GraphRelationsRequest) (*contextmem.GraphRelationsPage, error) {
	if tenant != "" {
		t, err := c.tenantNamed(tenant)
		if err != nil {
			return nil, err
		}
		return t.Sub(sub).GraphRelations(c.ctx, r)
	}
	tenants, _, err := c.visibleTenants()
	if err != nil {
		return nil, err
	}
	for _, t := range tenants {
		page, err := c.org.Tenant(t.ID).Sub(sub).GraphRelations(c.ctx, r)
		if errors.Is(err, contextmem.ErrNotFound) || errors.Is(err, contextmem.ErrNotReady) {
			continue
		}
		if err != nil || len(page.Groups) > 0 {
			return page, err
		}
	}
	return &contextmem.GraphRelationsPage{}, nil
}

package httpapi

import (
	"errors"
	"slices"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
)

// appEntry is an element of app_knowledge without its metadata and its scope, which are read separately.
type appEntry struct {
	ID               string      `json:"id"`
	Title            string      `json:"title"`
	Type             string      `json:"type"`
	Kind             string      `json:"kind"`
	Provider         string      `json:"provider"`
	Source           synonym     `json:"source"` // name of the provider
	ExternalID       string      `json:"external_id"`
	ParentExternalID string      `json:"parent_external_id"`
	ThreadID         string      `json:"thread_id"`
	Description      string      `json:"description"`
	Note             string      `json:"note"`
	URL              string      `json:"url"`
	Timestamp        string      `json:"timestamp"`
	Fields           object      `json:"fields"`
	Content          *appContent `json:"content"`
	Attachments      objects     `json:"attachments"`
	Comments         objects     `json:"comments"`
	Meta             object      `json:"meta"`
	ACL              []string    `json:"acl"`
	Relations        related     `json:"relations"`
}

// appContent is the content of an untyped item.
type appContent struct {
	Text       string   `json:"text"`
	Markdown   string   `json:"markdown"`
	HTMLBase64 string   `json:"html_base64"`
	CSVBase64  string   `json:"csv_base64"`
	Files      anything `json:"files"`
	Layout     anything `json:"layout"`
}

// appPlace is the scope named by an item.
type appPlace struct {
	Tenant *string `json:"tenant_id" also:"database"`
	Sub    *string `json:"sub_tenant_id" also:"collection"`
}

// appItem reads an item. An invalid scope, id or metadata is an error for the whole call.
// A missing scope or a member of the wrong type fails only this item.
func (c *call) appItem(e item) (contextmem.AppItem, error) {
	var a contextmem.AppItem
	ms, err := e.m.members(e.at)
	if err != nil {
		return a, err
	}
	at := e.at + "."
	var x appEntry
	wrong := c.decoder().object(at, ms, valueOf(&x))
	if err := c.appPlace(at, ms); wrong == nil || isInvalid(err) {
		wrong = err
	}
	if isInvalid(wrong) {
		return a, wrong
	}
	var maps layers
	if err := c.noComma(at+"id", x.ID); err != nil {
		return a, err
	}
	if err := c.decoder().object(at, ms, valueOf(&maps)); err != nil {
		return a, err
	}
	a = x.item()
	a.Metadata, a.Additional, a.Fault = maps.Metadata, maps.Additional, wrong
	return a, nil
}

// isInvalid reports whether err fails the whole call.
func isInvalid(err error) bool {
	var ce *contextmem.Error
	return err != nil && !(errors.As(err, &ce) && ce.Kind == fault.KindUnprocessed)
}

func (x *appEntry) item() contextmem.AppItem {
	a := contextmem.AppItem{ID: x.ID, Title: x.Title, Type: x.Type, Kind: content.AppKind(x.Kind), Provider: x.Provider, ExternalID: x.ExternalID, ParentExternalID: x.ParentExternalID,
		ThreadID: x.ThreadID, Description: x.Description, Note: x.Note, URL: x.URL, Timestamp: x.Timestamp, Fields: x.Fields, Attachments: x.Attachments, Comments: x.Comments,
		Meta: x.Meta, ACL: x.ACL, ForcefulRelations: x.Relations.ForcefulRelations}
	if a.Provider == "" {
		a.Provider = string(x.Source)
	}
	if y := x.Content; y != nil {
		a.Content = &content.AppContent{Text: y.Text, Markdown: y.Markdown, HTMLBase64: y.HTMLBase64, CSVBase64: y.CSVBase64, Files: y.Files, Layout: y.Layout}
	}
	return a
}

// appPlace checks the scope of an item against the scope of the request. The first generation requires a scope in every item.
func (c *call) appPlace(at string, ms *members) error {
	var p appPlace
	if err := c.decoder().object(at, ms, valueOf(&p)); err != nil {
		return err
	}
	tenant, err := c.in.string(c.scopeField())
	if err != nil {
		return err
	}
	sub, err := c.in.string(c.subField())
	if err != nil {
		return err
	}
	if c.rt.family == gen1 && p.Tenant == nil {
		return bad(fault.KindUnprocessed, at+"tenant_id", "is required in every item")
	}
	if p.Tenant != nil && *p.Tenant != tenant {
		return bad(fault.KindInvalid, at+"tenant_id", "differs from the request's %s", c.scopeField())
	}
	if c.rt.family == gen1 && p.Sub == nil {
		return bad(fault.KindUnprocessed, at+"sub_tenant_id", "is required in every item")
	}
	if p.Sub == nil || *p.Sub == sub {
		return nil
	}
	same, err := c.samePartition(tenant, *p.Sub, sub)
	if err == nil && !same {
		err = bad(fault.KindInvalid, at+"sub_tenant_id", "differs from the request's %s", c.subField())
	}
	return err
}

// defaultPartition selects the default partition unless a partition with that name exists.
const defaultPartition = "default"

// samePartition reports whether two names mean the same partition. An empty name and the tenant's id both mean the default one.
func (c *call) samePartition(tenant, a, b string) (bool, error) {
	named := ""
	for _, s := range []string{a, b} {
		switch s {
		case "", tenant:
		case defaultPartition:
			subs, err := c.org.Tenant(tenant).Subs(c.ctx)
			if err != nil {
				return false, err
			}
			if slices.Contains(subs, defaultPartition) {
				return a == b, nil
			}
		default:
			named = s
		}
	}
	return named == "" || a == b, nil
}

package notion

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/contextmem/contextmem/connector"
	"github.com/contextmem/contextmem/connector/internal/webapi"
	"github.com/contextmem/contextmem/content"
)

// text is Notion's rich text.
type text []struct {
	Plain   string `json:"plain_text"`
	Href    string `json:"href"`
	Mention struct {
		Page struct {
			ID string `json:"id"`
		} `json:"page"`
	} `json:"mention"`
}

func (t text) String() string {
	var b strings.Builder
	for _, r := range t {
		if strings.HasPrefix(r.Href, "http") && r.Href != r.Plain {
			b.WriteString("[" + r.Plain + "](" + r.Href + ")")
		} else {
			b.WriteString(r.Plain)
		}
	}
	return b.String()
}

// object is a page or a database.
type object struct {
	Object     string `json:"object"`
	ID         string `json:"id"`
	URL        string `json:"url"`
	Created    string `json:"created_time"`
	LastEdited string `json:"last_edited_time"`
	CreatedBy  person `json:"created_by"`
	EditedBy   person `json:"last_edited_by"`
	Archived   bool   `json:"archived"`
	Trash      bool   `json:"in_trash"`
	Title      text   `json:"title"` // of a database
	Parent     struct {
		PageID     string `json:"page_id"`
		DatabaseID string `json:"database_id"`
	} `json:"parent"`
	Properties map[string]property `json:"properties"`
}

type person struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

func (p person) String() string {
	if p.Name != "" {
		return p.Name
	}
	return p.ID
}

// property is a property value of a page. Type selects the member that is set.
type property struct {
	Type     string `json:"type"`
	Title    any    `json:"title"` // text in a page, an object in the schema of a database
	RichText any    `json:"rich_text"`
	Number   any    `json:"number"`
	Select   any    `json:"select"`
	Status   any    `json:"status"`
	Multi    any    `json:"multi_select"`
	Date     any    `json:"date"`
	People   any    `json:"people"`
	Checkbox any    `json:"checkbox"`
	URL      any    `json:"url"`
	Email    any    `json:"email"`
	Phone    any    `json:"phone_number"`
	Relation any    `json:"relation"`
}

// words renders a value as text. List elements are separated by commas.
func words(v any) string {
	switch x := v.(type) {
	case string:
		return x
	case bool:
		if x {
			return "yes"
		}
		return "no"
	case float64:
		return fmt.Sprint(x)
	case []any:
		var parts []string
		sep := ", "
		for _, e := range x {
			if m, ok := e.(map[string]any); ok && m["plain_text"] != nil {
				sep = ""
			}
			if s := words(e); s != "" {
				parts = append(parts, s)
			}
		}
		return strings.Join(parts, sep)
	case map[string]any:
		for _, k := range []string{"plain_text", "name", "start"} {
			s, _ := x[k].(string)
			if end, _ := x["end"].(string); k == "start" && end != "" {
				return s + " to " + end
			}
			if s != "" {
				return s
			}
		}
	}
	return ""
}

func (p *property) String() string {
	for _, v := range []any{p.RichText, p.Number, p.Select, p.Status, p.Multi, p.Date, p.People, p.Checkbox, p.URL, p.Email, p.Phone} {
		if s := words(v); s != "" {
			return s
		}
	}
	return ""
}

// listing is one answer of a paged listing.
type listing struct {
	Results []object `json:"results"`
	HasMore bool     `json:"has_more"`
	Next    string   `json:"next_cursor"`
}

func (l *listing) next() string {
	if !l.HasMore {
		return ""
	}
	return l.Next
}

func (o *object) gone() bool { return o.Archived || o.Trash }

func (o *object) edited() (time.Time, bool) {
	t, err := time.Parse(time.RFC3339, o.LastEdited)
	return t.UTC(), err == nil
}

func (o *object) title() string {
	if len(o.Title) > 0 {
		return o.Title.String()
	}
	for _, p := range o.Properties {
		if p.Type == "title" {
			return words(p.Title)
		}
	}
	return ""
}

// add reads the blocks of a page and appends the page's item.
func (s *run) add(ctx context.Context, o *object) error {
	id := compact(o.ID)
	d := &document{run: s}
	names := make([]string, 0, len(o.Properties))
	for n := range o.Properties {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		p := o.Properties[n]
		if v := p.String(); v != "" {
			d.line("- " + n + ": " + v)
		}
		if list, ok := p.Relation.([]any); ok {
			for _, e := range list {
				m, _ := e.(map[string]any)
				rel, _ := m["id"].(string)
				d.link(rel)
			}
		}
	}
	if d.b.Len() > 0 {
		d.line("")
	}
	err := d.children(ctx, id, 0, "")
	if webapi.HasCode(err, "object_not_found") { // deleted after it was listed
		s.page.Deleted = append(s.page.Deleted, id)
		return nil
	}
	if err != nil {
		return err
	}
	title := o.title()
	if title == "" {
		title = "Untitled"
	}
	parent := compact(o.Parent.PageID)
	if parent == "" {
		parent = compact(o.Parent.DatabaseID)
	}
	fields := map[string]any{"kind": "knowledge_base", "title": title, "body": strings.TrimSpace(d.b.String()), "created_by": o.CreatedBy.String(), "updated_by": o.EditedBy.String(),
		"created_at": o.Created, "updated_at": o.LastEdited, "url": o.URL}
	extra := map[string]any{"page_id": id}
	if parent != "" {
		fields["parent_id"], extra["parent_id"] = parent, parent
	}
	if d.cut {
		extra["truncated"] = true
	}
	a := &content.AppItem{Title: title, Type: TypePage, Kind: content.AppKnowledgeBase, Provider: Name, ExternalID: id, URL: o.URL, Timestamp: o.LastEdited, Fields: fields,
		Metadata: map[string]any{"container_type": s.typ, "container_id": s.id, "object_type": TypePage}, Additional: extra}
	if len(d.links) > 0 {
		a.ForcefulRelations = &content.ForcefulRelations{Links: d.links}
	}
	s.page.Objects = append(s.page.Objects, connector.Object{ExternalID: id, App: a})
	return nil
}

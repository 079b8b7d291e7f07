package notion

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/contextmem/contextmem/connector/internal/webapi"
	"github.com/contextmem/contextmem/content"
)

const (
	maxDepth     = 16
	maxBodyBytes = 1 << 20
	maxLinks     = 100
)

// document is a page under construction while its blocks are read.
type document struct {
	*run
	b      strings.Builder
	links  []content.Link
	blocks int
	cut    bool
}

// block is a Notion block. The member named after its type holds its content.
type block struct {
	id, typ  string
	children bool
	blockContent
}

type blockContent struct {
	Text       text   `json:"rich_text"`
	Caption    text   `json:"caption"`
	Checked    bool   `json:"checked"`
	Language   string `json:"language"`
	Expression string `json:"expression"`
	URL        string `json:"url"`
	Title      string `json:"title"`
	Name       string `json:"name"`
	PageID     string `json:"page_id"`
	Cells      []text `json:"cells"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (b *block) UnmarshalJSON(data []byte) error {
	var head struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Children bool   `json:"has_children"`
	}
	var all map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(data, &head), json.Unmarshal(data, &all)); err != nil {
		return err
	}
	b.id, b.typ, b.children = compact(head.ID), head.Type, head.Children
	if raw := all[head.Type]; len(raw) > 0 && raw[0] == '{' {
		return json.Unmarshal(raw, &b.blockContent)
	}
	return nil
}

func (d *document) line(s string) {
	if d.b.Len()+len(s) >= d.most {
		d.cut = true
		return
	}
	d.b.WriteString(s + "\n")
}

func (d *document) link(id string) {
	if id = compact(id); id != "" && len(d.links) < maxLinks && !slices.ContainsFunc(d.links, func(l content.Link) bool { return l.ExternalID == id }) {
		d.links = append(d.links, content.Link{Predicate: "linked_to", Provider: Name, ExternalID: id})
	}
}

// children renders all blocks below a page or block, following the listing's paging.
func (d *document) children(ctx context.Context, id string, depth int, indent string) error {
	if depth > maxDepth {
		d.cut = true
		return nil
	}
	number, row := 0, 0
	return webapi.Pages(ctx, func(ctx context.Context, cursor string) (string, bool, error) {
		q := url.Values{"page_size": {strconv.Itoa(d.p.cfg.PageSize)}}
		if cursor != "" {
			q.Set("start_cursor", cursor)
		}
		var l struct {
			Results []block `json:"results"`
			HasMore bool    `json:"has_more"`
			Next    string  `json:"next_cursor"`
		}
		if _, err := d.call(ctx, "/v1/blocks/"+id+"/children?"+q.Encode(), nil, &l); err != nil {
			return "", false, err
		}
		for i := range l.Results {
			b := &l.Results[i]
			if d.blocks++; d.blocks > d.p.cfg.MaxBlocks || d.b.Len() >= d.most {
				d.cut = true
				return "", false, nil
			}
			if number++; b.typ != "numbered_list_item" {
				number = 0
			}
			row++
			d.render(b, indent, max(number, 1), row)
			// Child pages and databases are objects of their own.
			if !b.children || b.id == "" || b.typ == "child_page" || b.typ == "child_database" {
				continue
			}
			deeper := indent
			switch b.typ {
			case "bulleted_list_item", "numbered_list_item", "to_do", "toggle":
				deeper += "  "
			case "quote", "callout":
				deeper += "> "
			}
			if err := d.children(ctx, b.id, depth+1, deeper); err != nil {
				return "", false, err
			}
		}
		return l.Next, l.HasMore && len(l.Results) > 0, nil
	})
}

// render writes one block as Markdown.
func (d *document) render(b *block, indent string, number, row int) {
	for _, r := range b.Text {
		d.link(r.Mention.Page.ID)
	}
	s := strings.ReplaceAll(b.Text.String(), "\n", "\n"+indent)
	put := func(s string) { d.line(indent + s) }
	switch b.typ {
	case "heading_1", "heading_2", "heading_3":
		put(strings.Repeat("#", int(b.typ[8]-'0')) + " " + s + "\n")
	case "bulleted_list_item", "toggle":
		put("- " + s)
	case "numbered_list_item":
		put(strconv.Itoa(number) + ". " + s)
	case "to_do":
		put("- [" + map[bool]string{true: "x", false: " "}[b.Checked] + "] " + s)
	case "quote", "callout":
		put("> " + s)
	case "code":
		put("```" + b.Language + "\n" + indent + s + "\n" + indent + "```\n")
	case "equation":
		put("$" + b.Expression + "$\n")
	case "divider":
		put("---\n")
	case "table_row":
		cells := make([]string, len(b.Cells))
		for i, c := range b.Cells {
			cells[i] = strings.ReplaceAll(strings.ReplaceAll(c.String(), "\n", " "), "|", `\|`)
		}
		put("| " + strings.Join(cells, " | ") + " |")
		if row == 1 {
			put("|" + strings.Repeat(" --- |", len(cells)))
		}
	case "child_page", "child_database":
		put("- " + b.Title)
		d.link(b.id)
	case "link_to_page":
		d.link(b.PageID)
	default: // paragraphs, files and bookmarks: text, caption, name and address, if present
		for _, x := range []string{s, b.Caption.String(), b.Name, b.URL} {
			if x != "" {
				put(x + "\n")
			}
		}
	}
}

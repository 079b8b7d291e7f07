package convert

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"database/sql"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/contextmem/contextmem/content"
)

// mem0 reads a mem0 export: memories in a list, or under "results" or "memories".
func mem0(b []byte) ([]Item, error) {
	type row struct {
		ID         string         `json:"id"`
		Memory     string         `json:"memory"`
		Text       string         `json:"text"`
		UserID     string         `json:"user_id"`
		AgentID    string         `json:"agent_id"`
		RunID      string         `json:"run_id"`
		Metadata   map[string]any `json:"metadata"`
		Categories []string       `json:"categories"`
		CreatedAt  string         `json:"created_at"`
		UpdatedAt  string         `json:"updated_at"`
	}
	rows, err := elements[row](b, "results", "memories")
	if err != nil {
		return nil, err
	}
	var out []Item
	for _, r := range rows {
		m := &content.Memory{ID: "mem0-" + r.ID, Text: r.Memory, Session: r.RunID, Time: moment(cmp.Or(r.UpdatedAt, r.CreatedAt)), Additional: maps.Clone(r.Metadata)}
		if m.Text == "" {
			m.Text = r.Text
		}
		if strings.TrimSpace(m.Text) == "" {
			continue
		}
		if r.ID == "" {
			m.ID = "mem0-" + hash(r.UserID, m.Text)
		}
		if len(r.Categories) > 0 {
			if m.Additional == nil {
				m.Additional = map[string]any{}
			}
			m.Additional["categories"] = strings.Join(r.Categories, ",")
		}
		owner := r.UserID
		if owner == "" {
			owner = r.AgentID
		}
		out = append(out, Item{Owner: owner, Memory: m})
	}
	return out, nil
}

// hash returns an id derived from texts.
func hash(parts ...string) string {
	h := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(h[:12])
}

// mem0History reads the SQLite history of mem0. It returns the latest text of every memory that was not deleted.
func mem0History(name string) ([]Item, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return nil, errors.New("the file can't be read")
	}
	db, err := sql.Open("sqlite3", "file:"+(&url.URL{Path: filepath.ToSlash(abs)}).EscapedPath()+"?mode=ro")
	if err != nil {
		return nil, errors.New("the database can't be opened")
	}
	defer db.Close()
	rows, err := db.Query(`SELECT memory_id, COALESCE(new_memory, ''), COALESCE(event, ''), COALESCE(created_at, ''), COALESCE(updated_at, ''), COALESCE(is_deleted, 0) FROM history ORDER BY rowid`)
	if err != nil {
		return nil, errors.New("the database holds no history of mem0")
	}
	defer rows.Close()
	last := map[string]*content.Memory{}
	var order []string
	for rows.Next() {
		var id, text, event, created, updated string
		var deleted bool
		if err := rows.Scan(&id, &text, &event, &created, &updated, &deleted); err != nil {
			return nil, errors.New("the history of mem0 is malformed")
		}
		if deleted || strings.EqualFold(event, "DELETE") || strings.TrimSpace(text) == "" {
			delete(last, id)
			continue
		}
		if updated == "" {
			updated = created
		}
		if last[id] == nil {
			order = append(order, id)
		}
		last[id] = &content.Memory{ID: "mem0-" + id, Text: text, Time: moment(updated)}
	}
	if rows.Err() != nil {
		return nil, errors.New("the history of mem0 can't be read to its end")
	}
	var out []Item
	for _, id := range order {
		if m := last[id]; m != nil {
			out = append(out, Item{Memory: m})
			delete(last, id) // it may stand in order twice
		}
	}
	return out, nil
}

// zep reads facts (edges), episodes and messages of Zep and Graphiti. The text of an invalidated fact states its end time.
func zep(b []byte) ([]Item, error) {
	type row struct {
		UUID      string `json:"uuid"`
		Fact      string `json:"fact"`
		Content   string `json:"content"`
		ValidAt   string `json:"valid_at"`
		InvalidAt string `json:"invalid_at"`
		CreatedAt string `json:"created_at"`
		GroupID   string `json:"group_id"`
		UserUUID  string `json:"user_uuid"`
		Role      string `json:"role"`
		RoleType  string `json:"role_type"`
		Thread    string `json:"thread_uuid"`
	}
	rows, err := elements[row](b, "edges", "facts", "episodes", "items", "messages")
	if err != nil {
		return nil, err
	}
	var out []Item
	threads := map[string][]turn{}
	var order []string
	for _, r := range rows {
		r.GroupID = cmp.Or(r.GroupID, r.UserUUID)
		if role := cmp.Or(r.RoleType, r.Role); role != "" && r.Fact == "" {
			if threads[r.Thread] == nil {
				order = append(order, r.Thread)
			}
			if role == "user" || role == "assistant" {
				threads[r.Thread] = append(threads[r.Thread], turn{user: role == "user", text: r.Content, at: moment(r.CreatedAt)})
			}
			continue
		}
		text := r.Fact
		if text == "" {
			text = r.Content
		}
		if strings.TrimSpace(text) == "" {
			continue
		}
		m := &content.Memory{ID: "zep-" + r.UUID, Text: text, Time: moment(r.ValidAt)}
		if r.UUID == "" {
			m.ID = "zep-" + hash(r.GroupID, text)
		}
		if m.Time.IsZero() {
			m.Time = moment(r.CreatedAt)
		}
		if end := moment(r.InvalidAt); !end.IsZero() {
			m.Text = strings.TrimRight(text, ". ") + " (until " + end.Format("2 January 2006") + ")."
		}
		out = append(out, Item{Owner: r.GroupID, Memory: m})
	}
	for _, id := range order {
		turns := threads[id]
		if id == "" {
			id = hash(joined(turns[:min(1, len(turns))]))
		}
		out = append(out, conversation("zep", id, "", turns)...)
	}
	return out, nil
}

// mcpMemory reads the JSON lines of MCP's reference memory server. Each observation and each relation becomes a memory.
func mcpMemory(b []byte) ([]Item, error) {
	type row struct {
		Type         string   `json:"type"`
		Name         string   `json:"name"`
		EntityType   string   `json:"entityType"`
		Observations []string `json:"observations"`
		From         string   `json:"from"`
		To           string   `json:"to"`
		Relation     string   `json:"relationType"`
	}
	rows, err := elements[row](b)
	if err != nil {
		return nil, err
	}
	kind := map[string]string{}
	for _, r := range rows {
		if r.Type == "entity" {
			kind[r.Name] = r.EntityType
		}
	}
	var out []Item
	for i, r := range rows {
		switch r.Type {
		case "entity":
			for _, o := range r.Observations {
				out = append(out, Item{Memory: &content.Memory{ID: "mcp-" + hash(r.Name, o), Text: r.Name + ": " + o, Additional: map[string]any{"entity": r.Name, "entity_type": r.EntityType}}})
			}
		case "relation":
			predicate := strings.ReplaceAll(r.Relation, "_", " ")
			text := r.From + " " + predicate + " " + r.To + "."
			g := &content.SuppliedGraph{Entities: map[string]content.SuppliedEntity{"from": {Name: r.From, Type: kind[r.From]}, "to": {Name: r.To, Type: kind[r.To]}},
				Relations: []content.SuppliedRelation{{Source: "from", Target: "to", Predicate: predicate, Context: text}}}
			out = append(out, Item{Memory: &content.Memory{ID: "mcp-" + hash(r.From, r.Relation, r.To), Text: text}, Graph: g})
		default:
			return nil, fmt.Errorf("line %d is neither an entity nor a relation", i+1)
		}
	}
	return out, nil
}

// chromem reads an unencrypted chromem-go export. It returns the documents of each collection; the vectors are computed again.
func chromem(b []byte) ([]Item, error) {
	var db struct {
		Collections map[string]*struct {
			Name      string
			Metadata  map[string]string
			Documents map[string]*chromemDocument
		}
	}
	if err := gob.NewDecoder(bytes.NewReader(b)).Decode(&db); err != nil {
		return nil, errors.New("the file is no export of chromem-go, or it is encrypted")
	}
	var out []Item
	for _, name := range slices.Sorted(maps.Keys(db.Collections)) {
		c := db.Collections[name]
		for _, id := range slices.Sorted(maps.Keys(c.Documents)) {
			if it, ok := c.Documents[id].item(c.Name); ok {
				out = append(out, it)
			}
		}
	}
	return out, nil
}

// chromemDocument is a document of chromem-go.
type chromemDocument struct {
	ID        string
	Metadata  map[string]string
	Embedding []float32
	Content   string
}

// item returns the item for a document of a collection. The boolean is false if the document has no text.
func (d *chromemDocument) item(collection string) (Item, bool) {
	if d == nil || strings.TrimSpace(d.Content) == "" {
		return Item{}, false
	}
	meta := map[string]any{}
	for k, v := range d.Metadata {
		meta[k] = v
	}
	return Item{Owner: collection, File: text("chromem-"+hash(collection, d.ID), d.ID, d.Content, meta)}, true
}

// text returns a plain-text document.
func text(id, title, body string, additional map[string]any) *content.File {
	return &content.File{ID: id, Name: id + ".txt", Title: title, ContentType: "text/plain; charset=utf-8", Data: []byte(body), Additional: additional}
}

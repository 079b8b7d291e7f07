package httpapi

import (
	"strings"
	"time"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/fault"
)

// knowledgeRequest is the form of an ingestion of files and app items.
type knowledgeRequest struct {
	Upsert     bool           `json:"upsert" default:"true"`
	Entries    array          `json:"document_metadata" also:"file_metadata"`
	Apps       items          `json:"app_knowledge" also:"app_sources"`
	Metadata   object         `json:"metadata"`
	Additional object         `json:"additional_metadata"`
	Graphs     suppliedGraphs `json:"graph_payload"`
	// SkipUnsupported and SkipUnchanged are the fields of contextmem.KnowledgeBatch.
	SkipUnsupported bool `json:"skip_unsupported"`
	SkipUnchanged   bool `json:"skip_unchanged"`
}

// fileEntry describes the file with the same index in the form.
type fileEntry struct {
	ID          string  `json:"id" also:"file_id,source_id"`
	Title       string  `json:"title"`
	Type        string  `json:"type"`
	URL         string  `json:"url"`
	Description string  `json:"description"`
	Timestamp   moment  `json:"timestamp"`
	Infer       ignored `json:"infer"`
	layers
	Relations related  `json:"relations"`
	ACL       []string `json:"acl"`
}

// addKnowledge ingests the files and app items of the request.
func (c *call) addKnowledge(sub contextmem.Sub) (any, error) {
	b, err := c.knowledgeBatch()
	if err != nil {
		return nil, err
	}
	res, err := sub.AddKnowledge(c.ctx, b)
	if err != nil {
		return nil, err
	}
	return c.ingestJSON(res, "Knowledge"), nil
}

func (c *call) knowledgeBatch() (b contextmem.KnowledgeBatch, err error) {
	var r knowledgeRequest
	if err := c.read(&r); err != nil {
		return b, err
	}
	if r.Entries != nil && len(r.Entries) != len(c.in.files) {
		return b, bad(fault.KindUnprocessed, c.entriesField(), "has %d entries for %d files", len(r.Entries), len(c.in.files))
	}
	b = contextmem.KnowledgeBatch{FailIfExists: !r.Upsert, Metadata: r.Metadata, Additional: r.Additional, Graphs: r.Graphs,
		SkipUnsupported: r.SkipUnsupported, SkipUnchanged: r.SkipUnchanged}
	for i, part := range c.in.files {
		f := part.file()
		if r.Entries != nil {
			if err := c.fileEntry(&f, r.Entries[i]); err != nil {
				return b, err
			}
		}
		b.Files = append(b.Files, f)
	}
	for _, e := range r.Apps {
		a, err := c.appItem(e)
		if err != nil {
			return b, err
		}
		b.Apps = append(b.Apps, a)
	}
	return b, nil
}

// entriesField is the name of the list that describes the files.
func (c *call) entriesField() string {
	if c.in.has("file_metadata") {
		return "file_metadata"
	}
	return "document_metadata"
}

// file returns the part as a contextmem.File.
func (f *filePart) file() contextmem.File {
	out := contextmem.File{Name: f.name, ContentType: f.contentType, Data: f.data}
	if f.spool != nil {
		out.Data, out.Open = nil, f.open
	} else if out.Data == nil {
		out.Data = []byte{}
	}
	if out.ContentType == "application/octet-stream" { // clients send this type if they do not know the real one
		out.ContentType = ""
	}
	return out
}

// fileEntry sets the fields of a file from an entry. The first generation ignores unknown fields.
func (c *call) fileEntry(f *contextmem.File, e item) error {
	if e.m.absent() {
		return nil
	}
	ms, err := e.m.members(e.at)
	if err != nil {
		return err
	}
	var x fileEntry
	if c.rt.family != gen1 {
		for k := range ms.all() {
			if !planFor[fileEntry]().names[k] {
				return bad(fault.KindInvalid, e.at+"."+cut(k), "is not a key of an entry")
			}
		}
	}
	if err := c.decoder().object(e.at+".", ms, valueOf(&x)); err != nil {
		return err
	}
	f.ID, f.Title, f.Kind, f.URL, f.Description, f.Time = x.ID, x.Title, x.Type, x.URL, x.Description, time.Time(x.Timestamp)
	f.Metadata, f.Additional, f.ForcefulRelations = x.Metadata, x.Additional, x.Relations.ForcefulRelations
	f.ACL = x.ACL
	return c.noComma(e.at+".id", f.ID)
}

// noComma returns an error for ids with a comma, which the status endpoint of the second generation would split.
func (c *call) noComma(field, id string) error {
	if c.rt.family != gen1 && strings.Contains(id, ",") {
		return bad(fault.KindInvalid, field, "must not hold a comma: commas separate ids in status requests")
	}
	return nil
}

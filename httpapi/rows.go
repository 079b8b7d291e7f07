package httpapi

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"time"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/wire"
)

func orNone(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

func firstTime(ts ...time.Time) time.Time {
	for _, t := range ts {
		if !t.IsZero() {
			return t
		}
	}
	return time.Time{}
}

// scoped names a database by its two names.
type scoped = wire.Scope

func scopeOf(t contextmem.Tenant) scoped { return scoped{Database: t.ID(), TenantID: t.ID()} }

// alwaysShown are the members of a row that include_fields cannot remove.
var alwaysShown = []string{"id", "source_id", "database", "tenant_id", "collection", "sub_tenant_id", "partial"}

// listFields are the allowed values of include_fields.
var listFields = []string{"attachments", "content", "description", "document_metadata", "note", "relations", "tenant_metadata", "timestamp", "title", "type", "url", "metadata", "additional_metadata"}

// rowJSON is a source in a list with the requested fields. nil fields select everything except content.
func rowJSON(tenant string, s *contextmem.SourceInfo, fields []string) any {
	r := wire.OfSource(tenant, s)
	if fields == nil {
		return r
	}
	r.Content = &wire.ContentText{Text: s.Content}
	return chosenFields{r, fields}
}

// chosenFields is a row limited to some of its members.
type chosenFields struct {
	row    *wire.SourceRow
	fields []string
}

// MarshalJSON implements json.Marshaler.
func (c chosenFields) MarshalJSON() ([]byte, error) {
	b, err := json.Marshal(c.row)
	if err != nil {
		return nil, err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, err
	}
	out := map[string]json.RawMessage{}
	for _, list := range [][]string{alwaysShown, c.fields} {
		for _, name := range list {
			if v, ok := all[name]; ok {
				out[name] = v
			}
		}
	}
	return json.Marshal(out)
}

// notesOf returns the model usage and the warnings of an item.
func notesOf(u *contextmem.ModelUsage, ws []fault.Warning) wire.Notes {
	n := wire.Notes{Usage: wire.OfUsage(u), Warnings: warnings(ws)}
	for i := range n.Warnings {
		n.Warnings[i].Field = wire.Field(n.Warnings[i].Field, "", true) // both generations use the same names here
	}
	return n
}

func fetchedJSON(f *contextmem.Fetched, mode contextmem.FetchMode) wire.Fetched {
	b := wire.Fetched{Success: true, ID: f.ID, SourceID: f.ID, Inferred: wire.Null(f.Inferred), URL: wire.Null(f.URL), ContentType: f.ContentType, Size: &f.SizeBytes,
		Message: "Content fetched successfully", Partial: f.Partial, Notes: notesOf(f.Usage, f.Warnings)}
	memory := f.Class == contextmem.ClassMemory
	if memory {
		b.ContentType, b.Size = "text/plain", nil
	}
	if memory || mode != contextmem.FetchURL {
		b.Content = &f.Text
		if f.Binary {
			s := base64.StdEncoding.EncodeToString(f.Data)
			b.Base64 = &s
		}
	}
	return b
}

func statusJSON(s contextmem.ItemStatus, f family) wire.StatusRow {
	r := wire.StatusRow{FileID: s.ID, Status: string(s.Status), ErrorCode: s.ErrorCode, Success: s.Status != contextmem.StatusErrored,
		Message: "Processing status retrieved successfully", Partial: s.Partial, ReadPages: s.ReadPages, TotalPages: s.TotalPages, ServesOlder: s.ServesOlder, Notes: notesOf(nil, s.Warnings)}
	if s.Unknown {
		r.Message = "ID not found"
	}
	if f != gen1 {
		r.ID, r.ErrorMessage, r.Hint = &s.ID, &s.ErrorMessage, f.words(s.Hint)
	}
	return r
}

func (c *call) itemJSON(it contextmem.IngestItem) wire.ItemRow {
	r := wire.ItemRow{ID: it.ID, SourceID: it.ID, Filename: wire.Null(it.Filename), Title: wire.Null(it.Title), Status: string(it.Status), Infer: it.Infer,
		RelationsCreated: it.ForcefulRelationsCreated, RelationsError: wire.Null(it.ForcefulRelationsError), Skipped: it.Skipped}
	if it.Err != nil {
		text, code := c.errorText(it.Err), itemCode(it.Err)
		r.Error, r.ErrorCode = &text, &code
	}
	return r
}

// errorText returns the error message of a failed item.
func (c *call) errorText(err error) string {
	var ce *contextmem.Error
	if errors.As(err, &ce) && ce.Kind != fault.KindInternal && ce.Kind != fault.KindUnavailable {
		return c.message(ce)
	}
	c.log(err)
	return "internal error"
}

func itemCode(err error) string {
	var ce *contextmem.Error
	if errors.As(err, &ce) {
		return lookup(ce.Kind, ce.Resource, gen2).code
	}
	return "INTERNAL_ERROR"
}

func (c *call) ingestJSON(res *contextmem.IngestResult, what string) wire.Ingested {
	a := wire.Ingested{Success: res.Accepted > 0 || res.Failed == 0, Message: what + " queued for processing", Results: make([]wire.ItemRow, len(res.Items)), Count: res.Accepted, Failed: res.Failed,
		Skipped: res.Skipped}
	for i, it := range res.Items {
		a.Results[i] = c.itemJSON(it)
	}
	if res.Failed > 0 {
		a.Message = "some items failed; the others were queued for processing"
	}
	if res.Accepted == 0 {
		a.Message = "no item was accepted"
	}
	return a
}

func (c *call) deletedRows(res *contextmem.DeleteItemsResult) []wire.DeletedRow {
	rows := make([]wire.DeletedRow, len(res.Items))
	for i, it := range res.Items {
		rows[i] = wire.DeletedRow{ID: it.ID, Deleted: it.Deleted}
		if it.Err != nil {
			rows[i].Error = wire.Null(c.errorText(it.Err))
		}
	}
	return rows
}

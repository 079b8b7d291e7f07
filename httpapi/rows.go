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

// orNull is a text that is null when it is empty.
func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
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
type scoped struct {
	Database string `json:"database"`
	TenantID string `json:"tenant_id"`
}

func scopeOf(t contextmem.Tenant) scoped { return scoped{t.ID(), t.ID()} }

// layerNames are the two metadata maps of an item under all their names.
type layerNames struct {
	Metadata         map[string]any `json:"metadata"`
	Additional       map[string]any `json:"additional_metadata"`
	TenantMetadata   map[string]any `json:"tenant_metadata"`
	DocumentMetadata map[string]any `json:"document_metadata"`
}

func layerNamesOf(metadata, additional map[string]any) layerNames {
	metadata, additional = orEmpty(metadata), orEmpty(additional)
	return layerNames{metadata, additional, metadata, additional}
}

// sourceRow is a source in a list.
type sourceRow struct {
	ID         string `json:"id"`
	SourceID   string `json:"source_id"`
	Collection string `json:"collection"`
	SubTenant  string `json:"sub_tenant_id"`
	scoped
	Title       string           `json:"title"`
	Type        string           `json:"type"`
	Description string           `json:"description"`
	Note        string           `json:"note"`
	URL         string           `json:"url"`
	Timestamp   string           `json:"timestamp"`
	Relations   *relationsBody   `json:"relations"`
	Attachments []map[string]any `json:"attachments"`
	layerNames
	Content     *contentText   `json:"content,omitempty"`
	CreatedAt   string         `json:"created_at"`
	UpdatedAt   string         `json:"updated_at"`
	Meta        map[string]any `json:"meta"`
	Status      string         `json:"indexing_status"`
	Partial     string         `json:"partial,omitempty"`
	AppKind     *string        `json:"app_kind"`
	AppProvider *string        `json:"app_provider"`
	AppID       *string        `json:"app_external_id"`
	AppParent   *string        `json:"app_parent_id"`
}

type contentText struct {
	Text string `json:"text"`
}

// alwaysShown are the members of a row that include_fields does not leave out.
var alwaysShown = []string{"id", "source_id", "database", "tenant_id", "collection", "sub_tenant_id", "partial"}

// listFields are the values of include_fields.
var listFields = []string{"attachments", "content", "description", "document_metadata", "note", "relations", "tenant_metadata", "timestamp", "title", "type", "url", "metadata", "additional_metadata"}

// rowJSON is a source in a list, with the fields asked for (nil: all but content).
func rowJSON(tenant string, s *contextmem.SourceInfo, fields []string) any {
	r := &sourceRow{ID: s.ID, SourceID: s.ID, scoped: scoped{tenant, tenant}, Collection: s.Sub, SubTenant: s.Sub, Title: s.Title, Type: s.Kind, Description: s.Description,
		Note: s.Note, URL: s.URL, Timestamp: wire.Time(firstTime(s.Timestamp, s.CreatedAt)), Relations: relationsJSON(s.ForcefulRelations), Attachments: []map[string]any{},
		layerNames: layerNamesOf(s.Metadata, s.Additional), CreatedAt: wire.Time(s.CreatedAt), UpdatedAt: wire.Time(s.UpdatedAt), Meta: map[string]any{}, Status: string(s.Status), Partial: s.Partial}
	if a := s.App; a != nil {
		r.AppKind, r.AppProvider, r.AppID, r.AppParent = orNull(string(a.Kind)), orNull(a.Provider), orNull(a.ExternalID), orNull(a.ParentID)
		if a.Attachments != nil {
			r.Attachments = a.Attachments
		}
	}
	if fields == nil {
		return r
	}
	r.Content = &contentText{s.Content}
	return chosenFields{r, fields}
}

// chosenFields is a row with some of its members.
type chosenFields struct {
	row    *sourceRow
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

// relationsBody are forceful relations.
type relationsBody struct {
	IDs        []string       `json:"ids"`
	HydraIDs   []string       `json:"hydradb_source_ids"`
	Properties map[string]any `json:"properties"`
	Links      []linkBody     `json:"links,omitempty"`
}

type linkBody struct {
	Predicate  string         `json:"predicate"`
	Target     linkTarget     `json:"target"`
	Properties map[string]any `json:"properties"`
}

// linkTarget is an id, or what a provider calls it.
type linkTarget struct {
	ID         *string `json:"id,omitempty"`
	Provider   *string `json:"provider,omitempty"`
	ExternalID *string `json:"external_id,omitempty"`
}

func relationsJSON(r *contextmem.ForcefulRelations) *relationsBody {
	if r == nil {
		return nil
	}
	out := &relationsBody{IDs: orNone(r.IDs), HydraIDs: orNone(r.IDs), Properties: orEmpty(r.Properties)}
	for _, l := range r.Links {
		target := linkTarget{Provider: &l.Provider, ExternalID: &l.ExternalID}
		if l.TargetID != "" {
			target = linkTarget{ID: &l.TargetID}
		}
		out.Links = append(out.Links, linkBody{l.Predicate, target, orEmpty(l.Properties)})
	}
	return out
}

// memoryRow is a memory in a list.
type memoryRow struct {
	MemoryID   string `json:"memory_id"`
	ID         string `json:"id"`
	Collection string `json:"collection"`
	SubTenant  string `json:"sub_tenant_id"`
	scoped
	Content    string         `json:"memory_content"`
	Inferred   *string        `json:"inferred_content"`
	Title      string         `json:"title"`
	Metadata   map[string]any `json:"metadata"`
	Additional map[string]any `json:"additional_metadata"`
	CreatedAt  string         `json:"created_at"`
	UpdatedAt  string         `json:"updated_at"`
}

func memoryJSON(tenant string, s *contextmem.SourceInfo) memoryRow {
	return memoryRow{s.ID, s.ID, s.Sub, s.Sub, scoped{tenant, tenant}, s.Content, orNull(s.Inferred), s.Title, orEmpty(s.Metadata), orEmpty(s.Additional), wire.Time(s.CreatedAt), wire.Time(s.UpdatedAt)}
}

type pagination struct {
	Page        int  `json:"page"`
	PageSize    int  `json:"page_size"`
	Total       int  `json:"total"`
	TotalPages  int  `json:"total_pages"`
	HasNext     bool `json:"has_next"`
	HasPrevious bool `json:"has_previous"`
}

func paginationJSON(p *contextmem.SourcePage) pagination {
	return pagination{p.Page, p.PageSize, p.Total, p.Pages(), p.Page < p.Pages(), p.Page > 1}
}

// reading is what is said only of items that a model read, or whose instructions were not all honoured.
type readingNotes struct {
	Usage    *usageBody    `json:"usage,omitempty"`
	Warnings []warningBody `json:"warnings,omitempty"`
}

type usageBody struct {
	Calls      int     `json:"calls"`
	Completion int     `json:"completion_tokens"`
	Fallback   *string `json:"fallback"`
	Model      string  `json:"model"`
	Prompt     int     `json:"prompt_tokens"`
}

func readingOf(u *contextmem.ModelUsage, ws []fault.Warning) readingNotes {
	n := readingNotes{Warnings: warnings(ws)}
	for i := range n.Warnings {
		n.Warnings[i].Field = wireField(n.Warnings[i].Field, "", true) // the same in both generations
	}
	if u != nil {
		n.Usage = &usageBody{u.Calls, u.CompletionTokens, orNull(u.Fallback), u.Model, u.PromptTokens}
	}
	return n
}

// fetchedBody is the original of a source.
type fetchedBody struct {
	Success     bool    `json:"success"`
	ID          string  `json:"id"`
	SourceID    string  `json:"source_id"`
	Content     *string `json:"content"`
	Base64      *string `json:"content_base64"`
	Inferred    *string `json:"inferred_content"`
	URL         *string `json:"presigned_url"`
	ContentType string  `json:"content_type"`
	Size        *int64  `json:"size_bytes"`
	Message     string  `json:"message"`
	Error       *string `json:"error"`
	Partial     string  `json:"partial,omitempty"`
	readingNotes
}

func fetchedJSON(f *contextmem.Fetched, mode contextmem.FetchMode) fetchedBody {
	b := fetchedBody{Success: true, ID: f.ID, SourceID: f.ID, Inferred: orNull(f.Inferred), URL: orNull(f.URL), ContentType: f.ContentType, Size: &f.SizeBytes,
		Message: "Content fetched successfully", Partial: f.Partial, readingNotes: readingOf(f.Usage, f.Warnings)}
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

// statusRow is the state of an item. The first generation has no id, error_message and hint.
type statusRow struct {
	FileID       string  `json:"file_id"`
	Status       string  `json:"indexing_status"`
	ErrorCode    string  `json:"error_code"`
	Success      bool    `json:"success"`
	Message      string  `json:"message"`
	ID           *string `json:"id,omitempty"`
	ErrorMessage *string `json:"error_message,omitempty"`
	Hint         string  `json:"hint,omitempty"`
	Partial      string  `json:"partial,omitempty"`
	ReadPages    int     `json:"pages_read,omitempty"`
	TotalPages   int     `json:"pages_total,omitempty"`
	ServesOlder  bool    `json:"serves_older_version,omitempty"`
	readingNotes
}

func statusJSON(s contextmem.ItemStatus, f family) statusRow {
	r := statusRow{FileID: s.ID, Status: string(s.Status), ErrorCode: s.ErrorCode, Success: s.Status != contextmem.StatusErrored,
		Message: "Processing status retrieved successfully", Partial: s.Partial, ReadPages: s.ReadPages, TotalPages: s.TotalPages, ServesOlder: s.ServesOlder, readingNotes: readingOf(nil, s.Warnings)}
	if s.Unknown {
		r.Message = "ID not found"
	}
	if f != gen1 {
		r.ID, r.ErrorMessage, r.Hint = &s.ID, &s.ErrorMessage, s.Hint
	}
	return r
}

// itemRow is the fate of an ingested item, the union of what the two generations and classes show.
type itemRow struct {
	ID               string  `json:"id"`
	SourceID         string  `json:"source_id"`
	Filename         *string `json:"filename"`
	Title            *string `json:"title"`
	Status           string  `json:"status"`
	Infer            bool    `json:"infer"`
	Error            *string `json:"error"`
	ErrorCode        *string `json:"error_code"`
	RelationsCreated int     `json:"relations_created"`
	RelationsError   *string `json:"relations_error"`
	Skipped          string  `json:"skipped,omitempty"`
}

func (c *call) itemJSON(it contextmem.IngestItem) itemRow {
	r := itemRow{ID: it.ID, SourceID: it.ID, Filename: orNull(it.Filename), Title: orNull(it.Title), Status: string(it.Status), Infer: it.Infer,
		RelationsCreated: it.ForcefulRelationsCreated, RelationsError: orNull(it.ForcefulRelationsError), Skipped: it.Skipped}
	if it.Err != nil {
		text, code := c.errorText(it.Err), itemCode(it.Err)
		r.Error, r.ErrorCode = &text, &code
	}
	return r
}

// errorText is the message of an item that failed.
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

type ingestAnswer struct {
	Success bool      `json:"success"`
	Message string    `json:"message"`
	Results []itemRow `json:"results"`
	Count   int       `json:"success_count"`
	Failed  int       `json:"failed_count"`
	Skipped int       `json:"skipped_count,omitempty"`
}

func (c *call) ingestJSON(res *contextmem.IngestResult, what string) ingestAnswer {
	a := ingestAnswer{Success: res.Accepted > 0 || res.Failed == 0, Message: what + " queued for processing", Results: make([]itemRow, len(res.Items)), Count: res.Accepted, Failed: res.Failed,
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

// deletedRow is the fate of an item that was to be deleted.
type deletedRow struct {
	ID      string  `json:"id"`
	Deleted bool    `json:"deleted"`
	Error   *string `json:"error"`
}

func (c *call) deletedRows(res *contextmem.DeleteItemsResult) []deletedRow {
	rows := make([]deletedRow, len(res.Items))
	for i, it := range res.Items {
		rows[i] = deletedRow{ID: it.ID, Deleted: it.Deleted}
		if it.Err != nil {
			rows[i].Error = orNull(c.errorText(it.Err))
		}
	}
	return rows
}

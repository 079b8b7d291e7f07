package wire

import "github.com/contextmem/contextmem/content"

// Scope names a database under both of its member names.
type Scope struct {
	Database string `json:"database"`
	TenantID string `json:"tenant_id"`
}

// Layers holds the two metadata maps of an item under all their member names.
type Layers struct {
	Metadata         map[string]any `json:"metadata"`
	Additional       map[string]any `json:"additional_metadata"`
	TenantMetadata   map[string]any `json:"tenant_metadata"`
	DocumentMetadata map[string]any `json:"document_metadata"`
}

// OfLayers converts metadata maps to their JSON form; nil maps become empty ones.
func OfLayers(metadata, additional map[string]any) Layers {
	metadata, additional = object(metadata), object(additional)
	return Layers{metadata, additional, metadata, additional}
}

// SourceRow is a source in a list.
type SourceRow struct {
	ID         string `json:"id"`
	SourceID   string `json:"source_id"`
	Collection string `json:"collection"`
	SubTenant  string `json:"sub_tenant_id"`
	Scope
	Title       string           `json:"title"`
	Type        string           `json:"type"`
	Description string           `json:"description"`
	Note        string           `json:"note"`
	URL         string           `json:"url"`
	Timestamp   string           `json:"timestamp"`
	Relations   *Relations       `json:"relations"`
	Attachments []map[string]any `json:"attachments"`
	Layers
	Content     *ContentText   `json:"content,omitempty"`
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

// ContentText is the text of a source.
type ContentText struct {
	Text string `json:"text"`
}

// OfSource converts a source of a database to its JSON form, without its content.
func OfSource(database string, s *content.SourceInfo) *SourceRow {
	r := &SourceRow{ID: s.ID, SourceID: s.ID, Scope: Scope{database, database}, Collection: s.Sub, SubTenant: s.Sub, Title: s.Title, Type: s.Kind, Description: s.Description,
		Note: s.Note, URL: s.URL, Timestamp: Time(s.Timestamp), Relations: ofRelations(s.ForcefulRelations), Attachments: []map[string]any{},
		Layers: OfLayers(s.Metadata, s.Additional), CreatedAt: Time(s.CreatedAt), UpdatedAt: Time(s.UpdatedAt), Meta: map[string]any{}, Status: string(s.Status), Partial: s.Partial}
	if s.Timestamp.IsZero() {
		r.Timestamp = r.CreatedAt
	}
	if a := s.App; a != nil {
		r.AppKind, r.AppProvider, r.AppID, r.AppParent = Null(string(a.Kind)), Null(a.Provider), Null(a.ExternalID), Null(a.ParentID)
		if a.Attachments != nil {
			r.Attachments = a.Attachments
		}
	}
	return r
}

// Source converts the JSON form to a source of a class.
func (r *SourceRow) Source(class content.Class) content.SourceInfo {
	out := content.SourceInfo{ID: r.ID, Sub: r.Collection, Class: class, Title: r.Title, Kind: r.Type, Description: r.Description, Note: r.Note, URL: r.URL,
		Timestamp: ReadTime(r.Timestamp), CreatedAt: ReadTime(r.CreatedAt), UpdatedAt: ReadTime(r.UpdatedAt), Status: content.Status(r.Status),
		Metadata: r.Metadata, Additional: r.Additional, Partial: r.Partial, ForcefulRelations: r.Relations.relations()}
	if r.Content != nil {
		out.Content = r.Content.Text
	}
	if r.AppProvider != nil || r.AppKind != nil || r.AppID != nil {
		out.App = &content.AppInfo{Kind: content.AppKind(Text(r.AppKind)), Provider: Text(r.AppProvider), ExternalID: Text(r.AppID), ParentID: Text(r.AppParent), Attachments: r.Attachments}
	}
	return out
}

// Relations is the JSON form of forceful relations.
type Relations struct {
	IDs        []string       `json:"ids"`
	HydraIDs   []string       `json:"hydradb_source_ids"`
	Properties map[string]any `json:"properties"`
	Links      []Link         `json:"links,omitempty"`
}

// Link is the JSON form of a typed link.
type Link struct {
	Predicate  string         `json:"predicate"`
	Target     LinkTarget     `json:"target"`
	Properties map[string]any `json:"properties"`
}

// LinkTarget is an id, or the external id at a provider.
type LinkTarget struct {
	ID         *string `json:"id,omitempty"`
	Provider   *string `json:"provider,omitempty"`
	ExternalID *string `json:"external_id,omitempty"`
}

func ofRelations(r *content.ForcefulRelations) *Relations {
	if r == nil {
		return nil
	}
	ids := r.IDs
	if ids == nil {
		ids = []string{}
	}
	return &Relations{ids, ids, object(r.Properties), each(r.Links, func(l *content.Link) Link {
		target := LinkTarget{Provider: &l.Provider, ExternalID: &l.ExternalID}
		if l.TargetID != "" {
			target = LinkTarget{ID: &l.TargetID}
		}
		return Link{l.Predicate, target, object(l.Properties)}
	})}
}

func (r *Relations) relations() *content.ForcefulRelations {
	if r == nil {
		return nil
	}
	return &content.ForcefulRelations{IDs: r.IDs, Properties: r.Properties, Links: read(r.Links, func(l *Link) content.Link {
		return content.Link{Predicate: l.Predicate, TargetID: Text(l.Target.ID), Provider: Text(l.Target.Provider), ExternalID: Text(l.Target.ExternalID), Properties: l.Properties}
	})}
}

// MemoryRow is a memory in a list.
type MemoryRow struct {
	MemoryID   string `json:"memory_id"`
	ID         string `json:"id"`
	Collection string `json:"collection"`
	SubTenant  string `json:"sub_tenant_id"`
	Scope
	Content    string         `json:"memory_content"`
	Inferred   *string        `json:"inferred_content"`
	Title      string         `json:"title"`
	Metadata   map[string]any `json:"metadata"`
	Additional map[string]any `json:"additional_metadata"`
	CreatedAt  string         `json:"created_at"`
	UpdatedAt  string         `json:"updated_at"`
}

// OfMemory converts a memory of a database to its JSON form.
func OfMemory(database string, s *content.SourceInfo) MemoryRow {
	return MemoryRow{s.ID, s.ID, s.Sub, s.Sub, Scope{database, database}, s.Content, Null(s.Inferred), s.Title, object(s.Metadata), object(s.Additional), Time(s.CreatedAt), Time(s.UpdatedAt)}
}

// Memory converts the JSON form to a memory.
func (r *MemoryRow) Memory() content.SourceInfo {
	return content.SourceInfo{ID: r.ID, Sub: r.Collection, Class: content.ClassMemory, Title: r.Title, CreatedAt: ReadTime(r.CreatedAt), UpdatedAt: ReadTime(r.UpdatedAt),
		Metadata: r.Metadata, Additional: r.Additional, Content: r.Content, Inferred: Text(r.Inferred)}
}

// Pagination is the position of a page in a list.
type Pagination struct {
	Page        int  `json:"page"`
	PageSize    int  `json:"page_size"`
	Total       int  `json:"total"`
	TotalPages  int  `json:"total_pages"`
	HasNext     bool `json:"has_next"`
	HasPrevious bool `json:"has_previous"`
}

// OfPage returns the position of a page in its list.
func OfPage(p *content.SourcePage) Pagination {
	return Pagination{p.Page, p.PageSize, p.Total, p.Pages(), p.Page < p.Pages(), p.Page > 1}
}

// DeletedRow is the outcome for an item that a call asked to delete.
type DeletedRow struct {
	ID      string  `json:"id"`
	Deleted bool    `json:"deleted"`
	Error   *string `json:"error"`
}

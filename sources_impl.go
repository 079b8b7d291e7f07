package contextmem

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/pipeline"
)

func (f *Fetched) reader() io.Reader {
	if f.Binary {
		return bytes.NewReader(f.Data)
	}
	return strings.NewReader(f.Text)
}

func errClass(op string, c Class) error {
	return fieldError(op, KindInvalid, "", "type", "unknown class %d", c)
}

// classes returns the classes to look in, in order; 0 means both.
func classes(op string, c Class) ([]backend.Class, error) {
	switch c {
	case 0, ClassAll:
		return []backend.Class{backend.Knowledge, backend.Memory}, nil
	case ClassKnowledge, ClassMemory:
		return []backend.Class{backend.Class(c)}, nil
	}
	return nil, errClass(op, c)
}

// find returns the newest version of an id in one of the classes.
func (s *Service) find(ctx context.Context, op string, h *held, sub string, c Class, id string, principals []string) (*backend.Source, error) {
	cs, err := classes(op, c)
	if err != nil {
		return nil, err
	}
	if id == "" {
		return nil, fieldError(op, KindInvalid, ResourceSource, "id", "is required")
	}
	visible := item.Visible(principals)
	for _, class := range cs {
		srcs, err := h.store.Sources(ctx, backend.Partition{Class: class, Sub: sub}, []string{id})
		if err != nil {
			return nil, wrap(op, ResourceSource, id, err)
		}
		src := srcs[0]
		if src == nil || expired(src, time.Now()) || (visible != nil && !item.Live(backend.Filter{All: [][]uint64{visible}}, src.Tags)) {
			continue
		}
		return src, nil
	}
	return nil, sourceError(op, c, id, backend.ErrNotFound)
}

// isText tells whether a source's original is text that can be shown as it is.
func isText(src *backend.Source, data []byte) bool {
	if src.Part.Class == backend.Memory {
		return true
	}
	return looksLikeText(data)
}

func (s *Service) fetch(ctx context.Context, sub Sub, r FetchRequest) (*Fetched, error) {
	const op = "fetch"
	if r.Mode == "" {
		r.Mode = FetchContent
	}
	if r.Mode != FetchContent && r.Mode != FetchURL && r.Mode != FetchBoth {
		return nil, fieldError(op, KindInvalid, "", "mode", "must be content, url or both")
	}
	if r.Expiry == 0 {
		r.Expiry = time.Hour
	}
	if r.Expiry < time.Minute || r.Expiry > 7*24*time.Hour {
		return nil, fieldError(op, KindInvalid, "", "expiry_seconds", "must be between 60 and 604800")
	}
	h, name, err := sub.enter(ctx, op)
	if err != nil {
		return nil, err
	}
	defer h.release()
	src, err := s.find(ctx, op, h, name, r.Class, r.ID, r.Principals)
	if err != nil {
		return nil, err
	}
	f, err := s.load(ctx, op, h, src, r.Mode != FetchURL, r.ParsedText)
	if err != nil {
		return nil, err
	}
	if r.Mode != FetchContent && src.Part.Class == backend.Knowledge {
		f.URL = s.presign(h.uid, src.Num, time.Now().Add(r.Expiry))
	}
	return f, nil
}

func (s *Service) load(ctx context.Context, op string, h *held, src *backend.Source, content, parsed bool) (*Fetched, error) {
	f := &Fetched{ID: src.ID, Class: Class(src.Part.Class), ContentType: src.MediaType, SizeBytes: src.SizeBytes, Filename: src.Filename, Title: src.Title, Status: statusOf[src.State]}
	inferred, err := h.store.Content(ctx, src.Num, backend.Inferred)
	if err != nil && !errors.Is(err, backend.ErrNotFound) {
		return nil, sourceError(op, f.Class, src.ID, err)
	}
	f.Inferred = string(inferred)
	if f.Usage, f.Warnings, err = reading(ctx, h, src); err != nil {
		return nil, sourceError(op, f.Class, src.ID, err)
	}
	data, err := h.store.Content(ctx, src.Num, backend.Original)
	if err != nil {
		return nil, sourceError(op, f.Class, src.ID, err)
	}
	f.Binary = !isText(src, data)
	if f.ContentType == "" {
		f.ContentType = sniffType(src.Filename, data)
	}
	if !content {
		return f, nil
	}
	if !f.Binary {
		f.Text = string(data)
		return f, nil
	}
	f.Data = data
	if parsed {
		text, err := h.store.Content(ctx, src.Num, backend.Text)
		if err != nil && !errors.Is(err, backend.ErrNotFound) {
			return nil, sourceError(op, f.Class, src.ID, err)
		}
		f.Text = string(text)
	}
	return f, nil
}

// usage reads what a model was paid for a source; nil for nothing.
// instructed is in the record of an item that came with custom instructions.
var instructed = []byte(`"ci":`)

// reading says what a model was asked about an item, nil for nothing, and which instructions were not honoured.
func reading(ctx context.Context, h *held, src *backend.Source) (*ModelUsage, []Warning, error) {
	b, err := h.store.Content(ctx, src.Num, backend.Usage)
	if errors.Is(err, backend.ErrNotFound) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	var r pipeline.Reading
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, nil, fmt.Errorf("how a source was read: %w", backend.ErrCorrupt)
	}
	var warnings []Warning
	for _, part := range r.Unheeded {
		warnings = append(warnings, Warning{Code: "unheeded_instruction", Field: "custom_instructions", Message: fmt.Sprintf("%q is not honoured: it is not an instruction that the rules know", part)})
	}
	if r.Usage == nil {
		return nil, warnings, nil
	}
	u := ModelUsage(*r.Usage)
	return &u, warnings, nil
}

// info describes a source.
func sourceInfo(src *backend.Source) (SourceInfo, error) {
	doc, err := item.Decode(src.Doc)
	if err != nil {
		return SourceInfo{}, err
	}
	var i SourceInfo
	err = i.describe(src, doc)
	return i, err
}

// describe sets i to what a source, whose record was decoded, says.
func (i *SourceInfo) describe(src *backend.Source, doc *item.Doc) error {
	var err error
	*i = SourceInfo{ID: src.ID, Sub: src.Part.Sub, Class: Class(src.Part.Class), Title: src.Title, Kind: src.Kind, Description: doc.Description, Note: doc.Note,
		URL: doc.URL, Timestamp: src.Time, CreatedAt: src.CreatedAt, UpdatedAt: src.UpdatedAt, ExpiresAt: src.ExpiresAt, Filename: src.Filename,
		ContentType: src.MediaType, SizeBytes: src.SizeBytes, Status: statusOf[src.State], Infer: src.Infer, Partial: doc.Partial}
	if i.Metadata, err = decodeMap(src.Metadata); err != nil {
		return err
	}
	if i.Additional, err = decodeMap(src.Additional); err != nil {
		return err
	}
	if r := decodeRelations(doc); r != nil {
		i.Relations = r.public()
	}
	if a := doc.App; a != nil {
		i.App = &AppInfo{Kind: AppKind(a.Kind), Provider: a.Provider, ExternalID: a.ExternalID, ParentID: a.ParentID, ThreadID: a.ThreadID}
		if len(a.Attachments) > 0 {
			if err := json.Unmarshal(a.Attachments, &i.App.Attachments); err != nil {
				return fmt.Errorf("attachments of a source: %w", backend.ErrCorrupt)
			}
		}
	}
	return nil
}

func decodeMap(b []byte) (map[string]any, error) {
	if len(b) == 0 {
		return nil, nil
	}
	var m map[string]any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&m); err != nil {
		return nil, fmt.Errorf("metadata of a source: %w", backend.ErrCorrupt)
	}
	return m, nil
}

func (s *Service) list(ctx context.Context, sub Sub, r ListRequest) (*SourcePage, error) {
	const op = "list"
	if r.Class == 0 {
		r.Class = ClassKnowledge
	}
	if r.Class != ClassKnowledge && r.Class != ClassMemory {
		return nil, errClass(op, r.Class)
	}
	if r.Page == 0 {
		r.Page = 1
	}
	if r.PageSize == 0 {
		r.PageSize = 50
	}
	if r.Page < 1 || r.Page > 1<<31 {
		return nil, fieldError(op, KindInvalid, "", "page", "must be at least 1")
	}
	if r.PageSize < 1 || r.PageSize > 100 {
		return nil, fieldError(op, KindInvalid, "", "page_size", "must be between 1 and 100")
	}
	if len(r.IDs) > 100 {
		return nil, fieldError(op, KindInvalid, "", "ids", "%d ids are over the limit of 100", len(r.IDs))
	}
	h, name, err := sub.enter(ctx, op)
	if err != nil {
		return nil, err
	}
	defer h.release()
	filter, warnings, err := s.filter(op, h.rec.data.Schema, r.Filters, false)
	if err != nil {
		return nil, err
	}
	for _, f := range [...]struct{ layer, name, value string }{
		{item.LayerField, "title", r.Fields.Title}, {item.LayerField, "type", r.Fields.Kind}, {item.LayerField, "description", r.Fields.Description},
		{item.LayerField, "url", r.Fields.URL}, {item.LayerField, "timestamp", r.Fields.Timestamp}, {item.LayerApp, "kind", r.Fields.AppKind},
		{item.LayerApp, "provider", r.Fields.AppProvider}, {item.LayerApp, "external", r.Fields.AppExternalID}, {item.LayerApp, "parent", r.Fields.AppParentExternalID}} {
		if f.value != "" {
			filter.All = append(filter.All, []uint64{item.Tag(f.layer, f.name, f.value)})
		}
	}
	if g := item.Visible(r.Principals); g != nil {
		filter.All = append(filter.All, g)
	}
	srcs, total, err := h.store.List(ctx, backend.ListQuery{Part: backend.Partition{Class: backend.Class(r.Class), Sub: name}, IDs: r.IDs, Filter: filter,
		Offset: (r.Page - 1) * r.PageSize, Limit: r.PageSize, Now: time.Now()})
	if err != nil {
		return nil, wrap(op, ResourceSource, "", err)
	}
	out := &SourcePage{Sources: make([]SourceInfo, 0, len(srcs)), Total: total, Page: r.Page, PageSize: r.PageSize, Warnings: warnings}
	for _, src := range srcs {
		i, err := sourceInfo(src)
		if err != nil {
			return nil, wrap(op, ResourceSource, src.ID, err)
		}
		if r.Content || r.Class == ClassMemory {
			f, err := s.load(ctx, op, h, src, true, true)
			if errors.Is(err, ErrNotFound) {
				continue // deleted since it was listed
			}
			if err != nil {
				return nil, err
			}
			i.Content, i.Inferred = f.Text, f.Inferred
			if i.Title == "" {
				i.Title = shortTitle(f.Text)
			}
		}
		out.Sources = append(out.Sources, i)
	}
	return out, nil
}

func (s *Service) deleteItems(ctx context.Context, sub Sub, r DeleteRequest) (*DeleteResult, error) {
	const op = "delete"
	if len(r.IDs) == 0 {
		return nil, fieldError(op, KindUnprocessed, "", "ids", "needs at least one id")
	}
	if len(r.IDs) > 1000 {
		return nil, fieldError(op, KindInvalid, "", "ids", "%d ids are over the limit of 1000", len(r.IDs))
	}
	cs, err := classes(op, r.Class)
	if err != nil {
		return nil, err
	}
	h, name, err := sub.enter(ctx, op)
	if err != nil {
		return nil, err
	}
	defer h.release()
	out := &DeleteResult{Items: make([]DeleteItem, len(r.IDs))}
	for i, id := range r.IDs {
		out.Items[i] = DeleteItem{ID: id, Err: sourceError(op, r.Class, id, backend.ErrNotFound)}
	}
	for _, class := range cs {
		res, err := h.store.Delete(ctx, backend.Partition{Class: class, Sub: name}, r.IDs, backend.DeleteOptions{KeepIndexing: r.KeepIndexing})
		if err != nil {
			return nil, wrap(op, ResourceSource, "", err)
		}
		for i, d := range res {
			it := &out.Items[i]
			switch {
			case !d.Found || it.Deleted:
			case d.Indexing && r.KeepIndexing:
				it.Err = &Error{Op: op, Kind: KindProcessing, Resource: ResourceSource, ID: shortID(it.ID), RetryAfter: time.Second, Err: errors.New("source is still being indexed")}
			default:
				it.Deleted, it.Err = true, nil
				out.Deleted++
			}
		}
	}
	if out.Deleted > 0 {
		h.stateChanged()
		s.sched.deleted(h.uid)
		if err := h.follower.Sync(ctx); err != nil && ctx.Err() == nil {
			s.opts.Logger.Warn("indexes could not follow a delete; the next search tries again", "err", err)
		}
	}
	return out, nil
}

func (s *Service) deleteSub(ctx context.Context, sub Sub) error {
	const op = "delete sub-tenant"
	h, name, err := sub.enter(ctx, op)
	if err != nil {
		return err
	}
	defer h.release()
	for total := 0; ; {
		n, err := h.store.DeleteSub(ctx, name, 5000)
		if err != nil {
			return wrap(op, ResourceSub, sub.sub, err)
		}
		if n > 0 {
			total += n
			continue
		}
		if total == 0 {
			return &Error{Op: op, Kind: KindNotFound, Resource: ResourceSub, ID: shortID(sub.sub), Err: errors.New("collection not found")}
		}
		h.stateChanged()
		s.sched.deleted(h.uid)
		return nil
	}
}

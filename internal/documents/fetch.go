package documents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/pipeline"
	"github.com/contextmem/contextmem/internal/workspace"
)

// Fetch returns the original of an item in a sub-tenant, given by its stored name.
func (e *Engine) Fetch(ctx context.Context, op string, ref *workspace.Ref, sub string, r content.FetchRequest) (*content.Fetched, error) {
	if r.Mode == "" {
		r.Mode = content.FetchContent
	}
	if r.Mode != content.FetchContent && r.Mode != content.FetchURL && r.Mode != content.FetchBoth {
		return nil, fault.Fieldf(op, fault.KindInvalid, "", "Mode", "must be content, url or both")
	}
	if r.Expiry == 0 {
		r.Expiry = time.Hour
	}
	if r.Expiry < time.Minute || r.Expiry > 7*24*time.Hour {
		return nil, fault.Fieldf(op, fault.KindInvalid, "", "Expiry", "must be between 60 and 604800")
	}
	src, err := ref.Find(ctx, op, sub, r.Class, r.ID, r.Principals)
	if err != nil {
		return nil, err
	}
	show := ShowText
	switch {
	case r.Original:
		show = ShowOriginal
	case r.ParsedText:
		show = ShowAllText
	}
	f, err := Load(ctx, op, ref.Space, src, r.Mode != content.FetchURL, show)
	if err != nil {
		return nil, err
	}
	if r.Mode != content.FetchContent && src.Part.Class == backend.Knowledge {
		f.URL = e.Presign(ref.UID, src.Num, time.Now().Add(r.Expiry))
	}
	return f, nil
}

// Show says which text Load returns in content.Fetched.Text.
type Show uint8

// The values of Show.
const (
	ShowOriginal Show = iota // the original, if it is text
	ShowText                 // the extracted text if readers are shown it, else the original
	ShowAllText              // as ShowText, and the extracted text of all binary content
)

// Load reads a version, with its content if withContent is set.
func Load(ctx context.Context, op string, sp *workspace.Space, src *backend.Source, withContent bool, show Show) (*content.Fetched, error) {
	class := content.Class(src.Part.Class)
	f := &content.Fetched{ID: src.ID, Class: class, ContentType: src.MediaType, SizeBytes: src.SizeBytes, Filename: src.Filename, Title: src.Title, Status: item.StatusOf(src.State)}
	inferred, err := sp.Store.Content(ctx, src.Num, backend.Inferred)
	if err != nil && !errors.Is(err, backend.ErrNotFound) {
		return nil, workspace.SourceError(op, class, src.ID, err)
	}
	f.Inferred = string(inferred)
	if f.Usage, f.Warnings, err = Reading(ctx, sp, src); err != nil {
		return nil, workspace.SourceError(op, class, src.ID, err)
	}
	doc, err := item.Decode(src.Doc)
	if err != nil {
		return nil, workspace.SourceError(op, class, src.ID, err)
	}
	f.Partial = doc.Partial
	data, err := sp.Store.Content(ctx, src.Num, backend.Original)
	if err != nil {
		return nil, workspace.SourceError(op, class, src.ID, err)
	}
	f.Binary = !isText(src, data)
	if f.ContentType == "" {
		f.ContentType = sniffType(src.Filename, data)
	}
	if !withContent {
		return f, nil
	}
	if f.Binary {
		f.Data = data
	}
	if show == ShowText && doc.Extracted || show == ShowAllText && (doc.Extracted || f.Binary) {
		text, err := sp.Store.Content(ctx, src.Num, backend.Text)
		if err == nil {
			f.Text = string(text)
			return f, nil
		}
		if !errors.Is(err, backend.ErrNotFound) {
			return nil, workspace.SourceError(op, class, src.ID, err)
		}
	}
	if !f.Binary {
		f.Text = string(data)
	}
	return f, nil
}

// Reading returns the model usage for an item, nil if there was none, and a warning for each instruction that was not followed.
func Reading(ctx context.Context, sp *workspace.Space, src *backend.Source) (*content.ModelUsage, []fault.Warning, error) {
	b, err := sp.Store.Content(ctx, src.Num, backend.Usage)
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
	var warnings []fault.Warning
	for _, part := range r.Unheeded {
		warnings = append(warnings, fault.Warning{Code: "unheeded_instruction", Field: "Instructions", Message: fmt.Sprintf("%q is not honoured: it is not an instruction that the rules know", part)})
	}
	return (*content.ModelUsage)(r.Usage), warnings, nil
}

// isText reports whether a source's original is text that can be shown unchanged.
func isText(src *backend.Source, data []byte) bool {
	if src.Part.Class == backend.Memory {
		return true
	}
	return looksLikeText(data)
}

// looksLikeText reports whether bytes look like text: UTF-8 without control characters.
func looksLikeText(data []byte) bool {
	head := data[:min(len(data), 8192)]
	for _, c := range head {
		if c < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != 0x1b {
			return false
		}
	}
	return utf8.Valid(data) && !strings.HasPrefix(string(head[:min(len(head), 5)]), "%PDF-")
}

// sniffType returns the media type by the name's extension, else by the content.
func sniffType(name string, data []byte) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown":
		return "text/markdown"
	case ".csv":
		return "text/csv"
	case ".jsonl":
		return "application/x-ndjson"
	case ".txt":
		return "text/plain"
	}
	if t := mime.TypeByExtension(path.Ext(name)); t != "" {
		return t
	}
	return http.DetectContentType(data)
}

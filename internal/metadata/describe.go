package metadata

import (
	"encoding/json"
	"fmt"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/internal/item"
)

// Describe returns what users see of a source.
func Describe(src *backend.Source) (content.SourceInfo, error) {
	var i content.SourceInfo
	doc, err := item.Decode(src.Doc)
	if err == nil {
		err = DescribeDecoded(&i, src, doc)
	}
	return i, err
}

// DescribeDecoded sets i to what users see of a source whose record was decoded.
func DescribeDecoded(i *content.SourceInfo, src *backend.Source, doc *item.Doc) error {
	var err error
	*i = content.SourceInfo{ID: src.ID, Sub: src.Part.Sub, Class: content.Class(src.Part.Class), Title: src.Title, Kind: src.Kind, Description: doc.Description,
		Note: doc.Note, URL: doc.URL, Timestamp: src.Time, CreatedAt: src.CreatedAt, UpdatedAt: src.UpdatedAt, ExpiresAt: src.ExpiresAt, Filename: src.Filename,
		ContentType: src.MediaType, SizeBytes: src.SizeBytes, Status: item.StatusOf(src.State), Infer: src.Infer, Partial: doc.Partial}
	if i.Metadata, err = DecodeMap(src.Metadata); err != nil {
		return err
	}
	if i.Additional, err = DecodeMap(src.Additional); err != nil {
		return err
	}
	if r := doc.Linked(); r != nil {
		i.ForcefulRelations = r.Public()
	}
	if a := doc.App; a != nil {
		i.App = &content.AppInfo{Kind: content.AppKind(a.Kind), Provider: a.Provider, ExternalID: a.ExternalID, ParentID: a.ParentID, ThreadID: a.ThreadID}
		if len(a.Attachments) > 0 {
			if err := json.Unmarshal(a.Attachments, &i.App.Attachments); err != nil {
				return fmt.Errorf("attachments of a source: %w", backend.ErrCorrupt)
			}
		}
	}
	return nil
}

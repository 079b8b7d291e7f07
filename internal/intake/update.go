package intake

import (
	"context"
	"strings"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/cas"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/metadata"
	"github.com/contextmem/contextmem/internal/workspace"
)

// Update stores a new version of a memory with the fields that the edit names changed. sub is the stored name of its sub-tenant.
func (e *Engine) Update(ctx context.Context, ref *workspace.Ref, sub, id string, edit content.MemoryEdit) ([]Item, error) {
	const op = "update memory"
	ref.Edits.Lock()
	defer ref.Edits.Unlock()
	var out []Item
	err := cas.Retry(ctx, func() (err error) {
		out, err = e.updateOnce(ctx, op, ref, sub, id, &edit)
		return err
	})
	return out, err
}

func (e *Engine) updateOnce(ctx context.Context, op string, ref *workspace.Ref, sub, id string, edit *content.MemoryEdit) ([]Item, error) {
	src, err := ref.Find(ctx, op, sub, content.ClassMemory, id, nil)
	if err != nil {
		return nil, err
	}
	in := &batch{Engine: e, op: op, ref: ref, sub: sub, part: src.Part, class: backend.Memory, now: time.Now().UTC()}
	doc, err := item.Decode(src.Doc)
	if err != nil {
		return nil, fault.Wrap(op, fault.Memory, id, err)
	}
	inc := backend.Incoming{Source: *src, Expect: src.Version()}
	if inc.Blobs, err = storedBlobs(ctx, ref.Store, src, backend.Original, backend.Supplied); err != nil {
		return nil, workspace.SourceError(op, content.ClassMemory, id, err)
	}
	if err := in.editText(&inc, doc, edit); err != nil {
		return nil, err
	}
	if err := in.editFields(&inc, doc, edit); err != nil {
		return nil, err
	}
	if err := e.past(ctx, ref.Store, src, nil, &inc, content.ByEdit); err != nil {
		return nil, workspace.SourceError(op, content.ClassMemory, id, err)
	}
	if err := in.storeNew(ctx, &inc); err != nil {
		return nil, err
	}
	return []Item{{ID: id, Title: inc.Title, Infer: inc.Infer}}, nil
}

// storeNew stores a new version of the item that was read. If that is no longer the newest version, it returns [backend.ErrConflict].
func (in *batch) storeNew(ctx context.Context, inc *backend.Incoming) error {
	var acc []backend.Accepted
	err := in.Schedule.Admit(ctx, in.ref.UID, func() (err error) {
		acc, err = in.ref.Store.Accept(ctx, []backend.Incoming{*inc})
		return err
	})
	if err == nil && acc[0].Conflict {
		err = backend.ErrConflict
	}
	if err != nil {
		return fault.Wrap(in.op, fault.Source, inc.ID, err)
	}
	if !inc.ExpiresAt.IsZero() {
		in.Schedule.PlanExpiry(in.ref.UID, inc.ExpiresAt)
	}
	return nil
}

// editText replaces the text of an item by that of an edit.
func (in *batch) editText(inc *backend.Incoming, doc *item.Doc, edit *content.MemoryEdit) error {
	var text string
	switch {
	case edit.Text != nil && edit.Messages != nil:
		return in.bad(fault.KindUnprocessed, "Messages", "excludes text")
	case edit.Text != nil:
		if text = *edit.Text; strings.TrimSpace(text) == "" {
			return in.bad(fault.KindUnprocessed, "Text", "must not be blank")
		}
		doc.Pairs, doc.Turns = false, nil
	case edit.Messages != nil:
		if err := in.checkMessages("", edit.Messages); err != nil {
			return err
		}
		m := content.Memory{Messages: edit.Messages, UserName: doc.UserName}
		if edit.UserName != nil {
			m.UserName = *edit.UserName
		}
		text, doc.Turns = rendered(&m)
		doc.Pairs = true
	default:
		return nil
	}
	inc.SizeBytes, inc.Blobs[0].Data = int64(len(text)), []byte(text)
	return fault.CheckText(in.op, "Text", text, in.MaxMemoryBytes)
}

// editFields replaces the other fields of an item by those of an edit.
func (in *batch) editFields(inc *backend.Incoming, doc *item.Doc, edit *content.MemoryEdit) error {
	set := func(to *string, from *string) bool {
		if from != nil {
			*to = *from
		}
		return from != nil
	}
	if set(&inc.Title, edit.Title) {
		doc.NamedTitle = inc.Title != ""
	}
	set(&inc.Session, edit.Session)
	set(&doc.Instructions, edit.Instructions)
	if set(&doc.UserName, edit.UserName) && doc.UserName == "" {
		doc.UserName = DefaultUserName
	}
	if edit.Infer != nil {
		inc.Infer = *edit.Infer
	}
	if !inc.Infer {
		doc.Instructions = ""
	}
	if edit.Markdown != nil {
		if doc.Markdown, inc.MediaType = *edit.Markdown, "text/plain"; doc.Markdown {
			inc.MediaType = "text/markdown"
		}
	}
	if edit.Time != nil {
		if inc.Time, doc.Zone = edit.Time.UTC(), zoneOf(*edit.Time); edit.Time.IsZero() {
			inc.Time, doc.Zone = time.Time{}, 0
		}
	}
	if edit.TTL != nil {
		switch {
		case *edit.TTL < 0:
			return in.bad(fault.KindInvalid, "TTL", "must not be negative")
		case *edit.TTL == 0:
			inc.ExpiresAt = time.Time{}
		default:
			inc.ExpiresAt = in.now.Add(*edit.TTL)
		}
	}
	for _, s := range [...]struct{ name, value string }{{"Title", inc.Title}, {"UserName", doc.UserName}, {"Instructions", doc.Instructions}, {"Session", inc.Session}} {
		if err := fault.CheckText(in.op, s.name, s.value, 64<<10); err != nil {
			return err
		}
	}
	if err := fault.CheckTime(in.op, "Time", inc.Time); err != nil {
		return err
	}
	schema := in.ref.Record.Data.Schema
	meta, mb, err := in.merged("Metadata", inc.Metadata, edit.Metadata, maxMetadataBytes)
	if err != nil {
		return err
	}
	if err := metadata.Check(in.op, "Metadata", schema, metadata.Declared(schema, meta), true); err != nil {
		return err
	}
	if err := metadata.Check(in.op, "Metadata", schema, edit.Metadata, true); err != nil {
		return err
	}
	add, ab, err := in.merged("Additional", inc.Additional, edit.Additional, in.MaxAdditionalBytes)
	if err != nil {
		return err
	}
	if edit.Session == nil {
		if inc.Session, err = sessionAfter(&inc.Source, meta, add); err != nil {
			return err
		}
	}
	doc.Dense, doc.Sparse = metadata.Embedded(schema, meta)
	inc.Metadata, inc.Additional, inc.UpdatedAt = mb, ab, in.now
	inc.Tags = metadata.Tags(inc.Source, doc, meta, add)
	inc.Doc, err = doc.Encode()
	return fault.Wrap(in.op, fault.Memory, inc.ID, err)
}

// merged applies an edit to a stored map. The result may have at most limit bytes.
func (in *batch) merged(field string, stored []byte, edit map[string]any, limit int) (map[string]any, []byte, error) {
	if _, _, err := metadata.EncodeMap(in.op, field, nil, edit, limit); err != nil {
		return nil, nil, err
	}
	m, err := metadata.DecodeMap(stored)
	if err != nil {
		return nil, nil, err
	}
	if m == nil {
		m = map[string]any{}
	}
	for k, v := range edit {
		if m[k] = v; v == nil {
			delete(m, k)
		}
	}
	return metadata.EncodeMap(in.op, field, nil, m, maxMergedBytes)
}

package intake

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/cas"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/metadata"
	"github.com/contextmem/contextmem/internal/workspace"
)

// RestoreVersion stores the content of an earlier version of an item as a new version. Metadata, access list and expiry stay
// as they are.
func (e *Engine) RestoreVersion(ctx context.Context, ref *workspace.Ref, sub string, r content.RestoreVersionRequest) (it Item, err error) {
	const op = "restore version"
	if r.Version < 1 {
		return it, fault.Fieldf(op, fault.KindInvalid, "", "Version", "must be that of an earlier version")
	}
	ref.Edits.Lock()
	defer ref.Edits.Unlock()
	err = cas.Retry(ctx, func() error {
		it, err = e.restoreOnce(ctx, op, ref, sub, r)
		return err
	})
	return it, err
}

func (e *Engine) restoreOnce(ctx context.Context, op string, ref *workspace.Ref, sub string, r content.RestoreVersionRequest) (Item, error) {
	src, err := ref.Find(ctx, op, sub, r.Class, r.ID, r.Principals)
	if err != nil {
		return Item{}, err
	}
	class := content.Class(src.Part.Class)
	wrap := func(err error) (Item, error) { return Item{}, workspace.SourceError(op, class, src.ID, err) }
	log, err := stored(ctx, ref.Store, src, backend.Past)
	if err != nil {
		return wrap(err)
	}
	p, err := item.DecodePast(log)
	if err != nil {
		return wrap(err)
	}
	in := &batch{Engine: e, op: op, ref: ref, sub: sub, part: src.Part, class: src.Part.Class, now: time.Now().UTC()}
	i := slices.IndexFunc(p.Versions, func(v item.Version) bool { return v.N == r.Version })
	seen := false
	if i >= 0 && !p.Versions[i].Expired(in.now) {
		if seen, err = p.Versions[i].Sees(r.Principals); err != nil {
			return wrap(err)
		}
	}
	if !seen {
		return Item{}, &fault.Error{Op: op, Kind: fault.KindNotFound, Resource: fault.Source, ID: fault.ShortID(src.ID), Field: "Version", Err: errors.New("there is no such earlier version")}
	}
	v := &p.Versions[i]
	if v.Lost {
		return Item{}, &fault.Error{Op: op, Kind: fault.KindConflict, Resource: fault.Source, ID: fault.ShortID(src.ID), Field: "Version", Err: errors.New("its content was too large to be kept")}
	}
	doc, err := item.Decode(v.Doc)
	if err != nil {
		return wrap(err)
	}
	was, err := item.Decode(src.Doc)
	if err != nil {
		return wrap(err)
	}
	doc.ACL, doc.Dense, doc.Sparse, doc.Supplied, doc.Partial = was.ACL, was.Dense, was.Sparse, was.Supplied, ""
	inc := backend.Incoming{Source: *src, Expect: src.Version()}
	inc.Title, inc.Kind, inc.Filename, inc.MediaType, inc.Time, inc.SizeBytes, inc.Infer = v.Title, v.Kind, v.Filename, v.MediaType, v.Time, v.Size, v.Infer
	meta, err := metadata.DecodeMap(src.Metadata)
	if err != nil {
		return wrap(err)
	}
	add, err := metadata.DecodeMap(src.Additional)
	if err != nil {
		return wrap(err)
	}
	if named := metadata.Session(add, meta); !v.Named && (named == "" || named != src.Session) {
		inc.Session = v.Session // the metadata that stay do not say in which session the item is
	}
	inc.UpdatedAt, inc.Tags = in.now, metadata.Tags(inc.Source, doc, meta, add)
	if inc.Doc, err = doc.Encode(); err != nil {
		return wrap(err)
	}
	if inc.Blobs, err = storedBlobs(ctx, ref.Store, src, backend.Supplied); err != nil {
		return wrap(err)
	}
	inc.Blobs = append(inc.Blobs, backend.Blob{Kind: backend.Original, Data: v.Original()})
	if err := e.past(ctx, ref.Store, src, nil, &inc, content.ByRestore); err != nil {
		return wrap(err)
	}
	if err := in.storeNew(ctx, &inc); err != nil {
		return Item{}, err
	}
	return Item{ID: src.ID, Filename: inc.Filename, Title: inc.Title, Infer: inc.Infer}, nil
}

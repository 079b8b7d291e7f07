package intake

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/metadata"
)

// keepPast adds the stored versions of the items to the versions that replace them. It also sets their expectations, so
// that an item only replaces the version that was read.
func (in *batch) keepPast(ctx context.Context, srcs map[string]*backend.Source, items []*backend.Incoming) error {
	times := map[string]int{}
	for _, inc := range items {
		times[inc.ID]++
	}
	last := map[string]*backend.Incoming{}
	for _, inc := range items {
		inc.Blobs = slices.DeleteFunc(inc.Blobs, func(b backend.Blob) bool { return b.Kind == backend.Past })
		inc.Expect = backend.Version{}
		src, before := srcs[inc.ID], last[inc.ID]
		last[inc.ID] = inc
		var err error
		switch {
		case before != nil: // an earlier item of the same call
			err = in.past(ctx, nil, &before.Source, before.Blobs, inc, content.ByAdd)
		case src != nil && !item.Expired(src, in.now):
			if times[inc.ID] == 1 {
				inc.Expect = src.Version()
			}
			if err = in.past(ctx, in.ref.Store, src, nil, inc, content.ByAdd); errors.Is(err, backend.ErrConflict) {
				err = nil // the item is stored without this version
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// acceptTries bounds how often an item is read again after a conflict. After that it replaces any version.
const acceptTries = 20

// acceptAgain accepts the items whose earlier versions other calls have replaced since they were read.
func (in *batch) acceptAgain(ctx context.Context, acc []backend.Accepted) error {
	for try := 1; ; try++ {
		var items []*backend.Incoming
		var ids []string
		var at []int
		for i := range acc {
			if acc[i].Conflict {
				items, ids, at = append(items, &in.items[i]), append(ids, in.items[i].ID), append(at, i)
			}
		}
		if len(items) == 0 {
			return nil
		}
		found, err := in.ref.Store.Sources(ctx, in.part, ids)
		if err = backend.Undamaged(err); err != nil {
			return err
		}
		srcs := map[string]*backend.Source{}
		for _, src := range found {
			if src != nil {
				srcs[src.ID] = src
			}
		}
		if err := in.keepPast(ctx, srcs, items); err != nil {
			return err
		}
		again := make([]backend.Incoming, len(items))
		for i, inc := range items {
			if try == acceptTries {
				inc.Expect = backend.Version{}
			}
			again[i] = *inc
		}
		res, err := in.ref.Store.Accept(ctx, again)
		if err != nil {
			return err
		}
		for i := range res {
			acc[at[i]] = res[i]
		}
	}
}

// past adds src and its earlier versions to inc, which is to replace it. blobs is the content of src; nil: past reads it from st,
// and returns [backend.ErrConflict] if src is gone. Content that is damaged counts as content that was not kept.
func (e *Engine) past(ctx context.Context, st backend.Read, src *backend.Source, blobs []backend.Blob, inc *backend.Incoming, by content.Replacement) error {
	if e.Versions <= 0 {
		return nil
	}
	damaged := false // the original is
	read := func(kind backend.ContentKind) ([]byte, error) {
		if blobs == nil {
			b, err := stored(ctx, st, src, kind)
			if errors.Is(err, backend.ErrCorrupt) {
				b, damaged, err = nil, damaged || kind == backend.Original, nil
			}
			return b, err
		}
		if i := slices.IndexFunc(blobs, func(b backend.Blob) bool { return b.Kind == kind }); i >= 0 {
			return blobs[i].Data, nil
		}
		return nil, nil
	}
	log, err := read(backend.Past)
	if err != nil {
		return err
	}
	p, err := item.DecodePast(log)
	if err != nil {
		return err
	}
	var original []byte
	if src.SizeBytes <= item.MaxPastBytes {
		if original, err = read(backend.Original); err != nil {
			return err
		}
		if !damaged {
			original = append([]byte{}, original...)
		}
	}
	doc, err := item.Decode(src.Doc)
	if err != nil {
		return err
	}
	next, err := item.Decode(inc.Doc)
	if err != nil {
		return err
	}
	renamed := src.Title != inc.Title && (doc.NamedTitle || next.NamedTitle) // other titles are derived from the content
	now := slices.IndexFunc(inc.Blobs, func(b backend.Blob) bool { return b.Kind == backend.Original })
	if original == nil || now < 0 || !bytes.Equal(original, inc.Blobs[now].Data) || renamed || src.Session != inc.Session {
		v := item.Version{N: p.Newest, At: src.UpdatedAt, Until: inc.UpdatedAt.Truncate(time.Microsecond), By: string(by), ExpiresAt: src.ExpiresAt, Title: src.Title, Kind: src.Kind, Filename: src.Filename,
			MediaType: src.MediaType, Session: src.Session, Time: src.Time, Size: src.SizeBytes, Infer: src.Infer, Doc: src.Doc}
		v.Named = src.Session != "" && src.Session == sessionNamed(src)
		shown := ""
		if doc.Extracted {
			b, err := read(backend.Text)
			if err != nil {
				return err
			}
			shown = string(b)
		}
		v.Keep(original, shown)
		p.Newest++
		p.Versions = append(p.Versions, v)
	}
	if inc.ExpiresAt.IsZero() { // an expiring version must not be kept by one that does not expire
		p.Versions = slices.DeleteFunc(p.Versions, func(v item.Version) bool { return !v.ExpiresAt.IsZero() })
	}
	b, err := p.Encode(e.Versions, inc.UpdatedAt)
	if b != nil {
		inc.Blobs = append(inc.Blobs, backend.Blob{Kind: backend.Past, Data: b})
	}
	return err
}

// stored reads a blob of a version, or returns nil if it has none. If the version is gone or has no original, it returns [backend.ErrConflict].
func stored(ctx context.Context, st backend.Read, src *backend.Source, kind backend.ContentKind) ([]byte, error) {
	data, err := st.Content(ctx, src.Num, kind)
	switch {
	case !errors.Is(err, backend.ErrNotFound):
		return data, err
	case kind == backend.Original:
		return nil, backend.ErrConflict
	}
	return nil, nil
}

// storedBlobs reads those blobs of the given kinds that a version has.
func storedBlobs(ctx context.Context, st backend.Read, src *backend.Source, kinds ...backend.ContentKind) (blobs []backend.Blob, err error) {
	for _, kind := range kinds {
		data, err := stored(ctx, st, src, kind)
		if err != nil {
			return nil, err
		}
		if data != nil || kind == backend.Original {
			blobs = append(blobs, backend.Blob{Kind: kind, Data: data})
		}
	}
	return blobs, nil
}

// sessionNamed returns the session that the metadata of a version name; empty if they name none, or are damaged.
func sessionNamed(src *backend.Source) string {
	meta, err := metadata.DecodeMap(src.Metadata)
	if err != nil {
		return ""
	}
	add, err := metadata.DecodeMap(src.Additional)
	if err != nil {
		return ""
	}
	return metadata.Session(add, meta)
}

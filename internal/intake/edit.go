package intake

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/cas"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/metadata"
	"github.com/contextmem/contextmem/internal/pipeline"
	"github.com/contextmem/contextmem/internal/workspace"
)

// Edit stores an edit of the metadata of an item. sub is the stored name of its sub-tenant. If an embedding field or the
// session changes, Edit returns when the new version is indexed.
func (e *Engine) Edit(ctx context.Context, op string, ref *workspace.Ref, sub string, r content.EditMetadataRequest) (*content.EditMetadataResult, error) {
	if len(r.Metadata) == 0 && len(r.Additional) == 0 && r.ACL == nil {
		return nil, fault.Fieldf(op, fault.KindInvalid, "", "Metadata", "metadata or additional_metadata is required")
	}
	if r.ACL != nil {
		if err := checkACL(op, "ACL", *r.ACL); err != nil {
			return nil, err
		}
	}
	schema := ref.Record.Data.Schema
	for k, v := range r.Metadata {
		if f := metadata.FindField(schema, k); f != nil && v == nil && (f.Dense || f.Sparse) {
			return nil, fault.Fieldf(op, fault.KindInvalid, fault.Schema, "Metadata."+k, "an embedding field can't be set to null")
		}
		if slices.Contains(metadata.ReservedNames, strings.ToLower(k)) {
			return nil, fault.Fieldf(op, fault.KindInvalid, fault.Schema, "Metadata."+k, "is a reserved name")
		}
	}
	if _, _, err := metadata.EncodeMap(op, "Metadata", nil, r.Metadata, maxMetadataBytes); err != nil {
		return nil, err
	}
	if _, _, err := metadata.EncodeMap(op, "Additional", nil, r.Additional, e.MaxAdditionalBytes); err != nil {
		return nil, err
	}
	if err := metadata.Check(op, "Metadata", schema, r.Metadata, true); err != nil {
		return nil, err
	}
	if dense, _ := metadata.Embedded(schema, r.Metadata); len(dense) > 0 {
		if err := canEmbed(ctx, ref.Serving().Writer, op, r.ID, dense); err != nil {
			return nil, err
		}
	}
	res, num, err := e.mergeMetadata(ctx, op, ref, sub, r)
	if err != nil {
		return nil, err
	}
	if num != 0 {
		return e.reembedded(ctx, op, ref, res, num)
	}
	return res, fault.Wrap(op, fault.Source, res.ID, ref.Follower.Sync(ctx))
}

// canEmbed embeds new values as a test. If the embedder can't, the edit fails without having changed anything.
func canEmbed(ctx context.Context, e pipeline.Embedder, op, id string, texts []string) (err error) {
	failed := &fault.Error{Op: op, Kind: fault.KindUnavailable, Resource: fault.Source, ID: fault.ShortID(id), Err: errors.New("the changed metadata could not be embedded; nothing was changed")}
	defer func() {
		if recover() != nil {
			err = failed
		}
	}()
	vecs, err := e.EmbedDocuments(ctx, texts)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil || len(vecs) != len(texts) {
		return failed
	}
	return nil
}

// mergeMetadata stores a checked edit. num is the new version for whose indexing the caller must
// wait if the value of an embedding field changed, else 0.
func (e *Engine) mergeMetadata(ctx context.Context, op string, ref *workspace.Ref, sub string, r content.EditMetadataRequest) (res *content.EditMetadataResult, num int64, err error) {
	ref.Edits.Lock() // edits in this process exclude each other, so they cause no conflicts and retries
	defer ref.Edits.Unlock()
	err = cas.Retry(ctx, func() error {
		res, num, err = e.mergeOnce(ctx, op, ref, sub, r)
		return err
	})
	return res, num, err
}

// mergeOnce reads an item, applies the edit and stores the result. If the item has changed
// meanwhile, it returns [backend.ErrConflict].
func (e *Engine) mergeOnce(ctx context.Context, op string, ref *workspace.Ref, sub string, r content.EditMetadataRequest) (_ *content.EditMetadataResult, num int64, _ error) {
	schema := ref.Record.Data.Schema
	src, err := ref.Find(ctx, op, sub, r.Class, r.ID, nil)
	if err != nil {
		return nil, 0, err
	}
	doc, err := item.Decode(src.Doc)
	if err != nil {
		return nil, 0, fault.Wrap(op, fault.Source, r.ID, err)
	}
	res := &content.EditMetadataResult{ID: src.ID, Class: content.Class(src.Part.Class)}
	merge := func(stored []byte, edit map[string]any, keys *[]string) (map[string]any, error) {
		m, err := metadata.DecodeMap(stored)
		if err != nil {
			return nil, err
		}
		if m == nil {
			m = map[string]any{}
		}
		for k, v := range edit {
			*keys = append(*keys, k)
			if v == nil {
				delete(m, k)
			} else {
				m[k] = v
			}
		}
		slices.Sort(*keys)
		return m, nil
	}
	if res.Metadata, err = merge(src.Metadata, r.Metadata, &res.MetadataKeys); err != nil {
		return nil, 0, fault.Wrap(op, fault.Source, r.ID, err)
	}
	if res.Additional, err = merge(src.Additional, r.Additional, &res.AdditionalKeys); err != nil {
		return nil, 0, fault.Wrap(op, fault.Source, r.ID, err)
	}
	// The limits of one call do not apply to a map that has grown by many edits; maxMergedBytes does.
	_, mb, err := metadata.EncodeMap(op, "Metadata", nil, res.Metadata, maxMergedBytes)
	if err != nil {
		return nil, 0, err
	}
	_, ab, err := metadata.EncodeMap(op, "Additional", nil, res.Additional, maxMergedBytes)
	if err != nil {
		return nil, 0, err
	}
	var changed []byte // the new record; nil: it is unchanged
	if r.ACL != nil && !slices.Equal(*r.ACL, doc.ACL) {
		doc.ACL = slices.Clone(*r.ACL)
		if changed, err = doc.Encode(); err != nil {
			return nil, 0, fault.Wrap(op, fault.Source, r.ID, err)
		}
	}
	session, err := sessionAfter(src, res.Metadata, res.Additional)
	if err != nil {
		return nil, 0, fault.Wrap(op, fault.Source, r.ID, err)
	}
	dense, sparse := metadata.Embedded(schema, res.Metadata)
	if session != src.Session || !slices.Equal(dense, doc.Dense) || !slices.Equal(sparse, doc.Sparse) {
		doc.Dense, doc.Sparse, src.Session = dense, sparse, session
		num, err := e.acceptEdited(ctx, op, ref, src, doc, res, mb, ab)
		return res, num, err
	}
	res.Chunks, err = ref.Store.UpdateMetadata(ctx, src.Part, src.ID, src.Version(), mb, ab, changed, metadata.Tags(*src, doc, res.Metadata, res.Additional), time.Now().UTC())
	if err != nil {
		return nil, 0, workspace.SourceError(op, res.Class, src.ID, err)
	}
	res.Updated = true
	return res, 0, nil
}

// acceptEdited stores metadata with changed embedding fields or another session as a new version with the same
// content. Searches find the old version until the new one is indexed. If src is no longer the
// newest version, acceptEdited returns [backend.ErrConflict].
func (e *Engine) acceptEdited(ctx context.Context, op string, ref *workspace.Ref, src *backend.Source, doc *item.Doc, res *content.EditMetadataResult, mb, ab []byte) (num int64, _ error) {
	b, err := doc.Encode()
	if err != nil {
		return 0, fault.Wrap(op, fault.Source, src.ID, err)
	}
	inc := backend.Incoming{Source: *src, Expect: src.Version()}
	inc.Metadata, inc.Additional, inc.Doc, inc.UpdatedAt = mb, ab, b, time.Now().UTC()
	inc.Tags = metadata.Tags(*src, doc, res.Metadata, res.Additional)
	if inc.Blobs, err = storedBlobs(ctx, ref.Store, src, backend.Original, backend.Supplied, backend.Past); err != nil {
		return 0, workspace.SourceError(op, res.Class, src.ID, err)
	}
	var acc []backend.Accepted
	err = e.Schedule.Admit(ctx, ref.UID, func() (err error) {
		acc, err = ref.Store.Accept(ctx, []backend.Incoming{inc})
		return err
	})
	if err != nil {
		return 0, fault.Wrap(op, fault.Source, src.ID, err)
	}
	if acc[0].Conflict {
		return 0, fault.Wrap(op, fault.Source, src.ID, backend.ErrConflict)
	}
	return acc[0].Num, nil
}

// reembedded waits until an edited version is indexed, or a later call has replaced or deleted it.
func (e *Engine) reembedded(ctx context.Context, op string, ref *workspace.Ref, res *content.EditMetadataResult, num int64) (*content.EditMetadataResult, error) {
	for {
		changed := ref.Changes()
		vs, err := ref.Store.SourcesByNum(ctx, []int64{num})
		if err != nil {
			return nil, fault.Wrap(op, fault.Source, res.ID, err)
		}
		if vs[0] == nil {
			res.Updated = true
			return res, nil
		}
		if vs[0].State == backend.Errored {
			return nil, &fault.Error{Op: op, Kind: fault.KindInternal, Resource: fault.Source, ID: fault.ShortID(res.ID), Err: errors.New("embedding the changed metadata failed; the same call may be repeated")}
		}
		if vs[0].State == backend.Completed {
			chunks, err := ref.Store.SourceChunks(ctx, num, 0, 1<<30, false)
			res.Updated, res.Reembedded, res.Chunks = true, true, len(chunks)
			return res, fault.Wrap(op, fault.Source, res.ID, err)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-e.Life.Done():
			return nil, &fault.Error{Op: op, Kind: fault.KindClosed, Err: fault.ErrClosed}
		}
	}
}

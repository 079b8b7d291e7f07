package contextmem

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/item"
)

func (s *Service) editMetadata(ctx context.Context, sub Sub, r EditRequest) (*EditResult, error) {
	const op = "edit metadata"
	if r.Metadata == nil && r.Additional == nil {
		return nil, fieldError(op, KindInvalid, "", "metadata", "metadata or additional_metadata is required")
	}
	h, name, err := sub.enter(ctx, op)
	if err != nil {
		return nil, err
	}
	defer h.release()
	schema := h.rec.data.Schema
	for k, v := range r.Metadata {
		if f := findField(schema, k); f != nil && v == nil && (f.Dense || f.Sparse) {
			return nil, fieldError(op, KindInvalid, ResourceSchema, "metadata."+k, "an embedding field can't be set to null")
		}
		if slices.Contains(reservedNames, strings.ToLower(k)) {
			return nil, fieldError(op, KindInvalid, ResourceSchema, "metadata."+k, "is a reserved name")
		}
	}
	in := &intake{op: op, held: h, sub: sub}
	if _, _, err := in.encodeMap("metadata", nil, r.Metadata, maxMetadataBytes); err != nil {
		return nil, err
	}
	if _, _, err := in.encodeMap("additional_metadata", nil, r.Additional, s.opts.MaxAdditionalBytes); err != nil {
		return nil, err
	}
	if err := checkMetadata(op, "metadata", schema, r.Metadata, true); err != nil {
		return nil, err
	}
	if dense, _ := embeddedFields(schema, r.Metadata); len(dense) > 0 {
		if err := s.canEmbed(ctx, op, r.ID, dense); err != nil {
			return nil, err
		}
	}
	res, num, err := s.mergeMetadata(ctx, op, h, name, r)
	if err != nil {
		return nil, err
	}
	if num != 0 {
		return s.reembedded(ctx, op, h, res, num)
	}
	return res, wrap(op, ResourceSource, res.ID, h.follower.Sync(ctx))
}

// canEmbed tries the embedder on new values, so that an edit that it can't follow changes nothing.
func (s *Service) canEmbed(ctx context.Context, op, id string, texts []string) (err error) {
	failed := &Error{Op: op, Kind: KindUnavailable, Resource: ResourceSource, ID: shortID(id), Err: errors.New("the changed metadata could not be embedded; nothing was changed")}
	defer func() {
		if recover() != nil {
			err = failed
		}
	}()
	vecs, err := s.embedder.EmbedDocuments(ctx, texts)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil || len(vecs) != len(texts) {
		return failed
	}
	return nil
}

// mergeMetadata stores a checked edit. num is the new version that has to be indexed
// first when the value of an embedding field changed, else 0.
func (s *Service) mergeMetadata(ctx context.Context, op string, h *held, name string, r EditRequest) (_ *EditResult, num int64, _ error) {
	h.edits.Lock() // read, merge and write must not interleave with another edit
	defer h.edits.Unlock()
	in, schema := &intake{op: op, held: h}, h.rec.data.Schema
	src, err := s.find(ctx, op, h, name, r.Class, r.ID, nil)
	if err != nil {
		return nil, 0, err
	}
	doc, err := item.Decode(src.Doc)
	if err != nil {
		return nil, 0, wrap(op, ResourceSource, r.ID, err)
	}
	res := &EditResult{ID: src.ID, Class: Class(src.Part.Class)}
	merge := func(stored []byte, edit map[string]any, keys *[]string) (map[string]any, error) {
		m, err := decodeMap(stored)
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
		return nil, 0, wrap(op, ResourceSource, r.ID, err)
	}
	if res.Additional, err = merge(src.Additional, r.Additional, &res.AdditionalKeys); err != nil {
		return nil, 0, wrap(op, ResourceSource, r.ID, err)
	}
	// The caps hold for what is sent; many edits may grow a map beyond them, within a bound.
	_, mb, err := in.encodeMap("metadata", nil, res.Metadata, maxMergedBytes)
	if err != nil {
		return nil, 0, err
	}
	_, ab, err := in.encodeMap("additional_metadata", nil, res.Additional, maxMergedBytes)
	if err != nil {
		return nil, 0, err
	}
	dense, sparse := embeddedFields(schema, res.Metadata)
	if !slices.Equal(dense, doc.Dense) || !slices.Equal(sparse, doc.Sparse) {
		doc.Dense, doc.Sparse = dense, sparse
		num, err := s.acceptEdited(ctx, op, h, src, doc, res, mb, ab)
		return res, num, err
	}
	res.Chunks, err = h.store.UpdateMetadata(ctx, src.Part, src.ID, mb, ab, sourceTags(*src, doc, res.Metadata, res.Additional), time.Now().UTC())
	if err != nil {
		return nil, 0, sourceError(op, res.Class, src.ID, err)
	}
	res.Updated = true
	return res, 0, nil
}

// acceptEdited stores metadata whose embedding fields changed: as a new version with the
// same content. Until it is indexed the old version is found.
func (s *Service) acceptEdited(ctx context.Context, op string, h *held, src *backend.Source, doc *item.Doc, res *EditResult, mb, ab []byte) (num int64, _ error) {
	b, err := doc.Encode()
	if err != nil {
		return 0, wrap(op, ResourceSource, src.ID, err)
	}
	inc := backend.Incoming{Source: *src}
	inc.Metadata, inc.Additional, inc.Doc, inc.UpdatedAt = mb, ab, b, time.Now().UTC()
	inc.Tags = sourceTags(*src, doc, res.Metadata, res.Additional)
	for _, kind := range []backend.ContentKind{backend.Original, backend.Supplied} {
		data, err := h.store.Content(ctx, src.Num, kind)
		if errors.Is(err, backend.ErrNotFound) && kind != backend.Original {
			continue
		}
		if err != nil {
			return 0, sourceError(op, res.Class, src.ID, err)
		}
		inc.Blobs = append(inc.Blobs, backend.Blob{Kind: kind, Data: data})
	}
	var acc []backend.Accepted
	err = s.sched.admit(ctx, h.uid, func() (err error) {
		acc, err = h.store.Accept(ctx, []backend.Incoming{inc})
		return err
	})
	if err != nil {
		return 0, wrap(op, ResourceSource, src.ID, err)
	}
	return acc[0].Num, nil
}

// reembedded waits until an edited version is indexed.
func (s *Service) reembedded(ctx context.Context, op string, h *held, res *EditResult, num int64) (*EditResult, error) {
	for {
		changed := h.changes()
		vs, err := h.store.SourcesByNum(ctx, []int64{num})
		if err != nil {
			return nil, wrap(op, ResourceSource, res.ID, err)
		}
		if vs[0] == nil || vs[0].State == backend.Errored {
			return nil, &Error{Op: op, Kind: KindInternal, Resource: ResourceSource, ID: shortID(res.ID), Err: errors.New("embedding the changed metadata failed; the same call may be repeated")}
		}
		if vs[0].State == backend.Completed {
			chunks, err := h.store.SourceChunks(ctx, num, 0, 1<<30, false)
			res.Updated, res.Reembedded, res.Chunks = true, true, len(chunks)
			return res, wrap(op, ResourceSource, res.ID, err)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-s.life.Done():
			return nil, &Error{Op: op, Kind: KindClosed, Err: ErrClosed}
		}
	}
}

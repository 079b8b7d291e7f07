package transfer

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/feedback"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/workspace"
)

const (
	exportPage  = 64   // items read at once, without their content
	mergePage   = 500  // merges read at once
	vectorsPage = 1024 // vectors read at once
)

// writer writes the lines of an export.
type writer struct {
	out  *bufio.Writer
	hash hash.Hash
	enc  *json.Encoder
	ref  *workspace.Ref
	end  end
}

// Export writes the data that callers stored in a tenant as lines of JSON. It holds one item in memory at a time.
func (e *Engine) Export(ctx context.Context, op string, ref *workspace.Ref, to io.Writer) error {
	walker, ok := ref.Store.(backend.Walker)
	if !ok {
		return &fault.Error{Op: op, Kind: fault.KindUnavailable, Resource: fault.Tenant, ID: ref.Record.ID, Err: errors.New("the storage cannot list its items in order")}
	}
	w := &writer{hash: sha256.New(), ref: ref}
	w.out = bufio.NewWriterSize(to, 64<<10)
	w.enc = json.NewEncoder(io.MultiWriter(w.out, w.hash))
	w.enc.SetEscapeHTML(false)
	err := w.all(ctx, walker)
	if err == nil {
		err = w.out.Flush()
	}
	return fault.Wrap(op, fault.Tenant, ref.Record.ID, err)
}

func (w *writer) all(ctx context.Context, walker backend.Walker) error {
	subs, err := w.ref.Store.Subs(ctx)
	if err != nil {
		return err
	}
	d := &w.ref.Record.Data
	h := &header{Format: FormatVersion, Tenant: w.ref.Record.ID, Exported: time.Now().UTC(), Embeddings: d.Embeddings, Dimension: d.Dimension, Schema: d.Schema, Instructions: d.Instructions}
	for _, s := range subs {
		h.Counts.Knowledge += s.Knowledge
		h.Counts.Memory += s.Memory
		h.Counts.Raw += s.Raw
	}
	if err := w.enc.Encode(line{Header: h}); err != nil {
		return err
	}
	if err := w.items(ctx, walker); err != nil {
		return err
	}
	for _, s := range subs {
		for _, class := range [...]backend.Class{backend.Knowledge, backend.Memory} {
			if err := w.merges(ctx, backend.Partition{Class: class, Sub: s.Sub}); err != nil {
				return err
			}
		}
	}
	opinions, err := feedback.Opinions(ctx, w.ref.Store)
	if err != nil {
		return err
	}
	for i := range opinions {
		o := &opinions[i]
		for j, sub := range o.Subs {
			o.Subs[j] = w.sub(sub)
		}
		if err := w.enc.Encode(line{Boost: o}); err != nil {
			return err
		}
		w.end.Boosts++
	}
	w.end.SHA256 = hex.EncodeToString(w.hash.Sum(nil))
	return w.enc.Encode(line{End: &w.end})
}

// sub returns the name of a sub-tenant in the file. The default sub-tenant has an empty name, so that a tenant can be imported
// under another id.
func (w *writer) sub(name string) string {
	if name == w.ref.Record.ID {
		return ""
	}
	return name
}

func (w *writer) items(ctx context.Context, walker backend.Walker) error {
	for after := int64(0); ; {
		page, err := walker.Walk(ctx, after, exportPage)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, src := range page {
			after = src.Num
			if item.Expired(src, time.Now()) {
				continue
			}
			it, err := w.item(ctx, src)
			if errors.Is(err, backend.ErrNotFound) {
				continue // deleted or replaced during the export: a newer version comes later
			}
			if err != nil {
				return err
			}
			if err := w.enc.Encode(line{Item: it}); err != nil {
				return err
			}
			w.end.Items++
		}
	}
}

// item reads an item with its content. It returns backend.ErrNotFound if the version is gone.
func (w *writer) item(ctx context.Context, src *backend.Source) (*itemLine, error) {
	it := &itemLine{Class: classNames[src.Part.Class], Sub: w.sub(src.Part.Sub), ID: src.ID, State: stateNames[src.State], ErrorCode: src.ErrorCode,
		Error: src.ErrorMessage, Title: src.Title, Kind: src.Kind, Filename: src.Filename, MediaType: src.MediaType, Size: src.SizeBytes, Infer: src.Infer,
		CreatedAt: src.CreatedAt, UpdatedAt: src.UpdatedAt, Time: src.Time, ExpiresAt: src.ExpiresAt, Session: src.Session, Metadata: src.Metadata,
		Additional: src.Additional, Doc: src.Doc}
	for _, t := range src.Tags {
		it.Tags = binary.LittleEndian.AppendUint64(it.Tags, t)
	}
	if src.Part.Class == backend.Raw {
		return it, w.vectors(ctx, src, it)
	}
	for _, b := range [...]struct {
		kind backend.ContentKind
		to   **blob
	}{{backend.Original, &it.Original}, {backend.Supplied, &it.Supplied}} {
		data, err := w.ref.Store.Content(ctx, src.Num, b.kind)
		if errors.Is(err, backend.ErrNotFound) && b.kind == backend.Supplied {
			continue
		}
		if err != nil {
			return nil, err
		}
		*b.to = newBlob(data)
	}
	past, err := w.ref.Store.Content(ctx, src.Num, backend.Past)
	if err == nil {
		it.Past = past
	} else if !errors.Is(err, backend.ErrNotFound) {
		return nil, err
	}
	return it, nil
}

// vectors reads the vectors of an item of an embeddings tenant.
func (w *writer) vectors(ctx context.Context, src *backend.Source, it *itemLine) error {
	for from := 0; ; from += vectorsPage {
		chunks, err := w.ref.Store.SourceChunks(ctx, src.Num, from, from+vectorsPage, true)
		if err != nil {
			return err
		}
		for i := range chunks {
			c := &chunks[i]
			v := vectorLine{Chunk: c.Key, Vector: make([]byte, 0, 4*len(c.Vector))}
			for _, x := range c.Vector {
				v.Vector = binary.LittleEndian.AppendUint32(v.Vector, math.Float32bits(x))
			}
			it.Vectors = append(it.Vectors, v)
		}
		if len(chunks) > 0 {
			continue
		}
		if from == 0 {
			return backend.ErrNotFound
		}
		return nil
	}
}

// merges writes the merges that callers made and undid. Merges that follow from the items are made again by an import. Of
// these, only those are written that a caller undid and that were not made again.
func (w *writer) merges(ctx context.Context, part backend.Partition) error {
	apart := map[[2]string]backend.Merge{}
	for after := int64(0); ; {
		page, err := w.ref.Store.Merges(ctx, part, after, mergePage)
		if err != nil {
			return err
		}
		for i := range page {
			m := &page[i]
			after = m.Num
			if pair := [2]string{m.From, m.Into}; m.Stated && m.Undone {
				apart[pair] = *m
			} else if m.Stated {
				delete(apart, pair)
			} else if err := w.merge(m); err != nil {
				return err
			}
		}
		if len(page) < mergePage {
			break
		}
	}
	for _, m := range slices.SortedFunc(maps.Values(apart), func(a, b backend.Merge) int { return cmp.Compare(a.Num, b.Num) }) {
		if err := w.merge(&m); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) merge(m *backend.Merge) error {
	w.end.Merges++
	from, into := m.From, m.Into
	if !m.Stated { // what these stood for then comes again by itself
		from, into = m.AskedFrom, m.AskedInto
	}
	return w.enc.Encode(line{Merge: &mergeLine{Class: classNames[m.Part.Class], Sub: w.sub(m.Part.Sub), From: from, Into: into, Reason: m.Reason,
		At: m.At, Undone: m.Undone, Stated: m.Stated}})
}

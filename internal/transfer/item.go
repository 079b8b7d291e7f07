package transfer

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/intake"
	"github.com/contextmem/contextmem/internal/item"
)

const (
	maxShortText = 1 << 16 // bytes of a title, name or reason
	maxVectors   = 1 << 20 // per item
)

// item validates an item and adds it to the next commit.
func (f *filler) item(ctx context.Context, it *itemLine) error {
	src, err := f.source(it)
	if err != nil {
		return err
	}
	if item.Expired(src, f.ref.Record.CreatedAt) {
		return nil
	}
	if !src.ExpiresAt.IsZero() && (f.expiry.IsZero() || src.ExpiresAt.Before(f.expiry)) {
		f.expiry = src.ExpiresAt
	}
	in := backend.Incoming{Source: *src}
	if src.Part.Class == backend.Raw {
		chunks, err := f.vectors(it)
		if err != nil {
			return err
		}
		// the ids in one call of Place must differ
		if slices.ContainsFunc(f.placed, func(p backend.Placed) bool { return p.Part == src.Part && p.ID == src.ID }) {
			return f.r.bad("has an id that stands in the file before")
		}
		f.placed = append(f.placed, backend.Placed{Incoming: in, Chunks: chunks})
		for i := range chunks {
			f.bytes += 4*len(chunks[i].Vector) + len(chunks[i].Key)
		}
	} else {
		if it.Original == nil {
			return f.r.bad("has no original content")
		}
		in.Blobs = append(in.Blobs, backend.Blob{Kind: backend.Original, Data: it.Original.data()})
		if it.Supplied != nil {
			in.Blobs = append(in.Blobs, backend.Blob{Kind: backend.Supplied, Data: it.Supplied.data()})
		}
		if it.Past != nil {
			p, err := item.DecodePast(it.Past)
			if err != nil {
				return f.r.bad("has versions that can't be read")
			}
			b, err := p.Encode(f.Versions, f.ref.Record.CreatedAt)
			if err != nil {
				return err
			}
			if b != nil {
				in.Blobs = append(in.Blobs, backend.Blob{Kind: backend.Past, Data: b})
			}
		}
		for _, b := range in.Blobs {
			f.bytes += len(b.Data)
		}
		f.items = append(f.items, in)
	}
	f.bytes += len(it.Metadata) + len(it.Additional) + len(it.Doc) + len(it.Tags)
	if len(f.items)+len(f.placed) < batchItems && f.bytes < batchBytes {
		return nil
	}
	return f.store(ctx)
}

// source converts an item to the columns of a source.
func (f *filler) source(it *itemLine) (*backend.Source, error) {
	part, err := f.part(it.Class, it.Sub)
	if err != nil {
		return nil, err
	}
	if it.ID == "" {
		return nil, f.r.bad("has no id")
	}
	for _, s := range [...]struct {
		name, value string
		limit       int
	}{{"id", it.ID, intake.MaxSourceIDBytes}, {"title", it.Title, maxShortText}, {"kind", it.Kind, maxShortText}, {"filename", it.Filename, maxShortText},
		{"media_type", it.MediaType, maxShortText}, {"session", it.Session, maxShortText}} {
		if fault.CheckText(f.op, s.name, s.value, s.limit) != nil {
			return nil, f.r.bad("has a %s that is too long or holds a character that is not allowed", s.name)
		}
	}
	if fault.CheckTime(f.op, "time", it.Time) != nil || it.CreatedAt.IsZero() || it.UpdatedAt.IsZero() || it.Size < 0 {
		return nil, f.r.bad("lacks created_at or updated_at, or has a time or a size out of range")
	}
	src := &backend.Source{Part: part, ID: it.ID, Title: it.Title, Kind: it.Kind, Filename: it.Filename, MediaType: it.MediaType, SizeBytes: it.Size,
		Infer: it.Infer, CreatedAt: it.CreatedAt.UTC(), UpdatedAt: it.UpdatedAt.UTC(), Time: it.Time.UTC(), ExpiresAt: it.ExpiresAt.UTC(), Session: it.Session}
	for _, m := range [...]struct {
		name string
		from json.RawMessage
		to   *[]byte
	}{{"metadata", it.Metadata, &src.Metadata}, {"additional", it.Additional, &src.Additional}, {"doc", it.Doc, &src.Doc}} {
		if m.from == nil {
			continue
		}
		var b bytes.Buffer
		if m.from[0] != '{' || json.Compact(&b, m.from) != nil {
			return nil, f.r.bad("has %s that is no object", m.name)
		}
		*m.to = b.Bytes()
	}
	doc, err := item.Decode(src.Doc)
	if err != nil {
		return nil, f.r.bad("has a doc that can't be read")
	}
	if len(it.Tags)%8 != 0 {
		return nil, f.r.bad("has tags of a wrong length")
	}
	for b := it.Tags; len(b) > 0; b = b[8:] {
		src.Tags = append(src.Tags, binary.LittleEndian.Uint64(b))
	}
	if !tagsFit(src, doc) {
		return nil, f.r.bad("has tags that do not say what its id and its access list say")
	}
	return src, nil
}

// tagsFit reports whether the tags grant access to exactly the principals of the source's access list.
func tagsFit(src *backend.Source, doc *item.Doc) bool {
	if !slices.Contains(src.Tags, item.IDTag(src.ID)) || slices.Contains(src.Tags, backend.Everybody) != (len(doc.ACL) == 0) {
		return false
	}
	for _, p := range doc.ACL {
		if !slices.Contains(src.Tags, item.Tag(item.LayerACL, "", p)) {
			return false
		}
	}
	return true
}

// part returns the partition that a line names.
func (f *filler) part(class, sub string) (p backend.Partition, err error) {
	p.Class = classOf(class)
	if p.Class == 0 || (p.Class == backend.Raw) != f.ref.Record.Data.Embeddings {
		return p, f.r.bad("has a class that a tenant of this kind can't hold")
	}
	if fault.CheckText(f.op, "sub", sub, intake.MaxSubTenantBytes) != nil {
		return p, f.r.bad("has a name of a sub-tenant that is too long or holds a character that is not allowed")
	}
	p.Sub, err = f.sub(sub)
	return p, err
}

// vectors returns the chunks of an item of an embeddings tenant.
func (f *filler) vectors(it *itemLine) ([]backend.Chunk, error) {
	if len(it.Vectors) == 0 || len(it.Vectors) > maxVectors {
		return nil, f.r.bad("has %d vectors, want 1 to %d", len(it.Vectors), maxVectors)
	}
	dim := f.ref.Record.Data.Dimension
	out := make([]backend.Chunk, len(it.Vectors))
	for i, v := range it.Vectors {
		if v.Chunk == "" || fault.CheckText(f.op, "chunk", v.Chunk, intake.MaxSourceIDBytes) != nil {
			return nil, f.r.bad("has a vector without a usable chunk")
		}
		if len(v.Vector) != 4*dim {
			return nil, f.r.bad("has a vector of %d bytes, want %d", len(v.Vector), 4*dim)
		}
		vec := make([]float32, dim)
		for j := range vec {
			vec[j] = math.Float32frombits(binary.LittleEndian.Uint32(v.Vector[4*j:]))
			if x := float64(vec[j]); math.IsNaN(x) || math.IsInf(x, 0) {
				return nil, f.r.bad("has a vector with numbers that are not finite")
			}
		}
		out[i] = backend.Chunk{Ordinal: i, Key: v.Chunk, Vector: vec}
	}
	return out, nil
}

// merge validates a merge and keeps it until the items are processed.
func (f *filler) merge(m *mergeLine) error {
	part, err := f.part(m.Class, m.Sub)
	if err != nil {
		return err
	}
	for _, s := range [...]struct {
		value string
		limit int
	}{{m.From, extract.MaxKey}, {m.Into, extract.MaxKey}, {m.Reason, maxShortText}} {
		if fault.CheckText(f.op, "merge", s.value, s.limit) != nil {
			return f.r.bad("has a name or reason that is too long or holds a character that is not allowed")
		}
	}
	if m.From == "" || m.Into == "" {
		return f.r.bad("names no entity")
	}
	f.merges = append(f.merges, backend.Merge{Part: part, From: m.From, Into: m.Into, Reason: m.Reason, At: m.At.UTC(), Undone: m.Undone, Stated: m.Stated})
	return nil
}

package intake

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/metadata"
	"github.com/contextmem/contextmem/internal/parse/media"
	"github.com/contextmem/contextmem/internal/parse/text"
)

// maxFolderBytes bounds the folders of a file's name.
const maxFolderBytes = 4096

func (in *batch) knowledge(ctx context.Context, b Knowledge) error {
	n := len(b.Files) + len(b.Apps)
	if n == 0 {
		return in.bad(fault.KindInvalid, "Files", "needs at least one file or app item")
	}
	if lim := in.MaxItems; n > lim {
		return in.bad(fault.KindInvalid, "Files", "%d items are over the limit of %d", n, lim)
	}
	derived := map[string]int{}
	for i := range b.Files {
		if err := in.file(ctx, fmt.Sprintf("Files[%d].", i), &b.Files[i], b, derived); err != nil {
			return err
		}
	}
	// A call with only files of unsupported formats fails as a whole.
	if len(b.Apps) == 0 && len(in.items) == 0 {
		if e := in.beside[0].item.Err; e != nil {
			return e
		}
	}
	for i := range b.Apps {
		if err := in.app(fmt.Sprintf("Apps[%d].", i), &b.Apps[i], b); err != nil {
			return err
		}
	}
	if err := in.graphs(b.Graphs); err != nil {
		return err
	}
	if b.SkipUnchanged {
		return in.skipUnchanged(ctx)
	}
	return nil
}

// splitName splits the name of a file into its folders, joined by slashes, and its base name. Both may be empty.
func splitName(name string) (folder, base string) {
	name = strings.ReplaceAll(name, `\`, "/")
	if len(name) > 1 && name[1] == ':' { // a drive letter
		name = name[2:]
	}
	if strings.HasSuffix(name, "/") {
		return "", ""
	}
	folder, base = path.Split(path.Clean("/" + name))
	return strings.Trim(folder, "/"), strings.Trim(base, "/")
}

// unread fails a file whose format no parser reads, or skips it if skip is set.
func (in *batch) unread(field string, f *content.File, name string, skip bool, why error) {
	it := Item{ID: f.ID, Filename: name, Title: f.Title}
	if skip {
		it.Skipped = SkipUnsupported
		in.beside = append(in.beside, besideItem{in.place(), it})
		return
	}
	in.fail(it, &fault.Error{Op: in.op, Kind: fault.KindFormat, Resource: fault.File, ID: fault.ShortID(name), Field: strings.TrimSuffix(field, "."), Err: why})
}

func (in *batch) file(ctx context.Context, field string, f *content.File, b Knowledge, derived map[string]int) error {
	folder, name := splitName(f.Name)
	if err := fault.CheckText(in.op, field+"Name", name, 1024); err != nil {
		return err
	}
	if err := fault.CheckText(in.op, field+"Name", folder, maxFolderBytes); err != nil {
		return err
	}
	if why := in.Parsers.Refuse(name, f.ContentType); why != nil {
		in.unread(field, f, name, b.SkipUnsupported, fmt.Errorf("file %q has a format that is not supported: %s", fault.ShortID(name), why.Message()))
		return nil
	}
	data, err := in.read(ctx, field, f, name)
	if err != nil {
		return err
	}
	if len(data) == 0 {
		in.unread(field, f, name, b.SkipUnsupported, fmt.Errorf("file %q is empty: send it again", fault.ShortID(name)))
		return nil
	}
	id := f.ID
	if id == "" && name != "" {
		// The id depends on the name, so a later file with the same name replaces this one. Equal names in one call get different ids.
		full := path.Join(folder, name)
		derived[full]++
		h := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d", in.part.Sub, full, derived[full]))
		id = hex.EncodeToString(h[:16])
	}
	if id, err = in.id(field+"ID", id); err != nil {
		return err
	}
	title := f.Title
	if title == "" {
		title = name
	}
	inc := backend.Incoming{Source: backend.Source{ID: id, Title: title, Kind: f.Kind, Filename: name, MediaType: f.ContentType, SizeBytes: int64(len(data)), Time: f.Time.UTC()},
		Blobs: []backend.Blob{{Kind: backend.Original, Data: data}}}
	if f.Time.IsZero() {
		inc.Time = time.Time{}
	}
	if inc.Kind == "" {
		inc.Kind = "file"
	}
	doc := &item.Doc{URL: f.URL, Description: f.Description, NamedTitle: f.Title != "", ACL: f.ACL, Folder: folder}
	if !f.Time.IsZero() {
		doc.Zone = zoneOf(f.Time)
		doc.Timestamp = f.Time.UTC().Format(time.RFC3339)
	}
	if err := in.relate(field, f.ForcefulRelations, doc); err != nil {
		return err
	}
	if err := in.common(field, &inc, doc, b.Metadata, f.Metadata, in.fronted(name, f.ContentType, data, b.Additional, f.Additional), f.Additional); err != nil {
		return err
	}
	if err := sign(&inc, doc, data); err != nil {
		return fault.Wrap(in.op, fault.File, name, err)
	}
	in.add(inc, Item{ID: id, Filename: name, Title: title}, f.ForcefulRelations)
	return nil
}

// fronted adds the front matter of a Markdown file to the metadata, up to the limits. Metadata of the call takes
// precedence.
func (in *batch) fronted(name, contentType string, data []byte, base, own map[string]any) map[string]any {
	if t, _ := media.Of(contentType); t != media.Markdown && !slices.Contains(strings.Fields(media.Extensions[media.Markdown]), media.Ext(name)) {
		return base
	}
	out := base
	front := text.FrontMatter(data)
	for _, k := range slices.Sorted(maps.Keys(front)) {
		if _, ok := base[k]; ok {
			continue
		}
		with := map[string]any{k: front[k]}
		maps.Copy(with, out)
		if _, _, err := metadata.EncodeMap(in.op, "", with, own, in.MaxAdditionalBytes); err == nil {
			out = with
		}
	}
	return out
}

// readUpTo reads at most limit bytes. If r has a known size, it allocates the right size at once.
func readUpTo(r io.Reader, limit int64) ([]byte, error) {
	size := int64(0)
	switch s := r.(type) {
	case interface{ Size() int64 }:
		size = s.Size()
	case *os.File:
		if st, err := s.Stat(); err == nil {
			size = st.Size()
		}
	}
	if size <= 0 {
		return io.ReadAll(io.LimitReader(r, limit))
	}
	var b bytes.Buffer
	b.Grow(int(min(size, limit)) + bytes.MinRead) // room to read the end without growing
	_, err := b.ReadFrom(io.LimitReader(r, limit))
	return b.Bytes(), err
}

func (in *batch) read(ctx context.Context, field string, f *content.File, name string) ([]byte, error) {
	limit := in.MaxFileBytes
	tooLarge := func() error {
		return &fault.Error{Op: in.op, Kind: fault.KindTooLarge, Resource: fault.File, ID: fault.ShortID(name), Field: strings.TrimSuffix(field, "."),
			Err: fmt.Errorf("file %q is over the limit of %d bytes: split it into smaller files", fault.ShortID(name), limit)}
	}
	data := f.Data
	if data == nil && f.Open != nil {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r, err := f.Open()
		if err != nil {
			return nil, fault.Wrap(in.op, fault.File, name, fmt.Errorf("open the file: %w", err))
		}
		data, err = readUpTo(r, limit+1)
		if err = errors.Join(err, r.Close()); err != nil {
			return nil, fault.Wrap(in.op, fault.File, name, fmt.Errorf("read the file: %w", err))
		}
	}
	if int64(len(data)) > limit {
		return nil, tooLarge()
	}
	return data, nil
}

// Package folder reads archives as folders. It writes the text of each file in turn under the path of the file.
package folder

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/archive"
	"github.com/contextmem/contextmem/internal/parse/chat"
	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/output"
)

// Reader reads files of any type. The parser registry implements it.
type Reader interface {
	document.Parser
	// Supported reports whether a parser may read a file of that name and type.
	Supported(name, contentType string) bool
}

// Parser reads the archives of one format. Files reads the files in them.
type Parser struct {
	Files Reader
	// Walk calls visit for each file of the archive, in its order.
	Walk func(ctx context.Context, in document.Input, lim document.Limits, visit Visit) error
}

// Visit handles one file of an archive with its path. data is valid only during the call.
type Visit func(name string, data []byte) error

// maxNested bounds archives inside archives.
const maxNested = 3

// nestedKey is the context key of the nesting depth of archives. The depth must survive a call of the registry.
type nestedKey struct{}

// Parse reads an archive. Its unpacked bytes and those of nested archives count against Limits.MaxExpanded.
func (p Parser) Parse(ctx context.Context, in document.Input, lim document.Limits) (*document.Document, error) {
	depth, _ := ctx.Value(nestedKey{}).(int)
	if depth >= maxNested {
		return nil, document.Errorf(document.LimitExceeded, "archives are nested deeper than %d levels", maxNested)
	}
	r := &reader{ctx: context.WithValue(ctx, nestedKey{}, depth+1), files: p.Files, lim: lim, left: lim.MaxExpanded, room: lim.MaxOutput}
	err := p.Walk(ctx, in, lim, r.visit)
	if err != nil && (output.IsDocumentError(err) || ctx.Err() != nil) {
		return nil, err
	}
	if err != nil && r.text.Len() == 0 {
		return nil, document.NewError(document.Malformed, "the archive is cut off or damaged", err)
	}
	if err != nil {
		r.doc.AddPartial("the archive is cut off or damaged")
	}
	if r.text.Len() == 0 {
		return nil, document.NewError(document.NoText, "the archive holds no file with text that can be read", nil)
	}
	if r.unread > 0 {
		r.doc.AddPartial(strconv.Itoa(r.unread) + " of " + strconv.Itoa(r.seen) + " files of the archive could not be read")
	}
	r.doc.Markdown = true
	r.doc.Text = strings.TrimRight(r.text.String(), "\n ")
	return &r.doc, nil
}

// reader concatenates the texts of the files of an archive.
type reader struct {
	ctx          context.Context
	files        Reader
	lim          document.Limits
	left, room   int64 // remaining bytes that may be unpacked (left) and written (room)
	seen, unread int
	text         strings.Builder
	doc          document.Document
	users        map[string]string // user names of a Slack export
}

// visit adds a file.
func (r *reader) visit(name string, data []byte) error {
	if r.ctx.Err() != nil {
		return r.ctx.Err()
	}
	if r.left -= int64(len(data)); r.left < 0 {
		return document.Errorf(document.LimitExceeded, "the archive unpacks to more than the limit of %d bytes", r.lim.MaxExpanded)
	}
	name = strings.TrimPrefix(path.Clean("/"+strings.ReplaceAll(clean.OneLine(name), `\`, "/")), "/")
	base := path.Base(name)
	if len(data) == 0 || strings.HasPrefix(base, ".") || strings.HasPrefix(name, "__MACOSX/") {
		return nil
	}
	if r.seen++; r.seen > r.lim.MaxEntries {
		return document.Errorf(document.LimitExceeded, "the archive holds more than the limit of %d files", r.lim.MaxEntries)
	}
	if base == "users.json" {
		if users := chat.SlackUsers(data); len(users) > 0 { // users.json precedes the channels
			r.users = users
			return nil
		}
	}
	if !r.files.Supported(base, "") {
		r.unread++
		return nil
	}
	if r.room <= 0 {
		r.doc.AddPartial(output.LimitReason(r.lim.MaxOutput))
		return nil
	}
	lim := r.lim
	lim.MaxExpanded, lim.MaxOutput, lim.MaxInput, lim.Timeout = max(r.left, 1), r.room, r.lim.MaxExpanded, -1 // the timeout of the archive applies
	doc, err := r.files.Parse(chat.WithUsers(r.ctx, r.users), document.Input{Name: base, Data: data}, lim)
	var e *document.Error
	switch {
	case err == nil:
	case r.ctx.Err() != nil:
		return r.ctx.Err()
	case errors.As(err, &e) && e.Kind == document.LimitExceeded:
		return err
	default:
		r.unread++
		return nil
	}
	r.add(name, doc)
	return nil
}

// add writes the text of a file under its path.
func (r *reader) add(name string, doc *document.Document) {
	from := r.text.Len()
	if from > 0 {
		r.text.WriteString("\n\n")
	}
	start := r.text.Len()
	r.text.WriteString("# " + name + "\n\n")
	fenced := false
	for line := range strings.Lines(doc.Text) {
		if doc.Markdown && strings.HasPrefix(strings.TrimLeft(line, " "), "```") {
			fenced = !fenced
		}
		switch {
		case !strings.HasPrefix(line, "#") || fenced:
		case doc.Markdown: // its headings go below that of the path
			r.text.WriteByte('#')
		default:
			r.text.WriteByte('\\')
		}
		r.text.WriteString(line)
	}
	r.doc.Pages = append(r.doc.Pages, document.Page{Number: len(r.doc.Pages) + 1, Label: name, Start: start})
	if doc.Partial != "" {
		r.doc.AddPartial("a file of the archive is incomplete: " + doc.Partial)
	}
	r.room -= int64(r.text.Len() - from)
}

// WalkZip visits the files of a ZIP archive.
func WalkZip(ctx context.Context, in document.Input, lim document.Limits, visit Visit) error {
	z, err := archive.Open(ctx, in.Data, lim)
	if err != nil {
		return err
	}
	if z.Has("users.json") { // a Slack export: its user names are needed first
		if data, err := z.Read("users.json", lim.MaxExpanded); err == nil {
			if err := visit("users.json", data); err != nil {
				return err
			}
		}
	}
	for _, e := range z.Order {
		if strings.HasSuffix(e.Name, "/") || strings.EqualFold(e.Name, "users.json") {
			continue
		}
		data, err := z.Read(e.Name, lim.MaxExpanded)
		if output.IsDocumentError(err) {
			return err
		}
		if err := visit(e.Name, data); err != nil {
			return err
		}
	}
	if z.Damage != "" {
		return errors.New(z.Damage)
	}
	return nil
}

// tarBlock is the size of the blocks of an archive. Two blocks of zeros are its end mark.
const tarBlock = 512

// WalkTar visits the files of a tar archive.
func WalkTar(_ context.Context, in document.Input, lim document.Limits, visit Visit) error {
	t := tar.NewReader(bytes.NewReader(in.Data))
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			if !bytes.HasSuffix(in.Data, make([]byte, tarBlock)) {
				return errors.New("the archive has no end mark")
			}
			return nil
		}
		if err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		if h.Size > lim.MaxExpanded {
			return document.Errorf(document.LimitExceeded, "the archive unpacks to more than the limit of %d bytes", lim.MaxExpanded)
		}
		data, err := io.ReadAll(t)
		if err != nil {
			return err
		}
		if err := visit(h.Name, data); err != nil {
			return err
		}
	}
}

// GzipParser reads the content of a gzip file, which is one file or an archive.
type GzipParser struct{ Files Reader }

// freeBytes is the number of bytes that may be unpacked at any compression ratio, as in other containers.
const freeBytes = 4 << 20

// Parse implements document.Parser.
func (p GzipParser) Parse(ctx context.Context, in document.Input, lim document.Limits) (*document.Document, error) {
	depth, _ := ctx.Value(nestedKey{}).(int)
	if depth >= maxNested {
		return nil, document.Errorf(document.LimitExceeded, "archives are nested deeper than %d levels", maxNested)
	}
	z, err := gzip.NewReader(bytes.NewReader(in.Data))
	if err != nil {
		return nil, document.NewError(document.Malformed, "the file is no gzip file, or damaged", err)
	}
	most := min(lim.MaxExpanded, max(freeBytes, int64(len(in.Data))*int64(lim.MaxRatio)))
	data, err := io.ReadAll(io.LimitReader(z, most+1))
	if int64(len(data)) > most {
		return nil, document.Errorf(document.LimitExceeded, "the file unpacks to more than the limit of %d bytes", most)
	}
	if err != nil && len(data) == 0 {
		return nil, document.NewError(document.Malformed, "the file is damaged", err)
	}
	name := strings.TrimSuffix(strings.TrimSuffix(path.Base(in.Name), ".gz"), ".GZ")
	if s, ok := strings.CutSuffix(name, ".tgz"); ok {
		name = s + ".tar"
	}
	if z.Name != "" && name == path.Base(in.Name) {
		name = path.Base(clean.OneLine(z.Name))
	}
	lim.MaxExpanded, lim.MaxInput, lim.Timeout = max(lim.MaxExpanded-int64(len(data)), 1), most, -1
	doc, perr := p.Files.Parse(context.WithValue(ctx, nestedKey{}, depth+1), document.Input{Name: name, Data: data}, lim)
	if perr == nil && err != nil {
		doc.AddPartial("the file is cut off or damaged")
	}
	return doc, perr
}

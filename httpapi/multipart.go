package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/fault"
)

const (
	spoolAbove    = 1 << 20  // larger parts go to a temporary file
	spoolTotal    = 8 << 20  // once this many bytes of files are in memory, all further files go to disk
	maxFormFields = 64       // number of fields that are not files
	maxFormField  = 32 << 20 // total bytes of fields that are not files
	maxFormFiles  = 200
)

// filePart is an uploaded file, in memory or on disk.
type filePart struct {
	name, contentType string
	data              []byte
	spool             *spoolFile // nil: the part is in memory
	size              int64      // size of the spool file
	path              string     // path of the spool file on systems where an open file cannot be removed
}

func (f *filePart) remove() {
	if f.spool != nil {
		_ = f.spool.Close()
	}
	if f.path != "" {
		_ = os.Remove(f.path)
	}
}

// open reads the content.
func (f *filePart) open() (io.ReadCloser, error) {
	if f.spool == nil {
		return sizedReader{bytes.NewReader(f.data)}, nil
	}
	return sizedReader{io.NewSectionReader(f.spool, 0, f.size)}, nil
}

// sizedReader has a known size, so that its reader can allocate the right size at once. Close does nothing.
type sizedReader struct{ sized }

type sized interface {
	io.Reader
	Size() int64
}

func (sizedReader) Close() error { return nil }

// decodeForm reads a form in either encoding, URL-encoded or multipart.
func (c *call) decodeForm() error {
	mt, params, err := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	switch {
	case err == nil && mt == "application/x-www-form-urlencoded":
		return c.decodeURLEncoded()
	case err == nil && mt == "multipart/form-data" && params["boundary"] != "":
		return c.decodeMultipart(params["boundary"])
	case c.rt.family == gen1:
		return bad(fault.KindUnprocessed, "body", "must be multipart/form-data")
	}
	return &statusError{http.StatusUnsupportedMediaType, "UNSUPPORTED_MEDIA_TYPE", "the body must be multipart/form-data"}
}

// decodeURLEncoded reads a form without files.
func (c *call) decodeURLEncoded() error {
	b, over, err := c.readHeld(c.r.Body, maxFormField)
	if err != nil {
		return c.formError(err)
	}
	if over {
		return errBodyTooLarge(maxFormField)
	}
	if bytes.Count(b, []byte("&")) >= maxFormFields {
		return bad(fault.KindInvalid, "form", "has over %d fields", maxFormFields)
	}
	vs, err := url.ParseQuery(string(b))
	if err != nil {
		return bad(fault.KindInvalid, "body", "is a damaged form")
	}
	for name, list := range vs {
		for _, v := range list {
			if err := c.setField(name, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// decodeMultipart reads the form as a stream. Small parts stay in memory, and larger files go to disk. It reads nothing beyond the limits.
// A form without its final boundary is treated as truncated.
func (c *call) decodeMultipart(boundary string) error {
	body := &finalBoundary{r: c.r.Body, mark: []byte("\n--" + boundary + "--"), tail: []byte("\n")}
	r := multipart.NewReader(body, boundary)
	fields := 0
	for {
		p, err := r.NextRawPart()
		if errors.Is(err, io.EOF) && body.seen {
			return nil
		}
		if err != nil {
			return c.formError(err)
		}
		if p.FileName() == "" && p.Header.Get("Content-Type") == "" || !isFileField(p.FormName()) {
			if fields++; fields > maxFormFields {
				return bad(fault.KindInvalid, "form", "has over %d fields", maxFormFields)
			}
			if err := c.formField(p); err != nil {
				return err
			}
			continue
		}
		if len(c.in.files) == maxFormFiles {
			return bad(fault.KindInvalid, p.FormName(), "has over %d files", maxFormFiles)
		}
		if err := c.formFile(p); err != nil {
			return err
		}
	}
}

// finalBoundary reads a form and records whether the final boundary occurred.
type finalBoundary struct {
	r    io.Reader
	mark []byte
	tail []byte // last bytes read, fewer than the length of mark
	seen bool
}

// Read implements io.Reader.
func (f *finalBoundary) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if !f.seen && n > 0 {
		edge := append(f.tail, p[:min(n, len(f.mark)-1)]...)
		f.seen = bytes.Contains(edge, f.mark) || bytes.Contains(p[:n], f.mark)
		if n >= len(f.mark)-1 {
			edge = p[n-len(f.mark)+1 : n]
		}
		f.tail = append(f.tail[:0], edge[max(0, len(edge)-len(f.mark)+1):]...)
	}
	return n, err
}

func isFileField(name string) bool {
	switch name {
	case "files", "documents", "file", "document", "files[]", "documents[]":
		return true
	}
	return false
}

func (c *call) formError(err error) error {
	return c.bodyError(err, "is a damaged multipart form")
}

func (c *call) formField(p *multipart.Part) error {
	b, over, err := c.readHeld(p, maxFormField-c.in.fieldBytes)
	if err != nil {
		return c.formError(err)
	}
	if over {
		return errBodyTooLarge(maxFormField)
	}
	c.in.fieldBytes += len(b)
	return c.setField(p.FormName(), string(b))
}

// setField stores the text of a field.
func (c *call) setField(name, text string) error {
	if name == "" {
		return bad(fault.KindInvalid, "form", "has a part without a name")
	}
	if err := checkString(name, text); err != nil {
		return err
	}
	if old, ok := c.in.members.named(name); ok && old.text() != text {
		return bad(fault.KindInvalid, name, "stands twice with different values")
	}
	c.in.set(name, member{texts: []string{text}, form: true})
	return nil
}

func (c *call) formFile(p *multipart.Part) error {
	f := &filePart{name: fullName(p), contentType: p.Header.Get("Content-Type")}
	if err := checkString(p.FormName(), f.name); err != nil {
		return err
	}
	c.in.files = append(c.in.files, f)
	room := max(0, min(spoolAbove, spoolTotal-c.in.held))
	if !c.hold(room) {
		room = 0
	}
	head, err := io.ReadAll(io.LimitReader(p, int64(room)+1))
	if err != nil {
		return c.formError(err)
	}
	if len(head) <= room {
		f.data = head
		c.hold(len(head) - room)
		return nil
	}
	c.hold(-room)
	return c.spool(f, head, p)
}

// fullName returns the file name of a part including the client's folders, which multipart.Part.FileName removes.
func fullName(p *multipart.Part) string {
	_, params, err := mime.ParseMediaType(p.Header.Get("Content-Disposition"))
	if err != nil {
		return p.FileName()
	}
	return params["filename"]
}

// errSpool is returned if the disk has no space for uploads.
var errSpool = &contextmem.Error{Kind: fault.KindUnavailable, Err: errors.New("there is no room for the upload")}

// spool writes a file to disk: first head, which was already read, and then rest. It removes the file's name at once, so that a crash does
// not leave the file behind.
func (c *call) spool(f *filePart, head []byte, rest io.Reader) error {
	tmp, err := os.CreateTemp("", "contextmem-upload-*")
	if err != nil {
		c.api.o.Logger.Error("an upload can't be spooled", "request", c.id, "err", err)
		return errSpool
	}
	if os.Remove(tmp.Name()) != nil {
		f.path = tmp.Name()
	}
	if f.spool, err = newSpoolFile(tmp); err != nil {
		_ = tmp.Close()
		return err
	}
	limit := c.api.svc.MaxFileBytes()
	to := &spoolWriter{w: f.spool}
	f.size, err = io.Copy(to, io.MultiReader(bytes.NewReader(head), io.LimitReader(rest, limit-int64(len(head))+1)))
	switch {
	case to.err != nil:
		c.api.o.Logger.Error("an upload can't be spooled", "request", c.id, "err", to.err)
		return errSpool
	case err != nil:
		return c.formError(err)
	case f.size > limit:
		return &contextmem.Error{Kind: fault.KindTooLarge, Resource: fault.File, Err: fmt.Errorf("a file is over the limit of %d bytes", limit)}
	}
	return nil
}

// spoolWriter marks write errors, to distinguish them from read errors.
type spoolWriter struct {
	w   io.Writer
	err error
}

// Write implements io.Writer.
func (s *spoolWriter) Write(p []byte) (n int, err error) {
	n, err = s.w.Write(p)
	s.err = err
	return n, err
}

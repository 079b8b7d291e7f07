package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"os"

	"github.com/contextmem/contextmem"
)

const (
	spoolAbove    = 1 << 20  // larger parts go to a temporary file
	spoolTotal    = 8 << 20  // so do all that come after files of so many bytes in memory
	maxFormFields = 64       // beside files
	maxFormField  = 32 << 20 // bytes of all fields that are no files
	maxFormFiles  = 200
)

// filePart is an uploaded file, in memory or spooled.
type filePart struct {
	name, contentType string
	data              []byte
	spooled           string
}

func (f *filePart) remove() {
	if f.spooled != "" {
		_ = os.Remove(f.spooled)
	}
}

// open reads the content.
func (f *filePart) open() (io.ReadCloser, error) {
	if f.spooled == "" {
		return io.NopCloser(bytes.NewReader(f.data)), nil
	}
	return os.Open(f.spooled)
}

// decodeMultipart streams the form: small parts stay in memory, larger files go to
// disk, and nothing is read past the limits.
func (c *call) decodeMultipart() error {
	mt, params, err := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	if err != nil || mt != "multipart/form-data" || params["boundary"] == "" {
		if c.rt.family == gen1 {
			return bad(contextmem.KindUnprocessed, "body", "must be multipart/form-data")
		}
		return &statusError{http.StatusUnsupportedMediaType, "UNSUPPORTED_MEDIA_TYPE", "the body must be multipart/form-data"}
	}
	c.in.form = true
	r := multipart.NewReader(c.r.Body, params["boundary"])
	fields := 0
	for {
		p, err := r.NextRawPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return c.formError(err)
		}
		if p.FileName() == "" && p.Header.Get("Content-Type") == "" || !isFileField(p.FormName()) {
			if fields++; fields > maxFormFields {
				return bad(contextmem.KindInvalid, "form", "has over %d fields", maxFormFields)
			}
			if err := c.formField(p); err != nil {
				return err
			}
			continue
		}
		if len(c.in.files) == maxFormFiles {
			return bad(contextmem.KindInvalid, p.FormName(), "has over %d files", maxFormFiles)
		}
		if err := c.formFile(p); err != nil {
			return err
		}
	}
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
	name := p.FormName()
	b, over, err := c.readHeld(p, maxFormField-c.in.fieldBytes)
	if err != nil {
		return c.formError(err)
	}
	if over {
		return errBodyTooLarge(maxFormField)
	}
	c.in.fieldBytes += len(b)
	if name == "" {
		return bad(contextmem.KindInvalid, "form", "has a part without a name")
	}
	if err := checkString(name, string(b)); err != nil {
		return err
	}
	if old := c.in.fields.get(name); old != nil && old != any(string(b)) {
		return bad(contextmem.KindInvalid, name, "stands twice with different values")
	}
	c.in.fields.set(name, string(b))
	return nil
}

func (c *call) formFile(p *multipart.Part) error {
	f := &filePart{name: p.FileName(), contentType: p.Header.Get("Content-Type")}
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
	tmp, err := os.CreateTemp("", "contextmem-upload-*")
	if err != nil {
		return fmt.Errorf("spool an upload: %w", err)
	}
	f.spooled = tmp.Name()
	limit := c.api.svc.MaxFileBytes()
	n, err := io.Copy(tmp, io.MultiReader(bytes.NewReader(head), io.LimitReader(p, limit-int64(len(head))+1)))
	cerr := tmp.Close()
	if err != nil {
		return c.formError(err)
	}
	if cerr != nil {
		return fmt.Errorf("spool an upload: %w", cerr)
	}
	if n > limit {
		return &contextmem.Error{Kind: contextmem.KindTooLarge, Resource: contextmem.ResourceFile, Err: fmt.Errorf("a file is over the limit of %d bytes", limit)}
	}
	return nil
}

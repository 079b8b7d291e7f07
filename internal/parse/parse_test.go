package parse

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/media"
)

// mustParse parses with the bundled parsers and default limits.
func mustParse(t *testing.T, name, contentType string, data []byte) *document.Document {
	t.Helper()
	doc, err := New().Parse(t.Context(), document.Input{Name: name, ContentType: contentType, Data: data}, document.Limits{})
	require.NoError(t, err)
	return doc
}

// parseKind expects parsing to fail and returns the kind of the failure.
func parseKind(t *testing.T, in document.Input, lim document.Limits) document.Kind {
	t.Helper()
	doc, err := New().Parse(t.Context(), in, lim)
	require.Error(t, err, "document %+v", doc)
	var e *document.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, e.Kind.Code(), e.Code)
	return e.Kind
}

func TestRegistryRefusals(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		in   document.Input
		lim  document.Limits
		want document.Kind
	}{
		"empty":            {in: document.Input{Name: "a.txt"}, want: document.NoText},
		"only white space": {in: document.Input{Name: "a.txt", Data: []byte(" \n\t ")}, want: document.NoText},
		"image":            {in: document.Input{Name: "a.txt", Data: []byte("\x89PNG\r\n\x1a\n0000")}, want: document.Unsupported},
		"gzip":             {in: document.Input{Name: "a.csv", Data: []byte("\x1f\x8b\x08\x00\x00\x00\x00\x00")}, want: document.Malformed},
		"zip":              {in: document.Input{Data: []byte("PK\x03\x04 some archive")}, want: document.Malformed},
		"binary":           {in: document.Input{Name: "a.bin", Data: []byte("\x00\x01\x02\x03\x80\x90\xff\x00\x07\x06\x05")}, want: document.Unsupported},
		"binary as text":   {in: document.Input{Name: "a.txt", Data: []byte("\x00\x01\x02\x03\x80\x90\xff\x00\x07\x06\x05")}, want: document.Malformed},
		"cut old word":     {in: document.Input{Name: "a.doc", Data: []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1....")}, want: document.Malformed},
		"old drawing":      {in: document.Input{Name: "a.vsd", Data: []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1....")}, want: document.Unsupported},
		"too large":        {in: document.Input{Data: []byte("twelve bytes")}, lim: document.Limits{MaxInput: 11}, want: document.LimitExceeded},
		"locked office": {
			in:   document.Input{Name: "a.docx", Data: append([]byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1...."), utf16le("EncryptedPackage")...)},
			want: document.Encrypted,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, parseKind(t, tc.in, tc.lim))
		})
	}
}

func TestArchiveOfDocumentsIsAnArchive(t *testing.T) {
	t.Parallel()
	inner := docxFile(t, para("inside"))
	assert.Equal(t, "# one.docx\n\ninside\n\n# two.txt\n\nx", mustParse(t, "all.zip", "", container(t, part{"one.docx", string(inner)}, part{"two.txt", "x"})).Text)
	assert.Equal(t, "inside", mustParse(t, "misnamed.zip", "application/zip", inner).Text)
}

func TestRegistryOldFormatsNameTheNewOne(t *testing.T) {
	t.Parallel()
	_, err := New().Parse(t.Context(), document.Input{Name: "plan.mpp", Data: []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1....")}, document.Limits{})
	assert.ErrorContains(t, err, ".xlsx")
}

func TestRegistryDetection(t *testing.T) {
	t.Parallel()
	page := "<!DOCTYPE html><html><body><p>one page</p></body></html>"
	for name, tc := range map[string]struct{ file, contentType, data, want string }{
		"page under a text name":    {"a.txt", "text/plain", page, media.HTML},
		"source that begins a page": {"a.php", "text/plain", page, media.Text},
		"page without a name":       {"", "", page, media.HTML},
		"declared csv":              {"", "text/csv", "a,b\n1,2\n", media.CSV},
		"csv by name":               {"a.csv", "application/octet-stream", "a,b\n1,2\n", media.CSV},
		"name beats plain":          {"a.md", "text/plain", "# a", media.Markdown},
		"json with parameters":      {"", "application/json; charset=utf-8", `{"a":1}`, media.JSON},
		"structured suffix":         {"", "application/vnd.garden+json", `{"a":1}`, media.JSON},
		"declared image, but text":  {"", "image/png", "plain words", media.Text},
		"unknown name":              {"a.unknown", "", "plain words", media.Text},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, mustParse(t, tc.file, tc.contentType, []byte(tc.data)).MediaType)
		})
	}
}

func TestRegistrySupported(t *testing.T) {
	t.Parallel()
	r := New()
	for _, tc := range []struct {
		name, contentType string
		want              bool
	}{
		{"a.txt", "", true}, {"A.PDF", "", true}, {"", "", true}, {"a.unknown", "", true}, {"README", "", true},
		{"main.go", "application/octet-stream", true}, {"", "text/plain", true},
		{"a.zip", "", true}, {"a.tar.gz", "", true}, {"a.7z", "", false}, {"a.exe", "text/plain", false}, {"dir.txt/a.jpg", "", false},
		{"", "image/png", false}, {"", "application/zip", true}, {"", "application/x-7z-compressed", false}, {"", "video/mp4; codecs=x", false}, {"a.ppt", "", true}, {"a.vsd", "", false}, {"a.doc", "", true},
		{"a.pdf", "image/png", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			assert.Equal(t, tc.want, r.Supported(tc.name, tc.contentType), "%q %q", tc.name, tc.contentType)
		})
	}
	r.SetOCR(fakeOCR("x"))
	assert.True(t, r.Supported("a.jpg", ""))
	assert.True(t, r.Supported("", "image/png"))
	assert.False(t, r.Supported("a.7z", ""))
}

type fakeOCR string

func (f fakeOCR) Recognise(context.Context, []byte, string) (string, error) {
	if f == "" {
		return "", errors.New("nothing to see")
	}
	return string(f), nil
}

func TestRegistryOCR(t *testing.T) {
	t.Parallel()
	png := []byte("\x89PNG\r\n\x1a\n0000")
	r := New()
	r.SetOCR(fakeOCR("a sign\r\non a gate"))
	doc, err := r.Parse(t.Context(), document.Input{Name: "a.png", Data: png}, document.Limits{})
	require.NoError(t, err)
	assert.Equal(t, "a sign\non a gate", doc.Text)
	assert.Equal(t, "image/png", doc.MediaType)

	r.SetOCR(fakeOCR(""))
	_, err = r.Parse(t.Context(), document.Input{Name: "a.png", Data: png}, document.Limits{})
	var e *document.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, document.NoText, e.Kind)
}

func TestRegistryRegister(t *testing.T) {
	t.Parallel()
	r := New()
	r.Register("application/msword", []string{".DOC"}, document.ParserFunc(func(context.Context, document.Input, document.Limits) (*document.Document, error) {
		return &document.Document{Text: "from the user's parser"}, nil
	}))
	doc, err := r.Parse(t.Context(), document.Input{Name: "a.doc", Data: []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1....")}, document.Limits{})
	require.NoError(t, err)
	assert.Equal(t, "from the user's parser", doc.Text)
	assert.Equal(t, "application/msword", doc.MediaType)
	assert.True(t, r.Supported("a.doc", ""))
	assert.Panics(t, func() { r.Register("", nil, nil) })
}

func TestRegistryContainsParsers(t *testing.T) {
	t.Parallel()
	r := New()
	use := func(f document.ParserFunc) error {
		r.Register("text/x-garden", []string{"garden"}, f)
		_, err := r.Parse(t.Context(), document.Input{Name: "a.garden", Data: []byte("x")}, document.Limits{Timeout: 20 * time.Millisecond})
		return err
	}
	var e *document.Error
	err := use(func(context.Context, document.Input, document.Limits) (*document.Document, error) {
		panic("secret content")
	})
	require.ErrorAs(t, err, &e)
	assert.Equal(t, document.Internal, e.Kind)
	assert.NotContains(t, err.Error(), "secret content")

	err = use(func(ctx context.Context, _ document.Input, _ document.Limits) (*document.Document, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	require.ErrorAs(t, err, &e)
	assert.Equal(t, document.Timeout, e.Kind)

	err = use(func(context.Context, document.Input, document.Limits) (*document.Document, error) { return nil, nil })
	require.ErrorAs(t, err, &e)
	assert.Equal(t, document.Internal, e.Kind)

	err = use(func(context.Context, document.Input, document.Limits) (*document.Document, error) {
		return &document.Document{Partial: "all of it was lost"}, nil
	})
	require.ErrorAs(t, err, &e)
	assert.Equal(t, document.Malformed, e.Kind)
}

func TestRegistryCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := New().Parse(ctx, document.Input{Data: []byte("x")}, document.Limits{})
	assert.Equal(t, context.Canceled, err)
}

func TestOutputLimit(t *testing.T) {
	t.Parallel()
	for name, data := range map[string]string{
		"a.txt":  strings.Repeat("words ", 100),
		"a.html": "<p>" + strings.Repeat("words ", 100),
		"a.csv":  strings.Repeat("one,two\n", 100),
		"a.json": "[" + strings.Repeat(`"words",`, 100) + "1]",
		"a.md":   "# x\n" + strings.Repeat("wörds ", 100),
	} {
		t.Run(name, func(t *testing.T) {
			doc, err := New().Parse(t.Context(), document.Input{Name: name, Data: []byte(data)}, document.Limits{MaxOutput: 100})
			require.NoError(t, err, name)
			assert.LessOrEqual(t, len(doc.Text), 100, name)
			assert.Greater(t, len(doc.Text), 80, name)
			assert.Contains(t, doc.Partial, "limit", name)
		})
	}
}

// Names and labels of damaged files may contain control characters. The result of Parse has none, and its offsets stay valid.
func TestControlCharacters(t *testing.T) {
	t.Parallel()
	r := New()
	r.Register("text/x-odd", []string{"odd"}, document.ParserFunc(func(context.Context, document.Input, document.Limits) (*document.Document, error) {
		return &document.Document{Text: "a\x00b\n\tc\x1bd\x7f", Title: "T\x00itle\x1b", Pages: []document.Page{{Number: 1, Start: 5, Label: "p\x00"}}}, nil
	}))
	doc, err := r.Parse(t.Context(), document.Input{Name: "a.odd", ContentType: "text/x-odd", Data: []byte("odd")}, document.Limits{})
	require.NoError(t, err)
	require.Equal(t, "a b\n\tc d ", doc.Text)
	require.Equal(t, "Title", doc.Title)
	require.Equal(t, []document.Page{{Number: 1, Start: 5, Label: "p"}}, doc.Pages)
}

func TestRefusalsSayWhatToDo(t *testing.T) {
	t.Parallel()
	r := New()
	for _, tc := range []struct{ name, contentType, reason, hint string }{
		{"a.rar", "", "the file is an archive", "upload the files that it holds one by one"},
		{"a.png", "", "the file is an image", "its text needs OCR"},
		{"", "audio/mpeg", "the file is sound or video", "upload a transcript"},
		{"a.exe", "", "the file is a program or library", "upload a text about it"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := r.Refuse(tc.name, tc.contentType)
			require.NotNil(t, err, tc.name)
			assert.Equal(t, document.Unsupported, err.Kind)
			assert.Equal(t, tc.reason, err.Reason)
			assert.Equal(t, tc.hint, err.Hint)
		})
	}
	assert.Nil(t, r.Refuse("a.docx", ""))

	_, err := r.Parse(t.Context(), document.Input{Name: "scan", Data: []byte("\x89PNG\r\n\x1a\n0000")}, document.Limits{})
	var e *document.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, "the file is an image: its text needs OCR", e.Message())
	assert.Equal(t, "document: unsupported format: the file is an image: its text needs OCR", e.Error())
}

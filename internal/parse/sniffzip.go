package parse

import (
	"bytes"
	"context"
	"strings"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/archive"
	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/media"
)

// zipMarks lists file name prefixes that occur in only one kind of document, the most reliable first.
var zipMarks = []struct{ prefix, mediaType string }{
	{"word/document", media.DOCX}, {"ppt/presentation", media.PPTX}, {"xl/workbook", media.XLSX},
	{"xl/worksheets/", media.XLSX}, {"ppt/slides/", media.PPTX}, {"word/", media.DOCX}, {"META-INF/container.xml", media.EPUB},
	{"EncryptedPackage", media.DOCX},
}

// sniffZip distinguishes office documents and books from other archives by their file names.
func sniffZip(data []byte) sniffed {
	z, err := archive.Open(context.Background(), data, document.Limits{}.WithDefaults(0))
	if err != nil {
		return sniffDamagedZip(data)
	}
	if name, err := z.Read("mimetype", 200); err == nil && len(name) > 0 {
		if s := containerType(string(name)); s.certain {
			return s
		}
	}
	for _, m := range zipMarks {
		for _, e := range z.Order {
			if len(e.Name) >= len(m.prefix) && strings.EqualFold(e.Name[:len(m.prefix)], m.prefix) {
				return sniffed{mediaType: m.mediaType, certain: true}
			}
		}
	}
	return sniffed{mediaType: media.ZIP}
}

// sniffDamagedZip searches the raw bytes for the same names when an archive cannot be opened or has too many files.
func sniffDamagedZip(data []byte) sniffed {
	sample := clean.Head(data, 256<<10)
	if i := bytes.Index(clean.Head(data, 256), []byte("mimetypeapplication/")); i >= 0 {
		name, _, _ := strings.Cut(string(clean.Head(data[i+len("mimetype"):], 128)), "PK") // where the next entry begins
		if s := containerType(name); s.certain {
			return s
		}
	}
	for _, m := range zipMarks {
		if bytes.Contains(sample, []byte(m.prefix)) {
			return sniffed{mediaType: m.mediaType, certain: true}
		}
	}
	return sniffed{mediaType: media.ZIP}
}

// containerType returns the type that the content of a mimetype file declares.
func containerType(name string) sniffed {
	switch mt, _ := media.Of(strings.TrimSpace(name)); mt {
	case media.ODT, media.ODS, media.ODP, media.EPUB:
		return sniffed{mediaType: mt, certain: true}
	}
	return sniffed{}
}

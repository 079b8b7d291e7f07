package parse

import (
	"bytes"
	"context"
	"strings"
)

// zipMarks are the beginnings of file names that only one kind of document has, the surest first.
var zipMarks = []struct{ prefix, mediaType string }{
	{"word/document", typeDOCX}, {"ppt/presentation", typePPTX}, {"xl/workbook", typeXLSX},
	{"xl/worksheets/", typeXLSX}, {"ppt/slides/", typePPTX}, {"word/", typeDOCX}, {"META-INF/container.xml", typeEPUB},
	{"EncryptedPackage", typeDOCX},
}

// sniffZip tells office documents and books from other archives by the files that they hold.
func sniffZip(data []byte) sniffed {
	z, err := openZip(context.Background(), data, Limits{}.withDefaults(0))
	if err != nil {
		return sniffDamagedZip(data)
	}
	if name, err := z.read("mimetype", 200); err == nil && len(name) > 0 {
		if s := containerType(string(name)); s.certain {
			return s
		}
	}
	for _, m := range zipMarks {
		for _, e := range z.order {
			if len(e.name) >= len(m.prefix) && strings.EqualFold(e.name[:len(m.prefix)], m.prefix) {
				return sniffed{mediaType: m.mediaType, certain: true}
			}
		}
	}
	return sniffed{mediaType: typeZIP}
}

// sniffDamagedZip looks for the same names in the bytes of what cannot be opened, or holds too many files.
func sniffDamagedZip(data []byte) sniffed {
	sample := head(data, 256<<10)
	if i := bytes.Index(head(data, 256), []byte("mimetypeapplication/")); i >= 0 {
		name, _, _ := strings.Cut(string(head(data[i+len("mimetype"):], 128)), "PK") // the next entry follows at once
		if s := containerType(name); s.certain {
			return s
		}
	}
	for _, m := range zipMarks {
		if bytes.Contains(sample, []byte(m.prefix)) {
			return sniffed{mediaType: m.mediaType, certain: true}
		}
	}
	return sniffed{mediaType: typeZIP}
}

// containerType returns the type that the content of a mimetype file tells.
func containerType(name string) sniffed {
	switch mt, _ := mediaTypeOf(strings.TrimSpace(name)); mt {
	case typeODT, typeODS, typeODP, typeEPUB:
		return sniffed{mediaType: mt, certain: true}
	}
	return sniffed{}
}

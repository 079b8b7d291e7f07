// Package media has the document types: which type a declared type or a file name ending means, and which types no bundled parser reads.
package media

import (
	"mime"
	"path"
	"strings"
)

// Media types of the bundled parsers.
const (
	Text        = "text/plain"
	Markdown    = "text/markdown"
	HTML        = "text/html"
	XHTML       = "application/xhtml+xml"
	CSV         = "text/csv"
	TSV         = "text/tab-separated-values"
	JSON        = "application/json"
	JSONL       = "application/x-ndjson"
	XML         = "application/xml"
	RTF         = "application/rtf"
	PDF         = "application/pdf"
	DOCX        = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	PPTX        = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
	XLSX        = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	ODT         = "application/vnd.oasis.opendocument.text"
	ODS         = "application/vnd.oasis.opendocument.spreadsheet"
	ODP         = "application/vnd.oasis.opendocument.presentation"
	EPUB        = "application/epub+zip"
	EML         = "message/rfc822"
	MBOX        = "application/mbox"
	VTT         = "text/vtt"
	SRT         = "application/x-subrip"
	Notebook    = "application/x-ipynb+json"
	Calendar    = "text/calendar"
	Contacts    = "text/vcard"
	WhatsApp    = "text/x-whatsapp-chat" // our own name: an exported chat has no registered type
	RST         = "text/x-rst"
	AsciiDoc    = "text/x-asciidoc"
	Org         = "text/x-org"
	LaTeX       = "text/x-tex"
	Man         = "text/troff"
	FictionBook = "application/x-fictionbook+xml"
	Evernote    = "application/enex+xml"
	ZIP         = "application/zip"
	TAR         = "application/x-tar"
	GZIP        = "application/gzip"
	DOC         = "application/msword"
	XLS         = "application/vnd.ms-excel"
	PPT         = "application/vnd.ms-powerpoint"
	MSG         = "application/vnd.ms-outlook"
)

// ReadAsIs reports whether people read the original of a type directly or, like PDF, in a viewer that shows the same text.
func ReadAsIs(mediaType string) bool {
	switch mediaType {
	case Text, Markdown, HTML, XHTML, CSV, TSV, XML, PDF, RST, AsciiDoc, Org:
		return true
	}
	return false
}

// IsText reports whether the files of a type are text.
func IsText(mediaType string) bool {
	switch mediaType {
	case JSON, JSONL, XML, XHTML, RTF, EML, MBOX, SRT, Notebook:
		return true
	}
	return strings.HasPrefix(mediaType, "text/")
}

// Types that are recognised and refused.
const (
	OLE    = "application/x-ole-storage"
	Binary = "application/octet-stream"
)

// Aliases maps other names of a type to the one that the registry uses.
var Aliases = map[string]string{
	"text/x-markdown":                  Markdown,
	"application/markdown":             Markdown,
	"text/vnd.daringfireball.markdown": Markdown,
	"application/csv":                  CSV,
	"text/comma-separated-values":      CSV,
	"text/x-csv":                       CSV,
	"text/tsv":                         TSV,
	"text/json":                        JSON,
	"application/ld+json":              JSON,
	"application/geo+json":             JSON,
	"application/jsonl":                JSONL,
	"application/jsonlines":            JSONL,
	"application/x-jsonlines":          JSONL,
	"application/ndjson":               JSONL,
	"text/xml":                         XML,
	"application/atom+xml":             XML,
	"application/rss+xml":              XML,
	"text/rtf":                         RTF,
	"text/richtext":                    RTF,
	"application/x-rtf":                RTF,
	"application/x-pdf":                PDF,
	"message/global":                   EML,
	"text/srt":                         SRT,
	"application/x-srt":                SRT,
	"text/x-vcalendar":                 Calendar,
	"text/prs.fallenstein.rst":         RST,
	"text/rst":                         RST,
	"text/asciidoc":                    AsciiDoc,
	"text/org":                         Org,
	"application/x-tex":                LaTeX,
	"application/x-latex":              LaTeX,
	"text/x-latex":                     LaTeX,
	"application/x-troff-man":          Man,
	"text/x-troff":                     Man,
	"application/x-fictionbook":        XML,
	"text/x-vcard":                     Contacts,
	"text/directory":                   Contacts,
	"application/x-zip-compressed":     ZIP,
	"application/x-zip":                ZIP,
	"application/x-gzip":               GZIP,
	"application/vnd.ms-word":          DOC,
	"application/x-msexcel":            XLS,
	"application/vnd.ms-word.document.macroenabled.12":                        DOCX,
	"application/vnd.ms-powerpoint.presentation.macroenabled.12":              PPTX,
	"application/vnd.ms-excel.sheet.macroenabled.12":                          XLSX,
	"application/vnd.openxmlformats-officedocument.wordprocessingml.template": DOCX,
	"application/vnd.openxmlformats-officedocument.spreadsheetml.template":    XLSX,
	"application/vnd.openxmlformats-officedocument.presentationml.template":   PPTX,
	"application/vnd.openxmlformats-officedocument.presentationml.slideshow":  PPTX,
	"application/vnd.oasis.opendocument.text-template":                        ODT,
	"application/vnd.oasis.opendocument.spreadsheet-template":                 ODS,
	"application/vnd.oasis.opendocument.presentation-template":                ODP,
}

// Extensions has the name endings of each bundled type, space separated, without the dot.
var Extensions = map[string]string{
	Markdown: "md markdown mdown mkd mkdn mdx rmd qmd",
	HTML:     "html htm shtml xht",
	XHTML:    "xhtml",
	CSV:      "csv",
	TSV:      "tsv tab",
	JSON:     "json geojson webmanifest har",
	JSONL:    "jsonl ndjson",
	XML:      "xml rss atom xsd xsl xslt plist opml gpx kml fodt fods fodp svg fb2 enex",
	RTF:      "rtf",
	PDF:      "pdf",
	DOCX:     "docx docm dotx dotm",
	PPTX:     "pptx pptm potx ppsx ppsm",
	XLSX:     "xlsx xlsm xltx xltm",
	ODT:      "odt ott",
	ODS:      "ods ots",
	ODP:      "odp otp",
	EPUB:     "epub",
	EML:      "eml mht mhtml",
	MBOX:     "mbox mbx",
	VTT:      "vtt",
	SRT:      "srt",
	Notebook: "ipynb",
	Calendar: "ics ical ifb",
	Contacts: "vcf vcard",
	RST:      "rst rest",
	AsciiDoc: "adoc asciidoc asc",
	Org:      "org",
	LaTeX:    "tex ltx latex",
	Man:      "man mdoc",
	ZIP:      "zip",
	TAR:      "tar",
	GZIP:     "gz tgz",
	DOC:      "doc dot",
	XLS:      "xls xlt",
	PPT:      "ppt pot pps",
	MSG:      "msg oft",
	Text: "txt text log conf cfg ini env properties toml yaml yml go py pyi rb rs c h cc cpp cxx hpp hh java kt kts scala " +
		"js mjs cjs jsx ts tsx vue svelte css scss sass less php pl pm lua r jl m mm swift dart ex exs erl hrl hs ml mli fs " +
		"cs vb sql sh bash zsh fish bat cmd ps1 psm1 make mk cmake gradle groovy tf hcl proto graphql gql thrift asm s " +
		"bib sty textile wiki pod diff patch sub po pot strings nfo rtx " +
		"dockerfile gitignore editorconfig lock mod sum clj cljs edn lisp el scm rkt nim zig v vhdl sv pas f90 f for cob",
}

// Descriptions of files that no bundled parser reads. The text after a colon is a hint for the sender.
const (
	whatDOC   = "an old binary word document (.doc): save it as .docx"
	whatXLS   = "an old binary spreadsheet (.xls): save it as .xlsx"
	whatPPT   = "an old binary presentation (.ppt): save it as .pptx"
	whatOLE   = "an old binary office document: save it as .docx, .xlsx or .pptx"
	whatZip   = "an archive: upload the files that it holds one by one"
	whatImage = "an image: its text needs OCR"
	whatMedia = "sound or video: upload a transcript"
	whatExec  = "a program or library: upload a text about it"
	whatFont  = "a font: upload a text about it"
	whatData  = "a binary data file: export it as CSV or JSON"
)

// refusedExts maps the name endings of formats that no bundled parser reads to their description.
var refusedExts = invert(map[string]string{
	whatDOC:   "doc dot",
	whatXLS:   "xls xlt xlsb",
	whatPPT:   "ppt pot pps",
	whatOLE:   "vsd mpp",
	whatZip:   "bz2 tbz tbz2 xz txz zst lz lzma lz4 z 7z rar cab ar deb rpm jar war ear apk iso dmg img arj lha lzh cpio",
	whatImage: "png jpg jpeg jpe gif webp bmp tif tiff heic heif avif ico psd cr2 nef dng jp2 jxl",
	whatMedia: "mp3 wav flac ogg oga opus m4a aac wma aiff mid midi mp4 m4v mov avi mkv webm wmv flv mpg mpeg 3gp",
	whatExec:  "exe dll so dylib bin o a class pyc pyo wasm msi elf",
	whatFont:  "ttf otf woff woff2 eot",
	whatData:  "sqlite sqlite3 db mdb accdb parquet avro orc feather npy npz pkl pickle h5 hdf5 onnx pt safetensors gguf swf",
})

// refusedTypes maps the media types that no bundled parser reads to their description.
var refusedTypes = invert(map[string]string{
	whatDOC: DOC,
	whatXLS: XLS + " application/vnd.ms-excel.sheet.binary.macroenabled.12",
	whatPPT: PPT,
	whatOLE: OLE + " application/vnd.visio",
	whatZip: "application/x-bzip2 application/x-xz application/zstd " +
		"application/x-7z-compressed application/vnd.rar application/x-rar-compressed application/x-rar application/java-archive " +
		"application/vnd.android.package-archive application/x-iso9660-image application/vnd.ms-cab-compressed application/x-archive " +
		"application/vnd.debian.binary-package application/x-rpm application/x-compress",
	whatExec: "application/x-msdownload application/x-executable application/x-sharedlib application/x-mach-binary application/wasm " +
		"application/java-vm application/vnd.microsoft.portable-executable application/x-dosexec application/x-elf",
	whatFont: "application/vnd.ms-fontobject application/font-woff application/x-font-ttf",
	whatData: "application/vnd.sqlite3 application/x-sqlite3 application/x-hdf5 application/vnd.apache.parquet application/x-shockwave-flash",
})

// invert maps each word of the values to its key.
func invert(m map[string]string) map[string]string {
	out := map[string]string{}
	for key, words := range m {
		for _, w := range strings.Fields(words) {
			out[w] = key
		}
	}
	return out
}

// Refusal is why no bundled parser reads a file.
type Refusal struct {
	// What describes the file: "an archive".
	What string
	// Hint says what the sender can do. It may be empty.
	Hint string
	// Image is set if OCR would read the file, and Sound if a transcriber would.
	Image, Sound bool
}

func refusal(what string) *Refusal {
	r := &Refusal{Image: what == whatImage, Sound: what == whatMedia}
	r.What, r.Hint, _ = strings.Cut(what, ": ")
	return r
}

// RefusedExt returns why no bundled parser reads files with that name ending, or nil if one may.
func RefusedExt(ext string) *Refusal {
	if what, ok := refusedExts[ext]; ok {
		return refusal(what)
	}
	return nil
}

// RefusedType returns why no bundled parser reads a media type, or nil if one may.
func RefusedType(mediaType string) *Refusal {
	if what, ok := refusedTypes[mediaType]; ok {
		return refusal(what)
	}
	major, sub, _ := strings.Cut(mediaType, "/")
	switch {
	case major == "image" && sub != "svg+xml":
		return refusal(whatImage)
	case major == "audio", major == "video":
		return refusal(whatMedia)
	case major == "font":
		return refusal(whatFont)
	}
	return nil
}

// Ext returns the ending of a file name in lower case without the dot. For a known name without ending, such as Dockerfile, it returns the
// name.
func Ext(name string) string {
	name = strings.ReplaceAll(name, "\\", "/")
	base := strings.ToLower(path.Base(name))
	if name == "" || base == "/" || base == "." {
		return ""
	}
	if i := strings.LastIndexByte(base, '.'); i >= 0 {
		return base[i+1:]
	}
	switch base {
	case "dockerfile":
		return base
	case "makefile", "readme", "license", "licence", "changelog", "notice", "authors", "copying":
		return "txt"
	}
	return ""
}

// Of splits a declared content type into the registry's name of the type and the charset.
func Of(contentType string) (mediaType, charset string) {
	if contentType == "" {
		return "", ""
	}
	mt, params, err := mime.ParseMediaType(contentType)
	if err != nil && mt == "" {
		mt, _, _ = strings.Cut(contentType, ";")
		mt = strings.ToLower(strings.TrimSpace(mt))
	}
	charset = params["charset"]
	if alias, ok := Aliases[mt]; ok {
		mt = alias
	}
	switch {
	case mt == Notebook:
	case strings.HasSuffix(mt, "+json"):
		mt = JSON
	case strings.HasSuffix(mt, "+xml") && mt != XHTML:
		mt = XML
	}
	return mt, charset
}

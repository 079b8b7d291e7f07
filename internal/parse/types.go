package parse

import (
	"mime"
	"path"
	"strings"
)

// Media types of the bundled parsers.
const (
	typeText     = "text/plain"
	typeMarkdown = "text/markdown"
	typeHTML     = "text/html"
	typeXHTML    = "application/xhtml+xml"
	typeCSV      = "text/csv"
	typeTSV      = "text/tab-separated-values"
	typeJSON     = "application/json"
	typeJSONL    = "application/x-ndjson"
	typeXML      = "application/xml"
	typeRTF      = "application/rtf"
	typePDF      = "application/pdf"
	typeDOCX     = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	typePPTX     = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
	typeXLSX     = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	typeODT      = "application/vnd.oasis.opendocument.text"
	typeODS      = "application/vnd.oasis.opendocument.spreadsheet"
	typeODP      = "application/vnd.oasis.opendocument.presentation"
	typeEPUB     = "application/epub+zip"
	typeEML      = "message/rfc822"
	typeMBOX     = "application/mbox"
)

// Types that are recognised and refused.
const (
	typeZIP    = "application/zip"
	typeOLE    = "application/x-ole-storage"
	typeDOC    = "application/msword"
	typeXLS    = "application/vnd.ms-excel"
	typePPT    = "application/vnd.ms-powerpoint"
	typeBinary = "application/octet-stream"
)

// typeAliases maps other names of a type to the one that the registry uses.
var typeAliases = map[string]string{
	"text/x-markdown":                  typeMarkdown,
	"application/markdown":             typeMarkdown,
	"text/vnd.daringfireball.markdown": typeMarkdown,
	"application/csv":                  typeCSV,
	"text/comma-separated-values":      typeCSV,
	"text/x-csv":                       typeCSV,
	"text/tsv":                         typeTSV,
	"text/json":                        typeJSON,
	"application/ld+json":              typeJSON,
	"application/geo+json":             typeJSON,
	"application/jsonl":                typeJSONL,
	"application/jsonlines":            typeJSONL,
	"application/x-jsonlines":          typeJSONL,
	"application/ndjson":               typeJSONL,
	"text/xml":                         typeXML,
	"application/atom+xml":             typeXML,
	"application/rss+xml":              typeXML,
	"text/rtf":                         typeRTF,
	"text/richtext":                    typeRTF,
	"application/x-rtf":                typeRTF,
	"application/x-pdf":                typePDF,
	"message/global":                   typeEML,
	"application/x-zip-compressed":     typeZIP,
	"application/x-zip":                typeZIP,
	"application/vnd.ms-word":          typeDOC,
	"application/x-msexcel":            typeXLS,
	"application/vnd.ms-word.document.macroenabled.12":                        typeDOCX,
	"application/vnd.ms-powerpoint.presentation.macroenabled.12":              typePPTX,
	"application/vnd.ms-excel.sheet.macroenabled.12":                          typeXLSX,
	"application/vnd.openxmlformats-officedocument.wordprocessingml.template": typeDOCX,
	"application/vnd.openxmlformats-officedocument.spreadsheetml.template":    typeXLSX,
	"application/vnd.openxmlformats-officedocument.presentationml.template":   typePPTX,
	"application/vnd.openxmlformats-officedocument.presentationml.slideshow":  typePPTX,
	"application/vnd.oasis.opendocument.text-template":                        typeODT,
	"application/vnd.oasis.opendocument.spreadsheet-template":                 typeODS,
	"application/vnd.oasis.opendocument.presentation-template":                typeODP,
}

// bundledExts are the name endings of each bundled type, space separated, without the dot.
var bundledExts = map[string]string{
	typeMarkdown: "md markdown mdown mkd mkdn mdx rmd qmd",
	typeHTML:     "html htm shtml xht",
	typeXHTML:    "xhtml",
	typeCSV:      "csv",
	typeTSV:      "tsv tab",
	typeJSON:     "json geojson webmanifest ipynb har",
	typeJSONL:    "jsonl ndjson",
	typeXML:      "xml rss atom xsd xsl xslt plist opml gpx kml fodt fods fodp svg",
	typeRTF:      "rtf",
	typePDF:      "pdf",
	typeDOCX:     "docx docm dotx dotm",
	typePPTX:     "pptx pptm potx ppsx ppsm",
	typeXLSX:     "xlsx xlsm xltx xltm",
	typeODT:      "odt ott",
	typeODS:      "ods ots",
	typeODP:      "odp otp",
	typeEPUB:     "epub",
	typeEML:      "eml mht mhtml",
	typeMBOX:     "mbox mbx",
	typeText: "txt text log conf cfg ini env properties toml yaml yml go py pyi rb rs c h cc cpp cxx hpp hh java kt kts scala " +
		"js mjs cjs jsx ts tsx vue svelte css scss sass less php pl pm lua r jl m mm swift dart ex exs erl hrl hs ml mli fs " +
		"cs vb sql sh bash zsh fish bat cmd ps1 psm1 make mk cmake gradle groovy tf hcl proto graphql gql thrift asm s " +
		"tex bib sty rst adoc asciidoc org textile wiki pod man diff patch srt vtt sub ics vcf po pot strings nfo rtx " +
		"dockerfile gitignore editorconfig lock mod sum clj cljs edn lisp el scm rkt nim zig v vhdl sv pas f90 f for cob",
}

const (
	whatDOC   = "an old binary word document (.doc): save it as .docx"
	whatXLS   = "an old binary spreadsheet (.xls): save it as .xlsx"
	whatPPT   = "an old binary presentation (.ppt): save it as .pptx"
	whatOLE   = "an old binary office document: save it as .docx, .xlsx or .pptx"
	whatZip   = "an archive: upload the files that it holds one by one"
	whatImage = "an image: its text needs OCR"
	whatMedia = "sound or video: upload a transcript"
	whatExec  = "a program or library"
	whatFont  = "a font"
	whatData  = "a binary data file"
)

// refusedExts are name endings of formats that no bundled parser reads, with what they are.
var refusedExts = invert(map[string]string{
	whatDOC:   "doc dot",
	whatXLS:   "xls xlt xlsb",
	whatPPT:   "ppt pot pps",
	whatOLE:   "msg vsd mpp",
	whatZip:   "zip tar gz tgz bz2 tbz tbz2 xz txz zst lz lzma lz4 z 7z rar cab ar deb rpm jar war ear apk iso dmg img arj lha lzh cpio",
	whatImage: "png jpg jpeg jpe gif webp bmp tif tiff heic heif avif ico psd cr2 nef dng jp2 jxl",
	whatMedia: "mp3 wav flac ogg oga opus m4a aac wma aiff mid midi mp4 m4v mov avi mkv webm wmv flv mpg mpeg 3gp",
	whatExec:  "exe dll so dylib bin o a class pyc pyo wasm msi elf",
	whatFont:  "ttf otf woff woff2 eot",
	whatData:  "sqlite sqlite3 db mdb accdb parquet avro orc feather npy npz pkl pickle h5 hdf5 onnx pt safetensors gguf swf",
})

// refusedTypes are media types that no bundled parser reads, with what they are.
var refusedTypes = invert(map[string]string{
	whatDOC: typeDOC,
	whatXLS: typeXLS + " application/vnd.ms-excel.sheet.binary.macroenabled.12",
	whatPPT: typePPT,
	whatOLE: typeOLE + " application/vnd.ms-outlook application/vnd.visio",
	whatZip: typeZIP + " application/gzip application/x-gzip application/x-tar application/x-bzip2 application/x-xz application/zstd " +
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

// refusedType says what a media type is when no bundled parser reads it.
func refusedType(mediaType string) (what string, refused bool) {
	if what, ok := refusedTypes[mediaType]; ok {
		return what, true
	}
	major, sub, _ := strings.Cut(mediaType, "/")
	switch major {
	case "image":
		if sub == "svg+xml" {
			return "", false
		}
		return whatImage, true
	case "audio", "video":
		return whatMedia, true
	case "font":
		return whatFont, true
	}
	return "", false
}

// ext returns the ending of a file name in lower case without the dot; for a name without one, the name itself if
// it is a known one such as Dockerfile.
func ext(name string) string {
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

// mediaTypeOf splits a declared content type into the registry's name of the type and the charset.
func mediaTypeOf(contentType string) (mediaType, charset string) {
	if contentType == "" {
		return "", ""
	}
	mt, params, err := mime.ParseMediaType(contentType)
	if err != nil && mt == "" {
		mt, _, _ = strings.Cut(contentType, ";")
		mt = strings.ToLower(strings.TrimSpace(mt))
	}
	charset = params["charset"]
	if alias, ok := typeAliases[mt]; ok {
		mt = alias
	}
	switch {
	case strings.HasSuffix(mt, "+json"):
		mt = typeJSON
	case strings.HasSuffix(mt, "+xml") && mt != typeXHTML:
		mt = typeXML
	}
	return mt, charset
}

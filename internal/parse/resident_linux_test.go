//go:build !race

// The race detector needs several times the memory that this test measures.

package parse

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/charset"
	"github.com/contextmem/contextmem/internal/parse/media"
)

var (
	residentChild = flag.String("resident.child", "", "file that this process parses to report its memory; set by the parent")
	residentFile  = flag.String("resident.file", "", "file that BenchmarkResident measures in place of its own")
)

// TestMain lets the test binary run as the child process whose memory is measured.
func TestMain(m *testing.M) {
	flag.Parse()
	if *residentChild != "" {
		if err := reportResident(*residentChild); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// residency is the report of a child process on one document. Sizes are in bytes.
type residency struct {
	Input, Text, Pages int
	Above              int64 // peak resident memory of the process, minus the input
	Seconds            float64
}

// reportResident parses a file and writes a residency to the standard output.
func reportResident(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	start := spent()
	doc, err := New().Parse(context.Background(), document.Input{Name: path, Data: data}, document.Limits{Timeout: 5 * time.Minute})
	if err != nil {
		return err
	}
	peak, err := peakResident()
	if err != nil {
		return err
	}
	defer runtime.KeepAlive(data) // as a caller keeps it
	return json.NewEncoder(os.Stdout).Encode(residency{
		Input: len(data), Text: len(doc.Text), Pages: len(doc.Pages), Above: peak - int64(len(data)),
		Seconds: (spent() - start).Seconds(),
	})
}

// peakResident returns the greatest resident size of this process so far.
func peakResident() (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	line, _, _ := strings.Cut(rest, "\n")
	kb, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(line), " kB"), 10, 64)
	return kb << 10, err
}

// measureResident parses a file in a process of its own.
func measureResident(tb testing.TB, path string) residency {
	tb.Helper()
	self, err := os.Executable()
	require.NoError(tb, err)
	cmd := exec.Command(self, "-resident.child", path)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	require.NoError(tb, err)
	var r residency
	require.NoError(tb, json.Unmarshal(out, &r))
	return r
}

// maxResident is the memory that a document may need in addition to the size of its input.
const maxResident = 64 << 20

// TestResident parses a large document of each format in a process of its own. It may need 64 MB of memory in addition to the size of its
// input.
func TestResident(t *testing.T) {
	for _, d := range largeDocuments {
		t.Run(d.name, func(t *testing.T) {
			size := d.size
			if testing.Short() {
				size /= 4
			}
			r := measureResident(t, d.write(t, size))
			require.Greater(t, r.Text, r.Input/3)
			require.LessOrEqual(t, r.Above, int64(maxResident), "%d MB of input, %d MB of text: %d MB above the input",
				r.Input>>20, r.Text>>20, r.Above>>20)
		})
	}
}

// BenchmarkResident reports the same, and the speed in processor time: MB/s of the input, or of a container's unpacked size, and pages/s.
//
// go test -run xxx -bench Resident -benchtime 1x ./internal/parse
func BenchmarkResident(b *testing.B) {
	measure := func(b *testing.B, path string, unpacked int) {
		var r residency
		for b.Loop() {
			r = measureResident(b, path)
		}
		b.ReportMetric(float64(r.Input)/(1<<20), "MB-in")
		b.ReportMetric(float64(r.Text)/(1<<20), "MB-text")
		b.ReportMetric(float64(r.Above)/(1<<20), "MB-above")
		b.ReportMetric(float64(max(r.Input, unpacked))/(1<<20)/r.Seconds, "MB/s")
		if r.Pages > 0 {
			b.ReportMetric(float64(r.Pages)/r.Seconds, "pages/s")
		}
		b.ReportMetric(0, "ns/op")
	}
	if *residentFile != "" {
		b.Run(filepath.Base(*residentFile), func(b *testing.B) { measure(b, *residentFile, 0) })
		return
	}
	for _, d := range largeDocuments {
		b.Run(d.name, func(b *testing.B) { measure(b, d.write(b, d.size), d.size) })
	}
}

// largeDocument makes a document of about size bytes, for a container of its unpacked size.
type largeDocument struct {
	name string
	size int
	make func(tb testing.TB, p *prose, size int) []byte
}

// write makes the document and returns its path.
func (d largeDocument) write(tb testing.TB, size int) string {
	tb.Helper()
	p := &prose{rand.New(rand.NewPCG(1, 2)), nil}
	for range 3000 {
		word := make([]byte, 2+p.IntN(9))
		for i := range word {
			word[i] = "etaoinshrdlucmfw"[p.IntN(16)]
		}
		p.words = append(p.words, string(word))
	}
	path := filepath.Join(tb.TempDir(), d.name)
	require.NoError(tb, os.WriteFile(path, d.make(tb, p, size), 0o600))
	return path
}

// prose generates text that compresses like real text.
type prose struct {
	*rand.Rand
	words []string
}

func (p *prose) sentence() string {
	s := make([]string, 8+p.IntN(12))
	for i := range s {
		s[i] = p.words[min(p.IntN(len(p.words)), p.IntN(len(p.words)))]
	}
	return strings.Join(s, " ") + "."
}

// repeat concatenates units until they have size bytes.
func repeat(size int, unit func(i int) string) string {
	var b strings.Builder
	b.Grow(size + 1<<16)
	for i := 0; b.Len() < size; i++ {
		b.WriteString(unit(i))
	}
	return b.String()
}

// mailText is one mail with a body in a transfer encoding and an attachment.
func mailText(p *prose, i int) string {
	return fmt.Sprintf("From: %d@garden.example\nTo: cook@garden.example\nSubject: %s\nDate: Wed, 8 Apr 2026 07:30:00 +0200\nMIME-Version: 1.0\n"+
		"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n%s=\n\n"+
		"--b%d\nContent-Type: text/csv\nContent-Disposition: attachment; filename=a.csv\n\na,b\n1,%s\n--b%d--\n\n",
		i, p.words[i%len(p.words)], i, i, repeat(2000, func(int) string { return p.sentence() + "\n" }), i, p.sentence(), i)
}

// largeDocuments are larger than usual for their formats. The text of most fills the default limit of output.
var largeDocuments = []largeDocument{
	{"a.txt", 30 << 20, func(_ testing.TB, p *prose, size int) []byte {
		return []byte(repeat(size, func(int) string { return p.sentence() + "\r\n" }))
	}},
	{"utf16.txt", 30 << 20, func(_ testing.TB, p *prose, size int) []byte {
		out, _ := charset.UTF16LE.NewEncoder().Bytes([]byte(repeat(size/2, func(int) string { return p.sentence() + "\r\n" })))
		return append([]byte("\xff\xfe"), out...)
	}},
	{"latin1.txt", 30 << 20, func(_ testing.TB, p *prose, size int) []byte {
		return []byte(repeat(size, func(int) string { return p.sentence() + " Gem\xfcse f\xfcr die K\xfcche.\n" }))
	}},
	{"a.md", 30 << 20, func(_ testing.TB, p *prose, size int) []byte {
		return []byte(repeat(size, func(int) string { return "# " + p.words[0] + "\n\n" + p.sentence() + "\n\n- one\n- two\n\n" }))
	}},
	{"a.html", 30 << 20, func(_ testing.TB, p *prose, size int) []byte {
		return []byte("<!DOCTYPE html><title>x</title><body>" + repeat(size, func(int) string {
			return "<h2 class=\"a\">Part</h2>\n<p>" + p.sentence() + " <a href=\"https://a.example/b\">link</a> &amp; <b>more</b></p>\n<ul><li>one<li>two</ul>\n"
		}))
	}},
	{"a.csv", 24 << 20, func(_ testing.TB, p *prose, size int) []byte {
		return []byte("bed,plant,rows,remark\n" + repeat(size, func(i int) string {
			return fmt.Sprintf("%d,\"%s, late\",5,%s\n", i, p.words[i%len(p.words)], p.sentence())
		}))
	}},
	{"a.json", 30 << 20, func(_ testing.TB, p *prose, size int) []byte {
		return []byte("[" + repeat(size, func(i int) string {
			return fmt.Sprintf(`{"bed":%d,"rows":[1,2,3],"plant":{"name":"%s"},"remark":"sown in \"April\", %s"},`+"\n", i, p.words[i%len(p.words)], p.sentence())
		}) + "1]")
	}},
	{"a.xml", 30 << 20, func(_ testing.TB, p *prose, size int) []byte {
		return []byte("<?xml version=\"1.0\"?>\n<beds>" + repeat(size, func(i int) string {
			return fmt.Sprintf("<bed id=\"%d\"><name>%s</name><remark>%s</remark></bed>\n", i, p.words[i%len(p.words)], p.sentence())
		}) + "</beds>")
	}},
	{"a.rtf", 30 << 20, func(_ testing.TB, p *prose, size int) []byte {
		return []byte(`{\rtf1\ansi ` + repeat(size, func(int) string {
			return `\pard\plain\f0\fs24 ` + p.sentence() + `{\b bold} Gem\'fcse\par` + "\n"
		}) + "}")
	}},
	{"a.eml", 30 << 20, func(_ testing.TB, p *prose, size int) []byte {
		return []byte("Subject: x\nFrom: a@b.example\nMIME-Version: 1.0\nContent-Transfer-Encoding: quoted-printable\n\n" +
			repeat(size, func(int) string { return p.sentence() + "=\n" }))
	}},
	{"a.mbox", 24 << 20, func(_ testing.TB, p *prose, size int) []byte {
		return []byte(repeat(size, func(i int) string { return "From x Thu Apr  9 07:30:00 2026\n" + mailText(p, i) }))
	}},
	{"a.docx", 40 << 20, func(tb testing.TB, p *prose, size int) []byte {
		return docxFile(tb, repeat(size, func(int) string {
			return `<w:p w:rsidR="00A77B3E"><w:pPr><w:jc w:val="both"/><w:rPr><w:lang w:val="en-GB"/></w:rPr></w:pPr><w:r><w:rPr><w:b/></w:rPr><w:t xml:space="preserve">` +
				p.sentence() + " </w:t></w:r><w:r><w:t>" + p.sentence() + "</w:t></w:r></w:p>"
		}))
	}},
	{"a.xlsx", 40 << 20, func(tb testing.TB, p *prose, size int) []byte {
		var shared strings.Builder
		for range 20_000 {
			shared.WriteString("<si><t>" + p.sentence() + "</t></si>")
		}
		return sheetFile(tb, repeat(size, func(i int) string {
			return fmt.Sprintf(`<row r="%[1]d"><c r="A%[1]d" s="1" t="s"><v>%[2]d</v></c><c r="B%[1]d"><v>%[1]d</v></c><c r="C%[1]d"><f>B%[1]d*2</f><v>14.5</v></c></row>`, i+1, p.IntN(20_000))
		}), part{"xl/sharedStrings.xml", "<sst>" + shared.String() + "</sst>"})
	}},
	{"a.odt", 24 << 20, func(tb testing.TB, p *prose, size int) []byte {
		return odfFile(tb, media.ODT, "<office:body><office:text>"+repeat(size, func(int) string {
			return `<text:p text:style-name="Text_20_body">` + p.sentence() + `<text:span text:style-name="T1">` + p.sentence() + "</text:span></text:p>"
		})+"</office:text></office:body>")
	}},
	{"a.epub", 15 << 20, func(tb testing.TB, p *prose, size int) []byte {
		chapters := make([]string, 100)
		for i := range chapters {
			chapters[i] = "<h1>" + p.words[i] + "</h1>" + repeat(size/len(chapters), func(int) string { return "<p>" + p.sentence() + "</p>\n" })
		}
		return epubFile(tb, chapters...)
	}},
	{"a.pdf", 4000 * pageBytes, manualFile},
	{"full.pdf", 8000 * pageBytes, manualFile},
}

// pageBytes is the approximate size of the text of a page of manualFile.
const pageBytes = 4000

// manualFile is a PDF of many pages with compressed contents.
func manualFile(_ testing.TB, p *prose, size int) []byte {
	var packed bytes.Buffer
	z, _ := zlib.NewWriterLevel(&packed, zlib.BestSpeed)
	contents := make([]string, size/pageBytes)
	for i := range contents {
		packed.Reset()
		z.Reset(&packed)
		fmt.Fprintf(z, "BT /B 16 Tf 72 740 Td (%d %s) Tj ET\n", i+1, p.words[i%len(p.words)])
		for y := 710; y > 60; y -= 13 {
			fmt.Fprintf(z, "BT /F 10 Tf 72 %d Td [", y)
			for _, word := range strings.Fields(p.sentence()) {
				fmt.Fprintf(z, "(%s)-%d", word, 250+p.IntN(120))
			}
			_, _ = z.Write([]byte("] TJ ET\n"))
		}
		_ = z.Close()
		contents[i] = fmt.Sprintf("<</Length %d/Filter/FlateDecode>>\nstream\n%s\nendstream", packed.Len(), packed.String())
	}
	fonts := []string{"<</Type/Font/Subtype/Type1/BaseFont/Times-Roman/Encoding/WinAnsiEncoding>>", "<</Type/Font/Subtype/Type1/BaseFont/Times-Bold/Encoding/WinAnsiEncoding>>"}
	return pdfPages(fonts, func(int) string { return "/Font<</F 3 0 R/B 4 0 R>>" }, contents)
}

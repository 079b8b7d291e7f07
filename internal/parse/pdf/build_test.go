package pdf

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"strings"
)

// builder writes small PDF files. Objects are numbered from 1 in the order in which they are added. Object 1 is the catalog and object 2
// the page tree.
type builder struct {
	objs  []string
	pages []int
	info  string // more trailer entries
	root  string // more catalog entries
}

func newBuilder() *builder { return &builder{objs: []string{"", ""}} }

// add appends an object and returns its number.
func (b *builder) add(body string) int {
	b.objs = append(b.objs, body)
	return len(b.objs)
}

// stream appends a stream object with additional dictionary entries.
func (b *builder) stream(entries, data string) int {
	return b.add(fmt.Sprintf("<< %s /Length %d >>\nstream\n%s\nendstream", entries, len(data), data))
}

// page appends a page with resources and content.
func (b *builder) page(resources, content string) {
	b.pageWith("", resources, content)
}

// pageWith is page with additional entries of the page dictionary.
func (b *builder) pageWith(entries, resources, content string) {
	c := b.stream("", content)
	p := b.add(fmt.Sprintf("<< /Type /Page /Parent 2 0 R /Contents %d 0 R /Resources << %s >> %s >>", c, resources, entries))
	b.pages = append(b.pages, p)
}

// tree fills in the catalog and the page tree.
func (b *builder) tree() {
	kids := make([]string, len(b.pages))
	for i, p := range b.pages {
		kids[i] = fmt.Sprintf("%d 0 R", p)
	}
	b.objs[0] = "<< /Type /Catalog /Pages 2 0 R " + b.root + " >>"
	b.objs[1] = fmt.Sprintf("<< /Type /Pages /MediaBox [0 0 612 792] /Count %d /Kids [%s] >>", len(kids), strings.Join(kids, " "))
}

// bytes writes the file with a classic cross-reference table.
func (b *builder) bytes() []byte {
	b.tree()
	var out bytes.Buffer
	out.WriteString("%PDF-1.7\n")
	offsets := make([]int, len(b.objs))
	for i, o := range b.objs {
		offsets[i] = out.Len()
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	at := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(b.objs)+1)
	for _, o := range offsets {
		fmt.Fprintf(&out, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&out, "trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n", len(b.objs)+1, b.info, at)
	return out.Bytes()
}

// compressed writes the file with a cross-reference stream, and all objects except streams in an object stream.
func (b *builder) compressed() []byte {
	b.tree()
	var out, head, body bytes.Buffer
	out.WriteString("%PDF-1.7\n")
	type entry struct{ kind, a, b int }
	entries := make([]entry, len(b.objs)+3)
	container := len(b.objs) + 1
	n := 0
	for i, o := range b.objs {
		if strings.Contains(o, "\nstream\n") {
			entries[i+1] = entry{1, out.Len(), 0}
			fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", i+1, o)
			continue
		}
		entries[i+1] = entry{2, container, n}
		fmt.Fprintf(&head, "%d %d ", i+1, body.Len())
		body.WriteString(o + "\n")
		n++
	}
	entries[container] = entry{1, out.Len(), 0}
	data := deflate(head.String() + body.String())
	fmt.Fprintf(&out, "%d 0 obj\n<< /Type /ObjStm /N %d /First %d /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream\nendobj\n",
		container, n, head.Len(), len(data), data)
	at := out.Len()
	entries[container+1] = entry{1, at, 0}
	var table bytes.Buffer
	for _, e := range entries {
		row := []byte{2, byte(e.kind), 0, 0, 0, 0, byte(e.b)} // a PNG "up" row, so that the predictor runs
		binary.BigEndian.PutUint32(row[2:], uint32(e.a))
		table.Write(row)
	}
	rows := table.Bytes()
	for i := len(rows) - 7; i >= 7; i -= 7 {
		for k := 1; k < 7; k++ {
			rows[i+k] -= rows[i-7+k]
		}
	}
	data = deflate(string(rows))
	fmt.Fprintf(&out, "%d 0 obj\n<< /Type /XRef /Size %d /W [1 4 1] /Root 1 0 R %s /Filter /FlateDecode /DecodeParms << /Predictor 12 /Columns 6 >> /Length %d >>\nstream\n%s\nendstream\nendobj\nstartxref\n%d\n%%%%EOF\n",
		container+1, len(entries), b.info, len(data), data, at)
	return out.Bytes()
}

func deflate(s string) string {
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	_, _ = w.Write([]byte(s))
	_ = w.Close()
	return out.String()
}

// helvetica is the resources of most test pages.
const helvetica = "/Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >> " +
	"/B1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >> >>"

// textAt shows a string at a place in 10 point Helvetica.
func textAt(x, y float64, s string) string { return sizedAt(x, y, 10, s) }

func sizedAt(x, y, size float64, s string) string {
	s = strings.NewReplacer("\\", "\\\\", "(", "\\(", ")", "\\)").Replace(s)
	return fmt.Sprintf("BT /F1 %g Tf 1 0 0 1 %g %g Tm (%s) Tj ET\n", size, x, y, s)
}

// onePage is a file of one page of Helvetica.
func onePage(content string) []byte {
	b := newBuilder()
	b.page(helvetica, content)
	return b.bytes()
}

func refTo(n int) string { return fmt.Sprintf("%d 0 R", n) }

package parse

import (
	"archive/zip"
	"bytes"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/media"
)

func TestOutputLimitOfStructures(t *testing.T) {
	t.Parallel()
	lim := document.Limits{MaxOutput: 2000}
	cell := "<w:tc>" + para("word word word") + "</w:tc>"
	for name, data := range map[string][]byte{
		"table.docx":  docxFile(t, "<w:tbl>"+strings.Repeat("<w:tr>"+cell+cell+"</w:tr>", 200)+"</w:tbl>"),
		"notes.docx":  docxFile(t, para("x"), part{"word/footnotes.xml", "<f><footnote w:id='1'>" + strings.Repeat(para("word word"), 500) + "</footnote></f>"}),
		"table.html":  []byte("<table>" + strings.Repeat("<tr><td>word<td>word", 500)),
		"sheet.xlsx":  sheetFile(t, "<row>"+strings.Repeat("<c t='str'><v>word word</v></c>", 500)+"</row>"),
		"rows.xlsx":   sheetFile(t, strings.Repeat("<row><c t='str'><v>word word</v></c><c><v>1</v></c></row>", 500)),
		"slides.pptx": slideFile(t, "<p:sld>"+shape("", strings.Repeat("<a:p><a:t>word word</a:t></a:p>", 500))+"</p:sld>"),
		"a.odt":       odfFile(t, media.ODT, "<office:text>"+strings.Repeat("<text:p>word word</text:p>", 500)+"</office:text>"),
		"a.epub":      epubFile(t, strings.Repeat("<p>word word</p>", 500)),
		"notes.odt":   odfFile(t, media.ODT, "<office:text><text:p>x"+strings.Repeat("<text:note><text:note-body><text:p>word word</text:p></text:note-body></text:note>", 500)+"</text:p></office:text>"),
		"boxes.docx":  docxFile(t, "<w:p>"+strings.Repeat("<w:txbxContent>"+para("word word word")+"</w:txbxContent>", 500)+"</w:p>"),
		"notes.rtf":   []byte(`{\rtf1 x` + strings.Repeat(`{\footnote word word}`, 500) + "}"),
		"a.rtf":       []byte(`{\rtf1 ` + strings.Repeat(`word word\par `, 500) + "}"),
		"a.xml":       []byte("<a>" + strings.Repeat("<b>word word</b>", 500) + "</a>"),
		"a.eml":       []byte("Subject: x\nFrom: a@b.example\nTo: x\nMIME-Version: 1.0\n\n" + strings.Repeat("word word\n", 500)),
		"a.mbox":      []byte(strings.Repeat("From x Wed Apr  8 07:30:00 2026\nSubject: x\nFrom: a@b.example\nTo: x\n\nword word\n\n", 200)),
	} {
		t.Run(name, func(t *testing.T) {
			doc, err := New().Parse(t.Context(), document.Input{Name: name, Data: data}, lim)
			if assert.NoError(t, err, name) {
				assert.LessOrEqual(t, len(doc.Text), 2000, name)
				assert.Greater(t, len(doc.Text), 900, name)
				assert.Contains(t, doc.Partial, "limit", name)
			}
		})
	}
}

func TestContainerLimits(t *testing.T) {
	t.Parallel()
	bomb := docxFile(t, para(strings.Repeat("a", 20<<20)))
	assert.Equal(t, document.LimitExceeded, parseKind(t, document.Input{Name: "a.docx", Data: bomb}, document.Limits{}))
	assert.Equal(t, document.LimitExceeded, parseKind(t, document.Input{Name: "a.docx", Data: bomb}, document.Limits{MaxRatio: 1 << 20, MaxExpanded: 1 << 20}))
	doc, err := New().Parse(t.Context(), document.Input{Name: "a.docx", Data: bomb}, document.Limits{MaxRatio: 1 << 20, MaxOutput: 32 << 20})
	require.NoError(t, err)
	assert.Len(t, doc.Text, 20<<20)

	many := make([]part, 50)
	for i := range many {
		many[i] = part{"f" + strconv.Itoa(i), "x"}
	}
	assert.Equal(t, document.LimitExceeded, parseKind(t, document.Input{Data: docxFile(t, para("x"), many...)}, document.Limits{MaxEntries: 40}))
	assert.Equal(t, document.LimitExceeded, parseKind(t, document.Input{Data: docxFile(t, strings.Repeat("<w:tbl><w:tr><w:tc>", 100)+para("x"))}, document.Limits{}))
}

func TestDamagedContainers(t *testing.T) {
	t.Parallel()
	var body strings.Builder
	for i := range 400 {
		body.WriteString(para("bed number " + strconv.Itoa(i*7919) + " of the garden"))
	}
	whole := docxFile(t, body.String(), part{"word/styles.xml", "<w:styles/>"})

	cut := mustParse(t, "a.docx", "", whole[:len(whole)/2])
	assert.Contains(t, cut.Text, "bed number 7919 of")
	assert.NotEmpty(t, cut.Partial)

	moved := mustParse(t, "a.docx", "", append([]byte("#!/bin/sh\n"), whole...)[10:])
	assert.Empty(t, moved.Partial)
	front := append([]byte("PK\x03\x04 in front of the archive "), whole...)
	assert.Empty(t, mustParse(t, "a.docx", "", front).Partial, "offsets count from the archive's beginning")

	flipped := bytes.Clone(whole)
	flipped[bytes.Index(flipped, []byte("word/document.xml"))+1200] ^= 0x10
	doc, err := New().Parse(t.Context(), document.Input{Name: "a.docx", Data: flipped}, document.Limits{})
	if err == nil {
		assert.NotEmpty(t, doc.Partial)
	}

	var locked bytes.Buffer
	z := zip.NewWriter(&locked)
	w, err := z.CreateHeader(&zip.FileHeader{Name: "word/document.xml", Flags: 1})
	require.NoError(t, err)
	_, err = w.Write([]byte("secret"))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	assert.Equal(t, document.Encrypted, parseKind(t, document.Input{Name: "a.docx", Data: locked.Bytes()}, document.Limits{}))

	assert.Equal(t, document.Malformed, parseKind(t, document.Input{Name: "a.docx", Data: []byte("PK\x03\x04")}, document.Limits{}))
	assert.Equal(t, document.Malformed, parseKind(t, document.Input{Name: "a.xlsx", Data: bytes.Repeat([]byte{0x80, 1, 2, 0xfe}, 50)}, document.Limits{}))
	assert.Equal(t, document.Malformed, parseKind(t, document.Input{Name: "a.docx", Data: container(t, part{"readme.txt", "no document"})}, document.Limits{}))
}

// TestHostileInputsAreQuick has inputs on which a careless parser takes quadratic time, or keeps many times their size in memory.
func TestHostileInputsAreQuick(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("computes in one goroutine: left out with -short")
	}
	for name, data := range map[string]string{
		"quotes.csv":   "a,b\n" + strings.Repeat("\"x,", 500_000),
		"wide.csv":     strings.Repeat("c,", 200_000) + "\n" + strings.Repeat("1\n", 50_000),
		"folded.eml":   "From: a@b.example\nTo: b\nSubject: x\n" + strings.Repeat(" y\n", 200_000) + "\nhi",
		"nested.eml":   "From: a@b.example\nTo: b\nSubject: x\n" + strings.Repeat("Content-Type: multipart/mixed; boundary=b\n\n--b\n", 20_000) + "\nhi",
		"cells.rtf":    `{\rtf1 \trowd\intbl` + strings.Repeat(` x\cell`, 200_000),
		"spans.html":   "<table>" + strings.Repeat("<tr><td rowspan=60000 colspan=200>x", 5000),
		"ends.html":    strings.Repeat("<a><b><i><u>", 100) + strings.Repeat("</div></p></table>", 200_000) + "x",
		"entities.xml": "<?xml version='1.0'?><!DOCTYPE a [" + strings.Repeat("<!ENTITY a 'b'>", 100_000) + "]><a>x</a>",
		"indent.json":  strings.Repeat(`{"a":`, 150) + "[1" + strings.Repeat(",1", 200_000),
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			_, err := New().Parse(t.Context(), document.Input{Name: name, Data: []byte(data)}, document.Limits{MaxOutput: 4 << 20})
			assert.NoError(t, err, name)
			assert.Less(t, time.Since(start), tooLong, name)
		})
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	for name, data := range sampleFiles(t) {
		switch name {
		case "a.txt", "a.md", "a.json":
			continue // read in one step
		}
		assert.Equal(t, document.Timeout, parseKind(t, document.Input{Name: name, Data: data}, document.Limits{Timeout: time.Nanosecond}), name)
	}
	doc, err := New().Parse(t.Context(), document.Input{Name: "a.html", Data: []byte("<p>x")}, document.Limits{Timeout: -1})
	require.NoError(t, err)
	assert.Equal(t, "x", doc.Text)
}

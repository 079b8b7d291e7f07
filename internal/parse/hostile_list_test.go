package parse

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/document"
)

// hostile is a file whose content is less than its name suggests.
type hostile struct {
	what, name string
	data       []byte
}

func zipped(parts ...string) []byte { // alternating names and contents
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i+1 < len(parts); i += 2 {
		f, _ := w.Create(parts[i])
		_, _ = f.Write([]byte(parts[i+1]))
	}
	_ = w.Close()
	return b.Bytes()
}

// overwritten replaces the text of an old office document by noise.
func overwritten(data, noise []byte) []byte {
	data = bytes.Clone(data)
	stream := bytes.Index(data, []byte{0xEC, 0xA5}) // a Word document
	if stream < 0 {
		stream = bytes.Index(data, []byte{9, 8, 16, 0}) // an Excel workbook
	}
	copy(data[stream+1536:], noise[:2048])
	return data
}

// hostileList returns hand-made files, and a truncated copy of each container in testdata.
func hostileList(t *testing.T) []hostile {
	const types = `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>`
	const word = `<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>Half a text</w:t></w:r></w:p>`
	const entity = `<?xml version="1.0"?><!DOCTYPE d [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>`
	ole := append([]byte{0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1}, make([]byte, 600)...)
	noise := make([]byte, 4096)
	rnd := rand.New(rand.NewPCG(3, 4))
	for i := range noise {
		noise[i] = byte(rnd.Uint32())
	}
	pdf := func(s string) []byte { return []byte("%PDF-1.7\n" + s) }
	list := []hostile{
		{"nothing in it", "empty.txt", nil},
		{"white space alone", "blank.txt", []byte(" \n\t\n ")},
		{"zeros", "zeros.txt", make([]byte, 4096)},
		{"noise", "noise.txt", noise},
		{"noise", "noise.pdf", noise},
		{"noise", "noise.docx", noise},
		{"noise", "noise.doc", noise},
		{"noise", "noise.epub", noise},
		{"noise behind a signature", "noise.zip", append([]byte("PK\x03\x04"), noise...)},
		{"noise behind a signature", "sig.pdf", pdf(string(noise))},
		{"a program", "tool.exe", append([]byte("MZ\x90\x00\x03\x00\x00\x00"), noise...)},
		{"a program named as text", "tool.txt", append([]byte("\x7fELF\x02\x01\x01\x00"), noise...)},
		{"a picture named as a document", "picture.docx", append([]byte("\x89PNG\r\n\x1a\n"), noise...)},
		{"a picture named as text", "picture.txt", append([]byte("\xff\xd8\xff\xe0\x00\x10JFIF\x00"), noise...)},
		{"sound", "sound.mp3", append([]byte("ID3\x04\x00\x00\x00\x00\x00\x00"), noise...)},
		{"a header alone", "header.pdf", pdf("")},
		{"no pages", "none.pdf", pdf("1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj trailer<</Root 1 0 R>>\n%%EOF")},
		{"pages that hold themselves", "loop.pdf", pdf("1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[2 0 R]/Count 1>>endobj trailer<</Root 1 0 R>>\n%%EOF")},
		{"a page without content", "blank.pdf", pdf("1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj 3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj trailer<</Root 1 0 R>>\n%%EOF")},
		{"content that is missing", "missing.pdf", pdf("1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj 3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 9 0 R>>endobj trailer<</Root 1 0 R>>\n%%EOF")},
		{"an unknown lock", "locked.pdf", pdf("1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj 4 0 obj<</Filter/Standard/V 9/R 9/O(x)/U(y)/P -1>>endobj trailer<</Root 1 0 R/Encrypt 4 0 R>>\n%%EOF")},
		{"no files", "empty.docx", zipped()},
		{"no document", "none.docx", zipped("[Content_Types].xml", types)},
		{"a document that ends early", "half.docx", zipped("[Content_Types].xml", types, "word/document.xml", word)},
		{"an empty document", "hollow.docx", zipped("[Content_Types].xml", types, "word/document.xml", "")},
		{"no workbook", "none.xlsx", zipped("[Content_Types].xml", types, "xl/other.xml", "<a/>")},
		{"no slides", "none.pptx", zipped("[Content_Types].xml", types, "ppt/presentation.xml", "<p/>")},
		{"no content", "none.odt", zipped("mimetype", "application/vnd.oasis.opendocument.text")},
		{"content that ends early", "half.odt", zipped("mimetype", "application/vnd.oasis.opendocument.text", "content.xml", "<office:document-content><office:body><office:text><text:p>Half")},
		{"no container", "none.epub", zipped("mimetype", "application/epub+zip")},
		{"a container that names nothing", "lost.epub", zipped("mimetype", "application/epub+zip", "META-INF/container.xml", `<container><rootfiles><rootfile full-path="x.opf"/></rootfiles></container>`)},
		{"nothing in it", "empty.zip", zipped()},
		{"pictures alone", "pictures.zip", zipped("a.png", "\x89PNG\r\n\x1a\n", "b.png", "\x89PNG\r\n\x1a\n")},
		{"not compressed", "plain.gz", append([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3}, noise...)},
		{"zeros behind a signature", "zeros.doc", ole},
		{"zeros behind a signature", "zeros.xls", ole},
		{"zeros behind a signature", "zeros.ppt", ole},
		{"zeros behind a signature", "zeros.msg", ole},
		{"entities of entities", "entities.fb2", []byte(entity + "<FictionBook><body><p>&b;</p>")},
		{"no markup", "empty.html", []byte("<html><head><script>var a = 1</script></head><body></body></html>")},
		{"no cells", "none.ipynb", []byte(`{"cells": [`)},
		{"a notebook that ends early", "half.ipynb", []byte(`{"nbformat":4,"cells":[{"cell_type":"markdown","source":["Half`)},
	}
	base64Noise := base64.StdEncoding.EncodeToString(noise)
	mail := func(fields, body string) []byte {
		return []byte("From: a@b.example\r\nTo: c@d.example\r\nSubject: news\r\nMIME-Version: 1.0\r\n" + fields + "\r\n\r\n" + body)
	}
	page := []byte("<!DOCTYPE html><html><head><title>Sign in</title></head><body><p>Please sign in.</p></body></html>")
	list = append(list, []hostile{
		{"a page instead of the download", "login.pdf", page},
		{"a page instead of the download", "login.docx", page},
		{"a page instead of the download", "login.xlsx", page},
		{"an error in JSON instead of the download", "error.pptx", []byte(`{"error": {"code": 403, "message": "not allowed"}}`)},
		{"base64 that is none", "broken.eml", mail("Content-Type: text/plain\r\nContent-Transfer-Encoding: base64", "!!!! not base64, (((just))) signs!!\r\n")},
		{"an encrypted part", "pgp.eml", mail(`Content-Type: multipart/encrypted; protocol="application/pgp-encrypted"; boundary=b`, "--b\r\nContent-Type: application/pgp-encrypted\r\n\r\nVersion: 1\r\n--b\r\nContent-Type: application/octet-stream\r\n\r\n-----BEGIN PGP MESSAGE-----\r\n\r\n"+base64Noise+"\r\n--b--\r\n")},
		{"an encrypted body", "inline.eml", mail("Content-Type: text/plain", "-----BEGIN PGP MESSAGE-----\r\n\r\n"+base64Noise+"\r\n-----END PGP MESSAGE-----\r\n")},
		{"an encrypted body", "smime.eml", mail("Content-Type: application/pkcs7-mime; smime-type=enveloped-data; name=smime.p7m\r\nContent-Transfer-Encoding: base64", base64Noise)},
		{"an encrypted text", "note.txt", []byte("-----BEGIN PGP MESSAGE-----\n\n" + base64Noise + "\n-----END PGP MESSAGE-----\n")},
		{"an encrypted text", "vault.yml", []byte("$ANSIBLE_VAULT;1.1;AES256\n" + hex.EncodeToString(noise))},
		{"data in base64", "data.txt", []byte(base64Noise)},
		{"data in digits", "digits.txt", []byte(hex.EncodeToString(noise))},
		{"no notebook", "none-either.ipynb", []byte(`{"nbformat":4,"cells":"none"}`)},
	}...)
	seeds := hostileSeeds(t)
	var names []string
	for name := range seeds {
		switch filepath.Ext(name) {
		case ".docx", ".xlsx", ".pptx", ".odt", ".epub", ".pdf", ".doc", ".xls":
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		list = append(list, hostile{"its first half", name, seeds[name][:len(seeds[name])/2]})
		if ext := filepath.Ext(name); ext == ".doc" || ext == ".xls" {
			list = append(list, hostile{"a text that was overwritten", name, overwritten(seeds[name], noise)})
		}
	}
	return list
}

// TestHostileList expects an error, or a reason in Partial, for each file of the list.
func TestHostileList(t *testing.T) {
	r := New()
	list := hostileList(t)
	require.Greater(t, len(list), 50)
	for _, h := range list {
		t.Run(h.name+", "+h.what, func(t *testing.T) {
			doc, err := r.Parse(t.Context(), document.Input{Name: h.name, Data: h.data}, document.Limits{})
			if err != nil {
				var e *document.Error
				require.ErrorAs(t, err, &e)
				assert.NotEmpty(t, e.Message())
				return
			}
			assert.NotEmpty(t, doc.Partial, "it was read as %.80q", strings.Join(strings.Fields(doc.Text), " "))
		})
	}
}

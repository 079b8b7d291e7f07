package output

import (
	"bytes"
	"strings"

	"github.com/contextmem/contextmem/internal/parse/clean"
)

// linkMark is an open link. It holds the offset where the text of the link begins, or -1 before the first text.
type linkMark struct {
	at   int
	url  string
	note bool // a reference to a note, whose number gets brackets
}

// LinkStart opens a link. LinkEnd closes the innermost one.
func (w *Writer) LinkStart(url string) {
	if len(w.links) < 16 {
		w.links = append(w.links, linkMark{at: -1, url: url})
	}
}

// NoteStart opens a reference to a note, which LinkEnd closes.
func (w *Writer) NoteStart() {
	if len(w.links) < 16 {
		w.links = append(w.links, linkMark{at: -1, note: true})
	}
}

// NoteLink makes the innermost link, if it leads to a place in the page and has no text yet, a reference to a note. It is called when
// superscript begins inside a link.
func (w *Writer) NoteLink() {
	if n := len(w.links); n > 0 && w.links[n-1].at < 0 && strings.HasPrefix(w.links[n-1].url, "#") {
		w.links[n-1].note = true
	}
}

// LinkEnd closes the innermost link. A link without text writes nothing.
func (w *Writer) LinkEnd() {
	if len(w.links) == 0 {
		return
	}
	l := w.links[len(w.links)-1]
	w.links = w.links[:len(w.links)-1]
	if l.note && l.at >= 0 && len(w.buf)-l.at <= 4 && !bytes.ContainsAny(w.buf[l.at:], "[](*\n") {
		// Without brackets the number would become part of the word before it.
		label := string(w.buf[l.at:])
		w.spent -= len(label)
		w.buf = w.buf[:l.at]
		w.put("[" + label + "]")
		return
	}
	url := LinkTarget(l.url)
	if l.at < 0 || l.at >= len(w.buf) || url == "" || w.Full {
		return
	}
	label := w.buf[l.at:]
	if bytes.ContainsAny(label, "\n") || len(label) > 4096 {
		return
	}
	bare := strings.TrimPrefix(url, "mailto:")
	if string(label) == bare || string(label) == strings.TrimSuffix(bare, "/") {
		return
	}
	w.put(" ") // room for the bracket
	copy(w.buf[l.at+1:], w.buf[l.at:])
	w.buf[l.at] = '['
	w.put("](" + url + ")")
}

// LinkTarget returns the address to keep, or "". It keeps absolute addresses and encodes characters that would end the link.
func LinkTarget(url string) string {
	url = strings.TrimSpace(url)
	scheme, _, ok := strings.Cut(url, ":")
	if !ok || len(url) > 2048 {
		return ""
	}
	switch strings.ToLower(scheme) {
	case "http", "https", "mailto", "ftp":
	default:
		return ""
	}
	if strings.ContainsAny(url, " ()<>\n\t\"|") {
		url = linkEscaper.Replace(url)
	}
	return clean.StripInvisible(url)
}

var linkEscaper = strings.NewReplacer(" ", "%20", "(", "%28", ")", "%29", "<", "%3C", ">", "%3E", "\n", "", "\t", "", `"`, "%22", "|", "%7C")

package parse

import (
	"bytes"
	"strings"
)

// linkMark is an open link: where its text begins, or -1 before the first text.
type linkMark struct {
	at   int
	url  string
	note bool // a reference to a note: its number gets brackets
}

// linkStart opens a link; linkEnd closes the innermost one.
func (w *writer) linkStart(url string) {
	if len(w.links) < 16 {
		w.links = append(w.links, linkMark{at: -1, url: url})
	}
}

// noteStart opens a reference to a note, which linkEnd closes.
func (w *writer) noteStart() {
	if len(w.links) < 16 {
		w.links = append(w.links, linkMark{at: -1, note: true})
	}
}

// noteLink makes a reference to a note of an open link within the page that holds nothing yet: its text is raised.
func (w *writer) noteLink() {
	if n := len(w.links); n > 0 && w.links[n-1].at < 0 && strings.HasPrefix(w.links[n-1].url, "#") {
		w.links[n-1].note = true
	}
}

func (w *writer) linkEnd() {
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
	url := linkTarget(l.url)
	if l.at < 0 || l.at >= len(w.buf) || url == "" || w.full {
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

// linkTarget returns the address to keep: absolute ones that lead somewhere, with what would end the link encoded.
func linkTarget(url string) string {
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
	return stripInvisible(url)
}

var linkEscaper = strings.NewReplacer(" ", "%20", "(", "%28", ")", "%29", "<", "%3C", ">", "%3E", "\n", "", "\t", "", `"`, "%22", "|", "%7C")

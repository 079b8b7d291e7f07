// Package light reads hand-written markup: reStructuredText, AsciiDoc, Org, LaTeX and manual pages. Headings, lists, tables, notes and code
// are returned as Markdown.
package light

import (
	"context"
	"strings"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/lazyregexp"
	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/output"
	"github.com/contextmem/contextmem/internal/parse/text"
)

// maxDepth bounds nested blocks. A deeper block is read as one paragraph.
const maxDepth = 24

// source is the text being read together with its metadata.
type source struct {
	ctx                         context.Context
	w                           *output.Writer
	title, author, date, locale string
	reasons                     []string
	steps                       int
}

// read opens a text, calls body to write the document and finishes the document.
func read(ctx context.Context, in document.Input, lim document.Limits, body func(s *source, text string)) (*document.Document, error) {
	plain, err := text.Parse(ctx, in, lim)
	if err != nil {
		return nil, err
	}
	s := &source{ctx: ctx, w: output.New(lim, len(plain.Text))}
	body(s, strings.ReplaceAll(plain.Text, "\t", "        "))
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	doc := s.w.Document()
	doc.Title, doc.Author, doc.Language = s.title, s.author, s.locale
	doc.Created = clean.Time(s.date)
	doc.AddPartial(plain.Partial)
	for _, r := range s.reasons {
		doc.AddPartial(r)
	}
	return output.Titled(doc), nil
}

// goOn reports whether the limits on output and time allow another block.
func (s *source) goOn() bool {
	s.steps++
	return !s.w.Full && (s.steps&255 != 0 || s.ctx.Err() == nil)
}

// partial records why text may be missing.
func (s *source) partial(reason string) {
	if len(s.reasons) < 4 {
		s.reasons = append(s.reasons, reason)
	}
}

// setTitle writes the title of the document as its first heading.
func (s *source) setTitle(title string) {
	if title = clean.OneLine(title); title != "" {
		if s.title == "" {
			s.title = title
		}
		s.heading(1, title)
	}
}

func (s *source) heading(level int, title string) {
	if title = strings.TrimSpace(title); title != "" {
		s.w.Heading(level)
		s.w.Text(title)
		s.w.Block()
	}
}

func (s *source) paragraph(text string) {
	if strings.TrimSpace(text) != "" {
		s.w.Block()
		s.w.Text(text)
		s.w.Block()
	}
}

// table writes rows of cells.
func (s *source) table(rows [][]string) {
	s.w.BeginTable()
	for _, row := range rows {
		if !s.goOn() {
			break
		}
		s.w.BeginRow()
		for _, c := range row {
			s.w.BeginCell(1, 1)
			s.w.Text(c)
		}
	}
	s.w.EndTable()
}

// code writes a block of code.
func (s *source) code(lang string, lines []string) {
	if strings.ContainsAny(lang, " `\n{}[],") || len(lang) > 20 {
		lang = ""
	}
	s.w.Fenced(strings.ToLower(lang), strings.Join(dedent(lines), "\n"))
}

// indentOf returns the number of leading spaces of a line, or -1 for a blank line.
func indentOf(line string) int {
	if n := len(line) - len(strings.TrimLeft(line, " ")); n < len(line) {
		return n
	}
	return -1
}

// dedent removes the indentation that all lines share and the blank lines around them.
func dedent(lines []string) []string {
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	least := -1
	for _, l := range lines {
		if n := indentOf(l); n >= 0 && (least < 0 || n < least) {
			least = n
		}
	}
	if least <= 0 {
		return lines
	}
	out := make([]string, len(lines))
	for i, l := range lines {
		if len(l) >= least {
			out[i] = l[least:]
		}
	}
	return out
}

// link returns a Markdown link, or only the text if the target is not an external address.
func link(text, url string) string {
	text = strings.TrimSpace(text)
	if u := output.LinkTarget(url); u != "" && u != text {
		if text == "" {
			return u
		}
		return "[" + text + "](" + u + ")"
	}
	if text == "" {
		return strings.TrimSpace(url)
	}
	return text
}

// replaceAll is regexp.Regexp.ReplaceAllStringFunc with access to the submatches.
func replaceAll(re *lazyregexp.Regexp, s string, f func(groups []string) string) string {
	at := re.FindAllStringSubmatchIndex(s, -1)
	if at == nil {
		return s
	}
	var b strings.Builder
	last := 0
	for _, m := range at {
		groups := make([]string, len(m)/2)
		for i := range groups {
			if m[2*i] >= 0 {
				groups[i] = s[m[2*i]:m[2*i+1]]
			}
		}
		b.WriteString(s[last:m[0]])
		b.WriteString(f(groups))
		last = m[1]
	}
	b.WriteString(s[last:])
	return b.String()
}

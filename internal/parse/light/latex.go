package light

import (
	"context"
	"strconv"
	"strings"

	"github.com/contextmem/contextmem/document"
)

const (
	// maxArgument bounds the braces that are searched for the end of an argument.
	maxArgument = 256 << 10
	// maxExpansions bounds the uses of macros that a text defines itself.
	maxExpansions = 20_000
	// maxMisses limits the failed searches for a closing delimiter.
	maxMisses = 200
)

// latex reads LaTeX. It handles the common document commands. It drops other commands but keeps the text in their braces.
type latex struct {
	*source
	para     strings.Builder
	lists    []latexList
	macros   map[string]string // macros without arguments that the text defines
	expanded int
	notes    []string
	top      int // level of the highest heading: 0 is \part, 1 \chapter, 2 \section
	depth    int
	misses   int // unclosed braces and formulas so far
}

type latexList struct {
	ordered bool
	n       int
}

// ParseLaTeX reads LaTeX.
func ParseLaTeX(ctx context.Context, in document.Input, lim document.Limits) (*document.Document, error) {
	return read(ctx, in, lim, func(s *source, text string) {
		l := &latex{source: s, macros: map[string]string{}, top: 2}
		text = uncomment(text)
		switch {
		case strings.Contains(text, `\part{`):
			l.top = 0
		case strings.Contains(text, `\chapter{`):
			l.top = 1
		}
		if i := strings.Index(text, `\begin{document}`); i >= 0 {
			l.preamble(text[:i])
			text = text[i+len(`\begin{document}`):]
			end := strings.LastIndex(text, `\end{document}`)
			if end < 0 {
				l.partial("the document ends before its end command, and may be cut off")
			} else {
				text = text[:end]
			}
		} else if strings.Contains(text, `\documentclass`) {
			l.partial("the document ends before its text begins, and may be cut off")
		}
		l.read(text)
		l.flush()
		for i, n := range l.notes {
			l.paragraph("[^" + strconv.Itoa(i+1) + "]: " + n)
		}
	})
}

// uncomment removes comments, except within verbatim text.
func uncomment(text string) string {
	var b strings.Builder
	verbatim := ""
	for line := range strings.Lines(text) {
		if verbatim == "" {
			for _, env := range verbatims {
				if strings.Contains(line, `\begin{`+env+`}`) {
					verbatim = `\end{` + env + `}`
				}
			}
		}
		if verbatim != "" {
			b.WriteString(line)
			if strings.Contains(line, verbatim) {
				verbatim = ""
			}
			continue
		}
		cut := -1
		for i := 0; i < len(line); i++ {
			if line[i] == '\\' {
				i++
			} else if line[i] == '%' {
				cut = i
				break
			}
		}
		switch {
		case cut < 0:
			b.WriteString(line)
		case strings.TrimSpace(line[:cut]) != "":
			b.WriteString(line[:cut]) // a comment includes the end of its line
		}
	}
	return b.String()
}

var verbatims = []string{"verbatim", "verbatim*", "lstlisting", "minted", "Verbatim", "alltt", "Highlighting"}

// preamble reads the metadata and the macro definitions of the document.
func (l *latex) preamble(text string) {
	for i := 0; i < len(text) && l.goOn(); {
		if text[i] != '\\' {
			i++
			continue
		}
		name, rest := command(text[i+1:])
		i = len(text) - len(rest)
		switch name {
		case "title", "author", "date":
			arg, after, ok := l.argument(rest)
			if !ok {
				continue
			}
			i = len(text) - len(after)
			value := strings.Join(strings.Fields(l.inline(strings.NewReplacer(`\and`, ",", `\\`, ", ").Replace(arg))), " ")
			switch name {
			case "title":
				l.source.title = value
			case "author":
				l.author = value
			case "date":
				l.date = value
			}
		case "newcommand", "renewcommand", "providecommand", "def":
			i = len(text) - len(l.define(rest))
		}
	}
}

// define stores a macro without arguments and returns the rest of the text.
func (l *latex) define(rest string) string {
	rest = strings.TrimPrefix(rest, "*")
	var name string
	if r := strings.TrimLeft(rest, " "); strings.HasPrefix(r, `\`) {
		name, rest = command(r[1:])
	} else if arg, after, ok := l.argument(rest); ok {
		name, rest = strings.TrimPrefix(strings.TrimSpace(arg), `\`), after
	}
	plain := true
	for {
		_, after, ok := option(rest)
		if !ok {
			break
		}
		plain, rest = false, after
	}
	if i := strings.IndexAny(rest, "{\n"); i > 0 && rest[i] == '{' && rest[0] == '#' {
		plain, rest = false, rest[i:]
	}
	body, after, ok := l.argument(rest)
	if ok && plain && name != "" && len(body) < 200 && len(l.macros) < 1000 && !strings.Contains(body, `\`+name) {
		l.macros[name] = body
	}
	return after
}

// command splits a command name from the rest of the text. A name is a run of letters or one other character.
func command(s string) (name, rest string) {
	i := 0
	for i < len(s) && (s[i] >= 'a' && s[i] <= 'z' || s[i] >= 'A' && s[i] <= 'Z' || s[i] == '@') {
		i++
	}
	if i == 0 && s != "" {
		return s[:1], s[1:]
	}
	return s[:i], s[i:]
}

// argument returns the next argument in braces.
func (l *latex) argument(s string) (arg, rest string, ok bool) {
	t := strings.TrimLeft(s, " \n")
	if t == "" || t[0] != '{' || l.misses > maxMisses {
		return "", s, false
	}
	depth := 0
	for i := 0; i < min(len(t), maxArgument); i++ {
		switch t[i] {
		case '\\':
			i++
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return t[1:i], t[i+1:], true
			}
		}
	}
	l.misses++
	return "", s, false
}

// option returns the next argument in brackets.
func option(s string) (opt, rest string, ok bool) {
	t := strings.TrimLeft(s, " ")
	if t == "" || t[0] != '[' {
		return "", s, false
	}
	depth := 0
	for i := 1; i < min(len(t), 4096); i++ {
		switch t[i] {
		case '\\':
			i++
		case '{':
			depth++
		case '}':
			depth--
		case ']':
			if depth <= 0 {
				return t[1:i], t[i+1:], true
			}
		}
	}
	return "", s, false
}

func (l *latex) flush() {
	t := l.para.String()
	l.para.Reset()
	l.paragraph(t)
}

// inline returns a short text with its commands processed.
func (l *latex) inline(s string) string {
	if !strings.ContainsAny(s, `\{}~$-'`+"`") {
		return s
	}
	if l.depth > maxDepth {
		return s
	}
	l.depth++
	defer func() { l.depth-- }()
	kept := l.para
	l.para = strings.Builder{}
	l.text(s, true)
	out := l.para.String()
	l.para = kept
	return out
}

// read reads blocks and text.
func (l *latex) read(s string) {
	if l.depth > maxDepth {
		l.para.WriteString(s)
		return
	}
	l.depth++
	l.text(s, false)
	l.depth--
}

// text processes s. With inline set, it does not begin paragraphs.
func (l *latex) text(s string, inline bool) {
	for s != "" {
		i := strings.IndexAny(s, "\\{}~$-`'\n")
		if i < 0 {
			l.para.WriteString(s)
			return
		}
		l.para.WriteString(s[:i])
		s = s[i:]
		if !l.goOn() {
			return
		}
		switch s[0] {
		case '\n':
			rest := strings.TrimLeft(s[1:], " ")
			if strings.HasPrefix(rest, "\n") && !inline {
				l.flush()
				s = strings.TrimLeft(rest, " \n")
				continue
			}
			l.para.WriteByte(' ')
			s = rest
		case '{', '}':
			s = s[1:]
		case '~':
			l.para.WriteByte(' ')
			s = s[1:]
		case '-':
			switch {
			case strings.HasPrefix(s, "---"):
				l.para.WriteString("—")
				s = s[3:]
			case strings.HasPrefix(s, "--"):
				l.para.WriteString("–")
				s = s[2:]
			default:
				l.para.WriteByte('-')
				s = s[1:]
			}
		case '`', '\'':
			if len(s) > 1 && s[1] == s[0] {
				l.para.WriteString(map[byte]string{'`': "“", '\'': "”"}[s[0]])
				s = s[2:]
				continue
			}
			l.para.WriteString(map[byte]string{'`': "‘", '\'': "’"}[s[0]])
			s = s[1:]
		case '$':
			s = l.math(s)
		case '\\':
			name, rest := command(s[1:])
			if name == "begin" && !inline {
				s = l.environment(rest)
				continue
			}
			s = l.command(name, rest, inline)
		}
	}
}

// math writes a formula unchanged.
func (l *latex) math(s string) string {
	mark := "$"
	if l.misses > maxMisses {
		return s[1:]
	}
	if strings.HasPrefix(s, "$$") {
		mark = "$$"
	}
	body := s[len(mark):min(len(s), maxArgument)]
	end := -1
	for i := 0; i < len(body); i++ {
		if body[i] == '\\' {
			i++
		} else if strings.HasPrefix(body[i:], mark) {
			end = i
			break
		}
	}
	if end < 0 {
		l.misses++
		return s[len(mark):]
	}
	l.para.WriteString(mark + strings.Join(strings.Fields(body[:end]), " ") + mark)
	return s[len(mark)+end+len(mark):]
}

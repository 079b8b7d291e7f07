package light

import (
	"strconv"
	"strings"
)

func (l *latex) item(rest string) string {
	l.flush()
	label, after, ok := option(rest)
	if ok {
		rest = after
	}
	if len(l.lists) == 0 {
		l.lists = append(l.lists, latexList{})
	}
	top := &l.lists[len(l.lists)-1]
	top.n++
	mark := "-"
	if top.ordered {
		mark = strconv.Itoa(top.n) + "."
	}
	// The item ends at the next item, at a nested list, or at the end of its list.
	end := len(rest)
	for _, stop := range []string{`\item`, `\begin{`, `\end{`, "\n\n"} {
		if i := strings.Index(rest[:end], stop); i >= 0 {
			end = i
		}
	}
	text := strings.TrimSpace(l.inline(rest[:end]))
	if ok && strings.TrimSpace(label) != "" {
		text = strings.TrimSpace(l.inline(label)) + ": " + text
	}
	l.w.Item(len(l.lists)-1, mark)
	l.w.Text(text)
	return rest[end:]
}

// environment reads the environment that \begin opens and returns the rest of the text.
func (l *latex) environment(rest string) string {
	name, rest, ok := l.argument(rest)
	if !ok {
		return rest
	}
	for _, v := range verbatims {
		if v == name {
			l.flush()
			opts, after, _ := option(rest)
			lang := ""
			if name == "minted" {
				lang, after, _ = l.argument(after)
			} else if _, value, ok := strings.Cut(opts, "language="); ok {
				lang, _, _ = strings.Cut(strings.Trim(value, "{}"), ",")
			}
			body, after, ended := strings.Cut(after, `\end{`+name+`}`)
			if !ended {
				l.partial("a block of the text does not end, and it may be cut off")
			}
			lines := strings.Split(strings.TrimPrefix(body, "\n"), "\n")
			if name == "Highlighting" {
				for i := range lines {
					lines[i] = l.inline(lines[i])
				}
			}
			l.code(lang, lines)
			return after
		}
	}
	switch strings.TrimSuffix(name, "*") {
	case "itemize", "enumerate", "description", "compactitem", "compactenum":
		_, rest, _ = option(rest)
		body, after := l.inside(name, rest)
		l.flush()
		l.lists = append(l.lists, latexList{ordered: strings.Contains(name, "enum")})
		n := len(l.lists)
		l.read(body)
		l.flush()
		if len(l.lists) >= n {
			l.lists = l.lists[:n-1]
		}
		if n == 1 {
			l.w.Block()
		}
		return after
	case "tabular", "tabularx", "tabulary", "longtable", "array", "supertabular", "tblr", "longtblr":
		_, rest, _ = option(rest)
		if name == "tabularx" || name == "tabulary" || name == "tabular*" {
			_, rest, _ = l.argument(rest)
		}
		_, rest, _ = option(rest)
		_, rest, _ = l.argument(rest)
		body, after := l.inside(name, rest)
		l.flush()
		l.tabular(body)
		return after
	case "equation", "align", "gather", "multline", "eqnarray", "displaymath", "math", "flalign":
		body, after := l.inside(name, rest)
		l.flush()
		l.paragraph("$$" + strings.Join(strings.Fields(body), " ") + "$$")
		return after
	case "thebibliography":
		_, rest, _ = l.argument(rest)
	case "comment", "filecontents", "tikzpicture", "picture", "pgfpicture":
		_, after := l.inside(name, rest)
		return after
	case "minipage", "wrapfigure", "multicols", "adjustbox":
		_, rest, _ = option(rest)
		_, rest, _ = l.argument(rest)
		if name == "wrapfigure" {
			_, rest, _ = l.argument(rest)
		}
	case "abstract":
		l.flush()
		l.heading(2, "Abstract")
	default:
		l.flush()
	}
	_, rest, _ = option(rest)
	return rest // its \end is handled as a command
}

// inside returns the body of an environment whose \begin was read, and the text after its \end.
func (l *latex) inside(name, s string) (body, rest string) {
	begin, end := `\begin{`+name+`}`, `\end{`+name+`}`
	depth, at := 1, 0
	for l.goOn() {
		e := strings.Index(s[at:], end)
		if e < 0 {
			break
		}
		if b := strings.Index(s[at:at+e], begin); b >= 0 {
			depth++
			at += b + len(begin)
			continue
		}
		at += e + len(end)
		if depth--; depth == 0 {
			return s[:at-len(end)], s[at:]
		}
	}
	l.partial("a block of the text does not end, and it may be cut off")
	return s, ""
}

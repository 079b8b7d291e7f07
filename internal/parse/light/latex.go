package light

import (
	"context"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/contextmem/contextmem/document"
)

const (
	// maxArgument bounds the braces that are searched for the end of an argument.
	maxArgument = 256 << 10
	// maxExpansions bounds the uses of macros that a text defines itself.
	maxExpansions = 20_000
	// maxMisses bounds how often an end is searched for in vain.
	maxMisses = 200
)

// latex reads LaTeX. It knows the commands of documents, and leaves others out but keeps what their braces hold.
type latex struct {
	*source
	para     strings.Builder
	lists    []latexList
	macros   map[string]string // those without arguments that the text defines
	expanded int
	notes    []string
	top      int // the level of the highest heading: 0 is \part, 1 \chapter, 2 \section
	depth    int
	misses   int // braces and formulas that do not end
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

// uncomment takes the comments out; those in verbatim text count as text.
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
			b.WriteString(line[:cut]) // a comment takes the line's end with it
		}
	}
	return b.String()
}

var verbatims = []string{"verbatim", "verbatim*", "lstlisting", "minted", "Verbatim", "alltt", "Highlighting"}

// preamble takes what is said of the document, and the macros that it defines.
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

// define keeps a macro without arguments and returns what follows.
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

// command parts the name of a command from what follows: letters, or one other character.
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

// argument returns what stands in braces next.
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

// option returns what stands in brackets next.
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

// inline returns a short text with its commands read.
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

// text reads s; inline text keeps to one paragraph.
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

// math keeps a formula as it stands.
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

var latexSections = map[string]int{"part": 0, "chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4, "paragraph": 5, "subparagraph": 6, "frametitle": 2, "addchap": 1, "addsec": 2}

// latexSigns are commands that stand for characters.
var latexSigns = map[string]string{"&": "&", "%": "%", "$": "$", "#": "#", "_": "_", "{": "{", "}": "}", " ": " ", ",": " ", ";": " ", ":": " ",
	"ldots": "…", "dots": "…", "textellipsis": "…", "textbackslash": `\`, "textasciitilde": "~", "textasciicircum": "^", "LaTeX": "LaTeX", "TeX": "TeX", "ss": "ß",
	"ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "o": "ø", "O": "Ø", "aa": "å", "AA": "Å", "l": "ł", "L": "Ł", "i": "ı", "j": "ȷ", "euro": "€", "texteuro": "€",
	"pounds": "£", "textsterling": "£", "copyright": "©", "textcopyright": "©", "textregistered": "®", "texttrademark": "™", "S": "§", "P": "¶", "textdegree": "°",
	"degree": "°", "textendash": "–", "textemdash": "—", "textquotedblleft": "“", "textquotedblright": "”", "textquoteleft": "‘", "textquoteright": "’",
	"textquotesingle": "'", "guillemotleft": "«", "guillemotright": "»", "glqq": "„", "grqq": "“", "textbar": "|", "textless": "<", "textgreater": ">",
	"textunderscore": "_", "quad": " ", "qquad": " ", "slash": "/", "dag": "†", "ddag": "‡", "textbullet": "•", "textmu": "µ", "texttimes": "×", "BibTeX": "BibTeX",
	"today": "", "/": "", "-": "", "@": "", "!": "", "hfill": " ", "newline": " ", "linebreak": " "}

// latexAccents are commands that put a mark on the next letter.
var latexAccents = map[string]string{"'": "\u0301", "`": "\u0300", "^": "\u0302", `"`: "\u0308", "~": "\u0303", "=": "\u0304", ".": "\u0307", "c": "\u0327",
	"v": "\u030c", "u": "\u0306", "H": "\u030b", "k": "\u0328", "r": "\u030a", "b": "\u0331", "d": "\u0323"}

// latexDrops are commands whose arguments are no text, with how many they have.
var latexDrops = map[string]int{"label": 1, "vspace": 1, "hspace": 1, "includegraphics": 1, "usepackage": 1, "documentclass": 1, "bibliographystyle": 1,
	"pagestyle": 1, "thispagestyle": 1, "setlength": 2, "addtolength": 2, "setcounter": 2, "addtocounter": 2, "color": 1, "index": 1, "hypertarget": 1, "phantom": 1,
	"rule": 2, "fontsize": 2, "selectlanguage": 1, "pagenumbering": 1, "graphicspath": 1, "nocite": 1, "addcontentsline": 3, "markboth": 2, "cline": 1,
	"cmidrule": 1, "arraystretch": 1, "hypersetup": 1, "definecolor": 3, "captionsetup": 1, "vskip": 0, "hline": 0, "newpage": 0, "pagebreak": 0, "clearpage": 0,
	"textcolor": 1, "colorbox": 1, "resizebox": 2, "scalebox": 1, "parbox": 1, "raisebox": 1, "foreignlanguage": 1, "theoremstyle": 1, "newtheorem": 2}

func (l *latex) command(name, rest string, inline bool) string {
	if level, ok := latexSections[name]; ok && !inline {
		rest = strings.TrimPrefix(rest, "*")
		_, rest, _ = option(rest)
		if arg, after, ok := l.argument(rest); ok {
			l.flush()
			l.lists = nil
			l.heading(min(max(level-l.top, 0)+2, 6), l.inline(arg))
			return after
		}
		return rest
	}
	if text, ok := latexSigns[name]; ok {
		l.para.WriteString(text)
		if name[0] >= 'A' && strings.HasPrefix(rest, "{}") {
			return rest[2:]
		}
		if name[0] >= 'A' {
			return strings.TrimPrefix(rest, " ")
		}
		return rest
	}
	if mark, ok := latexAccents[name]; ok {
		return l.accent(mark, rest)
	}
	if body, ok := l.macros[name]; ok && l.expanded < maxExpansions {
		l.expanded++
		l.para.WriteString(l.inline(body))
		return strings.TrimPrefix(rest, "{}")
	}
	if n, ok := latexDrops[name]; ok {
		_, rest, _ = option(strings.TrimPrefix(rest, "*"))
		for range n {
			_, rest, _ = l.argument(rest)
			_, rest, _ = option(rest)
		}
		return rest
	}
	switch name {
	case `\`, "tabularnewline":
		_, rest, _ = option(rest)
		l.para.WriteByte(' ')
		return rest
	case "par", "bigskip", "medskip", "smallskip", "noindent":
		if !inline && name != "noindent" {
			l.flush()
		}
		return rest
	case "maketitle":
		l.flush()
		title := l.source.title
		l.setTitle(title)
		l.paragraph(strings.Trim(l.author+"\n"+l.date, "\n"))
		return rest
	case "title", "author", "date":
		if arg, after, ok := l.argument(rest); ok {
			l.preamble(`\` + name + "{" + arg + "}")
			return after
		}
		return rest
	case "newcommand", "renewcommand", "providecommand", "def":
		return l.define(rest)
	case "let":
		for range 2 {
			if t := strings.TrimLeft(rest, " ="); strings.HasPrefix(t, `\`) {
				_, rest = command(t[1:])
			}
		}
		return rest
	case "item":
		if !inline {
			return l.item(rest)
		}
		return rest
	case "footnote", "thanks":
		if arg, after, ok := l.argument(rest); ok && len(l.notes) < 10_000 {
			l.notes = append(l.notes, "")
			n := len(l.notes)
			l.para.WriteString("[^" + strconv.Itoa(n) + "]")
			l.notes[n-1] = strings.Join(strings.Fields(l.inline(arg)), " ")
			return after
		}
	case "caption":
		_, rest, _ = option(strings.TrimPrefix(rest, "*"))
		if arg, after, ok := l.argument(rest); ok && !inline {
			l.flush()
			l.paragraph(l.inline(arg))
			return after
		}
	case "href":
		if url, after, ok := l.argument(rest); ok {
			if text, after2, ok := l.argument(after); ok {
				l.para.WriteString(link(l.inline(text), strings.ReplaceAll(url, `\`, "")))
				return after2
			}
		}
	case "url", "nolinkurl", "path":
		if arg, after, ok := l.argument(rest); ok {
			l.para.WriteString(strings.ReplaceAll(arg, `\`, ""))
			return after
		}
	case "texttt", "lstinline", "code", "verb":
		return l.codeWord(name, rest)
	case "cite", "citep", "citet", "ref", "eqref", "pageref", "autoref", "cref", "Cref", "parencite", "textcite", "autocite":
		for {
			_, after, ok := option(rest)
			if !ok {
				break
			}
			rest = after
		}
		if arg, after, ok := l.argument(rest); ok {
			l.para.WriteString("[" + arg + "]")
			return after
		}
	case "textbf", "textit", "emph":
		if arg, after, ok := l.argument(rest); ok && strings.TrimSpace(arg) != "" {
			mark := "*"
			if name == "textbf" {
				mark = "**"
			}
			l.para.WriteString(mark + strings.TrimSpace(l.inline(arg)) + mark)
			return after
		}
	case "input", "include":
		l.partial("a file that the text includes is not part of it")
		_, rest, _ = l.argument(rest)
		return rest
	case "(", "[":
		if l.misses > maxMisses {
			return rest
		}
		end := strings.Index(rest[:min(len(rest), maxArgument)], `\`+map[string]string{"(": ")", "[": "]"}[name])
		if end >= 0 {
			mark := map[string]string{"(": "$", "[": "$$"}[name]
			l.para.WriteString(mark + strings.Join(strings.Fields(rest[:end]), " ") + mark)
			return rest[end+2:]
		}
		l.misses++
		return rest
	case "end":
		_, rest, _ = l.argument(rest)
		return rest
	}
	_, rest, _ = option(rest)
	return strings.TrimPrefix(rest, " ")
}

// codeWord writes code within a line.
func (l *latex) codeWord(name, rest string) string {
	_, rest, _ = option(strings.TrimPrefix(rest, "*"))
	if arg, after, ok := l.argument(rest); ok && name != "verb" {
		if t := strings.TrimSpace(l.inline(arg)); t != "" {
			l.para.WriteString("`" + t + "`")
		}
		return after
	}
	if rest != "" {
		if end := strings.IndexByte(rest[1:min(len(rest), 1000)], rest[0]); end >= 0 && !strings.Contains(rest[1:end+1], "\n") {
			l.para.WriteString("`" + rest[1:end+1] + "`")
			return rest[end+2:]
		}
	}
	return rest
}

// accent writes the next letter with a mark.
func (l *latex) accent(mark, rest string) string {
	letter, after, ok := l.argument(rest)
	if !ok {
		t := strings.TrimLeft(rest, " ")
		if strings.HasPrefix(t, `\i`) || strings.HasPrefix(t, `\j`) {
			letter, after = t[1:2], t[2:]
		} else if t != "" && (t[0] >= 'a' && t[0] <= 'z' || t[0] >= 'A' && t[0] <= 'Z') {
			letter, after = t[:1], t[1:]
		} else {
			return rest
		}
	}
	letter = strings.NewReplacer(`\i`, "i", `\j`, "j", "{", "", "}", "").Replace(letter)
	if letter == "" {
		return after
	}
	l.para.WriteString(norm.NFC.String(letter[:1] + mark + letter[1:]))
	return after
}

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
	// The text of the item ends with the next one, a list in it, or its list.
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

// environment reads what \begin opens and returns what follows it.
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
	return rest // its end is read as a command
}

// inside returns the body of an environment whose begin was read, and what follows its end.
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

// tabular writes the rows of a table.
func (l *latex) tabular(body string) {
	var rows [][]string
	for _, line := range splitAt(body, `\\`) {
		_, line, _ = option(strings.TrimPrefix(line, "*"))
		for {
			t := strings.TrimSpace(line)
			name, rest := "", ""
			if strings.HasPrefix(t, `\`) {
				name, rest = command(t[1:])
			}
			switch name {
			case "hline", "toprule", "midrule", "bottomrule", "endhead", "endfirsthead", "endfoot", "endlastfoot", "addlinespace", "noalign", "cline", "cmidrule", "specialrule":
				line = rest
				if strings.HasPrefix(line, "(") {
					_, line, _ = strings.Cut(line, ")")
				}
				_, line, _ = option(line)
				for {
					_, after, ok := l.argument(line)
					if !ok {
						break
					}
					line = after
				}
				continue
			}
			break
		}
		if strings.TrimSpace(line) == "" {
			continue
		}
		var row []string
		for _, cell := range splitAt(line, "&") {
			t, span := strings.TrimSpace(cell), 1
			for _, spanning := range []string{`\multicolumn`, `\multirow`} {
				rest, ok := strings.CutPrefix(t, spanning)
				if !ok {
					continue
				}
				_, rest, _ = option(rest)
				n, rest, _ := l.argument(rest)
				_, rest, _ = option(rest)
				_, rest, _ = l.argument(rest)
				_, rest, _ = option(rest)
				if inner, after, ok := l.argument(rest); ok {
					t = strings.TrimSpace(inner + after)
				}
				if k, err := strconv.Atoi(n); err == nil && spanning == `\multicolumn` {
					span = max(1, min(k, 64))
				}
			}
			row = append(row, strings.Join(strings.Fields(l.inline(t)), " "))
			for range span - 1 {
				row = append(row, "")
			}
		}
		rows = append(rows, row)
	}
	l.table(rows)
}

// splitAt parts a text at a mark that stands in no braces or environments.
func splitAt(s, mark string) []string {
	var out []string
	depth, from := 0, 0
	for i := 0; i < len(s); i++ {
		switch {
		case depth == 0 && strings.HasPrefix(s[i:], mark):
			out = append(out, s[from:i])
			i += len(mark) - 1
			from = i + 1
		case strings.HasPrefix(s[i:], `\begin{`):
			depth++
			i += len(`\begin{`) - 1
			for i < len(s) && s[i] != '}' {
				i++
			}
		case strings.HasPrefix(s[i:], `\end{`):
			depth = max(0, depth-1)
			i += len(`\end{`) - 1
			for i < len(s) && s[i] != '}' {
				i++
			}
		case s[i] == '\\':
			i++
		case s[i] == '{':
			depth++
		case s[i] == '}':
			depth = max(0, depth-1)
		}
	}
	return append(out, s[from:])
}

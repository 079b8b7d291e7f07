package light

import (
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// latexSections maps the sectioning commands to their level.
var latexSections = map[string]int{"part": 0, "chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4, "paragraph": 5, "subparagraph": 6, "frametitle": 2, "addchap": 1, "addsec": 2}

// latexSigns maps commands to the characters that they represent.
var latexSigns = map[string]string{"&": "&", "%": "%", "$": "$", "#": "#", "_": "_", "{": "{", "}": "}", " ": " ", ",": " ", ";": " ", ":": " ",
	"ldots": "…", "dots": "…", "textellipsis": "…", "textbackslash": `\`, "textasciitilde": "~", "textasciicircum": "^", "LaTeX": "LaTeX", "TeX": "TeX", "ss": "ß",
	"ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "o": "ø", "O": "Ø", "aa": "å", "AA": "Å", "l": "ł", "L": "Ł", "i": "ı", "j": "ȷ", "euro": "€", "texteuro": "€",
	"pounds": "£", "textsterling": "£", "copyright": "©", "textcopyright": "©", "textregistered": "®", "texttrademark": "™", "S": "§", "P": "¶", "textdegree": "°",
	"degree": "°", "textendash": "–", "textemdash": "—", "textquotedblleft": "“", "textquotedblright": "”", "textquoteleft": "‘", "textquoteright": "’",
	"textquotesingle": "'", "guillemotleft": "«", "guillemotright": "»", "glqq": "„", "grqq": "“", "textbar": "|", "textless": "<", "textgreater": ">",
	"textunderscore": "_", "quad": " ", "qquad": " ", "slash": "/", "dag": "†", "ddag": "‡", "textbullet": "•", "textmu": "µ", "texttimes": "×", "BibTeX": "BibTeX",
	"today": "", "/": "", "-": "", "@": "", "!": "", "hfill": " ", "newline": " ", "linebreak": " "}

// latexAccents maps commands to the combining mark that they put on the next letter.
var latexAccents = map[string]string{"'": "\u0301", "`": "\u0300", "^": "\u0302", `"`: "\u0308", "~": "\u0303", "=": "\u0304", ".": "\u0307", "c": "\u0327",
	"v": "\u030c", "u": "\u0306", "H": "\u030b", "k": "\u0328", "r": "\u030a", "b": "\u0331", "d": "\u0323"}

// latexDrops maps commands whose arguments are not text to their number of arguments.
var latexDrops = map[string]int{"label": 1, "vspace": 1, "hspace": 1, "includegraphics": 1, "usepackage": 1, "documentclass": 1, "bibliographystyle": 1,
	"pagestyle": 1, "thispagestyle": 1, "setlength": 2, "addtolength": 2, "setcounter": 2, "addtocounter": 2, "color": 1, "index": 1, "hypertarget": 1, "phantom": 1,
	"rule": 2, "fontsize": 2, "selectlanguage": 1, "pagenumbering": 1, "graphicspath": 1, "nocite": 1, "addcontentsline": 3, "markboth": 2, "cline": 1,
	"cmidrule": 1, "arraystretch": 1, "hypersetup": 1, "definecolor": 3, "captionsetup": 1, "vskip": 0, "hline": 0, "newpage": 0, "pagebreak": 0, "clearpage": 0,
	"textcolor": 1, "colorbox": 1, "resizebox": 2, "scalebox": 1, "parbox": 1, "raisebox": 1, "foreignlanguage": 1, "theoremstyle": 1, "newtheorem": 2}

// command reads a command and its arguments in rest, and returns what follows them. inline says that a paragraph is open.
func (l *latex) command(name, rest string, inline bool) string {
	if level, ok := latexSections[name]; ok && !inline {
		return l.section(level, rest)
	}
	if text, ok := latexSigns[name]; ok {
		return l.character(name, text, rest)
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
		return l.drop(n, rest)
	}
	if after, ok := l.structure(name, rest, inline); ok {
		return after
	}
	rest, ok := l.words(name, rest, inline)
	if ok {
		return rest
	}
	_, rest, _ = option(rest) // the arguments of an unknown command are text
	return strings.TrimPrefix(rest, " ")
}

// section writes the heading of a sectioning command.
func (l *latex) section(level int, rest string) string {
	_, rest, _ = option(strings.TrimPrefix(rest, "*"))
	arg, after, ok := l.argument(rest)
	if !ok {
		return rest
	}
	l.flush()
	l.lists = nil
	l.heading(min(max(level-l.top, 0)+2, 6), l.inline(arg))
	return after
}

// character writes the character that a command represents. A name of letters ends in "{}" or a space.
func (l *latex) character(name, text, rest string) string {
	l.para.WriteString(text)
	if name[0] < 'A' {
		return rest
	}
	if after, ok := strings.CutPrefix(rest, "{}"); ok {
		return after
	}
	return strings.TrimPrefix(rest, " ")
}

// drop skips n arguments that are not text.
func (l *latex) drop(n int, rest string) string {
	_, rest, _ = option(strings.TrimPrefix(rest, "*"))
	for range n {
		_, rest, _ = l.argument(rest)
		_, rest, _ = option(rest)
	}
	return rest
}

// structure reads a command that begins a block, defines something or has no text. ok is false for other commands.
func (l *latex) structure(name, rest string, inline bool) (after string, ok bool) {
	switch name {
	case `\`, "tabularnewline":
		_, rest, _ = option(rest)
		l.para.WriteByte(' ')
	case "par", "bigskip", "medskip", "smallskip":
		if !inline {
			l.flush()
		}
	case "noindent":
	case "maketitle":
		l.flush()
		title := l.source.title
		l.setTitle(title)
		l.paragraph(strings.Trim(l.author+"\n"+l.date, "\n"))
	case "title", "author", "date":
		if arg, after, ok := l.argument(rest); ok {
			l.preamble(`\` + name + "{" + arg + "}")
			return after, true
		}
	case "newcommand", "renewcommand", "providecommand", "def":
		return l.define(rest), true
	case "let":
		for range 2 {
			if t := strings.TrimLeft(rest, " ="); strings.HasPrefix(t, `\`) {
				_, rest = command(t[1:])
			}
		}
	case "item":
		if !inline {
			return l.item(rest), true
		}
	case "input", "include":
		l.partial("a file that the text includes is not part of it")
		_, rest, _ = l.argument(rest)
	case "end":
		_, rest, _ = l.argument(rest)
	default:
		return "", false
	}
	return rest, true
}

// words writes the words of a command within a paragraph, and returns what follows them. ok is false if it is no such command or its argument is
// missing; after is then what an unknown command has before it.
func (l *latex) words(name, rest string, inline bool) (after string, ok bool) {
	switch name {
	case "footnote", "thanks":
		return l.footnote(rest)
	case "caption":
		return l.caption(rest, inline)
	case "href":
		return l.href(rest)
	case "url", "nolinkurl", "path":
		if arg, after, ok := l.argument(rest); ok {
			l.para.WriteString(strings.ReplaceAll(arg, `\`, ""))
			return after, true
		}
	case "texttt", "lstinline", "code", "verb":
		return l.codeWord(name, rest), true
	case "cite", "citep", "citet", "ref", "eqref", "pageref", "autoref", "cref", "Cref", "parencite", "textcite", "autocite":
		return l.reference(rest)
	case "textbf":
		return l.emphasis("**", rest)
	case "textit", "emph":
		return l.emphasis("*", rest)
	case "(":
		return l.formula("$", `\)`, rest), true
	case "[":
		return l.formula("$$", `\]`, rest), true
	}
	return rest, false
}

// maxNotes bounds the footnotes of a text.
const maxNotes = 10_000

func (l *latex) footnote(rest string) (after string, ok bool) {
	arg, after, ok := l.argument(rest)
	if !ok || len(l.notes) >= maxNotes {
		return rest, false
	}
	l.notes = append(l.notes, "") // before the notes within this one
	n := len(l.notes)
	l.para.WriteString("[^" + strconv.Itoa(n) + "]")
	l.notes[n-1] = strings.Join(strings.Fields(l.inline(arg)), " ")
	return after, true
}

func (l *latex) caption(rest string, inline bool) (after string, ok bool) {
	_, rest, _ = option(strings.TrimPrefix(rest, "*"))
	arg, after, ok := l.argument(rest)
	if !ok || inline {
		return rest, false
	}
	l.flush()
	l.paragraph(l.inline(arg))
	return after, true
}

func (l *latex) href(rest string) (after string, ok bool) {
	url, after, ok := l.argument(rest)
	if !ok {
		return rest, false
	}
	text, after, ok := l.argument(after)
	if !ok {
		return rest, false
	}
	l.para.WriteString(link(l.inline(text), strings.ReplaceAll(url, `\`, "")))
	return after, true
}

// reference writes the key of a citation or of another place in the text.
func (l *latex) reference(rest string) (after string, ok bool) {
	for ok = true; ok; {
		_, rest, ok = option(rest)
	}
	arg, after, ok := l.argument(rest)
	if !ok {
		return rest, false
	}
	l.para.WriteString("[" + arg + "]")
	return after, true
}

func (l *latex) emphasis(mark, rest string) (after string, ok bool) {
	arg, after, ok := l.argument(rest)
	if !ok || strings.TrimSpace(arg) == "" {
		return rest, false
	}
	l.para.WriteString(mark + strings.TrimSpace(l.inline(arg)) + mark)
	return after, true
}

// formula writes the formula that ends before the given delimiter.
func (l *latex) formula(mark, end, rest string) string {
	if l.misses > maxMisses {
		return rest
	}
	formula, _, ok := strings.Cut(rest[:min(len(rest), maxArgument)], end)
	if !ok {
		l.misses++
		return rest
	}
	l.para.WriteString(mark + strings.Join(strings.Fields(formula), " ") + mark)
	return rest[len(formula)+len(end):]
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

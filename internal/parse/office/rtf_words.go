package office

import (
	"strconv"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"

	"github.com/contextmem/contextmem/internal/parse/output"
)

// rtfChars maps control words to the characters that they represent.
var rtfChars = map[string]string{
	"tab": " ", "emdash": "\u2014", "endash": "\u2013", "emspace": " ", "enspace": " ", "qmspace": " ",
	"bullet": "\u2022", "lquote": "\u2018", "rquote": "\u2019", "ldblquote": "\u201c", "rdblquote": "\u201d",
	"zwj": "\u200d", "zwnj": "\u200c",
}

// maxFallback is the maximum length of the characters after \u that stand for one Unicode character in readers without Unicode. A larger
// \uc is damage: the text after it would be lost.
const maxFallback = 8

// rtfSkipped lists destinations that are not text of the document.
var rtfSkipped = map[string]bool{
	"colortbl": true, "pict": true, "objdata": true, "objclass": true, "listtable": true,
	"listoverridetable": true, "revtbl": true, "rsidtbl": true, "generator": true, "themedata": true,
	"colorschememapping": true, "latentstyles": true, "datastore": true, "filetbl": true, "header": true, "headerl": true,
	"headerr": true, "headerf": true, "footer": true, "footerl": true, "footerr": true, "footerf": true, "ftnsep": true,
	"ftnsepc": true, "ftncn": true, "aftnsep": true, "aftnsepc": true, "aftncn": true, "xe": true, "tc": true, "tcn": true,
	"bkmkstart": true, "bkmkend": true, "atnid": true, "atnauthor": true, "atntime": true, "atndate": true, "atnref": true,
	"nonshppict": true, "sp": true, "datafield": true, "formfield": true, "private": true, "xmlnstbl": true,
	"mmathPr": true, "wgrffmtfilter": true, "pgptbl": true, "nextfile": true, "template": true, "fontemb": true,
	"fontfile": true, "pnseclvl": true, "falt": true, "panose": true, "blipuid": true,
	"listname": true, "nonesttables": true, "leveltext": true, "levelnumbers": true, "userprops": true, "passwordhash": true,
}

// word handles a control word.
func (r *rtfReader) word(word string, arg int, has bool) {
	if rtfSkipped[word] {
		r.state.dest = destSkip
		return
	}
	on := !has || arg != 0
	if r.charsetWord(word, arg) || r.destination(word) || r.tableWord(word, arg, on) {
		return
	}
	s := &r.state
	switch word {
	case "par", "sect", "page":
		r.paragraph()
	case "line", "lbr", "softline":
		if s.dest == destText {
			r.w.Newline()
		}
	case "pard":
		s.intbl, s.itap, s.outline, s.style, s.inList, s.level, s.listMark = false, 0, 0, 0, false, 0, ""
	case "plain":
		s.font, s.hidden = r.defFont, false
	case "v":
		s.hidden = on
	case "deleted":
		s.hidden = s.hidden || on
	case "uc":
		s.unicodeSkip = max(0, arg)
		if arg > maxFallback {
			s.unicodeSkip = 1
		}
	case "outlinelevel":
		if arg >= 0 && arg < 9 {
			s.outline = arg + 1
		}
	case "s":
		if s.dest == destStyles {
			r.styleDef = arg
		} else {
			s.style = arg
		}
	case "ilvl":
		s.level = max(0, min(arg, 8))
	case "yr", "mo", "dy", "hr", "min":
		if s.dest == destDate {
			r.date[map[string]int{"yr": 0, "mo": 1, "dy": 2, "hr": 3, "min": 4}[word]] = max(0, min(arg, 9999))
		}
	}
	if word == "outlinelevel" && s.dest == destStyles && arg >= 0 && arg < 9 {
		r.styles[r.styleDef] = rtfStyle{heading: arg + 1}
	}
}

// tableWord handles the words of tables, and reports whether word is one.
func (r *rtfReader) tableWord(word string, arg int, on bool) bool {
	switch word {
	case "intbl":
		r.state.intbl = on
	case "itap":
		r.state.itap = max(0, arg)
	case "cell":
		r.endCell(1)
	case "nestcell":
		r.endCell(max(2, min(r.state.itap, maxNestedTables)))
	case "row":
		r.endRow(1)
	case "nestrow":
		r.endRow(2)
	case "trowd", "trleft", "clvmrg", "clmrg", "cellx":
		r.rowShape(word, arg)
	case "trhdr":
		r.row.head = on
	default:
		return false
	}
	return true
}

// charsetWord handles the words that choose charsets.
func (r *rtfReader) charsetWord(word string, arg int) bool {
	switch word {
	case "ansicpg":
		if e := codePage(arg); e != nil {
			r.page = e
		}
	case "mac":
		r.page = charmap.Macintosh
	case "pc":
		r.page = charmap.CodePage437
	case "pca":
		r.page = charmap.CodePage850
	case "ansi":
	case "deff":
		r.defFont = arg
	case "f":
		if r.state.dest == destFonts {
			r.fontDef = arg
		} else {
			r.state.font = arg
		}
	case "fcharset":
		if r.state.dest == destFonts && len(r.fonts) < maxStyles {
			var e encoding.Encoding
			if arg != 0 && arg != 1 && arg != 2 { // ANSI, default, symbol
				e = rtfCharsets[arg]
			} else if arg == 0 {
				e = charmap.Windows1252
			}
			r.fonts[r.fontDef] = e
		}
	case "cpg":
		if e := codePage(arg); e != nil && r.state.dest == destFonts && len(r.fonts) < maxStyles {
			r.fonts[r.fontDef] = e
		}
	default:
		return false
	}
	return true
}

// destination handles the words that open a destination.
func (r *rtfReader) destination(word string) bool {
	s := &r.state
	if s.dest == destSkip {
		return word != "uc"
	}
	switch word {
	case "fonttbl":
		s.dest = destFonts
	case "stylesheet":
		s.dest = destStyles
	case "info":
		s.dest = destInfo
	case "title", "author", "subject", "keywords":
		if s.dest == destInfo {
			s.dest, s.name = destField, word
			r.capture = r.capture[:0]
		}
	case "creatim", "revtim":
		if s.dest == destInfo {
			s.dest, s.name = destDate, word
		}
	case "operator", "manager", "company", "category", "doccomm", "hlinkbase", "printim", "buptim", "comment":
		if s.dest == destInfo {
			s.dest = destSkip
		}
	case "fldinst":
		s.dest = destInstr
		r.capture = r.capture[:0]
	case "fldrslt":
		if s.dest == destInstr {
			break
		}
		s.dest = destText
		if s.url != "" {
			s.link = true
			r.w.LinkStart(s.url)
			s.url = ""
		}
	case "listtext", "pntext":
		s.dest = destListTxt
		r.capture = r.capture[:0]
	case "footnote", "annotation":
		r.openNote(word)
	case "shptxt":
		r.w.Block()
	default:
		return false
	}
	return true
}

// openNote begins a footnote or a comment. Its text comes after the document.
func (r *rtfReader) openNote(word string) {
	if r.inNote() || r.state.dest != destText || len(r.notes) > 1<<16 {
		r.state.dest = destSkip
		return
	}
	label := "Comment: "
	if word == "footnote" {
		mark := "[^" + strconv.Itoa(len(r.notes)+1) + "]"
		r.w.Text(mark)
		label = mark + ": "
	}
	r.notes = append(r.notes, output.LateNote{Label: label})
	r.state.note, r.state.dest, r.state.hidden = true, destText, false
	r.w.Capture()
}

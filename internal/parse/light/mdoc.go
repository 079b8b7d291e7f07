package light

import "strings"

// mdocAround holds what the macros of mdoc that enclose the rest of a line write before and after it.
var mdocAround = map[string][2]string{"Op": {"[", "]"}, "Bq": {"[", "]"}, "Pq": {"(", ")"}, "Dq": {"“", "”"}, "Qq": {"“", "”"}, "Sq": {"‘", "’"}, "Ql": {"‘", "’"}, "Aq": {"<", ">"}}

// mdocLine is a line of mdoc while it is written.
type mdocLine struct {
	b       strings.Builder
	glue    bool   // no space comes before the next word
	closing string // what ends the line
}

// put writes a word, after a space where one belongs.
func (l *mdocLine) put(s string) {
	if s == "" {
		return
	}
	if l.b.Len() > 0 && !l.glue && !strings.Contains(".,:;)]?!", s[:1]) {
		l.b.WriteByte(' ')
	}
	l.b.WriteString(s)
	l.glue = s == "(" || s == "["
}

// mdoc writes the words of a line of mdoc, whose arguments may be macros again.
func (m *man) mdoc(a []string) string {
	var l mdocLine
	flag := false // the next word is the name of a flag
	for i, w := range a {
		alone := i+1 == len(a) || isMacro(a[i+1])
		if around, ok := mdocAround[w]; ok {
			l.put(around[0])
			l.glue, l.closing = true, around[1]+l.closing
			flag = false
			continue
		}
		switch w {
		case "Fl":
			if alone {
				l.put("-")
			}
			flag = true
			continue
		case "Nm":
			if alone {
				l.put(m.name)
			}
		case "Ar":
			if alone {
				l.put("file ...")
			}
		case "Oo":
			l.put("[")
			l.glue = true
		case "Oc":
			l.glue = true
			l.put("]")
		case "Ap":
			l.glue = true
			l.put("'")
			l.glue = true
		case "Ns", "Pf":
			l.glue = true
		case "No":
			l.glue = false
		case "Xr":
			if i+2 < len(a) && len(a[i+2]) <= 3 { // a page and its section
				a[i+1] += "(" + a[i+2] + ")"
				a[i+2] = ""
			}
		default:
			if isMacro(w) {
				break
			}
			if flag {
				w = "-" + w
			}
			l.put(w)
		}
		flag = false
	}
	l.b.WriteString(l.closing)
	return l.b.String()
}

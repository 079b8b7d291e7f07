package office

import (
	"strings"

	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/output"
	"github.com/contextmem/contextmem/internal/parse/xmlscan"
)

// readStyles reads the list and paragraph styles of styles.xml. content.xml has further styles.
func (d *odfReader) readStyles(x *xmlscan.Scanner) error {
	for x.Next() {
		if x.Kind != xmlscan.Start {
			continue
		}
		switch x.Name {
		case "automatic-styles", "styles":
		case "master-styles":
			x.Skip()
		default:
			d.style(x)
		}
	}
	if output.IsDocumentError(x.Err) {
		return x.Err
	}
	return nil
}

// style reads one style if x is at one.
func (d *odfReader) style(x *xmlscan.Scanner) {
	if len(d.numbered) > maxStyles || len(d.parents) > maxStyles {
		return
	}
	switch x.Name {
	case "list-style":
		name := x.Attr("name")
		levels := make([]odfLevel, 10)
		depth := len(x.Stack)
		for len(x.Stack) >= depth && x.Next() {
			if n := clean.Int(x.Attr("level")); x.Kind == xmlscan.Start && n >= 1 && n <= len(levels) {
				switch {
				case x.Name == "list-level-style-number" && x.Attr("num-format") != "":
					levels[n-1] = odfNumbered
				case strings.HasPrefix(x.Name, "list-level-style-"):
					levels[n-1] = odfBullet
				}
			}
		}
		d.numbered[name] = levels
	case "table-properties":
		if x.Attr("display") == "false" && len(d.hidden) < maxStyles {
			d.hidden[d.tableStyle] = true
		}
	case "style":
		name := x.Attr("name")
		if x.Attr("family") == "table" {
			d.tableStyle = name
		}
		if x.Attr("family") != "paragraph" {
			return
		}
		d.parents[name] = x.Attr("parent-style-name")
		display := strings.ToLower(clean.FirstOf(x.Attr("display-name"), name))
		if strings.HasPrefix(display, "preformatted") || display == "source code" || display == "source_20_code" {
			d.code[name] = true
		}
		if display == "title" {
			d.headings[name] = 1
		}
	}
}

// odfLevel is the format of a level of a list style.
type odfLevel uint8

const (
	odfUndefined odfLevel = iota
	odfBullet
	odfNumbered
)

// isNumbered reports whether a list style numbers the items of a level, from 1 on. Some programs define only the first level.
func (d *odfReader) isNumbered(style string, level int) bool {
	levels := d.numbered[style]
	if len(levels) == 0 {
		return false
	}
	if level <= len(levels) && levels[level-1] != odfUndefined {
		return levels[level-1] == odfNumbered
	}
	return levels[0] == odfNumbered
}

// inherits returns a property of a style, or of the nearest parent style that has it.
func inherits[T comparable](d *odfReader, name string, of map[string]T) T {
	var zero T
	for range maxStyleChain {
		if v := of[name]; v != zero {
			return v
		}
		parent := d.parents[name]
		if parent == "" || parent == name {
			break
		}
		name = parent
	}
	return zero
}

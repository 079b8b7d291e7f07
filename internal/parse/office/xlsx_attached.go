package office

import (
	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/output"
	"github.com/contextmem/contextmem/internal/parse/xmlscan"
)

// attached writes the comments and the drawings of a sheet.
func (r *xlsxReader) attached(d *drawReader, part string) error {
	for _, rel := range r.p.relations(part) {
		if rel.external {
			continue
		}
		switch rel.kind {
		case "comments":
			if err := r.comments(rel.target); err != nil {
				return err
			}
		case "drawing":
			if x := r.p.scan(rel.target); x != nil {
				d.rels = relationMap(r.p.relations(rel.target))
				if err := d.read(x); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// comments writes the comments of a sheet with the cells that they are attached to.
func (r *xlsxReader) comments(part string) error {
	x := r.p.scan(part)
	for x != nil && x.Next() && !r.w.Full {
		switch {
		case x.Kind == xmlscan.Start && x.Name == "comment":
			r.w.Block()
			r.w.Label("Comment on " + clean.OneLine(x.Attr("ref")) + ": ")
		case x.Kind == xmlscan.Start && x.Name == "t":
			for x.Next() && x.Kind != xmlscan.End {
				if x.Kind == xmlscan.Text {
					r.w.Text(clean.String(x.Text))
				}
			}
		}
	}
	if x == nil {
		return nil
	}
	r.w.Block()
	return scanFault(r.p.File, x)
}

// tableNames tells g the names of the tables of a sheet.
func (r *xlsxReader) tableNames(part string, g *output.Grid) error {
	for _, rel := range r.p.relations(part) {
		if rel.external || rel.kind != "table" {
			continue
		}
		x := r.p.scan(rel.target)
		if x == nil {
			continue
		}
		for x.Next() {
			if x.Kind != xmlscan.Start || x.Name != "table" {
				continue
			}
			if m, ok := cellRange(x.Attr("ref")); ok {
				g.Name(m[0], m[1], x.Attr("displayName"))
			}
			break
		}
		if err := scanFault(r.p.File, x); err != nil {
			return err
		}
	}
	return nil
}

// xmlTrue reports whether a value of an attribute means true.
func xmlTrue(v string) bool { return v == "1" || v == "true" }

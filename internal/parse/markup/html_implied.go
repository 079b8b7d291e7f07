package markup

import "golang.org/x/net/html/atom"

// closeImplied closes the open elements that the start tag of an element ends implicitly by the rules of HTML.
func (h *HTMLReader) closeImplied(name atom.Atom) {
	switch name {
	case atom.Li:
		h.closeWithin(atom.Li, atom.Ul, atom.Ol, atom.Menu, atom.Dir)
	case atom.Dt, atom.Dd:
		h.closeWithin(atom.Dt, atom.Dl)
		h.closeWithin(atom.Dd, atom.Dl)
	case atom.Td, atom.Th:
		h.closeWithin(atom.Td, atom.Tr, atom.Table)
		h.closeWithin(atom.Th, atom.Tr, atom.Table)
	case atom.Tr:
		h.closeWithin(atom.Tr, atom.Table)
	case atom.Thead, atom.Tbody, atom.Tfoot:
		h.closeWithin(atom.Thead, atom.Table)
		h.closeWithin(atom.Tbody, atom.Table)
		h.closeWithin(atom.Tfoot, atom.Table)
	case atom.Option:
		h.closeWithin(atom.Option, atom.Select)
	case atom.Body:
		h.closeWithin(atom.Head, atom.Body)
	case atom.A:
		h.closeWithin(atom.A, atom.Table, atom.Td)
	}
	if blockTags[name] && h.count[atom.P] > 0 {
		h.closeWithin(atom.P, atom.Td, atom.Th, atom.Table, atom.Button, atom.Object, atom.Caption)
	}
	if h.count[atom.Head] > 0 && (blockTags[name] || name == atom.A || name == atom.Span || name == atom.Img) {
		h.closeWithin(atom.Head, atom.Body)
	}
}

// closeWithin closes the innermost open element of that name, unless an element in bounds is open inside it.
func (h *HTMLReader) closeWithin(name atom.Atom, bounds ...atom.Atom) {
	if h.count[name] == 0 {
		return
	}
	for i := len(h.stack) - 1; i >= 0; i-- {
		n := h.stack[i].name
		if n == name {
			h.close(i)
			return
		}
		for _, b := range bounds {
			if n == b {
				return
			}
		}
	}
}

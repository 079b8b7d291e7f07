package markup

import "golang.org/x/net/html/atom"

func atomSet(atoms ...atom.Atom) map[atom.Atom]bool {
	m := map[atom.Atom]bool{}
	for _, a := range atoms {
		m[a] = true
	}
	return m
}

var (
	// voidTags have no content and no end tag.
	voidTags = atomSet(atom.Area, atom.Base, atom.Br, atom.Col, atom.Embed, atom.Hr, atom.Img, atom.Input, atom.Link,
		atom.Meta, atom.Param, atom.Source, atom.Track, atom.Wbr, atom.Basefont, atom.Frame)
	// droppedTags are elements whose content a browser does not show as text.
	droppedTags = atomSet(atom.Script, atom.Style, atom.Template, atom.Noscript, atom.Svg, atom.Head, atom.Iframe,
		atom.Object, atom.Canvas, atom.Audio, atom.Video, atom.Noembed, atom.Noframes, atom.Annotation, atom.AnnotationXml,
		atom.Datalist)
	// blockTags begin and end a block.
	blockTags = atomSet(atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Center, atom.Details, atom.Dialog,
		atom.Dd, atom.Div, atom.Dl, atom.Dt, atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer, atom.Form,
		atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Header, atom.Hgroup, atom.Hr, atom.Li, atom.Listing,
		atom.Main, atom.Menu, atom.Nav, atom.Ol, atom.P, atom.Plaintext, atom.Pre, atom.Search, atom.Section, atom.Summary,
		atom.Table, atom.Ul, atom.Xmp, atom.Caption, atom.Legend, atom.Select, atom.Textarea, atom.Dir, atom.Body)
	// closedTags are elements that pages close reliably, because a missing end tag would break the layout of what follows.
	closedTags = atomSet(atom.Script, atom.Style, atom.Title, atom.Div, atom.Table, atom.Ul, atom.Ol, atom.Dl, atom.Section,
		atom.Article, atom.Main, atom.Pre, atom.Form, atom.Textarea, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6)
	// tableTags are the parts of a table.
	tableTags = atomSet(atom.Table, atom.Thead, atom.Tbody, atom.Tfoot, atom.Tr, atom.Td, atom.Th, atom.Html)
	// outerTags may end although a table inside them is still open.
	outerTags = atomSet(atom.Body, atom.Html, atom.Table)
)

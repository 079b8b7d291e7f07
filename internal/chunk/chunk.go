// Package chunk cuts texts into the pieces that are embedded and recalled.
//
// Cuts follow structure: sections first, then paragraphs, list items, table
// rows, code blocks and pairs of conversation turns, then sentences, and only
// when nothing else is left, words and characters. A chunk never holds text of
// two sections, however short they are, so its heading applies to all of its text.
// Splitting is deterministic and linear in the length of the text.
package chunk

import (
	"sort"
	"strings"
)

// Options bound the size of chunks. The zero value means the defaults. The default target is about 250 English words,
// a length at which one embedding still represents one topic.
type Options struct {
	// TargetBytes is the length that chunks are filled up to; a text of at most
	// this length is one chunk if it has one section. 0 means 1200; at least 64.
	TargetBytes int
	// MaxBytes is the length that no Chunk.Text exceeds, overlap and repeated
	// table header included. 0 means 2000, or TargetBytes if that is larger; at
	// least TargetBytes.
	MaxBytes int
	// OverlapBytes is how much of the previous chunk is repeated, in whole
	// sentences, when a run of paragraphs is split. 0 means 150, at most a
	// quarter of TargetBytes; negative means none.
	OverlapBytes int
}

// withDefaults returns o completed and forced into the documented ranges.
func (o Options) withDefaults() Options {
	if o.TargetBytes <= 0 {
		o.TargetBytes = 1200
		if o.MaxBytes > 0 {
			o.TargetBytes = min(o.TargetBytes, o.MaxBytes)
		}
	}
	o.TargetBytes = max(o.TargetBytes, 64)
	if o.MaxBytes <= 0 {
		o.MaxBytes = 2000
	}
	o.MaxBytes = max(o.MaxBytes, o.TargetBytes)
	if o.OverlapBytes == 0 {
		o.OverlapBytes = 150
	}
	o.OverlapBytes = max(0, min(o.OverlapBytes, o.TargetBytes/4))
	return o
}

// Page is where a page of the original begins. Pages are given in ascending
// order of Start.
type Page struct {
	Number int // as printed or counted from 1
	Start  int // byte offset of its first character in the text
}

// Chunk is one piece of a text.
type Chunk struct {
	// Text is what to embed and return: the source from Start to End, preceded
	// by the overlap or, in the later parts of a table, by the table's header
	// rows and a line feed. A row that is too wide for a chunk is cut between
	// cells, and each part is preceded by the names of its columns and the first
	// cell of the row.
	Text string
	// Start and End are byte offsets in the source. The ranges of consecutive
	// chunks ascend, do not overlap, and together hold all that is not white
	// space.
	Start, End int
	// Heading is the path of headings of the section that the chunk belongs to,
	// such as "Setup > Linux"; "" outside of sections. A chunk of several pairs
	// of a conversation has what is common to their paths.
	Heading string
	// Page is the number of the page that Start is on, 0 if unknown; PageStart
	// is the byte offset of Start inside that page.
	Page, PageStart int
}

// Split cuts text into chunks, in order. With markdown set, headings, fenced
// code and tables are recognised; otherwise numbered headings. Lists and
// conversations ("user: ..." and "assistant: ..." lines) are recognised either
// way. Text that is not UTF-8 is kept as it is. White space alone gives no
// chunk.
func Split(text string, markdown bool, pages []Page, o Options) []Chunk {
	start, end := trim(text, 0, len(text))
	if start == end {
		return nil
	}
	return split(text, start, end, messages(text, start, end), markdown, pages, o)
}

// split cuts text[start:end], which begins and ends with no white space. msgs are its messages if it is a conversation.
func split(text string, start, end int, msgs []message, markdown bool, pages []Page, o Options) []Chunk {
	o = o.withDefaults()
	d := &document{src: text, o: o}
	d.sections = []section{{parent: -1}}
	if msgs != nil {
		d.conversation = true
		if end-start > o.TargetBytes { // otherwise one chunk, whatever is inside
			d.addConversation(msgs, markdown)
		}
	} else {
		firstLine := strings.LastIndexAny(text[:start], "\r\n") + 1 // its indentation matters
		d.addBlocks(firstLine, end, markdown)
	}
	var chunks []Chunk
	d.measureSections()
	if end-start <= o.TargetBytes && (d.conversation || d.bodies() <= 1) {
		chunks = []Chunk{{Text: text[start:end], Start: start, End: end, Heading: d.path(d.commonSection(0, len(d.atoms)))}}
	} else {
		chunks = d.pack()
	}
	for i := range chunks {
		c := &chunks[i]
		if p := sort.Search(len(pages), func(k int) bool { return pages[k].Start > c.Start }) - 1; p >= 0 {
			c.Page, c.PageStart = pages[p].Number, c.Start-pages[p].Start
		}
	}
	return chunks
}

// kind is the structure of an atom. It decides where the atom may be separated from its neighbours.
type kind uint8

const (
	paragraph kind = iota // also a sentence of one
	heading
	item
	code
	turn
	tableHead
	tableRow
)

// atom is a stretch of source that packing does not cut.
type atom struct {
	start, end int
	section    int32
	table      int32 // index of its table's head in document.atoms; for rows alone
	piece      int32 // number of the text before it in document.pieces, from 1 on; for parts of wide rows alone
	kind       kind
	partial    bool // continues what the atom before began
}

// document is the state of one Split.
type document struct {
	src      string
	o        Options
	sections []section
	atoms    []atom
	head     block    // of the current table
	headAtom int32    // its last atom
	names    []string // the columns of the current table, once a row needs them
	pieces   []string // what stands before parts of wide rows
	// conversation is set when the sections are pairs of turns, which may share a chunk.
	conversation bool
}

// section is a heading and the text after it up to the next heading. Section 0
// has no heading and holds the text before the first heading.
type section struct {
	parent int32  // -1 for section 0
	level  int    // 1 and up; 0 for section 0
	title  string // "" also for a pair of a conversation
	end    int    // end offset of its last atom; for an empty section, that of its first subsection
	body   bool   // has an atom that is not a heading
}

// within reports whether section s is section a or a descendant of it.
func (d *document) within(s, a int32) bool {
	for s > a {
		s = d.sections[s].parent
	}
	return s == a
}

// measureSections fills in end and body of every section.
func (d *document) measureSections() {
	for _, a := range d.atoms {
		s := &d.sections[a.section]
		s.end = a.end
		s.body = s.body || a.kind != heading
	}
	for i := len(d.sections) - 2; i > 0; i-- {
		if s := &d.sections[i]; !s.body && d.within(int32(i+1), int32(i)) {
			s.end = d.sections[i+1].end
		}
	}
}

// bodies returns the number of sections that have text of their own.
func (d *document) bodies() int {
	n := 0
	for i := range d.sections {
		if d.sections[i].body {
			n++
		}
	}
	return n
}

// commonSection returns the innermost section that contains all atoms of [from, to).
// It considers heading atoms only if there are no others.
func (d *document) commonSection(from, to int) int32 {
	common, headings := int32(-1), int32(-1)
	for _, a := range d.atoms[from:to] {
		into := &common
		if a.kind == heading {
			into = &headings
		}
		if *into < 0 {
			*into = a.section
		}
		for !d.within(a.section, *into) {
			*into = d.sections[*into].parent
		}
	}
	if common < 0 {
		return headings
	}
	return common
}

// path joins the titles from the outermost section to s.
func (d *document) path(s int32) string {
	var titles []string
	for ; s > 0; s = d.sections[s].parent {
		if t := d.sections[s].title; t != "" {
			titles = append(titles, t)
		}
	}
	for i, j := 0, len(titles)-1; i < j; i, j = i+1, j-1 {
		titles[i], titles[j] = titles[j], titles[i]
	}
	return strings.Join(titles, " > ")
}

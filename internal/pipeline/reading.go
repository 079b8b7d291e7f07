package pipeline

import (
	"context"
	"math"
	"path"
	"strings"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/embed"
	"github.com/contextmem/contextmem/internal/item"
)

// reading holds the texts that the embedder reads for a chunk, and the share of each in the chunk's vector.
type reading struct {
	texts  []string
	shares []float32 // their sum is 1
}

// Bounds of the texts for the rows and the columns of a chunk's tables.
const (
	rowTexts    = 24 // maximal number of texts; if there are more rows, several share one text
	columnTexts = 24 // maximal number of columns with a text; the others are only read as parts of rows
)

// restLeast is the length in bytes from which on the text outside tables is read too, and restShare its least share of the vector.
const (
	restLeast = 20
	restShare = .1
)

// readingOf returns the texts that the embedder reads for a chunk of a source. A chunk without tables is one text, with the additions of
// embedText. A table gives one text for each row and each column, with the name of the table. A sentence model represents single rows
// well, while the vector of a whole table is hardly similar to a question about one row. A memory is one text, unchanged.
func readingOf(doc *item.Doc, class backend.Class, title, filename, text, heading string) reading {
	var rest string
	var rows, columns []string
	if class != backend.Memory {
		rest, rows, columns = readTables(text)
	}
	if len(rows) == 0 {
		return plainReading(embedText(doc, title, text, heading))
	}
	name := heading
	if name == "" {
		if name = title; name == "" || name == filename {
			name = nameOf(filename)
		}
	}
	share := float32(1)
	var r reading
	if len(rest) >= restLeast || len(doc.Dense) > 0 {
		beside := max(restShare, float32(len(rest))/float32(len(text)))
		r.texts, r.shares = append(r.texts, embedText(doc, title, rest, heading)), append(r.shares, beside)
		share -= beside
	}
	columns = columns[:min(len(columns), columnTexts)]
	if len(columns) > 0 {
		share /= 2
		r.add(name, columns, len(columns), share)
	}
	r.add(name, rows, rowTexts, share)
	return r
}

// add adds lines with the name of their table, as at most most texts.
func (r *reading) add(name string, lines []string, most int, share float32) {
	group := (len(lines) + most - 1) / most
	for from := 0; from < len(lines); from += group {
		part := lines[from:min(from+group, len(lines))]
		t := strings.Join(part, "\n")
		if name != "" {
			t = name + ": " + t
		}
		r.texts, r.shares = append(r.texts, t), append(r.shares, share*float32(len(part))/float32(len(lines)))
	}
}

// plainReading returns the reading of one text. An empty text gets no vector.
func plainReading(text string) reading {
	if text == "" {
		return reading{}
	}
	return reading{texts: []string{text}, shares: []float32{1}}
}

// nameOf returns a readable form of the name of a file: "price_list.csv" is "price list".
func nameOf(filename string) string {
	base := path.Base(filename)
	if filename == "" || base == "/" {
		return ""
	}
	if ext := path.Ext(base); len(ext) < 6 {
		base = strings.TrimSuffix(base, ext)
	}
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == '_' || r == '-' {
			return ' '
		}
		return r
	}, base))
}

// table is a Markdown table.
type table struct {
	header []string
	rows   [][]string
}

// readTables finds the tables of a text that have several rows and columns. It returns the text without them, their rows as "header: cell,
// header: cell.", and their columns as "header: cell, cell.".
func readTables(text string) (rest string, rows, columns []string) {
	if !strings.Contains(text, "|") {
		return text, nil, nil
	}
	var out strings.Builder
	var tables []table
	var open *table
	before := "" // the preceding line, if it may be a header
	for line := range strings.Lines(text) {
		l := strings.TrimSpace(line)
		switch {
		case open == nil && before != "" && isRule(l):
			tables = append(tables, table{header: cells(before)})
			open, before = &tables[len(tables)-1], ""
		case open != nil && strings.HasPrefix(l, "|"):
			open.rows = append(open.rows, cells(l))
		default:
			out.WriteString(before)
			open, before = nil, ""
			if strings.HasPrefix(l, "|") {
				before = line
			} else {
				out.WriteString(line)
			}
		}
	}
	out.WriteString(before)
	for i := range tables {
		t := &tables[i]
		for _, row := range t.rows {
			if s := rowText(t.header, row); s != "" {
				rows = append(rows, s)
			}
		}
		if len(t.header) > 1 && len(t.rows) > 1 {
			columns = t.appendColumns(columns)
		}
	}
	return strings.TrimSpace(out.String()), rows, columns
}

// appendColumns appends the columns of a table that have a name and a cell.
func (t *table) appendColumns(to []string) []string {
	for i, h := range t.header {
		var in []string
		for _, row := range t.rows {
			if i < len(row) && row[i] != "" {
				in = append(in, row[i])
			}
		}
		if h != "" && len(in) > 0 {
			to = append(to, h+": "+strings.Join(in, ", ")+".")
		}
	}
	return to
}

// isRule reports whether a line is the delimiter row between the header and the rows of a table.
func isRule(l string) bool {
	return strings.HasPrefix(l, "|") && strings.Contains(l, "-") && strings.Trim(l, "|-: \t") == ""
}

// cells returns the cells of a row.
func cells(l string) []string {
	l = strings.TrimSpace(l)
	l = strings.TrimSuffix(strings.TrimPrefix(l, "|"), "|")
	l = strings.ReplaceAll(l, `\|`, "\x00")
	out := strings.Split(l, "|")
	for i, c := range out {
		out[i] = strings.TrimSpace(strings.ReplaceAll(c, "\x00", "|"))
	}
	return out
}

// rowText returns a row as a list of "header: cell". It leaves out empty cells.
func rowText(header, row []string) string {
	var b strings.Builder
	for i, c := range row {
		if c == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		if i < len(header) && header[i] != "" {
			b.WriteString(header[i])
			b.WriteString(": ")
		}
		b.WriteString(c)
	}
	if b.Len() == 0 {
		return ""
	}
	b.WriteByte('.')
	return b.String()
}

// meanVector computes the weighted mean of the vectors of a reading's texts. It scales the mean to the mean of their lengths, since the mean
// of dissimilar vectors is shorter than they are.
type meanVector struct {
	sum    []float64
	length float64
}

func (g *meanVector) add(v []float32, share float32) {
	if g.sum == nil {
		g.sum = make([]float64, len(v))
	}
	g.length += float64(share) * lengthOf(v)
	for i, x := range v {
		g.sum[i] += float64(share) * float64(x)
	}
}

func (g *meanVector) vector() []float32 {
	square := 0.0
	for _, x := range g.sum {
		square += x * x
	}
	out := make([]float32, len(g.sum))
	if square == 0 {
		return out
	}
	scale := g.length / math.Sqrt(square)
	for i, x := range g.sum {
		out[i] = float32(x * scale)
	}
	return out
}

func lengthOf(v []float32) float64 {
	square := 0.0
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	return math.Sqrt(square)
}

// unembedded holds texts to be embedded: those of memories, and others.
type unembedded struct{ memories, others waiting }

// waiting holds texts, each with the vector that it contributes to.
type waiting struct {
	texts []string
	to    []target
}

func (u *unembedded) add(class backend.Class, r reading, vector *[]float32) {
	if class == backend.Memory {
		u.memories.add(r, vector)
		return
	}
	u.others.add(r, vector)
}

// count returns the number of texts.
func (u *unembedded) count() int { return len(u.memories.texts) + len(u.others.texts) }

// embed embeds all texts and sets their vectors.
func (u *unembedded) embed(ctx context.Context, e Embedder) error {
	if len(u.memories.texts) > 0 {
		if err := u.memories.embed(ctx, ForMemories(e)); err != nil {
			return err
		}
	}
	return u.others.embed(ctx, e)
}

// ForMemories returns e's embedder for memories, or e if it has none.
func ForMemories(e Embedder) Embedder {
	if p, ok := e.(*patient); ok {
		return &patient{ForMemories(p.Embedder), p.wait, p.read}
	}
	if x, ok := e.(embed.MemoryEmbedder); ok {
		if m := x.Memories(); m != nil {
			return m
		}
	}
	return e
}

// target is a vector together with the share of a text in it.
type target struct {
	vector *[]float32
	share  float32
	sum    *meanVector // nil: the vector is that of one text
	last   bool        // this is the last text of sum
}

func (u *waiting) add(r reading, vector *[]float32) {
	switch len(r.texts) {
	case 0:
		return
	case 1:
		u.texts, u.to = append(u.texts, r.texts[0]), append(u.to, target{vector: vector})
		return
	}
	sum := new(meanVector)
	for i, t := range r.texts {
		u.texts, u.to = append(u.texts, t), append(u.to, target{vector, r.shares[i], sum, i == len(r.texts)-1})
	}
}

func (u *waiting) embed(ctx context.Context, e Embedder) error {
	texts, to := u.texts, u.to
	u.texts, u.to = nil, nil // not used again, since the embedder may keep the slice
	return embedTexts(ctx, e, texts, func(i int, v []float32) {
		t := &to[i]
		if t.sum == nil {
			*t.vector = v
			return
		}
		if t.sum.add(v, t.share); t.last {
			*t.vector = t.sum.vector()
		}
	})
}

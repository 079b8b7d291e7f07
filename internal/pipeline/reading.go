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

// reading is what the embedder reads for a chunk: texts with the share that each has in the chunk's vector.
type reading struct {
	texts  []string
	shares []float32 // they sum up to 1
}

// Bounds of the texts that the rows, and the columns, of a chunk's tables become.
const (
	rowTexts    = 24 // texts at most; beyond that several rows share one
	columnTexts = 24 // columns at most; the others are read as parts of their rows only
)

// restLeast is the length in bytes from which on the text beside a table is read too, and restShare its least share of the vector.
const (
	restLeast = 20
	restShare = .1
)

// readingOf returns what the embedder reads for a chunk of a source. A text is read as it is, with what embedText adds. Of a table the
// embedder reads each row and each column by itself, under the name of the table: a model of sentences represents single rows well, and a
// whole table hardly resembles a question about one row. Memories are read as they were given.
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

// add adds lines below the name of a table, as at most most texts.
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

// plainReading returns the reading of a text as it is; an empty one has no vector.
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

// readTables returns the rows of the tables of a text, each as "header: cell, header: cell.", their columns as "header: cell, cell.", of
// tables of several rows and columns, and the text without the tables.
func readTables(text string) (rest string, rows, columns []string) {
	if !strings.Contains(text, "|") {
		return text, nil, nil
	}
	var out strings.Builder
	var tables []table
	var open *table
	before := "" // the line before, if it may be a header
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

// isRule reports whether a line is what stands between the header of a table and its rows.
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

// rowText is a row as a list of what its cells are and hold; empty cells are left out.
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

// meanVector makes one vector of those of the texts of a reading. It gets the mean of their lengths: the mean of vectors that have little
// in common would be shorter.
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

// unembedded are texts on their way to the embedder: those of memories, and others.
type unembedded struct{ memories, others waiting }

// waiting are texts, each with the vector that it is for.
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

// count is how many texts wait.
func (u *unembedded) count() int { return len(u.memories.texts) + len(u.others.texts) }

// embed sets the vectors of all that was added.
func (u *unembedded) embed(ctx context.Context, e Embedder) error {
	if len(u.memories.texts) > 0 {
		if err := u.memories.embed(ctx, ForMemories(e)); err != nil {
			return err
		}
	}
	return u.others.embed(ctx, e)
}

// ForMemories returns the embedder that reads memories where e is the one of all texts.
func ForMemories(e Embedder) Embedder {
	if x, ok := e.(embed.MemoryEmbedder); ok {
		if m := x.Memories(); m != nil {
			return m
		}
	}
	return e
}

// target is a vector, and the share of a text in it.
type target struct {
	vector *[]float32
	share  float32
	sum    *meanVector // nil: the text is all
	last   bool        // of those that are summed up
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
	u.texts, u.to = nil, nil // the embedder may keep what it got
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

package text

import (
	"bytes"
	"context"
	"io"
	"slices"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/charset"
	"github.com/contextmem/contextmem/internal/parse/clean"
	"github.com/contextmem/contextmem/internal/parse/output"
)

// ParseCSV turns separated values into a Markdown table whose first row is the header.
func ParseCSV(ctx context.Context, in document.Input, lim document.Limits) (*document.Document, error) {
	enc, data, err := textOf(in)
	if err != nil {
		return nil, err
	}
	r := csvReader{data: data}
	if enc != nil {
		r = csvReader{more: charset.DecodingReader(enc, data)}
		r.fill()
	}
	// Some spreadsheets name the delimiter in an extra first line.
	if rest, ok := bytes.CutPrefix(r.data, []byte("sep=")); ok && len(rest) > 1 && (rest[1] == '\n' || rest[1] == '\r') {
		r.delim = rest[0]
		r.pos = len(r.data) - len(bytes.TrimLeft(rest[1:], "\r\n"))
	}
	if r.delim == 0 {
		r.delim = sniffDelimiter(r.data)
	}
	if r.delim == 0 {
		return Parse(ctx, in, lim) // one column: lines of text
	}
	size := charset.DecodedSize(enc, data)
	w := output.New(lim, size+size/4)
	cols := 0
	var cells [][]byte
	for n := 0; ; n++ {
		if n&1023 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		row, ok := r.next()
		if !ok || w.Full {
			break
		}
		if blankRow(row) {
			continue
		}
		cells = cells[:0]
		for _, f := range row {
			cells = append(cells, cleanField(f))
		}
		if cols == 0 {
			cols = len(row)
			w.HeaderRow(cells)
			continue
		}
		w.Row(cells)
	}
	doc := w.Document()
	if r.cut {
		doc.AddPartial("a quoted field has no end: the file may be cut off")
	}
	if len(cells) < cols && !w.Full && !bytes.HasSuffix(data, []byte("\n")) {
		doc.AddPartial("the last record has fewer fields than the first: the file may be cut off")
	}
	return doc, nil
}

// cleanField removes invisible characters from a field.
func cleanField(f []byte) []byte {
	for _, b := range f {
		if b < ' ' && b != '\n' && b != '\t' && b != '\r' || b == 0x7f || b == 0xC2 || b == 0xEF {
			return []byte(clean.StripInvisible(string(f)))
		}
	}
	return f
}

func blankRow(row [][]byte) bool {
	for _, f := range row {
		if len(bytes.TrimSpace(f)) > 0 {
			return false
		}
	}
	return true
}

// csvReader reads RFC 4180 records. It tolerates common errors: quotes inside fields, unclosed quotes and any line end.
type csvReader struct {
	data   []byte
	pos    int
	more   io.Reader // the input after data; nil at the end
	delim  byte
	stray  int  // number of quotes whose field was too long
	open   bool // a quote was never closed; later quotes are ordinary characters
	cut    bool // the unclosed quote reached the end of the text
	fields [][]byte
	sample bool // data is the beginning of something longer
}

// maxQuoted limits the bytes of a quoted field. A longer field counts as the result of a stray quote.
const maxQuoted = 1 << 20

// maxStrayQuotes is the number of stray quotes after which all quotes count as ordinary characters.
const maxStrayQuotes = 32

// csvWindow is the number of decoded bytes that the buffer holds when a record begins. A longer record is cut there.
const csvWindow = 2 * maxQuoted

// fill reads more input when the buffer holds less than a window, and drops the bytes already consumed.
func (r *csvReader) fill() {
	if r.more == nil || len(r.data)-r.pos >= csvWindow {
		return
	}
	r.data = append(r.data[:0], r.data[r.pos:]...)
	r.pos = 0
	for len(r.data) < 2*csvWindow {
		r.data = slices.Grow(r.data, min(max(len(r.data), 16<<10), 2*csvWindow-len(r.data)))
		n, err := r.more.Read(r.data[len(r.data):cap(r.data)])
		if r.data = r.data[:len(r.data)+n]; err != nil {
			r.more = nil
			return
		}
	}
}

// next returns the fields of the next record. They are valid until the following call.
func (r *csvReader) next() ([][]byte, bool) {
	r.fill()
	if r.pos >= len(r.data) {
		return nil, false
	}
	r.fields = r.fields[:0]
	for {
		field, end := r.field()
		r.fields = append(r.fields, field)
		if end || len(r.fields) >= output.MaxRowCells {
			return r.fields, true
		}
	}
}

// field returns the next field and whether the record ends with it.
func (r *csvReader) field() (field []byte, end bool) {
	start := r.pos
	if !r.open {
		at := start
		for at < len(r.data) && r.data[at] == ' ' && r.delim != ' ' {
			at++
		}
		if at < len(r.data) && r.data[at] == '"' {
			if field, ok := r.quoted(at + 1); ok {
				return field, r.separator()
			}
			r.pos = start
		}
	}
	for r.pos < len(r.data) {
		c := r.data[r.pos]
		if c == r.delim || c == '\n' || c == '\r' {
			break
		}
		r.pos++
	}
	field = r.data[start:r.pos]
	return field, r.separator()
}

// quoted reads a quoted field whose content begins at from. It reports failure when the closing quote is missing.
func (r *csvReader) quoted(from int) ([]byte, bool) {
	limit := min(len(r.data), from+maxQuoted)
	doubled := false
	for i := from; ; {
		j := bytes.IndexByte(r.data[i:limit], '"')
		if j < 0 {
			if limit == len(r.data) {
				if r.sample {
					r.pos = limit
					return r.data[from:limit], true
				}
				r.open, r.cut = true, true
			}
			if r.stray++; r.stray > maxStrayQuotes {
				r.open = true
			}
			return nil, false
		}
		i += j + 1
		if i < len(r.data) && r.data[i] == '"' {
			doubled = true
			i++
			continue
		}
		after := i
		for after < len(r.data) && r.data[after] == ' ' && r.delim != ' ' {
			after++
		}
		if after < len(r.data) && r.data[after] != r.delim && r.data[after] != '\n' && r.data[after] != '\r' {
			continue // a quote inside the field that should have been doubled
		}
		field := r.data[from : i-1]
		if doubled {
			field = bytes.ReplaceAll(field, []byte(`""`), []byte(`"`))
		}
		r.pos = after
		return field, true
	}
}

// separator skips the delimiter or line end after a field and reports whether the record ends there.
func (r *csvReader) separator() bool {
	if r.pos >= len(r.data) {
		return true
	}
	c := r.data[r.pos]
	r.pos++
	if c == '\r' && r.pos < len(r.data) && r.data[r.pos] == '\n' {
		r.pos++
	}
	if c == r.delim {
		return false
	}
	return true
}

// sniffDelimiter returns the delimiter for which the first records agree best on a field count above one.
// It returns 0 when there is none.
func sniffDelimiter(data []byte) byte {
	sample := clean.Head(data, 64<<10)
	best, bestScore := byte(0), 0.0
	for _, d := range []byte{',', ';', '\t', '|', ':', '^'} {
		r := csvReader{data: sample, delim: d, sample: len(sample) < len(data)}
		counts := map[int]int{}
		rows := 0
		for rows < 100 {
			row, ok := r.next()
			if !ok || (r.sample && r.pos >= len(sample) && rows > 0) {
				break
			}
			if blankRow(row) {
				continue
			}
			counts[len(row)]++
			rows++
		}
		for fields, n := range counts {
			if fields < 2 {
				continue
			}
			agree := float64(n) / float64(rows)
			// Agreement counts most, then the number of fields; a colon separates times and labels more often than fields.
			score := agree * agree * (1 + 0.02*float64(min(fields, 20)))
			if d == ':' || d == '^' {
				score *= 0.5
			}
			if score > bestScore+1e-9 {
				best, bestScore = d, score
			}
		}
	}
	if bestScore < 0.05 {
		return 0
	}
	return best
}

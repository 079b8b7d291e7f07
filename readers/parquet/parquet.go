// Package parquet parses Apache Parquet files as documents. The rows become a table.
//
//	opts.Parsers = map[string]document.Parser{parquet.MediaType: parquet.Parser{}}
package parquet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/output"
)

// MediaType is the media type of Parquet files.
const MediaType = "application/vnd.apache.parquet"

const (
	// maxCell bounds the bytes of a value.
	maxCell = 4 << 10
	// maxColumns bounds the columns read of a file.
	maxColumns = 500
	// batch is the number of rows read at once.
	batch = 64
)

// Parser parses Parquet files. The zero value is usable. It is safe for concurrent use.
type Parser struct {
	// MaxRows bounds the rows read of a file. If rows are dropped, Partial is set. 0 means 10,000.
	MaxRows int
}

var _ document.NamedParser = Parser{}

// Endings returns the file name endings of Parquet files.
func (Parser) Endings() []string { return []string{"parquet", "pq"} }

// Parse parses one file. The values of a repeated field share one cell, separated by commas.
func (p Parser) Parse(ctx context.Context, in document.Input, lim document.Limits) (*document.Document, error) {
	f, err := parquet.OpenFile(bytes.NewReader(in.Data), int64(len(in.Data)), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, document.NewError(document.Malformed, "the Parquet file is damaged", nil)
	}
	var size int64
	for _, g := range f.Metadata().RowGroups {
		for _, c := range g.Columns {
			if n := c.MetaData.TotalUncompressedSize; n < 0 || size+n > lim.MaxExpanded {
				return nil, document.Errorf(document.LimitExceeded, "the Parquet file unpacks to more than %d bytes", lim.MaxExpanded)
			}
			size += c.MetaData.TotalUncompressedSize
		}
	}
	most := p.MaxRows
	if most <= 0 {
		most = 10_000
	}
	r := &reader{ctx: ctx, w: output.New(lim, len(in.Data)), most: most}
	for i, path := range f.Schema().Columns() {
		if i == maxColumns {
			r.partial = append(r.partial, fmt.Sprintf("the file has more than %d columns", maxColumns))
			break
		}
		r.names = append(r.names, []byte(strings.Join(path, ".")))
		kind := ""
		if leaf, ok := f.Schema().Lookup(path...); ok {
			if l := leaf.Node.Type().LogicalType(); l != nil {
				kind = l.String()
			}
		}
		r.kinds = append(r.kinds, kind)
	}
	err = r.read(f)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && r.rows == 0:
		return nil, document.NewError(document.Malformed, "the Parquet file is damaged", nil)
	case err != nil:
		r.partial = append(r.partial, "the file is damaged; what could be read was kept")
	}
	doc := r.w.Document()
	doc.MediaType = MediaType
	for _, why := range r.partial {
		doc.AddPartial(why)
	}
	return doc, nil
}

// reader renders the rows of a file as text.
type reader struct {
	ctx     context.Context
	w       *output.Writer
	names   [][]byte
	kinds   []string // the logical type of each column
	most    int
	rows    int
	partial []string
}

func (r *reader) read(f *parquet.File) error {
	for _, g := range f.RowGroups() {
		if err := r.group(g); err != nil {
			return err
		}
		if r.rows >= r.most || r.w.Full {
			break
		}
	}
	if n := f.NumRows(); int64(r.rows) < n && !r.w.Full {
		r.partial = append(r.partial, fmt.Sprintf("%d of %d rows were read", r.rows, n))
	}
	return nil
}

func (r *reader) group(g parquet.RowGroup) (err error) {
	rows := g.Rows()
	defer func() { err = errors.Join(err, rows.Close()) }()
	buf := make([]parquet.Row, batch)
	for {
		if r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		n, err := rows.ReadRows(buf)
		for _, row := range buf[:n] {
			if r.rows >= r.most || r.w.Full {
				return nil
			}
			r.row(row)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil || n == 0 {
			return err
		}
	}
}

func (r *reader) row(row parquet.Row) {
	if r.rows == 0 {
		r.w.HeaderRow(r.names)
	}
	r.rows++
	cells := make([][]byte, len(r.names))
	for _, v := range row {
		k := v.Column()
		if k < 0 || k >= len(cells) || v.IsNull() {
			continue
		}
		text := r.text(k, v)
		if text == "" || len(cells[k])+len(text) > maxCell {
			continue
		}
		if cells[k] != nil {
			cells[k] = append(cells[k], ", "...)
		}
		cells[k] = append(cells[k], text...)
	}
	r.w.Row(cells)
}

// text writes a value according to its logical type. It leaves out bytes that are not text.
func (r *reader) text(k int, v parquet.Value) string {
	switch kind := r.kinds[k]; {
	case kind == "DATE" && v.Kind() == parquet.Int32:
		return time.Unix(int64(v.Int32())*86400, 0).UTC().Format("2006-01-02")
	case !strings.HasPrefix(kind, "TIMESTAMP") || v.Kind() != parquet.Int64:
	case strings.Contains(kind, "MILLIS"):
		return time.UnixMilli(v.Int64()).UTC().Format("2006-01-02 15:04:05")
	case strings.Contains(kind, "MICROS"):
		return time.UnixMicro(v.Int64()).UTC().Format("2006-01-02 15:04:05")
	default:
		return time.Unix(0, v.Int64()).UTC().Format("2006-01-02 15:04:05")
	}
	s := v.String()
	if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
		return ""
	}
	if len(s) > maxCell {
		s = strings.ToValidUTF8(s[:maxCell-8], "") + " …"
	}
	return s
}

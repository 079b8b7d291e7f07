// Package sqlite parses SQLite databases as documents. Each table becomes a heading and its rows.
//
//	opts.Parsers = map[string]document.Parser{sqlite.MediaType: sqlite.Parser{}}
//
// The parser reads the database from memory and runs no code in it, neither views nor triggers. The package needs cgo.
package sqlite

import (
	"bytes"
	"context"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mattn/go-sqlite3"

	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/internal/parse/output"
)

// MediaType is the media type of SQLite databases.
const MediaType = "application/vnd.sqlite3"

const (
	// maxTables bounds the tables of a database. maxCell bounds the bytes of a value.
	maxTables, maxCell = 1000, 4 << 10
	// maxColumns bounds the columns of a table.
	maxColumns = 500
)

// Parser parses SQLite databases. The zero value is usable. It is safe for concurrent use.
type Parser struct {
	// MaxRows bounds the rows read of each table. If rows are dropped, Partial is set. 0 means 10,000.
	MaxRows int
}

var _ document.NamedParser = Parser{}

// Endings returns the file name endings of SQLite databases.
func (Parser) Endings() []string { return []string{"sqlite", "sqlite3", "db", "db3"} }

// Parse parses one database.
func (p Parser) Parse(ctx context.Context, in document.Input, lim document.Limits) (*document.Document, error) {
	if !strings.HasPrefix(string(in.Data[:min(len(in.Data), 16)]), "SQLite format 3\x00") {
		return nil, document.NewError(document.Malformed, "the file is no SQLite database", nil)
	}
	data, whole := in.Data, isWhole(in.Data)
	if len(data) > 100 && data[18] == 2 { // write-ahead log mode, which an in-memory database cannot have
		data = bytes.Clone(data)
		data[18], data[19] = 1, 1
	}
	c, err := open(data)
	if err != nil {
		return nil, document.NewError(document.Malformed, "the database is damaged", nil)
	}
	defer c.Close()
	r := &reader{ctx: ctx, c: c, w: output.New(lim, len(in.Data)/2), most: p.MaxRows}
	if r.most <= 0 {
		r.most = 10_000
	}
	if err := r.tables(); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if r.rows == 0 {
			return nil, document.NewError(document.Malformed, "the database is damaged", nil)
		}
		r.partial = append(r.partial, "the database is damaged; what could be read was kept")
	}
	switch {
	case !whole:
		r.partial = append(r.partial, "the database is cut off")
	case len(r.partial) == 0 && !r.sound():
		r.partial = append(r.partial, "the database is damaged; what could be read was kept")
	}
	doc := r.w.Document()
	doc.MediaType = MediaType
	for _, why := range r.partial {
		doc.AddPartial(why)
	}
	return doc, nil
}

// isWhole reports whether a file has as many pages as its header declares (SQLite, "Database File Format", 1.3).
func isWhole(data []byte) bool {
	if len(data) < 100 {
		return false
	}
	size := int64(binary.BigEndian.Uint16(data[16:]))
	if size == 1 {
		size = 1 << 16
	}
	counted := binary.BigEndian.Uint32(data[24:]) == binary.BigEndian.Uint32(data[92:]) // older writers do not update the page count
	return size > 0 && int64(len(data))%size == 0 && (!counted || int64(binary.BigEndian.Uint32(data[28:]))*size <= int64(len(data)))
}

// sound reports whether SQLite's integrity check finds no damage.
func (r *reader) sound() bool {
	ok := false
	err := r.query("PRAGMA quick_check(1)", func(_ []string, row []driver.Value) bool {
		ok = text(row[0]) == "ok"
		return false
	})
	return err == nil && ok
}

// open opens an in-memory database with settings for untrusted content.
func open(data []byte) (*sqlite3.SQLiteConn, error) {
	opened, err := (&sqlite3.SQLiteDriver{}).Open("file::memory:?mode=memory&_query_only=1")
	if err != nil {
		return nil, err
	}
	c := opened.(*sqlite3.SQLiteConn)
	for _, limit := range []struct{ id, value int }{{sqlite3.SQLITE_LIMIT_LENGTH, 64 << 20}, {sqlite3.SQLITE_LIMIT_COLUMN, 2000}, {sqlite3.SQLITE_LIMIT_ATTACHED, 0},
		{sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH, 0}} {
		c.SetLimit(limit.id, limit.value)
	}
	if err := c.Deserialize(data, "main"); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	for _, pragma := range []string{"PRAGMA trusted_schema=0", "PRAGMA cell_size_check=1", "PRAGMA mmap_size=0", "PRAGMA query_only=1"} {
		if _, err := c.Exec(pragma, nil); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return c, nil
}

// reader renders the tables of a database as text.
type reader struct {
	ctx     context.Context
	c       *sqlite3.SQLiteConn
	w       *output.Writer
	most    int
	rows    int
	partial []string
}

// query calls f for each row of a query's result.
func (r *reader) query(sql string, f func(columns []string, row []driver.Value) bool) error {
	rows, err := r.c.QueryContext(r.ctx, sql, nil)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns := rows.Columns()
	row := make([]driver.Value, len(columns))
	for {
		switch err := rows.Next(row); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case r.ctx.Err() != nil:
			return r.ctx.Err()
		case !f(columns, row):
			return nil
		}
	}
}

func (r *reader) tables() error {
	var names []string
	err := r.query("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY rowid LIMIT "+strconv.Itoa(maxTables+1),
		func(_ []string, row []driver.Value) bool {
			names = append(names, text(row[0]))
			return true
		})
	if err != nil {
		return err
	}
	if len(names) > maxTables {
		names = names[:maxTables]
		r.partial = append(r.partial, fmt.Sprintf("the database has more than %d tables", maxTables))
	}
	var failed error
	for _, name := range names {
		if r.w.Full {
			break
		}
		if err := r.table(name); err != nil {
			failed = err
		}
	}
	return failed
}

func (r *reader) table(name string) error {
	r.w.Page(name)
	r.w.Heading(2)
	r.w.Text(name)
	r.w.Block()
	n := 0
	err := r.query(`SELECT * FROM "`+strings.ReplaceAll(name, `"`, `""`)+`" LIMIT `+strconv.Itoa(r.most+1), func(columns []string, row []driver.Value) bool {
		cols := min(len(columns), maxColumns)
		cells := make([][]byte, cols)
		if n == 0 {
			for i := range cols {
				cells[i] = []byte(columns[i])
			}
			r.w.HeaderRow(cells)
		}
		if n++; n > r.most {
			r.partial = append(r.partial, fmt.Sprintf("of large tables %d rows were read", r.most))
			return false
		}
		r.rows++
		for i := range cols {
			cells[i] = []byte(text(row[i]))
		}
		r.w.Row(cells)
		return !r.w.Full
	})
	r.w.Block()
	return err
}

// text writes a value as text. It leaves out values that are not text.
func text(v driver.Value) string {
	switch v := v.(type) {
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	case time.Time:
		return v.UTC().Format("2006-01-02 15:04:05")
	case []byte:
		if utf8.Valid(v) && len(v) < maxCell && !strings.ContainsRune(string(v), 0) {
			return string(v)
		}
		return ""
	case string:
		if len(v) > maxCell {
			v = strings.ToValidUTF8(v[:maxCell], "") + " …"
		}
		return v
	}
	return ""
}

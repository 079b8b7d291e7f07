package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// beginning is the number of statements that begin a transaction.
const beginning = 2

// maxPending is the maximal number of queued statements without a result.
const maxPending = 512

// conn is a connection during one read or one transaction. Statements without a result are queued and sent together with the next
// statement that has one, in one round trip. A conn must be used by one goroutine at a time.
type conn struct {
	pg    *pgx.Conn
	scope []any // first arguments of each statement; for a store, its workspace number
	// single precedes every statement with a result, in reads whose statements are separate transactions.
	single  []statement
	pending []statement
	generic bool         // the transaction begins with genericPlans
	plans   string       // how the transaction chooses plans once it has read its ledger; see autoPlans
	lock    statement    // sent after the statements that begin the transaction; empty: none
	asked   statement    // sent with the first statements; empty: none
	answer  *transaction // result of asked
	tail    statement    // sent after statements with a result; empty: none
	tailed  int64        // largest result of tail, which is a number
	sent    int          // number of times that statements were sent
	awaited bool         // somebody is to be told what a queued statement has changed
}

type statement struct {
	sql  string
	args []any
	did  func(n int64) // told the number of changed rows; nil: nobody is
}

// do queues a statement. It may return the error of an earlier statement.
func (c *conn) do(sql string, args ...any) error {
	c.pending = append(c.pending, statement{sql: sql, args: c.bind(args)})
	if len(c.pending) >= maxPending {
		return c.flush(bg)
	}
	return nil
}

// doing is do that tells did the number of changed rows once the statement has run.
func (c *conn) doing(did func(n int64), sql string, args ...any) error {
	c.pending = append(c.pending, statement{sql: sql, args: c.bind(args), did: did})
	c.awaited = true
	if len(c.pending) >= maxPending {
		return c.flush(bg)
	}
	return nil
}

// as queues a statement with the arguments of another scope.
func (c *conn) as(s scope, sql string, args ...any) error {
	own := c.scope
	c.scope = s.args
	defer func() { c.scope = own }()
	c.pending = append(c.pending, statement{sql: "SELECT set_config($1, $2, true)", args: []any{s.setting, s.value}})
	return c.do(sql, args...)
}

// flush sends the queued statements.
func (c *conn) flush(ctx context.Context) error {
	if len(c.pending) == 0 {
		return nil
	}
	_, err := c.send(ctx, nil)
	return err
}

// exec runs a statement and returns the number of changed rows.
func (c *conn) exec(ctx context.Context, sql string, args ...any) (n int64, err error) {
	c.pending = append(c.pending, statement{sql: sql, args: c.bind(args)})
	return c.send(ctx, nil)
}

// each reads all rows of a query and then calls f for each.
func (c *conn) each(ctx context.Context, sql string, f func(r *row) error, args ...any) error {
	c.pending = append(append(c.pending, c.single...), statement{sql: sql, args: c.bind(args)})
	var rows []row
	if _, err := c.send(ctx, &rows); err != nil {
		return err
	}
	for i := range rows {
		err := f(&rows[i])
		if err == nil {
			err = rows[i].err
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// one calls f for the first row of a query and reports whether there was a row.
func (c *conn) one(ctx context.Context, sql string, f func(r *row) error, args ...any) (found bool, err error) {
	err = c.each(ctx, sql, func(r *row) error {
		if found {
			return nil
		}
		found = true
		return f(r)
	}, args...)
	return found, err
}

// send sends the queued statements. It passes the rows of the last statement to rows unless rows is nil, and returns the last statement's number of changed rows.
func (c *conn) send(ctx context.Context, rows *[]row) (n int64, err error) {
	c.sent++
	if c.lock.sql != "" {
		c.pending = slices.Insert(c.pending, beginning, c.lock)
		c.lock = statement{}
	}
	var b pgx.Batch
	last, asked := len(c.pending)-1, -1
	var did []func(int64) // of each statement of b
	for i, s := range c.pending {
		b.Queue(s.sql, s.args...)
		if c.awaited {
			did = append(did, s.did)
		}
		if i == beginning-1 && c.asked.sql != "" {
			b.Queue(c.asked.sql)
			asked, c.asked = beginning, statement{}
			last++
			if c.awaited {
				did = append(did, nil)
			}
		}
	}
	clear(c.pending)
	c.pending, c.awaited = c.pending[:0], false
	tailed := rows != nil && c.tail.sql != ""
	if tailed {
		b.Queue(c.tail.sql, c.tail.args...)
	}
	res := c.pg.SendBatch(ctx, &b)
	for i := 0; i <= last && err == nil; i++ {
		if i == asked {
			err = res.QueryRow().Scan(&c.answer.xid, &c.answer.started)
			continue
		}
		if i == last && rows != nil {
			*rows, err = collect(res)
			continue
		}
		var tag pgconn.CommandTag
		tag, err = res.Exec()
		n = tag.RowsAffected()
		if did != nil && did[i] != nil && err == nil {
			did[i](n)
		}
	}
	if tailed && err == nil {
		var x int64
		if err = res.QueryRow().Scan(&x); errors.Is(err, pgx.ErrNoRows) {
			err = nil
		}
		c.tailed = max(c.tailed, x)
	}
	if cerr := res.Close(); err == nil {
		err = cerr
	}
	return n, translate(err)
}

// bind appends the arguments to the scope's arguments, converted to types that the driver can encode without guessing.
func (c *conn) bind(args []any) []any {
	out := make([]any, 0, len(c.scope)+len(args))
	out = append(out, c.scope...)
	for _, a := range args {
		switch x := a.(type) {
		case string:
			a = []byte(x) // texts are stored as bytea
		case []string:
			texts := make([][]byte, len(x))
			for i, s := range x {
				texts[i] = []byte(s)
			}
			a = texts
		case int:
			a = int64(x)
		case uint32:
			a = int64(x)
		case uint64:
			a = int64(x)
		case plain:
			a = string(x)
		}
		out = append(out, a)
	}
	return out
}

// plain is an argument of SQL type text.
type plain string

// row is a result row. Reading a value of another type than the column's sets err.
type row struct {
	fields []pgconn.FieldDescription
	vals   [][]byte
	err    error
}

func collect(res pgx.BatchResults) ([]row, error) {
	rows, err := res.Query()
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []row
	fields := slices.Clone(rows.FieldDescriptions()) // the driver reuses the slice for the next result
	for rows.Next() {
		raw := rows.RawValues()
		size := 0
		for _, v := range raw {
			size += len(v)
		}
		slab, vals := make([]byte, 0, size), make([][]byte, len(raw))
		for i, v := range raw {
			if v == nil {
				continue
			}
			at := len(slab)
			slab = append(slab, v...)
			vals[i] = slab[at:len(slab):len(slab)]
		}
		out = append(out, row{fields: fields, vals: vals})
	}
	return out, rows.Err()
}

func (r *row) wrong(i int) {
	r.err = fmt.Errorf("postgres: column %s is of type %d: %w", r.fields[i].Name, r.fields[i].DataTypeOID, backend.ErrCorrupt)
}

func (r *row) null(i int) bool { return r.vals[i] == nil }

// is reports whether a column has a type and is in binary format.
func (r *row) is(i int, oid uint32, size int) bool {
	return r.fields[i].DataTypeOID == oid && r.fields[i].Format == pgx.BinaryFormatCode && len(r.vals[i]) == size
}

func (r *row) int(i int) int64 {
	switch {
	case r.is(i, pgtype.Int8OID, 8):
		return int64(binary.BigEndian.Uint64(r.vals[i]))
	case r.is(i, pgtype.Int2OID, 2):
		return int64(int16(binary.BigEndian.Uint16(r.vals[i])))
	case r.is(i, pgtype.Int4OID, 4):
		return int64(int32(binary.BigEndian.Uint32(r.vals[i])))
	}
	r.wrong(i)
	return 0
}

func (r *row) bool(i int) bool {
	if !r.is(i, pgtype.BoolOID, 1) {
		r.wrong(i)
		return false
	}
	return r.vals[i][0] != 0
}

func (r *row) float(i int) float64 {
	switch {
	case r.is(i, pgtype.Float8OID, 8):
		return math.Float64frombits(binary.BigEndian.Uint64(r.vals[i]))
	case r.is(i, pgtype.Float4OID, 4):
		return float64(math.Float32frombits(binary.BigEndian.Uint32(r.vals[i])))
	}
	r.wrong(i)
	return 0
}

// blob returns a column of bytes, or nil for NULL.
func (r *row) blob(i int) []byte {
	if r.fields[i].DataTypeOID != pgtype.ByteaOID || r.fields[i].Format != pgx.BinaryFormatCode {
		r.wrong(i)
		return nil
	}
	return r.vals[i]
}

// str returns the text of a bytea or text column.
func (r *row) str(i int) string {
	if r.fields[i].DataTypeOID == pgtype.TextOID && r.vals[i] != nil {
		return string(r.vals[i])
	}
	b := r.blob(i)
	if b == nil {
		r.wrong(i)
	}
	return string(b)
}

// tags returns an array of bigint, or nil for NULL.
func (r *row) tags(i int) (tags []uint64) {
	if r.vals[i] == nil {
		return nil
	}
	// The format is: dimensions, flags, type, length, lower bound; then the length and content of each value.
	b := r.vals[i]
	if r.fields[i].DataTypeOID != pgtype.Int8ArrayOID || r.fields[i].Format != pgx.BinaryFormatCode || len(b) < 12 {
		r.wrong(i)
		return nil
	}
	tags = []uint64{}
	if len(b) < 20 {
		return tags
	}
	n := int(binary.BigEndian.Uint32(b[12:]))
	if b = b[20:]; len(b) != 12*n {
		r.wrong(i)
		return nil
	}
	tags = make([]uint64, n)
	for j := range tags {
		tags[j] = binary.BigEndian.Uint64(b[12*j+4:])
	}
	return tags
}

// time returns a stored time.
func (r *row) time(i int) time.Time {
	if r.vals[i] == nil {
		return time.Time{}
	}
	return time.UnixMicro(r.int(i)).UTC()
}

// optional returns an integer, or nil for NULL.
func (r *row) optional(i int) any {
	if r.vals[i] == nil {
		return nil
	}
	return r.int(i)
}

// checked reads bytes and verifies their checksum. It accepts NULL as nil.
func (r *row) checked(crc, data int, what string, num int64) []byte {
	b := r.blob(data)
	if got := int64(storerules.Checksum(b)); r.err == nil && got != r.int(crc) {
		r.err = fmt.Errorf("%s %d: checksum %08x, stored %08x: %w", what, num, got, r.int(crc), backend.ErrCorrupt)
	}
	return b
}

// signed converts tags to PostgreSQL's signed integers. nil stays nil.
func signed(tags []uint64) []int64 {
	if tags == nil {
		return nil
	}
	out := make([]int64, len(tags))
	for i, t := range tags {
		out[i] = int64(t)
	}
	return out
}

// distinct returns the numbers in ascending order without repetitions.
func distinct(nums []int64) []int64 {
	out := slices.Clone(nums)
	slices.Sort(out)
	return slices.Compact(out)
}

package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

var (
	_ backend.Verifier     = (*store)(nil)
	_ backend.Verifier     = (*registry)(nil)
	_ backend.TenantLister = (*registry)(nil)
)

// verifyPage is the number of rows that a verification reads in one transaction. Longer transactions would keep the log from
// being moved into the database.
const verifyPage = 500

// structure runs SQLite's integrity check of a file.
func (f *file) structure(ctx context.Context, report func(backend.Finding)) error {
	err := f.query(ctx, func(c *conn) error {
		return c.each(ctx, "PRAGMA integrity_check(100)", func(r *row) error {
			if what := r.str(0); r.err == nil && what != "ok" {
				report(backend.Finding{What: "database: " + what})
			}
			return nil
		})
	})
	if errors.Is(err, backend.ErrCorrupt) {
		report(backend.Finding{What: err.Error()})
		return nil
	}
	return err
}

// Verify implements [backend.Verifier].
func (s *store) Verify(ctx context.Context, report func(backend.Finding)) (read int64, err error) {
	for _, what := range s.Lost() {
		report(backend.Finding{What: what})
	}
	if err := s.structure(ctx, report); err != nil {
		return 0, err
	}
	for _, what := range slices.Sorted(maps.Keys(invariants)) {
		n := 0
		err := s.read(ctx, func(c *conn) error {
			return c.each(ctx, invariants[what], func(*row) error {
				n++
				return nil
			})
		})
		if err != nil && !errors.Is(err, backend.ErrCorrupt) {
			return read, err
		}
		if err != nil {
			report(backend.Finding{What: fmt.Sprintf("%s: %v", what, err)})
		} else if n > 0 {
			report(backend.Finding{What: fmt.Sprintf("%s: %d", what, n)})
		}
	}
	for _, check := range checks {
		n, err := s.verifyTable(ctx, check, report)
		if read += n; err != nil {
			return read, err
		}
	}
	return read, nil
}

// tableCheck is a query for at most ?2 rows of a table with numbers greater than ?1. Column 0 is the number.
type tableCheck struct {
	sql    string
	source func(num int64) (string, int64) // condition that selects the version of a row, with its argument
	read   func(r *row)                    // sets the row's error
}

func sourceIs(num int64) (string, int64) { return "s.num = ?", num }

func chunkIs(num int64) (string, int64) {
	return "s.num = (SELECT source FROM chunks WHERE num = ?)", num
}

func checkVector(r *row, sum, data int) {
	if r.null(data) {
		return
	}
	if b := r.checked(sum, data, "vector", r.int(0)); r.err == nil {
		_, r.err = storerules.UnpackVector(b)
	}
}

var checks = []tableCheck{
	{"SELECT " + sourceCols + " FROM " + sourceTables + " WHERE s.num > ? ORDER BY s.num LIMIT ?", sourceIs, func(r *row) { readSource(r, 0) }},
	{"SELECT " + chunkCols + ", c.vector_crc, c.vector FROM chunks c WHERE c.num > ? ORDER BY c.num LIMIT ?", chunkIs, func(r *row) {
		var ch backend.Chunk
		if readChunk(r, 0, &ch); r.err == nil {
			checkVector(r, chunkWidth, chunkWidth+1)
		}
	}},
	{"SELECT chunk, crc, data FROM vectors WHERE chunk > ? ORDER BY chunk LIMIT ?", chunkIs, func(r *row) { checkVector(r, 1, 2) }},
	{"SELECT id, crc, data FROM lane_vectors WHERE id > ? ORDER BY id LIMIT ?",
		func(id int64) (string, int64) { return chunkIs(id >> laneBits) }, func(r *row) { checkVector(r, 1, 2) }},
	{"SELECT id, crc, data FROM blobs WHERE id > ? ORDER BY id LIMIT ?",
		func(id int64) (string, int64) { return sourceIs(id >> 3) }, func(r *row) { readStored(r, "content", r.int(0)) }},
	{"SELECT id, crc, data FROM pieces WHERE id > ? ORDER BY id LIMIT ?",
		func(id int64) (string, int64) { return sourceIs(id >> pieceBits >> 3) }, func(r *row) { r.checked(1, 2, "content", r.int(0)) }},
	{"SELECT source, crc, data FROM mentions WHERE source > ? ORDER BY source LIMIT ?", sourceIs, func(r *row) {
		if b := r.checked(1, 2, "mentions", r.int(0)); r.err == nil {
			_, r.err = storerules.UnpackMentions(b)
		}
	}},
	{"SELECT " + relationCols + " FROM relations r WHERE r.num > ? ORDER BY r.num LIMIT ?",
		func(num int64) (string, int64) { return "s.num = (SELECT source FROM relations WHERE num = ?)", num }, func(r *row) { readRelation(r) }},
	{"SELECT " + entityCols + " FROM entities WHERE num > ? ORDER BY num LIMIT ?", nil, func(r *row) { readEntity(r) }},
	{"SELECT rowid, crc, data FROM (SELECT row_number() OVER (ORDER BY name) AS rowid, crc, data FROM vals) WHERE rowid > ? ORDER BY rowid LIMIT ?", nil,
		func(r *row) { r.checked(1, 2, "value", r.int(0)) }},
}

// verifyTable reads a table and reports damaged rows.
func (s *store) verifyTable(ctx context.Context, check tableCheck, report func(backend.Finding)) (read int64, err error) {
	type damaged struct {
		num int64
		err error
	}
	for after := int64(-1 << 62); ; {
		var found []damaged
		n := 0
		err := s.query(ctx, func(c *conn) error {
			return c.each(ctx, check.sql, func(r *row) error {
				n++
				num := r.int(0)
				if r.err != nil {
					return r.err
				}
				after = num
				if check.read(r); errors.Is(r.err, backend.ErrCorrupt) {
					found = append(found, damaged{num, r.err})
					r.err = nil
				}
				return nil
			}, after, verifyPage)
		})
		read += int64(n)
		for _, d := range found {
			f := backend.Finding{What: d.err.Error()}
			if check.source != nil {
				if err := s.place(ctx, check, d.num, &f); err != nil {
					return read, err
				}
			}
			report(f)
		}
		switch {
		case errors.Is(err, backend.ErrCorrupt): // pages of the table are damaged, which structure reports
			report(backend.Finding{What: err.Error()})
			return read, nil
		case err != nil:
			return read, err
		case n < verifyPage:
			return read, nil
		}
	}
}

// place sets the item of a damaged row in f, if it can be read.
func (s *store) place(ctx context.Context, check tableCheck, num int64, f *backend.Finding) error {
	where, arg := check.source(num)
	err := s.query(ctx, func(c *conn) error {
		_, err := c.one(ctx, "SELECT p.class, p.sub, s.id FROM "+sourceTables+" WHERE "+where, func(r *row) error {
			f.Part, f.ItemID = backend.Partition{Class: backend.Class(r.int(0)), Sub: r.str(1)}, r.str(2)
			return nil
		}, arg)
		return err
	})
	if errors.Is(err, backend.ErrCorrupt) {
		return nil
	}
	return err
}

// Verify implements [backend.Verifier].
func (g *registry) Verify(ctx context.Context, report func(backend.Finding)) (read int64, err error) {
	if err := g.structure(ctx, report); err != nil {
		return 0, err
	}
	err = g.query(ctx, func(c *conn) error {
		return c.each(ctx, "SELECT uid, data FROM tenants WHERE state <> 'deleting' ORDER BY uid", func(r *row) error {
			read++
			if data := r.blob(1); !json.Valid(data) || backend.CheckUID(r.str(0)) != nil {
				report(backend.Finding{What: "the record of a tenant cannot be read back"})
				r.err = nil
			}
			return nil
		})
	})
	return read, err
}

package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

var (
	_ backend.Verifier = (*store)(nil)
	_ backend.Verifier = (*registry)(nil)
)

// verifyPage is the number of rows read at once by a verification.
const verifyPage = 500

// invariants are queries that return no rows for an intact workspace, $1.
var invariants = []struct{ what, sql string }{
	{"old version that was not indexed, or without its newest", `SELECT 1 FROM sources s WHERE ws = $1 AND NOT newest AND
		(NOT indexed OR NOT EXISTS (SELECT 1 FROM sources n WHERE n.ws = s.ws AND n.part = s.part AND n.id_hash = s.id_hash AND n.newest AND n.older = s.num))`},
	{"source without partition", `SELECT 1 FROM sources s WHERE ws = $1 AND NOT EXISTS (SELECT 1 FROM parts p WHERE p.ws = s.ws AND p.id = s.part)`},
	{"chunk outside its version", `SELECT 1 FROM chunks c LEFT JOIN sources s ON s.ws = c.ws AND s.num = c.source WHERE c.ws = $1 AND (s.num IS NULL OR NOT s.indexed OR c.num NOT BETWEEN s.first_chunk AND s.first_chunk + s.chunks - 1)`},
	{"version without a chunk", `SELECT 1 FROM sources s WHERE ws = $1 AND chunks <> (SELECT count(*) FROM chunks c WHERE c.ws = s.ws AND c.num BETWEEN s.first_chunk AND s.first_chunk + s.chunks - 1)`},
	{"vector without chunk", `SELECT 1 FROM vectors v WHERE ws = $1 AND NOT EXISTS (SELECT 1 FROM chunks c WHERE c.ws = v.ws AND c.num = v.chunk)`},
	{"vector in a lane that is not filled", `SELECT 1 FROM vectors v JOIN chunks c ON c.ws = v.ws AND c.num = v.chunk JOIN sources s ON s.ws = c.ws AND s.num = c.source WHERE v.ws = $1 AND s.lanes & (1 << v.lane) = 0`},
	{"content without version", `SELECT 1 FROM blobs b WHERE ws = $1 AND NOT EXISTS (SELECT 1 FROM sources s WHERE s.ws = b.ws AND s.num = b.source)`},
	{"piece without content", `SELECT 1 FROM blob_parts p WHERE ws = $1 AND NOT EXISTS (SELECT 1 FROM blobs b WHERE b.ws = p.ws AND b.source = p.source AND b.kind = p.kind AND p.piece < b.pieces)`},
	{"tag of no newest version", `SELECT 1 FROM tags x WHERE ws = $1 AND NOT EXISTS (SELECT 1 FROM sources s WHERE s.ws = x.ws AND s.num = x.source AND s.newest)`},
	{"mentions without version", `SELECT 1 FROM mentions x WHERE ws = $1 AND NOT EXISTS (SELECT 1 FROM sources s WHERE s.ws = x.ws AND s.num = x.source AND s.graph)`},
	{"relation without version", `SELECT 1 FROM relations x WHERE ws = $1 AND NOT EXISTS (SELECT 1 FROM sources s WHERE s.ws = x.ws AND s.num = x.source AND s.graph)`},
	{"relation without entity", `SELECT 1 FROM relations x WHERE ws = $1 AND (NOT EXISTS (SELECT 1 FROM entities e WHERE e.ws = x.ws AND e.num = x.from_id)
		OR x.to_id <> 0 AND NOT EXISTS (SELECT 1 FROM entities e WHERE e.ws = x.ws AND e.num = x.to_id))`},
	{"relation retired by none", `SELECT 1 FROM relations x WHERE ws = $1 AND superseded_by <> 0 AND NOT EXISTS (SELECT 1 FROM relations y WHERE y.ws = x.ws AND y.num = x.superseded_by)`},
	{"entity edge without end", `SELECT 1 FROM entity_sources x WHERE ws = $1 AND (NOT EXISTS (SELECT 1 FROM entities e WHERE e.ws = x.ws AND e.num = x.entity)
		OR NOT EXISTS (SELECT 1 FROM mentions m WHERE m.ws = x.ws AND m.source = x.source))`},
	{"entity that nothing uses", `SELECT 1 FROM entities WHERE ws = $1 AND (uses <= 0 OR mentions < 0)`},
	{"entity without its root", `SELECT 1 FROM entities e WHERE ws = $1 AND NOT EXISTS (SELECT 1 FROM entities r WHERE r.ws = e.ws AND r.num = e.root AND r.root = r.num)`},
	{"wrong count of items", `SELECT 1 FROM parts p WHERE ws = $1 AND items <> (SELECT count(*) FROM sources s WHERE s.ws = p.ws AND s.part = p.id AND s.newest)`},
	{"wrong count of chunks", `SELECT 1 FROM parts p WHERE ws = $1 AND chunks <> (SELECT coalesce(sum(s.chunks), 0) FROM sources s WHERE s.ws = p.ws AND s.part = p.id)`},
	{"wrong count of states", `SELECT 1 FROM ledgers l WHERE ws = $1 AND (completed <> (SELECT count(*) FROM sources s WHERE s.ws = l.ws AND newest AND state = 4)
		OR errored <> (SELECT count(*) FROM sources s WHERE s.ws = l.ws AND newest AND state = 5))`},
	{"wrong count of retractions", `SELECT 1 FROM ledgers l WHERE ws = $1 AND retractions <> (SELECT count(*) FROM relations r WHERE r.ws = l.ws AND flags > 1)`},
	{"number given out twice", `SELECT 1 FROM ledgers l WHERE ws = $1 AND (chunk < (SELECT coalesce(max(num), 0) FROM chunks x WHERE x.ws = l.ws) OR source < (SELECT coalesce(max(num), 0) FROM sources x WHERE x.ws = l.ws)
		OR entity < (SELECT coalesce(max(num), 0) FROM entities x WHERE x.ws = l.ws) OR relation < (SELECT coalesce(max(num), 0) FROM relations x WHERE x.ws = l.ws)
		OR seq < (SELECT coalesce(max(seq), 0) FROM changes x WHERE x.ws = l.ws) OR event < (SELECT coalesce(max(seq), 0) FROM events x WHERE x.ws = l.ws) OR part < (SELECT coalesce(max(id), 0) FROM parts x WHERE x.ws = l.ws))`},
	{"succession without its versions", `SELECT 1 FROM successions x WHERE ws = $1 AND (NOT EXISTS (SELECT 1 FROM sources s WHERE s.ws = x.ws AND s.num = x.later AND s.part = x.part)
		OR NOT EXISTS (SELECT 1 FROM sources s WHERE s.ws = x.ws AND s.num = x.earlier AND s.part = x.part))`},
	{"put of no version", `SELECT 1 FROM changes x WHERE ws = $1 AND sub IS NULL AND NOT EXISTS (SELECT 1 FROM sources s WHERE s.ws = x.ws AND s.num = x.source)`},
	{"indexed version that is not in the feed", `SELECT 1 FROM sources s WHERE ws = $1 AND indexed AND NOT EXISTS (SELECT 1 FROM changes x WHERE x.ws = s.ws AND x.seq = s.seq_chunks)`},
}

// Verify implements [backend.Verifier]. It reads every row with a checksum and compares tables with each other. It does not check the pages
// of the database files, which PostgreSQL can check itself (pg_amcheck, data checksums).
func (s *store) Verify(ctx context.Context, report func(backend.Finding)) (read int64, err error) {
	for _, x := range invariants {
		n := int64(0)
		err := s.query(ctx, func(c *conn) error {
			_, err := c.one(ctx, "SELECT count(*) FROM ("+x.sql+" LIMIT 1000) AS found", func(r *row) error {
				n = r.int(0)
				return nil
			})
			return err
		})
		if err != nil {
			return read, fmt.Errorf("%s: %w", x.what, err)
		}
		if n > 0 {
			report(backend.Finding{What: fmt.Sprintf("%s: %d", x.what, n)})
		}
	}
	for _, check := range checks {
		n, err := s.verifyTable(ctx, check, report)
		if read += n; err != nil {
			return read, err
		}
	}
	n, err := s.verifyContent(ctx, report)
	return read + n, err
}

// tableCheck is a query for at most $3 rows of a table after number $2, in order of the number, which is column 0.
type tableCheck struct {
	sql    string
	source string       // expression or query for the version of row $2; empty: rows belong to no version
	read   func(r *row) // sets the row's error if the row is damaged
}

var checks = []tableCheck{
	{"SELECT " + sourceCols + " FROM " + sourceTables + " WHERE s.ws = $1 AND s.num > $2 ORDER BY s.num LIMIT $3", "$2", func(r *row) { readSource(r, 0) }},
	{"SELECT " + chunkCols + " FROM chunks c WHERE c.ws = $1 AND c.num > $2 ORDER BY c.num LIMIT $3", "(SELECT source FROM chunks WHERE ws = $1 AND num = $2)", func(r *row) {
		var ch backend.Chunk
		readChunk(r, &ch)
	}},
	{"SELECT chunk * 4 + lane, crc, data FROM vectors WHERE ws = $1 AND (chunk, lane) > ($2 / 4, $2 % 4) ORDER BY chunk, lane LIMIT $3", "(SELECT source FROM chunks WHERE ws = $1 AND num = $2 / 4)", func(r *row) {
		if b := r.checked(1, 2, "vector", r.int(0)/4); r.err == nil {
			_, r.err = storerules.UnpackVector(b)
		}
	}},
	{"SELECT source, crc, data FROM mentions WHERE ws = $1 AND source > $2 ORDER BY source LIMIT $3", "$2", func(r *row) {
		if b := r.checked(1, 2, "mentions", r.int(0)); r.err == nil {
			_, r.err = storerules.UnpackMentions(b)
		}
	}},
	{"SELECT " + relationCols + " FROM relations r WHERE r.ws = $1 AND r.num > $2 ORDER BY r.num LIMIT $3", "(SELECT source FROM relations WHERE ws = $1 AND num = $2)", func(r *row) { readRelation(r) }},
	{"SELECT " + entityCols + " FROM entities e WHERE ws = $1 AND num > $2 ORDER BY num LIMIT $3", "", func(r *row) { readEntity(r) }},
	{"SELECT n, crc, data FROM (SELECT row_number() OVER (ORDER BY name_hash) AS n, crc, data FROM vals WHERE ws = $1) x WHERE n > $2 ORDER BY n LIMIT $3", "",
		func(r *row) { r.checked(1, 2, "value", r.int(0)) }},
}

// verifyTable reads a table and reports its damaged rows.
func (s *store) verifyTable(ctx context.Context, check tableCheck, report func(backend.Finding)) (read int64, err error) {
	type damaged struct {
		num int64
		err error
	}
	for after := int64(0); ; {
		var found []damaged
		var n, last int64
		err := s.query(ctx, func(c *conn) error {
			found, n, last = nil, 0, after
			return c.each(ctx, check.sql, func(r *row) error {
				n++
				last = r.int(0)
				if r.err != nil {
					return r.err
				}
				if check.read(r); errors.Is(r.err, backend.ErrCorrupt) {
					found = append(found, damaged{last, r.err})
					r.err = nil
				}
				return r.err
			}, after, int64(verifyPage))
		})
		if err != nil {
			return read, err
		}
		read, after = read+n, last
		for _, d := range found {
			if err := s.report(ctx, check.source, d.num, d.err, report); err != nil {
				return read, err
			}
		}
		if n < verifyPage {
			return read, nil
		}
	}
}

// verifyContent reads the contents of all versions.
func (s *store) verifyContent(ctx context.Context, report func(backend.Finding)) (read int64, err error) {
	for after := int64(0); ; {
		num := int64(0)
		n := int64(0)
		var damage []error
		err := s.read(ctx, func(c *conn) error {
			num, n, damage = 0, 0, nil
			_, err := c.one(ctx, "SELECT coalesce(min(source), 0) FROM blobs WHERE ws = $1 AND source > $2", func(r *row) error {
				num = r.int(0)
				return nil
			}, after)
			if err != nil || num == 0 {
				return err
			}
			return readBlobs(ctx, c, []int64{num}, 0, func(_ int64, _ backend.Blob, err error) {
				n++
				if err != nil {
					damage = append(damage, err)
				}
			})
		})
		if err != nil || num == 0 {
			return read, err
		}
		read, after = read+n, num
		for _, err := range damage {
			if err := s.report(ctx, "$2", num, err, report); err != nil {
				return read, err
			}
		}
	}
}

// report reports the damage of a row, with the item to which the row belongs.
func (s *store) report(ctx context.Context, source string, num int64, damage error, report func(backend.Finding)) error {
	f := backend.Finding{What: damage.Error()}
	if source != "" {
		err := s.query(ctx, func(c *conn) error {
			_, err := c.one(ctx, "SELECT p.class, p.sub, s.id FROM "+sourceTables+" WHERE s.ws = $1 AND s.num = "+source, func(r *row) error {
				f.Part, f.ItemID = backend.Partition{Class: backend.Class(r.int(0)), Sub: r.str(1)}, r.str(2)
				return nil
			}, num)
			return err
		})
		if err != nil {
			return err
		}
	}
	report(f)
	return nil
}

// Verify implements [backend.Verifier].
func (g *registry) Verify(ctx context.Context, report func(backend.Finding)) (read int64, err error) {
	err = g.query(ctx, everything, func(c *conn) error {
		read = 0
		return c.each(ctx, "SELECT uid, data FROM tenants WHERE state <> 'deleting' ORDER BY uid", func(r *row) error {
			read++
			if data := r.blob(1); !json.Valid(data) || backend.CheckUID(r.str(0)) != nil {
				report(backend.Finding{What: "the record of a tenant cannot be read back"})
			}
			return nil
		})
	})
	return read, err
}

package postgres

import (
	"context"
	"fmt"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// sourceCols are the columns that readSource reads, of a version s and its partition p.
const sourceCols = `s.num, p.class, p.sub, s.id, s.state, s.error_code, s.error_message, s.attempts, s.title, s.kind,
	s.filename, s.media, s.size, s.infer, s.created, s.updated, s.time, s.expires, s.session, s.metadata, s.additional,
	s.doc, s.tags, s.not_before, s.token, s.lease, s.rev, s.newest,
	CASE s.older WHEN 0 THEN 0 ELSE coalesce((SELECT o.num FROM sources o WHERE o.ws = $1 AND o.num = s.older), 0) END`

const sourceWidth = 29 // number of columns in sourceCols

const sourceTables = "sources s JOIN parts p ON p.ws = s.ws AND p.id = s.part"

// Tables that follow others in a FROM clause of a read by keys; see keyPlans. OFFSET 0 keeps the server from reading them in any other way
// than by the key, for each row of the others.
const (
	sourceOfKey  = "CROSS JOIN LATERAL (SELECT * FROM sources s WHERE s.ws = $1 AND s.num = k.num OFFSET 0) s"
	partOfSource = "CROSS JOIN LATERAL (SELECT * FROM parts p WHERE p.ws = $1 AND p.id = s.part OFFSET 0) p"
)

// readSource reads a version from column i on.
func readSource(r *row, i int) *backend.Source {
	s := &backend.Source{
		Num:   r.int(i),
		Part:  backend.Partition{Class: backend.Class(r.int(i + 1)), Sub: r.str(i + 2)},
		ID:    r.str(i + 3),
		State: backend.State(r.int(i + 4)), ErrorCode: r.str(i + 5), ErrorMessage: r.str(i + 6),
		Attempts: int(r.int(i + 7)),
		Title:    r.str(i + 8), Kind: r.str(i + 9), Filename: r.str(i + 10), MediaType: r.str(i + 11),
		SizeBytes: r.int(i + 12), Infer: r.bool(i + 13),
		CreatedAt: r.time(i + 14), UpdatedAt: r.time(i + 15), Time: r.time(i + 16), ExpiresAt: r.time(i + 17),
		Session: r.str(i + 18), Metadata: r.blob(i + 19), Additional: r.blob(i + 20), Doc: r.blob(i + 21), Tags: r.tags(i + 22),
		NotBefore: r.time(i + 23), Token: r.str(i + 24), LeaseUntil: r.time(i + 25), Rev: r.int(i + 26), Replaced: !r.bool(i + 27), Older: r.int(i + 28),
	}
	if r.err == nil && (s.State < backend.Queued || s.State > backend.Errored || !knownClass(int64(s.Part.Class))) {
		r.err = fmt.Errorf("source %d: state %d, class %d: %w", s.Num, s.State, s.Part.Class, backend.ErrCorrupt)
	}
	return s
}

// knownClass reports whether a stored number is that of a class.
func knownClass(n int64) bool { return n >= int64(backend.Knowledge) && n <= int64(backend.Raw) }

const headCols = `num, part, id, state, newest, indexed, graph, token, older, first_chunk, chunks,
	seq_chunks, seq_tags, seq_graph, tags, created, rev, lane, lanes, seq_lane_1, seq_lane_2, seq_lane_3`

const headWidth = 22 // number of columns in headCols

func readHead(r *row) *head {
	v := &head{
		Num: r.int(0), Part: r.int(1), ID: r.str(2), State: backend.State(r.int(3)),
		Newest: r.bool(4), Indexed: r.bool(5), Graph: r.bool(6), Token: r.str(7), Older: r.int(8),
		First: r.int(9), Chunks: r.int(10), SeqChunks: r.int(11), SeqTags: r.int(12), SeqGraph: r.int(13),
		Tags: r.tags(14), Created: r.optional(15), Rev: r.int(16),
		Lane: backend.Lane(r.int(17)), Lanes: r.int(18), SeqLane: [backend.LaneCount]int64{1: r.int(19), 2: r.int(20), 3: r.int(21)},
	}
	if r.err == nil && (v.State < backend.Queued || v.State > backend.Errored) {
		r.err = fmt.Errorf("source %d: state %d: %w", v.Num, v.State, backend.ErrCorrupt)
	}
	return v
}

// items reads the newest versions of ids, keyed by the hash of the id.
func (t *tx) items(part int64, ids []string) (map[[16]byte]*head, error) {
	found := make(map[[16]byte]*head, len(ids))
	if part == 0 || len(ids) == 0 {
		return found, nil
	}
	err := t.c.each(bg, "SELECT "+headCols+", id_hash FROM sources WHERE ws = $1 AND part = $2 AND id_hash = ANY($3) AND newest FOR UPDATE", func(r *row) error {
		found[unhash(r.blob(headWidth))] = readHead(r)
		return nil
	}, part, hashesOf(ids))
	return found, err
}

const (
	wholeBlob = 256 << 10 // content up to this size is stored in one row
	blobPiece = 1 << 20
)

// storeBlobs adds blobs to a version. If replace is set, they replace blobs of the same kinds.
func (t *tx) storeBlobs(source int64, blobs []backend.Blob, replace bool) error {
	for _, b := range blobs {
		if replace {
			for _, table := range []string{"blobs", "blob_parts"} {
				if err := t.c.do("DELETE FROM "+table+" WHERE ws = $1 AND source = $2 AND kind = $3", source, int64(b.Kind)); err != nil {
					return err
				}
			}
		}
		data, pieces := b.Data, int64(0)
		if data == nil {
			data = []byte{}
		}
		sum := storerules.Checksum(data)
		if len(data) > wholeBlob {
			for rest := data; len(rest) > 0; pieces++ {
				n := min(blobPiece, len(rest))
				err := t.c.do("INSERT INTO blob_parts (ws, source, kind, piece, data) VALUES ($1, $2, $3, $4, $5)", source, int64(b.Kind), pieces, rest[:n])
				if err == nil {
					err = t.c.flush(bg) // send each piece at once, so that memory does not hold all pieces twice
				}
				if err != nil {
					return err
				}
				rest = rest[n:]
			}
			data = []byte{}
		}
		err := t.c.do(`INSERT INTO blobs (ws, source, kind, pieces, crc, data) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (ws, source, kind) DO UPDATE SET pieces = excluded.pieces, crc = excluded.crc, data = excluded.data`,
			source, int64(b.Kind), pieces, sum, data)
		if err != nil {
			return err
		}
	}
	return nil
}

// readBlobs reads blobs of versions by kind; kind 0 means all kinds. It calls f with each blob, or with its error.
func readBlobs(ctx context.Context, c *conn, sources []int64, kind backend.ContentKind, f func(source int64, b backend.Blob, err error)) error {
	type large struct {
		source, crc, pieces int64
		kind                backend.ContentKind
	}
	var rest []large
	err := c.each(ctx, "SELECT source, kind, pieces, crc, data FROM blobs WHERE ws = $1 AND source = ANY($2) AND ($3 = 0 OR kind = $3) ORDER BY source, kind", func(r *row) error {
		if n := r.int(2); n > 0 {
			rest = append(rest, large{source: r.int(0), kind: backend.ContentKind(r.int(1)), pieces: n, crc: r.int(3)})
			return nil
		}
		b := backend.Blob{Kind: backend.ContentKind(r.int(1)), Data: r.checked(3, 4, "content of source", r.int(0))}
		err := r.err
		r.err = nil
		f(r.int(0), b, err)
		return nil
	}, sources, int64(kind))
	if err != nil {
		return err
	}
	for _, l := range rest {
		var data []byte
		n := int64(0)
		for ; n < l.pieces; n++ {
			found, err := c.one(ctx, "SELECT data FROM blob_parts WHERE ws = $1 AND source = $2 AND kind = $3 AND piece = $4", func(r *row) error {
				data = append(data, r.blob(0)...)
				return nil
			}, l.source, int64(l.kind), n)
			if err != nil {
				return err
			}
			if !found {
				break
			}
		}
		var err error
		if n < l.pieces || int64(storerules.Checksum(data)) != l.crc {
			err = fmt.Errorf("content of source %d: %d of %d pieces, checksum %08x, stored %08x: %w", l.source, n, l.pieces, storerules.Checksum(data), l.crc, backend.ErrCorrupt)
		}
		f(l.source, backend.Blob{Kind: l.kind, Data: data}, err)
	}
	return nil
}

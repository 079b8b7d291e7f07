package postgres

import (
	"fmt"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// head holds the columns of a version that writing calls need.
type head = storerules.Head

// rows implements [storerules.Rows]. Its methods are in the files for their subjects.
type rows struct{ t *tx }

var _ storerules.Rows = rows{}

func (x rows) PartID(p backend.Partition) (int64, error)      { return x.t.partID(p) }
func (x rows) PartName(part int64) (backend.Partition, error) { return x.t.partName(part) }
func (x rows) MakePart(p backend.Partition) (int64, error)    { return x.t.makePart(p) }
func (x rows) ForgetAll()                                     { x.t.forget() }
func (x rows) MoveState(from, to backend.State)               { x.t.led.move(from, to) }

func (x rows) Parts(sub string) (parts []int64, err error) {
	err = x.t.c.each(bg, "SELECT id FROM parts WHERE ws = $1 AND sub_hash = $2", func(r *row) error {
		parts = append(parts, r.int(0))
		return nil
	}, hashOf(sub))
	return parts, err
}

func (x rows) RemovePart(part int64) error {
	for _, sql := range []string{
		"DELETE FROM relations WHERE ws = $1 AND part = $2", // this and the next two: what a damaged row has left
		"DELETE FROM stated_aliases WHERE ws = $1 AND part = $2",
		"DELETE FROM successions WHERE ws = $1 AND part = $2",
		"DELETE FROM merges WHERE ws = $1 AND part = $2",
		"DELETE FROM aliases WHERE ws = $1 AND part = $2",
		"DELETE FROM entities WHERE ws = $1 AND part = $2",
		"DELETE FROM parts WHERE ws = $1 AND id = $2",
	} {
		if err := x.t.c.do(sql, part); err != nil {
			return err
		}
	}
	return nil
}

func (x rows) CountPart(part int64, sum storerules.PartSum) error {
	return x.t.c.do("UPDATE parts SET items = items + $2, chunks = chunks + $3 WHERE ws = $1 AND id = $4", sum.Items, sum.Chunks, part)
}

// LoadVersions does nothing, since Version must lock each row until the end of the transaction.
func (x rows) LoadVersions(int, func(int) int64) error { return nil }

func (x rows) Version(num int64) (v *head, err error) {
	_, err = x.t.c.one(bg, "SELECT "+headCols+" FROM sources WHERE ws = $1 AND num = $2 FOR UPDATE", func(r *row) error {
		v = readHead(r)
		return nil
	}, num)
	return v, err
}

func (x rows) Source(num int64) (src *backend.Source, err error) {
	_, err = x.t.c.one(bg, "SELECT "+sourceCols+" FROM "+sourceTables+" WHERE s.ws = $1 AND s.num = $2", func(r *row) error {
		src = readSource(r, 0)
		return nil
	}, num)
	return src, err
}

func (x rows) Item(part int64, id string) (*head, error) {
	found, err := x.t.items(part, []string{id})
	return found[unhash(hashOf(id))], err
}

// heads locks the versions selected by a condition.
func (x rows) heads(where string, args ...any) (out []*head, err error) {
	err = x.t.c.each(bg, "SELECT "+headCols+" FROM sources WHERE ws = $1 AND "+where+" FOR UPDATE", func(r *row) error {
		out = append(out, readHead(r))
		return nil
	}, args...)
	return out, err
}

func (x rows) Newest(part int64, limit int) ([]*head, error) {
	return x.heads("part = $2 AND newest ORDER BY num LIMIT $3", part, limit)
}

func (x rows) Expired(now time.Time, limit int) (nums []int64, err error) {
	err = x.t.c.each(bg, `SELECT num FROM sources
		WHERE ws = $1 AND expires IS NOT NULL AND expires <= $2 ORDER BY expires LIMIT $3`, func(r *row) error {
		nums = append(nums, r.int(0))
		return nil
	}, storerules.Micros(now), limit)
	return nums, err
}

func (x rows) NextExpiry() (next time.Time, err error) {
	_, err = x.t.c.one(bg, `SELECT expires FROM sources
		WHERE ws = $1 AND expires IS NOT NULL ORDER BY expires LIMIT 1`, func(r *row) error {
		next = r.time(0)
		return nil
	})
	return next, err
}

func (x rows) SetReplaced(v *head) error {
	return x.t.c.do("UPDATE sources SET newest = false WHERE ws = $1 AND num = $2", v.Num)
}

func (x rows) RemoveTags(v *head) error {
	if len(v.Tags) == 0 {
		return nil
	}
	return x.t.c.do("DELETE FROM tags WHERE ws = $1 AND part = $2 AND tag = ANY($3) AND source = $4", v.Part, signed(v.Tags), v.Num)
}

func (x rows) AddChunks(v *head, chunks []backend.Chunk) error {
	for i := range chunks {
		if err := x.addChunk(v, v.First+int64(i), &chunks[i]); err != nil {
			return fmt.Errorf("chunk %d: %w", i, err)
		}
	}
	return nil
}

func (x rows) addChunk(v *head, num int64, ch *backend.Chunk) error {
	err := x.t.c.do(`INSERT INTO chunks (ws, num, source, ordinal, key_hash, crc, key, text, heading, layout, extra)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`, num, v.Num, ch.Ordinal, keyHash(v.Part, ch.Key), chunkSum(ch),
		ch.Key, ch.Text, ch.Heading, ch.Layout, ch.Extra)
	if err != nil || ch.Vector == nil {
		return err
	}
	return x.AddVector(num, v.Lane, ch.Vector)
}

func (x rows) RemoveChunks(v *head) error {
	last := v.First + v.Chunks - 1
	err := x.t.c.do(`DELETE FROM vectors x WHERE ws = $1 AND chunk BETWEEN $2 AND $3
		AND EXISTS (SELECT 1 FROM chunks c WHERE c.ws = x.ws AND c.num = x.chunk AND c.source = $4)`, v.First, last, v.Num)
	if err != nil {
		return err
	}
	chunks := v.Chunks
	return x.t.c.doing(func(n int64) { x.t.Left = x.t.Left || n != chunks }, "DELETE FROM chunks WHERE ws = $1 AND num BETWEEN $2 AND $3 AND source = $4", v.First, last, v.Num)
}

func (x rows) StoreBlobs(num int64, blobs []backend.Blob, replace bool) error {
	return x.t.storeBlobs(num, blobs, replace)
}

func (x rows) RemoveSource(num int64) error {
	return x.t.c.do("DELETE FROM sources WHERE ws = $1 AND num = $2", num)
}

func (x rows) SetQueued(v *head) error {
	x.t.waits = true
	return x.t.c.do(`UPDATE sources SET state = 1, attempts = 0, error_code = '', error_message = '', token = '',
		lease = NULL, not_before = NULL, due = 0 WHERE ws = $1 AND num = $2`, v.Num)
}

func (x rows) EndSource(v *head, state backend.State, code, message string) error {
	return x.t.c.do(`UPDATE sources SET state = $2, error_code = $3, error_message = $4, token = '', lease = NULL,
		not_before = NULL, due = 0, graph = $5, seq_graph = $6 WHERE ws = $1 AND num = $7`,
		int64(state), code, message, v.Graph, v.SeqGraph, v.Num)
}

func (x rows) AddEvent(num int64, p backend.Partition, v *head, state backend.State, code, message string) error {
	x.t.waits = true
	return x.t.c.do(`INSERT INTO events (ws, seq, class, sub, item, source, status, error_code, error_message, at, epoch)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`, num, int64(p.Class), p.Sub, v.ID, v.Num,
		int64(state), code, message, storerules.Stamp(time.Now()), int64(x.t.epochs.now))
}

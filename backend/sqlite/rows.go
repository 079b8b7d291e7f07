package sqlite

import (
	"slices"
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
func (x rows) ForgetAll()                                     { x.t.forget() }
func (x rows) MoveState(from, to backend.State)               { x.t.led.move(from, to) }

func (x rows) Parts(sub string) (parts []int64, err error) {
	err = x.t.c.each(bg, "SELECT id FROM parts WHERE sub = ?", func(r *row) error {
		parts = append(parts, r.int(0))
		return nil
	}, sub)
	return parts, err
}

func (x rows) RemovePart(part int64) error {
	for _, sql := range []string{
		"DELETE FROM relations WHERE part = ?", // this and the next two: what a damaged row has left
		"DELETE FROM stated_aliases WHERE part = ?",
		"DELETE FROM successions WHERE part = ?",
		"DELETE FROM merges WHERE part = ?",
		"DELETE FROM aliases WHERE part = ?",
		"DELETE FROM entities WHERE part = ?",
		"DELETE FROM counters WHERE id = ?",
		"DELETE FROM parts WHERE id = ?",
	} {
		if err := x.t.c.do(sql, part); err != nil {
			return err
		}
	}
	return nil
}

func (x rows) CountPart(part int64, sum storerules.PartSum) error {
	return addToPart(x.t.c, part, sum)
}

func addToPart(c *conn, part int64, sum storerules.PartSum) error {
	return c.do("UPDATE counters SET items = items + ?, chunks = chunks + ? WHERE id = ?", sum.Items, sum.Chunks, part)
}

// LoadVersions prefetches versions if their numbers are close together.
func (x rows) LoadVersions(n int, num func(i int) int64) error {
	t := x.t
	t.dropHeads()
	if n < 2 {
		return nil
	}
	first, last := num(0), num(0)
	for i := range n {
		first, last = min(first, num(i)), max(last, num(i))
	}
	if last-first >= int64(2*n) {
		return nil
	}
	t.heads, t.firstHead = slices.Grow(t.heads, int(last-first)+1)[:last-first+1], first
	clear(t.heads)
	return t.c.each(bg, "SELECT "+headCols+", title, time, session FROM sources WHERE num BETWEEN ? AND ?", func(r *row) error {
		v := readHead(r)
		readDescription(v, r)
		t.heads[v.Num-first] = v
		return nil
	}, first, last)
}

// dropHeads discards prefetched versions.
func (t *tx) dropHeads() {
	clear(t.heads)
	t.heads = t.heads[:0]
}

// aheadIn returns the partition of a prefetched version, or 0 if the version was not prefetched.
func (t *tx) aheadIn(num int64) int64 {
	if i := num - t.firstHead; i >= 0 && i < int64(len(t.heads)) && t.heads[i] != nil {
		return t.heads[i].Part
	}
	return 0
}

func (x rows) Version(num int64) (v *head, err error) {
	if i := num - x.t.firstHead; i >= 0 && i < int64(len(x.t.heads)) && x.t.heads[i] != nil {
		v, x.t.heads[i] = x.t.heads[i], nil
		return v, nil
	}
	_, err = x.t.c.one(bg, "SELECT "+headCols+", title, time, session FROM sources WHERE num = ?", func(r *row) error {
		v = readHead(r)
		readDescription(v, r)
		return nil
	}, num)
	return v, err
}

func (x rows) Source(num int64) (src *backend.Source, err error) {
	_, err = x.t.c.one(bg, "SELECT "+sourceCols+" FROM "+sourceTables+" WHERE s.num = ?", func(r *row) error {
		src = readSource(r, 0)
		return nil
	}, num)
	return src, err
}

func (x rows) Item(part int64, id string) (v *head, err error) {
	if part == 0 {
		return nil, nil
	}
	err = x.t.c.each(bg, "SELECT "+headCols+" FROM sources INDEXED BY sources_item WHERE hash = ? AND part = ? AND newest = 1",
		func(r *row) error {
			if v == nil && r.str(2) == id {
				v = readHead(r)
			}
			return nil
		}, hashOf(0, id), part)
	return v, err
}

// heads reads the versions that a query finds.
func (x rows) heads(sql string, args ...any) (out []*head, err error) {
	err = x.t.c.each(bg, "SELECT "+headCols+" FROM sources "+sql, func(r *row) error {
		out = append(out, readHead(r))
		return nil
	}, args...)
	return out, err
}

func (x rows) Newest(part int64, limit int) ([]*head, error) {
	return x.heads("INDEXED BY sources_list WHERE part = ? AND newest = 1 LIMIT ?", part, limit)
}

func (x rows) Expired(now time.Time, limit int) (nums []int64, err error) {
	err = x.t.c.each(bg, `SELECT num FROM sources INDEXED BY sources_expires
		WHERE expires IS NOT NULL AND expires <= ? ORDER BY expires LIMIT ?`, func(r *row) error {
		nums = append(nums, r.int(0))
		return nil
	}, storerules.Micros(now), limit)
	return nums, err
}

func (x rows) NextExpiry() (next time.Time, err error) {
	_, err = x.t.c.one(bg, `SELECT expires FROM sources INDEXED BY sources_expires
		WHERE expires IS NOT NULL AND typeof(expires) = 'integer' ORDER BY expires LIMIT 1`, func(r *row) error {
		next = r.time(0)
		return nil
	})
	return next, err
}

func (x rows) SetReplaced(v *head) error {
	if err := x.t.limitStated(v, true); err != nil {
		return err
	}
	return x.t.c.do("UPDATE sources SET newest = 0 WHERE num = ?", v.Num)
}

func (x rows) RemoveTags(v *head) error {
	if err := x.t.tagRows.flush(x.t.c); err != nil {
		return err
	}
	x.t.Left = x.t.Left || v.TagsCut
	for i, tag := range v.Tags {
		n, err := x.t.c.exec("DELETE FROM tags WHERE part = ? AND tag = ? AND source = ?", v.Part, int64(tag), v.Num)
		if err != nil {
			return err
		}
		if n == 0 && tag != backend.Everybody && tag != backend.IDTag(v.ID) && !slices.Contains(v.Tags[:i], tag) {
			x.t.Left = true // the tags are not those that were stored
		}
	}
	return nil
}

func (x rows) RemoveChunks(v *head) error {
	last := v.First + v.Chunks - 1
	if v.Lanes > 1 {
		err := x.t.c.do("DELETE FROM lane_vectors WHERE id BETWEEN ? AND ? AND (SELECT source FROM chunks WHERE num = id >> 2) = ?",
			v.First<<laneBits, last<<laneBits|int64(backend.LaneCount-1), v.Num)
		if err != nil {
			return err
		}
	}
	if err := x.t.c.do("DELETE FROM vectors WHERE chunk BETWEEN ? AND ? AND (SELECT source FROM chunks WHERE num = chunk) = ?", v.First, last, v.Num); err != nil {
		return err
	}
	n, err := x.t.c.exec("DELETE FROM chunks WHERE num BETWEEN ? AND ? AND source = ?", v.First, last, v.Num)
	x.t.Left = x.t.Left || n != v.Chunks
	return err
}

func (x rows) RemoveBlobs(num int64) error { return x.t.removeBlobs(num) }

func (x rows) StoreBlobs(num int64, blobs []backend.Blob, replace bool) error {
	return x.t.storeBlobs(num, blobs, replace)
}

func (x rows) RemoveSource(num int64) error {
	return x.t.c.do("DELETE FROM sources WHERE num = ?", num)
}

func (x rows) EndSource(v *head, state backend.State, code, message string) error {
	return x.t.c.do(`UPDATE sources SET state = ?, error_code = ?, error_message = ?, token = '', lease = NULL,
		not_before = NULL, due = 0, graph = ?, seq_graph = ? WHERE num = ?`,
		int64(state), code, message, v.Graph, v.SeqGraph, v.Num)
}

func (x rows) AddEvent(num int64, p backend.Partition, v *head, state backend.State, code, message string) error {
	return x.t.c.do(`INSERT INTO events (seq, class, sub, item, source, status, error_code, error_message, at, epoch)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, num, int64(p.Class), p.Sub, v.ID, v.Num,
		int64(state), code, message, storerules.Stamp(time.Now()), x.t.epochs.now)
}

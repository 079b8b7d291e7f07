package storerules

import (
	"errors"
	"fmt"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// Head holds the columns of a version that writing calls need.
type Head struct {
	Num, Rev, Part               int64
	ID                           string
	State                        backend.State
	Newest, Indexed, Graph       bool
	Token                        string
	Older                        int64 // the indexed version before a newest one, which may be gone; 0: none
	First, Chunks                int64 // number of the first chunk, and number of chunks
	SeqChunks, SeqTags, SeqGraph int64 // entries of the feed; 0: none
	Lane                         backend.Lane
	Lanes                        int64 // a bit for each filled lane
	SeqLane                      [backend.LaneCount]int64
	Tags                         []uint64
	TagsCut                      bool // some of Tags are lost, since the row is damaged
	Created                      any  // the stored form

	// The fields below are set by a Store that returns the changes of its calls. They are as of the time at which the version was read.
	Described bool // the fields below are set, and Tags are not damaged
	Title     string
	Time      time.Time
	Session   string
}

// Is reports whether v is the version that a caller has read; v may be nil.
func (v *Head) Is(read backend.Version) bool {
	return v != nil && v.Num == read.Num && v.Rev == read.Rev
}

// Find reads the newest version of an id in a partition. It returns [backend.ErrNotFound] if there is none.
func (t *Tx) Find(p backend.Partition, id string) (*Head, error) {
	part, err := t.Rows.PartID(p)
	if err != nil {
		return nil, err
	}
	v, err := t.Rows.Item(part, id)
	if err == nil && v == nil {
		err = backend.ErrNotFound
	}
	return v, err
}

// Held reads a version that is claimed under token. It returns nil if the claim was lost.
func (t *Tx) Held(num int64, token string) (*Head, error) {
	if token == "" {
		return nil, nil
	}
	v, err := t.Rows.Version(num)
	if err != nil || v == nil || v.Token != token || !v.Newest {
		return nil, err
	}
	return v, nil
}

// EachHeld calls do with each version that is still claimed under its token, and reports which are. what is the name of the call in errors.
func EachHeld[T any](t *Tx, what string, items []T, of func(*T) (num int64, token string), do func(*Head, *T) error) ([]bool, error) {
	ok := make([]bool, len(items))
	if err := t.Rows.LoadVersions(len(items), func(i int) int64 { num, _ := of(&items[i]); return num }); err != nil {
		return nil, fmt.Errorf("%s %d sources: %w", what, len(items), err)
	}
	for i := range items {
		num, token := of(&items[i])
		v, err := t.Held(num, token)
		if err == nil && v != nil {
			ok[i] = true
			err = do(v, &items[i])
		}
		if err != nil {
			return nil, fmt.Errorf("%s source %d: %w", what, num, err)
		}
	}
	return ok, nil
}

// CheckBlobs checks the kinds of content.
func CheckBlobs(blobs []backend.Blob) error {
	for _, b := range blobs {
		if b.Kind < backend.Original || b.Kind > backend.Past {
			return fmt.Errorf("content kind %d is unknown", b.Kind)
		}
	}
	return nil
}

// Leads reports whether stores index versions of a class by a tag.
func Leads(class backend.Class, tag uint64) bool {
	return class != backend.Raw || tag != backend.Everybody
}

// Move sets the state of v and updates the counts of states.
func (t *Tx) Move(v *Head, to backend.State) {
	t.Rows.MoveState(v.State, to)
	v.State = to
}

// ClearContent removes the chunks, the graph and the feed entries of a version.
func (t *Tx) ClearContent(v *Head) error {
	if err := t.clearGraph(v); err != nil {
		return err
	}
	for _, seq := range []*int64{&v.SeqChunks, &v.SeqTags, &v.SeqGraph, &v.SeqLane[1], &v.SeqLane[2], &v.SeqLane[3]} {
		if err := t.takeBack(seq); err != nil {
			return err
		}
	}
	if v.Chunks == 0 {
		return nil
	}
	t.Count(v.Part, 0, -v.Chunks)
	err := t.Rows.RemoveChunks(v)
	v.First, v.Chunks = 0, 0
	return err
}

// removeVersion removes a version with all its rows. The caller updates the count of items.
func (t *Tx) removeVersion(v *Head) error {
	if v.Newest {
		if err := t.Rows.RemoveTags(v); err != nil {
			return err
		}
		t.Rows.MoveState(v.State, 0)
	}
	if err := t.ClearContent(v); err != nil {
		return err
	}
	if err := t.Rows.RemoveSuccessions(v.Num); err != nil {
		return err
	}
	if v.Indexed {
		if err := t.drop(v); err != nil {
			return err
		}
	}
	if err := t.Rows.RemoveBlobs(v.Num); err != nil {
		return err
	}
	return t.Rows.RemoveSource(v.Num)
}

// RemoveOlder removes the older indexed version of a newest one, if it still exists.
func (t *Tx) RemoveOlder(v *Head) error {
	if v.Older == 0 {
		return nil
	}
	older, err := t.Rows.Version(v.Older)
	v.Older = 0
	if err != nil || older == nil {
		return err
	}
	return t.removeVersion(older)
}

// RemoveItem removes all versions of the item whose newest is v.
func (t *Tx) RemoveItem(v *Head) error {
	if err := t.RemoveOlder(v); err != nil {
		return err
	}
	t.Count(v.Part, -1, 0)
	return t.removeVersion(v)
}

// Delete removes items, see [backend.Intake].
func (t *Tx) Delete(part backend.Partition, ids []string, o backend.DeleteOptions) ([]backend.DeleteResult, error) {
	out := make([]backend.DeleteResult, len(ids))
	id, err := t.Rows.PartID(part)
	if err != nil {
		return nil, err
	}
	for i := range ids {
		v, err := t.Rows.Item(id, ids[i])
		if err != nil {
			return nil, err
		}
		if v == nil {
			continue
		}
		out[i] = backend.DeleteResult{Found: true, Indexing: !v.State.Terminal()}
		if out[i].Conflict, err = t.Conflicts(&o, i, backend.Version{Num: v.Num, Rev: v.Rev}); err != nil {
			return nil, err
		}
		if out[i].Indexing && o.KeepIndexing || out[i].Conflict {
			continue
		}
		if err := t.RemoveItem(v); err != nil {
			return nil, fmt.Errorf("delete %q: %w", ids[i], err)
		}
	}
	return out, nil
}

// Conflicts reports whether newest, the newest version of the id at i, is neither the expected one nor meets the condition of the call.
// A damaged version does not meet it.
func (t *Tx) Conflicts(o *backend.DeleteOptions, i int, newest backend.Version) (bool, error) {
	if !o.Conflicts(i, newest) || o.Still == nil {
		return o.Conflicts(i, newest), nil
	}
	src, err := t.Rows.Source(newest.Num)
	if err != nil && !errors.Is(err, backend.ErrCorrupt) {
		return false, err
	}
	return err != nil || src == nil || !o.Still.Meets(src), nil
}

// DeleteSub removes up to limit items of a sub-tenant, and the sub-tenant if none is left. It returns the number of removed items.
func (t *Tx) DeleteSub(sub string, limit int) (n int, err error) {
	parts, err := t.Rows.Parts(sub)
	if err != nil {
		return 0, err
	}
	left := false
	for _, part := range parts {
		found, err := t.Rows.Newest(part, max(limit-n, 0)+1)
		if err != nil {
			return 0, err
		}
		for _, v := range found {
			if n >= limit {
				left = true
				break
			}
			if err := t.RemoveItem(v); err != nil {
				return 0, fmt.Errorf("delete %q: %w", v.ID, err)
			}
			n++
		}
	}
	if left {
		return n, nil
	}
	return n, t.ForgetSub(sub, parts, n > 0)
}

// ForgetSub removes the remaining rows of an empty sub-tenant. changed reports whether indexes may still have data of it.
func (t *Tx) ForgetSub(sub string, parts []int64, changed bool) error {
	// Write the changes of this call first, since the rows to which they belong are removed now.
	if err := t.Settle(); err != nil {
		return err
	}
	t.Rows.ForgetAll()
	for _, part := range parts {
		if err := t.Rows.RemovePart(part); err != nil {
			return err
		}
	}
	if !changed {
		return nil
	}
	return t.dropSub(sub)
}

// Expire removes up to limit expired versions. It returns their number, and the time at which the next one expires.
func (t *Tx) Expire(now time.Time, limit int) (n int, next time.Time, err error) {
	nums, err := t.Rows.Expired(now, max(limit, 0))
	if err != nil {
		return 0, time.Time{}, err
	}
	for _, num := range nums {
		v, err := t.Rows.Version(num)
		if err != nil {
			return 0, time.Time{}, err
		}
		switch {
		case v == nil: // removed together with a newer version
			continue
		case v.Newest:
			err = t.RemoveItem(v)
		default:
			err = t.removeVersion(v)
		}
		if err != nil {
			return 0, time.Time{}, fmt.Errorf("expire %q: %w", v.ID, err)
		}
		n++
	}
	next, err = t.Rows.NextExpiry()
	return n, next, err
}

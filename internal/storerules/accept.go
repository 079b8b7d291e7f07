package storerules

import (
	"fmt"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// Accept stores items to be processed. It skips items whose expectation does not hold.
func (t *Tx) Accept(items []backend.Incoming) ([]backend.Accepted, error) {
	if err := t.Rows.LoadItems(len(items), func(i int) *backend.Source { return &items[i].Source }); err != nil {
		return nil, err
	}
	out := make([]backend.Accepted, len(items))
	var err error
	for i := range items {
		if out[i], err = t.accept(&items[i]); err != nil {
			return nil, fmt.Errorf("accept %q: %w", items[i].ID, err)
		}
	}
	return out, nil
}

func (t *Tx) accept(in *backend.Incoming) (out backend.Accepted, err error) {
	part, err := t.Rows.MakePart(in.Part)
	if err != nil {
		return out, err
	}
	old, err := t.Rows.Incoming(part, in.ID)
	if err != nil {
		return out, err
	}
	out.Exists = in.IfAbsent && old != nil
	out.Conflict = in.Expect != backend.Version{} && !old.Is(in.Expect)
	if out.Exists || out.Conflict {
		return out, nil
	}
	v := &t.head // reused, since no caller keeps it
	*v = Head{Part: part, ID: in.ID, Created: Stamp(in.CreatedAt)}
	if old != nil {
		v.Created = old.Created
		if v.Older, err = t.replace(old); err != nil {
			return out, err
		}
	} else {
		t.Count(part, 1, 0)
	}
	t.Numbers.Source++
	v.Num = t.Numbers.Source
	t.Rows.MoveState(0, backend.Queued)
	err = t.Rows.AddSource(v, &in.Source)
	if err == nil {
		err = t.Rows.AddTags(part, v.Num, in.ID, in.Tags)
	}
	if err == nil {
		err = t.Rows.StoreBlobs(v.Num, in.Blobs, false)
	}
	out.Num = v.Num
	return out, err
}

// replace prepares for a newer version of old's item. It removes old if it was not indexed; otherwise old stays searchable. It returns the
// version that stays searchable, or 0 if there is none.
func (t *Tx) replace(old *Head) (older int64, err error) {
	if !old.Indexed {
		older = old.Older
		return older, t.removeVersion(old)
	}
	if err := t.Rows.RemoveTags(old); err != nil {
		return 0, err
	}
	t.Rows.MoveState(old.State, 0)
	return old.Num, t.Rows.SetReplaced(old)
}

// Place stores items together with their chunks, and returns the changes that this added to the feed.
func (t *Tx) Place(items []backend.Placed) (*backend.Placement, error) {
	if err := t.Rows.LoadItems(len(items), func(i int) *backend.Source { return &items[i].Source }); err != nil {
		return nil, err
	}
	out := &backend.Placement{Nums: make([]int64, len(items)), After: uint64(t.Numbers.Seq) << SeqShift}
	for i := range items {
		put, err := t.place(&items[i])
		if err != nil {
			return nil, fmt.Errorf("place %q: %w", items[i].ID, err)
		}
		out.Nums[i] = put.Source
		out.Changes = append(append(out.Changes, t.Dropped...), put)
		t.Dropped = t.Dropped[:0]
	}
	return out, nil
}

// CheckPlaced checks the arguments of Place.
func CheckPlaced(items []backend.Placed) error {
	for i := range items {
		err := CheckBlobs(items[i].Blobs)
		if err == nil {
			err = items[i].Lane.Check(items[i].Part.Class)
		}
		if err != nil {
			return fmt.Errorf("place %q: %w", items[i].ID, err)
		}
	}
	return nil
}

// CheckIncoming checks the arguments of Accept.
func CheckIncoming(items []backend.Incoming) error {
	for i := range items {
		if err := CheckBlobs(items[i].Blobs); err != nil {
			return fmt.Errorf("accept %q: %w", items[i].ID, err)
		}
	}
	return nil
}

// place stores one item and returns the change that puts its chunks.
func (t *Tx) place(in *backend.Placed) (put backend.Change, err error) {
	part, err := t.Rows.MakePart(in.Part)
	if err != nil {
		return put, err
	}
	old, err := t.Rows.Incoming(part, in.ID)
	if err != nil {
		return put, err
	}
	if in.IfAbsent && old != nil {
		return put, fmt.Errorf("the id is taken: %w", backend.ErrExists)
	}
	if (in.Expect != backend.Version{}) && !old.Is(in.Expect) {
		return put, fmt.Errorf("it was changed or deleted since it was read: %w", backend.ErrConflict)
	}
	v := &Head{
		Part: part, ID: in.ID, Lane: in.Lane, Lanes: 1 << in.Lane, Created: Stamp(in.CreatedAt),
		First: t.Numbers.Chunk + 1, Chunks: int64(len(in.Chunks)),
	}
	if old != nil {
		v.Created = old.Created
		if err := t.RemoveItem(old); err != nil {
			return put, err
		}
	}
	if err := t.Rows.NumberPlaced(v); err != nil {
		return put, err
	}
	put = backend.Change{
		Seq: uint64(v.SeqChunks) << SeqShift, Kind: backend.PutChunks, Part: in.Part, Source: v.Num, SourceID: in.ID, Title: in.Title, Time: Stamped(in.Time),
		Session: in.Session, Tags: in.Tags, Lane: in.Lane, Rows: RowsOf(v.First, in.Chunks),
	}
	dense, err := t.addChunks(v, in.Chunks)
	if err == nil {
		err = t.Rows.AddPlaced(v, &in.Source, dense)
	}
	if err == nil {
		err = t.Rows.AddTags(part, v.Num, in.ID, in.Tags)
	}
	if err == nil {
		err = t.Rows.StoreBlobs(v.Num, in.Blobs, false)
	}
	if err == nil && in.Event {
		err = t.AddEvent(v, backend.Completed, "", "")
	}
	return put, err
}

// addChunks stores chunks under the chunk numbers of a version. dense reports whether their ordinals are 0, 1, 2 and so on.
func (t *Tx) addChunks(v *Head, chunks []backend.Chunk) (dense bool, err error) {
	dense = true
	for i := range chunks {
		dense = dense && chunks[i].Ordinal == i
	}
	return dense, t.Rows.AddChunks(v, chunks)
}

// Index stores the chunks of a version. They replace chunks that it already has, and the older version.
func (t *Tx) Index(v *Head, in *backend.Indexed) error {
	if err := t.RemoveOlder(v); err != nil {
		return err
	}
	if err := t.ClearContent(v); err != nil {
		return err
	}
	p, err := t.Rows.PartName(v.Part)
	if err == nil {
		err = in.Lane.Check(p.Class)
	}
	if err != nil {
		return err
	}
	v.Lane, v.Lanes = in.Lane, 1<<in.Lane
	v.First, v.Chunks = t.Numbers.Chunk+1, int64(len(in.Chunks))
	t.Numbers.Chunk += v.Chunks
	t.Count(v.Part, 0, v.Chunks)
	dense, err := t.addChunks(v, in.Chunks)
	if err != nil {
		return err
	}
	if err := t.Put(v.Num, backend.PutChunks, &v.SeqChunks); err != nil {
		return err
	}
	if err := t.Rows.StoreBlobs(v.Num, in.Blobs, true); err != nil {
		return err
	}
	t.Move(v, backend.GraphCreation)
	return t.Rows.SetIndexed(v, in, dense)
}

// Metadata holds the new values for [Tx.UpdateMetadata].
type Metadata struct {
	Metadata, Additional []byte
	Doc                  []byte // nil: unchanged
	Tags                 []uint64
	Now                  time.Time
}

// UpdateMetadata changes the metadata and tags of an item if its newest version is the expected one. It returns the number of its chunks.
func (t *Tx) UpdateMetadata(part backend.Partition, id string, expect backend.Version, m *Metadata) (int, error) {
	v, err := t.Find(part, id)
	if err == nil && !v.Is(expect) {
		err = fmt.Errorf("it was changed since it was read: %w", backend.ErrConflict)
	}
	if err == nil {
		err = t.updateMetadata(v, m)
	}
	if err != nil {
		return 0, fmt.Errorf("update metadata of %q: %w", id, err)
	}
	if !v.Indexed {
		return 0, nil
	}
	return int(v.Chunks), nil
}

func (t *Tx) updateMetadata(v *Head, m *Metadata) error {
	if err := t.Rows.RemoveTags(v); err != nil {
		return err
	}
	if err := t.Rows.AddTags(v.Part, v.Num, v.ID, m.Tags); err != nil {
		return err
	}
	if v.Indexed {
		if err := t.Put(v.Num, backend.PutTags, &v.SeqTags); err != nil {
			return err
		}
	}
	return t.Rows.SetMetadata(v, m)
}

// Requeue queues a failed item again.
func (t *Tx) Requeue(part backend.Partition, id string) error {
	v, err := t.Find(part, id)
	if err == nil && v.State != backend.Errored {
		err = fmt.Errorf("it did not fail: %w", backend.ErrConflict)
	}
	if err != nil {
		return fmt.Errorf("requeue %q: %w", id, err)
	}
	t.Move(v, backend.Queued)
	return t.Rows.SetQueued(v)
}

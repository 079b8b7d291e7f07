package inmem

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

func (s *store) Accept(ctx context.Context, items []backend.Incoming) (out []backend.Accepted, err error) {
	err = s.write(ctx, func(d *storeData) error {
		if err := storerules.CheckIncoming(items); err != nil {
			return err
		}
		out = make([]backend.Accepted, len(items))
		for i := range items {
			out[i] = d.accept(&items[i])
		}
		d.feed.tidy()
		return nil
	})
	return out, err
}

func (s *store) Place(ctx context.Context, items []backend.Placed) (out *backend.Placement, err error) {
	err = s.write(ctx, func(d *storeData) error {
		if err := storerules.CheckPlaced(items); err != nil {
			return err
		}
		keys := newKeyCheck()
		for i := range items {
			in := &items[i]
			it := d.item(in.Part, in.ID)
			if in.IfAbsent && it != nil {
				return fmt.Errorf("place %q: the id is taken: %w", in.ID, backend.ErrExists)
			}
			if !it.fits(in.Expect) {
				return fmt.Errorf("place %q: it was changed or deleted since it was read: %w", in.ID, backend.ErrConflict)
			}
			if err := keys.add(d.part(in.Part), in.ID, in.Chunks); err != nil {
				return fmt.Errorf("place %q: %w", in.ID, err)
			}
		}
		out = &backend.Placement{Nums: make([]int64, len(items)), After: d.feed.last << replayBits}
		before := d.feed.last
		for i := range items {
			num := d.accept(&items[i].Incoming).Num
			d.index(d.versions[num], &backend.Indexed{Chunks: items[i].Chunks, Lane: items[i].Lane})
			d.versions[num].src.Rev = 0
			d.finish(d.versions[num], &backend.Finished{State: backend.Completed, Event: items[i].Event})
			out.Nums[i] = num
		}
		for _, e := range d.feed.entries[d.feed.after(before):] {
			if e.kind != 0 {
				out.Changes = append(out.Changes, d.change(e))
			}
		}
		d.feed.tidy()
		return nil
	})
	return out, err
}

func (d *storeData) accept(in *backend.Incoming) backend.Accepted {
	p := d.part(in.Part)
	it := p.items[in.ID]
	out := backend.Accepted{Exists: it != nil && in.IfAbsent, Conflict: !it.fits(in.Expect)}
	if out.Exists || out.Conflict {
		return out
	}
	d.last.version++
	v := &version{src: *copySource(&in.Source), part: p}
	v.src.Num, v.src.Rev, v.src.State, v.src.Replaced = d.last.version, 0, backend.Queued, false
	v.src.CreatedAt, v.src.UpdatedAt = storerules.Stamped(in.CreatedAt), storerules.Stamped(in.UpdatedAt)
	v.src.Time, v.src.ExpiresAt = storerules.Stamped(in.Time), storerules.Stamped(in.ExpiresAt)
	v.resetWork()
	v.src.Attempts = 0
	v.store(in.Blobs)
	if it == nil {
		it = &item{}
		p.items[in.ID] = it
	} else {
		v.src.CreatedAt = it.newest.src.CreatedAt
		if it.newest.indexed {
			d.replace(it)
		} else {
			d.removeVersion(it.newest)
		}
	}
	if it.older != nil {
		v.src.Older = it.older.src.Num
	}
	it.newest = v
	d.file(v)
	return backend.Accepted{Num: v.src.Num}
}

// resetWork clears the claim on a version and the result of the last attempt.
func (v *version) resetWork() {
	v.giveBack()
	v.src.ErrorCode, v.src.ErrorMessage = "", ""
}

// giveBack clears the claim on a version.
func (v *version) giveBack() {
	v.src.Token, v.src.LeaseUntil, v.src.NotBefore = "", time.Time{}, time.Time{}
}

func (v *version) store(blobs []backend.Blob) {
	if v.blobs == nil {
		v.blobs = make(map[backend.ContentKind][]byte)
	}
	for _, b := range blobs {
		v.blobs[b.Kind] = slices.Clone(b.Data)
		if b.Data == nil {
			v.blobs[b.Kind] = []byte{}
		}
	}
}

// waiting returns the version of a number if it is the newest of its item and still needs work, and nil otherwise.
func (d *storeData) waiting(num int64) *version {
	v := d.versions[num]
	if v == nil || v.src.State.Terminal() || v.src.Replaced {
		return nil
	}
	return v
}

// visitQueue calls f with the waiting versions in ascending order, until f returns false. It removes the others that it meets from the queue.
func (d *storeData) visitQueue(f func(v *version) bool) {
	var kept []int64
	n := 0
	for more := true; more && n < len(d.queue); n++ {
		if v := d.waiting(d.queue[n]); v != nil {
			kept = append(kept, d.queue[n])
			more = f(v)
		}
	}
	d.queue = d.queue[n-len(kept):]
	copy(d.queue, kept)
}

func (s *store) Claim(ctx context.Context, token string, now, leaseUntil time.Time, limit int, maxBytes int64) (out []backend.Claim, err error) {
	err = s.write(ctx, func(d *storeData) error {
		if token == "" {
			return errors.New("claim: the token is empty")
		}
		var bytes int64
		d.visitQueue(func(v *version) bool {
			if v.src.NotBefore.After(now) || v.src.LeaseUntil.After(now) {
				return true
			}
			if len(out) >= limit || len(out) > 0 && maxBytes > 0 && bytes+v.src.SizeBytes > maxBytes {
				return false
			}
			bytes += v.src.SizeBytes
			if v.src.State == backend.Queued {
				d.setState(v, backend.Processing)
			}
			v.src.Attempts++
			v.src.Token, v.src.LeaseUntil = token, storerules.Stamped(leaseUntil)
			c := backend.Claim{Source: *copySource(&v.src)}
			for kind := backend.Original; kind <= backend.Past; kind++ {
				if b, ok := v.blobs[kind]; ok {
					c.Blobs = append(c.Blobs, backend.Blob{Kind: kind, Data: slices.Clone(b)})
				}
			}
			for _, ch := range v.chunks {
				c.Chunks = append(c.Chunks, copyChunk(&ch.Chunk, true))
			}
			out = append(out, c)
			return true
		})
		return nil
	})
	return out, err
}

// held returns the version that is claimed under token, or nil if the claim was lost.
func (d *storeData) held(num int64, token string) *version {
	v := d.versions[num]
	if v == nil || token == "" || v.src.Token != token {
		return nil
	}
	return v
}

func (s *store) Renew(ctx context.Context, token string, nums []int64, leaseUntil time.Time) error {
	return s.write(ctx, func(d *storeData) error {
		for _, num := range nums {
			if v := d.held(num, token); v != nil {
				v.src.LeaseUntil = storerules.Stamped(leaseUntil)
			}
		}
		return nil
	})
}

func (s *store) Index(ctx context.Context, items []backend.Indexed) (ok []bool, err error) {
	err = s.write(ctx, func(d *storeData) error {
		if err := d.checkIndexed(items); err != nil {
			return err
		}
		ok = make([]bool, len(items))
		for i := range items {
			if v := d.held(items[i].Num, items[i].Token); v != nil {
				d.index(v, &items[i])
				ok[i] = true
			}
		}
		d.feed.tidy()
		return nil
	})
	return ok, err
}

// checkIndexed returns an error if a blob kind is unknown or if two items would share a chunk key.
func (d *storeData) checkIndexed(items []backend.Indexed) error {
	keys := newKeyCheck()
	for i := range items {
		v := d.held(items[i].Num, items[i].Token)
		if v == nil {
			continue
		}
		if err := storerules.CheckBlobs(items[i].Blobs); err != nil {
			return fmt.Errorf("index source %d: %w", v.src.Num, err)
		}
		if err := keys.add(v.part, v.src.ID, items[i].Chunks); err != nil {
			return fmt.Errorf("index %q: %w", v.src.ID, err)
		}
	}
	return nil
}

// keyCheck detects chunk keys that two items would share.
type keyCheck struct{ owner map[partKey]string }

type partKey struct {
	part *partition
	key  string
}

func newKeyCheck() keyCheck { return keyCheck{make(map[partKey]string)} }

// add checks the chunks of an item against the partition and against the chunks added before.
func (k keyCheck) add(p *partition, id string, chunks []backend.Chunk) error {
	own := make(map[string]bool, len(chunks))
	for i := range chunks {
		key := chunks[i].Key
		other, ok := k.owner[partKey{p, key}]
		if c := p.keys[key]; !ok && c != nil {
			other, ok = c.of.src.ID, true
		}
		if own[key] || ok && other != id {
			return fmt.Errorf("key of chunk %d is taken: %w", i, backend.ErrExists)
		}
		own[key] = true
		k.owner[partKey{p, key}] = id
	}
	return nil
}

func (d *storeData) index(v *version, in *backend.Indexed) {
	it := v.part.items[v.src.ID]
	if it.older != nil {
		d.removeVersion(it.older)
		it.older, v.src.Older = nil, 0
	}
	d.clearGraph(v)
	d.clearChunks(v)
	d.feed.forget(v)
	if in.Title != "" {
		v.src.Title = in.Title
	}
	if in.Doc != nil {
		v.src.Doc = slices.Clone(in.Doc)
	}
	if len(in.Tags) > 0 {
		v.src.Tags = slices.Concat(v.src.Tags, in.Tags)
	}
	if !in.Time.IsZero() {
		v.src.Time = storerules.Stamped(in.Time)
	}
	v.store(in.Blobs)
	d.setState(v, backend.GraphCreation)
	v.indexed = true
	v.src.Rev++
	v.src.ErrorCode, v.src.ErrorMessage = "", ""
	v.lane, v.lanes[in.Lane] = in.Lane, true
	if v.compared == 0 {
		v.compared = in.Compared
	}
	for i := range in.Chunks {
		d.last.chunk++
		c := &chunk{Chunk: copyChunk(&in.Chunks[i], true), of: v}
		c.Num, c.Source = d.last.chunk, v.src.Num
		v.chunks = append(v.chunks, c)
		d.chunks[c.Num] = c
		v.part.keys[c.Key] = c
	}
	d.fileCompared(v)
	d.feed.put(v, backend.PutChunks)
}

func (s *store) Finish(ctx context.Context, items []backend.Finished) (ok []bool, err error) {
	err = s.write(ctx, func(d *storeData) error {
		for i := range items {
			if v := d.held(items[i].Num, items[i].Token); v != nil {
				if err := checkFinished(v, &items[i]); err != nil {
					return err
				}
			}
		}
		ok = make([]bool, len(items))
		for i := range items {
			if v := d.held(items[i].Num, items[i].Token); v != nil {
				d.finish(v, &items[i])
				ok[i] = true
			}
		}
		d.feed.tidy()
		return nil
	})
	return ok, err
}

func checkFinished(v *version, f *backend.Finished) error {
	err := storerules.CheckBlobs(f.Blobs)
	if err == nil {
		err = storerules.CheckFinished(f, int64(len(v.chunks)))
	}
	if err != nil {
		return fmt.Errorf("finish source %d: %w", v.src.Num, err)
	}
	return nil
}

func (d *storeData) finish(v *version, f *backend.Finished) {
	had := len(v.mentions) > 0
	d.clearGraph(v)
	d.addGraph(v, f)
	if had || len(v.mentions) > 0 {
		d.feed.put(v, backend.PutGraph)
	}
	v.store(f.Blobs)
	v.giveBack()
	d.setState(v, f.State)
	v.src.ErrorCode, v.src.ErrorMessage = f.ErrorCode, f.ErrorMessage
	if f.Event {
		d.last.event++
		d.events = append(d.events, backend.Event{
			Seq: d.last.event, ItemID: v.src.ID, Part: v.src.Part, Source: v.src.Num, Status: f.State,
			ErrorCode: f.ErrorCode, ErrorMessage: f.ErrorMessage, At: storerules.Stamped(time.Now()),
		})
	}
}

func (s *store) Defer(ctx context.Context, items []backend.Deferred) error {
	return s.write(ctx, func(d *storeData) error {
		for _, f := range items {
			if f.State < backend.Queued || f.State.Terminal() {
				return fmt.Errorf("defer source %d: state %d is final or unknown", f.Num, f.State)
			}
		}
		for _, f := range items {
			if v := d.held(f.Num, f.Token); v != nil {
				v.giveBack()
				d.setState(v, f.State)
				v.src.NotBefore = storerules.Stamped(f.NotBefore)
				v.src.ErrorCode, v.src.ErrorMessage = f.ErrorCode, f.ErrorMessage
			}
		}
		return nil
	})
}

var _ backend.ErrorCounter = (*store)(nil)

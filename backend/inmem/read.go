package inmem

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
)

func (s *store) Sources(ctx context.Context, part backend.Partition, ids []string) (out []*backend.Source, err error) {
	err = s.read(ctx, func(d *storeData) error {
		out = make([]*backend.Source, len(ids))
		for i, id := range ids {
			if it := d.item(part, id); it != nil {
				out[i] = copySource(&it.newest.src)
			}
		}
		return nil
	})
	return out, err
}

func (s *store) SourcesByNum(ctx context.Context, nums []int64) (out []*backend.Source, err error) {
	err = s.read(ctx, func(d *storeData) error {
		out = make([]*backend.Source, len(nums))
		for i, num := range nums {
			if v := d.versions[num]; v != nil {
				out[i] = copySource(&v.src)
			}
		}
		return nil
	})
	return out, err
}

func (s *store) FindSubs(ctx context.Context, class backend.Class, id string) (subs []string, err error) {
	err = s.read(ctx, func(d *storeData) error {
		for name, p := range d.parts {
			if name.Class == class && p.items[id] != nil {
				subs = append(subs, name.Sub)
			}
		}
		return nil
	})
	slices.Sort(subs)
	return subs, err
}

func (s *store) Content(ctx context.Context, source int64, kind backend.ContentKind) (data []byte, err error) {
	err = s.read(ctx, func(d *storeData) error {
		v := d.versions[source]
		if v == nil {
			return fmt.Errorf("content of source %d: %w", source, backend.ErrNotFound)
		}
		b, ok := v.blobs[kind]
		if !ok {
			return fmt.Errorf("content %d of source %d: %w", kind, source, backend.ErrNotFound)
		}
		data = slices.Clone(b)
		return nil
	})
	return data, err
}

func (s *store) List(ctx context.Context, q backend.ListQuery) (page []*backend.Source, total int, err error) {
	err = s.read(ctx, func(d *storeData) error {
		p := d.parts[q.Part]
		if p == nil {
			return nil
		}
		var found []*backend.Source
		add := func(it *item) {
			if src := &it.newest.src; !expired(src.ExpiresAt, q.Now) && (q.States == nil || slices.Contains(q.States, src.State)) && q.Filter.Matches(src.Tags) {
				found = append(found, src)
			}
		}
		if q.IDs == nil {
			for _, it := range p.items {
				add(it)
			}
		} else {
			seen := make(map[string]bool, len(q.IDs))
			for _, id := range q.IDs {
				if it := p.items[id]; it != nil && !seen[id] {
					seen[id] = true
					add(it)
				}
			}
		}
		slices.SortFunc(found, func(a, b *backend.Source) int {
			return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), cmp.Compare(a.ID, b.ID))
		})
		total = len(found)
		from, to := q.Window(total, func(i int) backend.ListPlace { return backend.ListPlace{Updated: found[i].UpdatedAt, ID: found[i].ID} })
		for _, src := range found[from:to] {
			page = append(page, copySource(src))
		}
		return nil
	})
	return page, total, err
}

func (s *store) Chunks(ctx context.Context, nums []int64, now time.Time) (out []*backend.Hydrated, err error) {
	err = s.read(ctx, func(d *storeData) error {
		for _, num := range nums {
			c := d.chunks[num]
			if c == nil || !c.of.indexed || expired(c.of.src.ExpiresAt, now) {
				continue
			}
			out = append(out, &backend.Hydrated{Chunk: copyChunk(&c.Chunk, false), Src: copySource(&c.of.src)})
		}
		return nil
	})
	return out, err
}

func (s *store) SourceChunks(ctx context.Context, source int64, from, to int, vectors bool) (out []backend.Chunk, err error) {
	err = s.read(ctx, func(d *storeData) error {
		v := d.versions[source]
		if v == nil {
			return nil
		}
		for _, c := range v.chunks {
			if c.Ordinal >= from && c.Ordinal < to {
				out = append(out, copyChunk(&c.Chunk, vectors))
			}
		}
		return nil
	})
	slices.SortStableFunc(out, func(a, b backend.Chunk) int { return cmp.Compare(a.Ordinal, b.Ordinal) })
	return out, err
}

func (s *store) ChunkNums(ctx context.Context, part backend.Partition, keys []string) (nums []int64, err error) {
	err = s.read(ctx, func(d *storeData) error {
		nums = make([]int64, len(keys))
		p := d.parts[part]
		for i, key := range keys {
			if p != nil && p.keys[key] != nil {
				nums[i] = p.keys[key].Num
			}
		}
		return nil
	})
	return nums, err
}

func (s *store) Subs(ctx context.Context) (subs []backend.SubInfo, err error) {
	now := time.Now()
	err = s.read(ctx, func(d *storeData) error {
		infos := make(map[string]*backend.SubInfo)
		for name, p := range d.parts {
			for _, it := range p.items {
				if expired(it.newest.src.ExpiresAt, now) {
					continue
				}
				info := infos[name.Sub]
				if info == nil {
					info = &backend.SubInfo{Sub: name.Sub}
					infos[name.Sub] = info
				}
				switch name.Class {
				case backend.Knowledge:
					info.Knowledge++
				case backend.Memory:
					info.Memory++
				case backend.Raw:
					info.Raw++
				}
			}
		}
		for _, info := range infos {
			subs = append(subs, *info)
		}
		return nil
	})
	slices.SortFunc(subs, func(a, b backend.SubInfo) int { return cmp.Compare(a.Sub, b.Sub) })
	return subs, err
}

func (s *store) Stats(ctx context.Context, class backend.Class) (st backend.Stats, err error) {
	now := time.Now()
	err = s.read(ctx, func(d *storeData) error {
		for name, p := range d.parts {
			if name.Class != class {
				continue
			}
			for _, it := range p.items {
				if !expired(it.newest.src.ExpiresAt, now) {
					st.Sources++
				}
				for _, v := range []*version{it.newest, it.older} {
					if v != nil && v.indexed && !expired(v.src.ExpiresAt, now) {
						st.Chunks += len(v.chunks)
					}
				}
			}
		}
		return nil
	})
	return st, err
}

package backendtest

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// universe lists the partitions, ids, entities, versions and values that a dump reads from a store.
type universe struct {
	parts    []backend.Partition
	ids      []string
	entities []string
	versions []int64
	values   []string
	now      time.Time
	// name returns a name for a version; nil means that dumps show its Num. With it the dumps
	// of two stores can be compared although they number versions differently.
	name func(num int64) string
}

// dump returns everything that the store's read methods return for u, as lines in a fixed order. It leaves
// out the Nums of chunks, entities, relations, merges and events.
func dump(t testing.TB, s backend.Store, u universe) string {
	t.Helper()
	d := &dumper{t: t, s: s, u: u}
	if d.u.name == nil {
		d.u.name = func(num int64) string { return fmt.Sprint(num) }
	}
	for _, p := range u.parts {
		d.partition(p)
	}
	d.versions()
	d.whole()
	return d.out.String()
}

type dumper struct {
	t   testing.TB
	s   backend.Store
	u   universe
	out strings.Builder
}

func (d *dumper) line(format string, args ...any) { fmt.Fprintf(&d.out, format+"\n", args...) }

func (d *dumper) ok(err error) {
	d.t.Helper()
	require.NoError(d.t, err)
}

// source formats a version. It includes the claim if newest is set.
func (d *dumper) source(src *backend.Source, newest bool) string {
	c := *src
	if !newest {
		c.Token, c.LeaseUntil, c.NotBefore = "", time.Time{}, time.Time{}
	}
	slices.Sort(c.Tags)
	return fmt.Sprintf("%s rev=%d %v %q state=%d code=%q/%q attempts=%d %q %q %q %q %d %v created=%s updated=%s time=%s expires=%s session=%q meta=%q add=%q doc=%q tags=%v notbefore=%s token=%q lease=%s",
		d.u.name(c.Num), c.Rev, c.Part, c.ID, c.State, c.ErrorCode, c.ErrorMessage, c.Attempts, c.Title, c.Kind, c.Filename, c.MediaType,
		c.SizeBytes, c.Infer, short(c.CreatedAt), short(c.UpdatedAt), short(c.Time), short(c.ExpiresAt), c.Session,
		c.Metadata, c.Additional, c.Doc, c.Tags, short(c.NotBefore), c.Token, short(c.LeaseUntil))
}

func short(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Format("2006-01-02T15:04:05.999999999")
}

func (d *dumper) partition(p backend.Partition) {
	ctx := d.t.Context()
	page, total, err := d.s.List(ctx, backend.ListQuery{Part: p, Limit: 1 << 20, Now: d.u.now})
	d.ok(err)
	d.line("partition %v: %d sources", p, total)
	for _, src := range page {
		d.line("  %s", d.source(src, true))
	}
	found, err := d.s.Sources(ctx, p, d.u.ids)
	d.ok(err)
	for i, src := range found {
		if src != nil {
			d.line("  has %q as %s", d.u.ids[i], d.u.name(src.Num))
		}
	}
	ents, err := d.s.EntitiesByKey(ctx, p, d.u.entities)
	d.ok(err)
	for i, e := range ents {
		if e == nil {
			continue
		}
		again, err := d.s.Entities(ctx, []int64{e.Num})
		d.ok(err)
		require.Equal(d.t, e, again[0])
		d.line("  entity %q is %q, %d mentions", d.u.entities[i], e.Key, e.Mentions)
	}
	d.relations(p)
	d.unfolded(p)
	merges, err := d.s.Merges(ctx, p, 0, 1<<20)
	d.ok(err)
	for _, m := range merges {
		d.line("  merge %q (%q) into %q (%q) %q %s undone %v stated %v by caller %v", m.From, m.AskedFrom, m.Into, m.AskedInto, m.Reason, short(m.At), m.Undone, m.Stated, m.ByCaller)
	}
}

// unfolded writes the entities, mentions and relations under their own keys, as if no entity had been merged.
func (d *dumper) unfolded(p backend.Partition) {
	ctx := d.t.Context()
	own, err := d.s.OwnEntities(ctx, p, d.u.entities)
	d.ok(err)
	require.Len(d.t, own, len(d.u.entities))
	key := map[int64]string{0: ""}
	for i, e := range own {
		if e != nil {
			require.Equal(d.t, d.u.entities[i], e.Key)
			key[e.Num] = e.Key
		}
	}
	chunk := map[int64]string{}
	mentions, err := d.s.MentionsOf(ctx, p, d.u.entities, 1<<20)
	d.ok(err)
	for _, m := range mentions {
		if chunk[m.Chunk] == "" {
			rows, err := d.s.Chunks(ctx, []int64{m.Chunk}, time.Time{})
			d.ok(err)
			require.Len(d.t, rows, 1)
			chunk[m.Chunk] = rows[0].Key
		}
		d.line("  %q is mentioned by %s in %q, %v", d.u.entities[m.At], d.u.name(m.Source), chunk[m.Chunk], m.Weight)
	}
	rels, err := d.s.Relations(ctx, backend.RelationQuery{Part: p, AllTime: true, Own: true, Limit: 1 << 20})
	d.ok(err)
	for _, r := range rels {
		require.Equal(d.t, r.FromKey, key[r.From])
		require.Equal(d.t, r.ToKey, key[r.To])
	}
	for _, e := range own {
		if e == nil {
			continue
		}
		touching, err := d.s.Relations(ctx, backend.RelationQuery{Part: p, AllTime: true, Own: true, Entities: []int64{e.Num}, Limit: 1 << 20})
		d.ok(err)
		want := slices.DeleteFunc(slices.Clone(rels), func(r *backend.Relation) bool { return r.FromKey != e.Key && r.ToKey != e.Key })
		require.Len(d.t, touching, len(want))
		for i := range want {
			require.Equal(d.t, want[i].Num, touching[i].Num)
		}
	}
	for _, limited := range []bool{false, true} {
		said, err := d.s.Stated(ctx, backend.StatedQuery{Part: p, Limited: limited})
		d.ok(err)
		for _, a := range said {
			d.line("  limited %v: %s states %q is %q, likely %v: %q at %s", limited, d.u.name(a.Source), a.From, a.Into, a.Likely, a.Reason, short(a.At))
		}
	}
}

func (d *dumper) relations(p backend.Partition) {
	rs, err := d.s.Relations(d.t.Context(), backend.RelationQuery{Part: p, AllTime: true, Limit: 1 << 20})
	d.ok(err)
	now, err := d.s.Relations(d.t.Context(), backend.RelationQuery{Part: p, Limit: 1 << 20})
	d.ok(err)
	raw, current := map[int64]string{}, map[int64]bool{}
	for _, r := range rs {
		raw[r.Num] = r.Raw
	}
	for _, r := range now {
		current[r.Num] = true
	}
	for sec := -100; sec <= 100; sec += 50 {
		for known := -50; known <= 100; known += 50 {
			q := backend.RelationQuery{Part: p, AsOf: d.u.now.Add(time.Duration(sec) * time.Second), KnownAt: d.u.now.Add(time.Duration(known) * time.Second), Limit: 1 << 20}
			if known == 100 {
				q.KnownAt = time.Time{}
			}
			then, err := d.s.Relations(d.t.Context(), q)
			d.ok(err)
			var held []string
			for _, r := range then {
				held = append(held, r.Raw)
			}
			d.line("  held at %d as known at %d: %q", sec, known, held)
		}
	}
	for _, r := range rs {
		fate := fmt.Sprintf("%v until %s by %q", current[r.Num], short(r.KnownTo), raw[r.SupersededBy])
		if r.Retracts {
			fate = "retracts"
		}
		d.line("  relation %q of %s: %q %q %q %q %q %v valid %s-%s known %s about %s: %s", r.Raw, d.u.name(r.Source), r.FromKey,
			r.Predicate, r.ToKey, r.Object, r.Kind, r.Functional, short(r.ValidFrom), short(r.ValidTo), short(r.KnownFrom), short(r.Asserted), fate)
	}
}

// versions writes each version with its content and its chunks. It writes visible chunks a second time, as
// the store hydrates them.
func (d *dumper) versions() {
	ctx := d.t.Context()
	srcs, err := d.s.SourcesByNum(ctx, d.u.versions)
	d.ok(err)
	for i, src := range srcs {
		num := d.u.versions[i]
		cs, err := d.s.SourceChunks(ctx, num, 0, 1<<30, true)
		d.ok(err)
		if src == nil {
			require.Empty(d.t, cs, "chunks of version %d, which is gone", num)
			continue
		}
		d.line("version %s", d.source(src, false))
		for kind := backend.Original; kind <= backend.Past; kind++ {
			if data, err := d.s.Content(ctx, num, kind); err == nil {
				d.line("  content %d %q", kind, data)
			} else {
				require.ErrorIs(d.t, err, backend.ErrNotFound)
			}
		}
		var nums []int64
		var keys []string
		for _, c := range cs {
			require.Equal(d.t, num, c.Source)
			nums, keys = append(nums, c.Num), append(keys, c.Key)
			d.line("  chunk %d %q %q %q %q %q %v", c.Ordinal, c.Key, c.Text, c.Heading, c.Layout, c.Extra, c.Vector)
		}
		hs, err := d.s.Chunks(ctx, nums, d.u.now)
		d.ok(err)
		byKey, err := d.s.ChunkNums(ctx, src.Part, keys)
		d.ok(err)
		for _, h := range hs {
			require.Equal(d.t, src.Num, h.Src.Num)
			require.Contains(d.t, byKey, h.Num)
			d.line("  visible %d %q", h.Ordinal, h.Text)
		}
	}
}

func (d *dumper) whole() {
	ctx := d.t.Context()
	for _, class := range []backend.Class{backend.Knowledge, backend.Memory, backend.Raw} {
		st, err := d.s.Stats(ctx, class)
		d.ok(err)
		d.line("class %d: %+v", class, st)
		for _, id := range d.u.ids {
			subs, err := d.s.FindSubs(ctx, class, id)
			d.ok(err)
			sort.Strings(subs)
			if len(subs) > 0 {
				d.line("  %q is in %q", id, subs)
			}
		}
	}
	subs, err := d.s.Subs(ctx)
	d.ok(err)
	for _, s := range subs {
		if s.Knowledge+s.Memory+s.Raw > 0 {
			d.line("sub %+v", s)
		}
	}
	counts, next, err := d.s.Backlog(ctx)
	d.ok(err)
	for s := backend.Queued; s <= backend.Errored; s++ {
		d.line("backlog %d: %d", s, counts[s])
	}
	// Stores may return any time in the past for "at once".
	if !next.IsZero() && !next.After(d.u.now) {
		next = d.u.now
	}
	d.line("next %s", short(next))
	events, err := d.s.Events(ctx, 1<<20)
	d.ok(err)
	require.True(d.t, slices.IsSortedFunc(events, func(a, b backend.Event) int { return cmp.Compare(a.Seq, b.Seq) }))
	for _, ev := range events {
		d.line("event %q %v %s %d %q %q", ev.ItemID, ev.Part, d.u.name(ev.Source), ev.Status, ev.ErrorCode, ev.ErrorMessage)
	}
	for _, name := range d.u.values {
		v, err := d.s.Get(ctx, name)
		d.ok(err)
		d.line("value %q %q", name, v)
	}
}

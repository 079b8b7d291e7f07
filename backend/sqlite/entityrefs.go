package sqlite

import (
	"slices"
	"strings"

	"github.com/contextmem/contextmem/internal/storerules"
)

const refCols = "num, named, name, type, crc, key"

// readRef reads a row of refCols. It does not trust the name of a damaged entity, so that a mention names it anew.
func (l *losses) readRef(r *row) (key string, ref storerules.EntityRef) {
	key, ref.Num = r.str(5), r.int(0)
	if r.err != nil {
		return key, ref
	}
	named := r.int(1) != 0
	r.sealed(4, entitySum(key, r.str(2), r.word(3)), "entity", ref.Num)
	ref.Named = !l.skip(r) && named
	return key, ref
}

func (x rows) Entity(part int64, key string) (ref storerules.EntityRef, err error) {
	k := storerules.EntityKey{Part: part, Key: key}
	if ref, ok := x.t.entities.Get(k); ok {
		return ref, nil
	}
	if loaded, ok := x.t.loaded[k]; ok {
		ref = loaded
		delete(x.t.loaded, k)
	} else {
		var lost losses
		_, err = x.t.c.one(bg, "SELECT "+refCols+" FROM entities WHERE part = ? AND key = ?", func(r *row) error {
			_, ref = lost.readRef(r)
			return nil
		}, part, key)
	}
	if err == nil && ref.Num != 0 {
		x.t.entities.Add(k, ref)
	}
	return ref, err
}

// refsAtOnce is the most keys that one query looks up, a power of two.
const refsAtOnce = 32

// findRefs holds queries that look up 1, 2, 4 and so on up to refsAtOnce keys of a partition.
var findRefs = func() (all []string) {
	for n := 1; n <= refsAtOnce; n *= 2 {
		all = append(all, "SELECT "+refCols+" FROM entities WHERE part = ? AND key IN (?"+strings.Repeat(", ?", n-1)+")")
	}
	return all
}()

// LoadEntities implements [storerules.Rows]. It keeps what it finds outside the cache until Entity asks for it: inside, it could displace entities that are
// not written yet.
func (x rows) LoadEntities(part int64, n int, key func(i int) string) error {
	t := x.t
	args := []any{part}
	for i := range n {
		k := storerules.EntityKey{Part: part, Key: key(i)}
		if t.entities.Contains(k) {
			continue
		}
		if _, ok := t.loaded[k]; ok {
			continue
		}
		if t.loaded == nil {
			t.loaded = make(map[storerules.EntityKey]storerules.EntityRef)
		}
		t.loaded[k] = storerules.EntityRef{}
		args = append(args, k.Key)
	}
	slices.SortFunc(args[1:], func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
	var lost losses
	for i := len(findRefs) - 1; i >= 0; i-- {
		for n := 1 << i; len(args)-1 >= n; {
			last := len(args) - n
			some := slices.Insert(slices.Clone(args[last:]), 0, args[0])
			err := t.c.each(bg, findRefs[i], func(r *row) error {
				key, ref := lost.readRef(r)
				t.loaded[storerules.EntityKey{Part: part, Key: key}] = ref
				return nil
			}, some...)
			if err != nil {
				return err
			}
			args = args[:last]
		}
	}
	return nil
}

func (x rows) KeepEntity(k storerules.EntityKey, ref storerules.EntityRef) { x.t.entities.Add(k, ref) }

func (x rows) ForgetEntity(k storerules.EntityKey) {
	x.t.entities.Remove(k)
	delete(x.t.loaded, k)
}

func (x rows) Crowded(unwritten int) bool { return unwritten >= entityCacheSize/2 }
func (x rows) Relieved()                  {}

var insertEntities = insertsOf("INSERT OR FAIL INTO entities (num, part, key, name, type, named, root, mentions, uses, crc)", 10)

func (x rows) AddEntities(all []storerules.NewEntity) error {
	b := bulk{sql: insertEntities, width: 10}
	for _, e := range all {
		if err := b.add(x.t.c, e.Num, e.Part, e.Key, e.Name, shortWord(e.Type), e.Named, e.Root, e.Mentions, e.Uses, entitySum(e.Key, e.Name, e.Type)); err != nil {
			return err
		}
	}
	return b.flush(x.t.c)
}

func (x rows) NameEntity(num int64, u *storerules.Use) error {
	return x.t.c.do("UPDATE entities SET name = ?, type = ?, named = 1, crc = ? WHERE num = ?", u.Name, shortWord(u.Type), entitySum(u.Key, u.Name, u.Type), num)
}

func (x rows) CountEntity(num, mentions, uses int64) error {
	return x.t.c.do("UPDATE entities SET mentions = mentions + ?, uses = uses + ? WHERE num = ?", mentions, uses, num)
}

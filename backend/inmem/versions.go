package inmem

import (
	"cmp"
	"slices"

	"github.com/contextmem/contextmem/backend"
)

// sooner compares two versions by the order in which they expire.
func sooner(a, b *version) int {
	return cmp.Or(a.src.ExpiresAt.Compare(b.src.ExpiresAt), cmp.Compare(a.src.Num, b.src.Num))
}

// file adds the newest version of an item to the lists of versions.
func (d *storeData) file(v *version) {
	d.versions[v.src.Num] = v
	d.order.add(v)
	d.queue = append(d.queue, v.src.Num)
	d.states[v.src.State]++
	if !v.src.ExpiresAt.IsZero() {
		i, _ := slices.BinarySearchFunc(d.expiring, v, sooner)
		d.expiring = slices.Insert(d.expiring, i, v)
	}
}

// unfile removes a version from the lists of versions.
func (d *storeData) unfile(v *version) {
	delete(d.versions, v.src.Num)
	d.order.remove(v.src.Num)
	if !v.src.Replaced {
		d.states[v.src.State]--
	}
	if i, ok := slices.BinarySearchFunc(d.expiring, v, sooner); ok && d.expiring[i] == v {
		d.expiring = slices.Delete(d.expiring, i, i+1)
	}
}

// setState changes the state of a version.
func (d *storeData) setState(v *version, s backend.State) {
	if !v.src.Replaced {
		d.states[v.src.State]--
		d.states[s]++
	}
	v.src.State = s
}

// replace keeps the newest version of an item visible until a newer one is indexed.
func (d *storeData) replace(it *item) {
	it.older = it.newest
	it.older.giveBack() // the holder of the claim loses it
	it.older.src.Replaced = true
	d.states[it.older.src.State]--
}

// fileCompared adds a version to the list of those that were compared under its generation, if it can be compared.
func (d *storeData) fileCompared(v *version) {
	if v.indexed && len(v.chunks) > 0 && v.part.name.Class == backend.Memory {
		addTo(d.compared, v.compared, v)
	}
}

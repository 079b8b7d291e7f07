package inmem

import (
	"cmp"
	"slices"
)

// ordered holds values by ascending number, one for each number. Most values arrive with the highest number.
type ordered[T interface{ number() int64 }] []T

func (l ordered[T]) find(num int64) (int, bool) {
	return slices.BinarySearchFunc(l, num, func(x T, num int64) int { return cmp.Compare(x.number(), num) })
}

// add adds x. It reports false, and leaves the list as it is, if there is a value of that number.
func (l *ordered[T]) add(x T) bool {
	i, ok := l.find(x.number())
	if !ok {
		*l = slices.Insert(*l, i, x)
	}
	return !ok
}

// remove removes the value of a number, if there is one.
func (l *ordered[T]) remove(num int64) {
	if i, ok := l.find(num); ok {
		*l = slices.Delete(*l, i, i+1)
	}
}

// after returns the values with a larger number.
func (l ordered[T]) after(num int64) ordered[T] {
	i, ok := l.find(num)
	if ok {
		i++
	}
	return l[i:]
}

func (v *version) number() int64      { return v.src.Num }
func (r *relation) number() int64     { return r.Num }
func (m *merge) number() int64        { return m.Num }
func (x *succession) number() int64   { return x.Num }
func (m *mentionCount) number() int64 { return m.v.src.Num }
func (x statement) number() int64     { return x.v.src.Num }
func (e *ref) number() int64          { return e.row.Chunk }

// addTo adds x to the list of a key.
func addTo[K comparable, T interface{ number() int64 }](m map[K]ordered[T], key K, x T) {
	l := m[key]
	l.add(x)
	m[key] = l
}

// removeFrom removes the value of a number from the list of a key.
func removeFrom[K comparable, T interface{ number() int64 }](m map[K]ordered[T], key K, num int64) {
	l := m[key]
	l.remove(num)
	if m[key] = l; len(l) == 0 {
		delete(m, key)
	}
}

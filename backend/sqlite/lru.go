package sqlite

import "container/list"

// lru is a map that forgets the entry used longest ago. One goroutine uses it.
type lru[K comparable, V any] struct {
	size  int
	order *list.List // of *lruEntry, latest first
	items map[K]*list.Element
}

type lruEntry[K comparable, V any] struct {
	key   K
	value V
}

func newLRU[K comparable, V any](size int) *lru[K, V] {
	return &lru[K, V]{size: size, order: list.New(), items: make(map[K]*list.Element)}
}

func (l *lru[K, V]) get(k K) (v V, ok bool) {
	e, ok := l.items[k]
	if !ok {
		return v, false
	}
	l.order.MoveToFront(e)
	return e.Value.(*lruEntry[K, V]).value, true
}

func (l *lru[K, V]) put(k K, v V) {
	if e, ok := l.items[k]; ok {
		e.Value.(*lruEntry[K, V]).value = v
		l.order.MoveToFront(e)
		return
	}
	if l.order.Len() >= l.size {
		last := l.order.Back()
		delete(l.items, last.Value.(*lruEntry[K, V]).key)
		l.order.Remove(last)
	}
	l.items[k] = l.order.PushFront(&lruEntry[K, V]{k, v})
}

func (l *lru[K, V]) remove(k K) {
	if e, ok := l.items[k]; ok {
		delete(l.items, k)
		l.order.Remove(e)
	}
}

func (l *lru[K, V]) clear() {
	l.order.Init()
	clear(l.items)
}

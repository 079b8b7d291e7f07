package vector

// top keeps the best hits pushed to it, up to a limit. The worst of them is at the root
// of a binary heap. One comparison with floor rejects most hits.
type top struct {
	hits  []Hit
	limit int
	// floor is the score that a hit must reach to be kept. It is -Inf until the limit
	// is reached, then the score of the worst hit kept. A user of top may raise it.
	floor float32
}

// reset empties t for limit hits, limit above 0.
func (t *top) reset(limit int) {
	t.hits, t.limit, t.floor = t.hits[:0], limit, negInf
}

// full reports whether the limit is reached.
func (t *top) full() bool { return len(t.hits) == t.limit }

// push adds a hit if it is among the best. It rejects a score that is NaN.
func (t *top) push(h Hit) {
	if !(h.Score >= t.floor) {
		return
	}
	if len(t.hits) < t.limit {
		t.hits = append(t.hits, h)
		if t.full() {
			for i := len(t.hits)/2 - 1; i >= 0; i-- {
				t.sink(i, t.hits[i])
			}
			t.floor = max(t.floor, t.hits[0].Score)
		}
		return
	}
	if !worse(t.hits[0], h) {
		return
	}
	t.sink(0, h)
	t.floor = t.hits[0].Score
}

// sink puts h at index i and moves it down until the heap is in order.
func (t *top) sink(i int, h Hit) {
	s := t.hits
	for {
		c := 2*i + 1
		if c >= len(s) {
			break
		}
		if c+1 < len(s) && worse(s[c+1], s[c]) {
			c++
		}
		if !worse(s[c], h) {
			break
		}
		s[i] = s[c]
		i = c
	}
	s[i] = h
}

// worse reports whether a comes after b in the order of Compare. The scores must not be
// NaN. worse is small enough to be inlined into the heap's loop.
func worse(a, b Hit) bool {
	return a.Score < b.Score || a.Score == b.Score && a.Row > b.Row
}

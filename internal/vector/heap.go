package vector

// top keeps the best hits it has seen, up to a limit. The worst kept is at the
// root of a binary heap, so that most hits are turned away by one comparison
// with floor.
type top struct {
	hits  []Hit
	limit int
	// floor is the score that a hit has to reach to be kept: -Inf until the limit
	// is reached, then the score of the worst hit kept. It may be raised from outside.
	floor float32
}

// reset empties t for limit hits, limit above 0.
func (t *top) reset(limit int) {
	t.hits, t.limit, t.floor = t.hits[:0], limit, negInf
}

// full reports whether the limit is reached.
func (t *top) full() bool { return len(t.hits) == t.limit }

// push offers a hit. A score that is not a number is turned away.
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

// sink puts a hit in place i or moves it down from there until the heap is in order.
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

// worse reports whether a stands behind b in the order of Compare; scores are
// numbers here. It is small enough to be inlined into the heap's loop.
func worse(a, b Hit) bool {
	return a.Score < b.Score || a.Score == b.Score && a.Row > b.Row
}

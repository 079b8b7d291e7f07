package placeindex

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFindsWhatAMapFinds(t *testing.T) {
	type key struct {
		text  string
		chunk int64
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	want := map[key]int{}
	var list []key
	var l Index
	for range 5000 {
		k := key{string(rune('a' + rnd.IntN(26))), int64(rnd.IntN(80))}
		hash := Hash(k.chunk, k.text)
		if rnd.IntN(4) == 0 {
			hash = 7 // collides with others
			k.chunk += 100
		}
		at := l.Find(hash, func(i int) bool { return list[i] == k })
		i, ok := want[k]
		if !ok {
			assert.Equal(t, -1, at, "%v", k)
			want[k], list = len(list), append(list, k)
			l.Add(hash, want[k])
			continue
		}
		assert.Equal(t, i, at, "%v", k)
	}
	assert.Greater(t, len(list), 1000)
	assert.Equal(t, len(list), l.Len())
	l.Reset(len(list))
	assert.Zero(t, l.Len())
	assert.Equal(t, -1, l.Find(7, func(int) bool { return true }))
}

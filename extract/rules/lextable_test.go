package rules

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLookup(t *testing.T) {
	t.Parallel()
	m := map[string]word{"": {num: 9}}
	long := strings.Repeat("x", maxLookup)
	for i := range 5000 { // neighbours in the table
		m[strings.Repeat("ab", i%9)+string(rune('a'+i/9%26))+string(rune('a'+i/234))] = word{num: int16(i), flags: fStop}
	}
	m[long], m["märz"] = word{num: 7}, word{num: 8}
	table := newLexTable(m)
	for s, want := range m {
		got, ok := table.get(s)
		assert.True(t, ok, s)
		assert.Equal(t, want, got, s)
		for _, other := range []string{s + "\x00", s + "~", strings.ToUpper(s) + "!"} {
			_, ok := table.get(other)
			assert.False(t, ok, other)
		}
	}
	assert.Panics(t, func() { newLexTable(map[string]word{long + "x": {}}) })
	assert.Less(t, 2*len(lexicon.words), lexSlots)

	assert.True(t, lookup("The").flags&fDet != 0)
	assert.True(t, lookup("MÄRZ").flags&fMonthX != 0)
	assert.Equal(t, fGiven, lookup("María").flags&fGiven)
	for _, s := range []string{"the\x00", "hte", "thee", "", long, long + "x", "maria\x00"} {
		assert.Zero(t, lookup(s), s)
	}
}

package language

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/contextmem/contextmem/extract"
)

// TestWordKey gives each token the key that a name of the same letters has.
func TestWordKey(t *testing.T) {
	t.Parallel()
	d := newDocument("I saw a B on 7 Örebro trams, x Z 12 The", time.Time{})
	defer d.free()
	d.SplitText()
	words := 0
	for i := range d.Tokens {
		if k := d.Tokens[i].Kind; k == KindWord || k == KindNumber {
			words++
			assert.Equal(t, extract.Key(d.TokenText(i)), d.WordKey(i), d.TokenText(i))
		}
	}
	assert.Equal(t, 12, words)
}

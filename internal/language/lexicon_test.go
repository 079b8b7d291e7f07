package language

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEntries checks that an entry stands for the whole Word, also where a name before a hyphen or an accent adds or removes flags.
func TestEntries(t *testing.T) {
	t.Parallel()
	load()
	require.Zero(t, Lookup("qwxyz"))
	require.Zero(t, entry(0).word())
	jean := lookup("jean")
	require.NotZero(t, jean.word().Flags&GivenName)
	words := 0
	for s, e := range lexicon.all() {
		words++
		assert.Equal(t, e, entryOf[e.word()], s)
		w := e.word()
		if w.Flags != 0 {
			continue
		}
		named := e.firstNamed(jean).word()
		assert.Equal(t, Word{Flags: GivenName, Num: w.Num, Verb: w.Verb, Form: w.Form}, named, s)
		assert.Equal(t, e, e.firstNamed(0), s)
	}
	require.Greater(t, words, 1000)
	require.Less(t, len(entries), words)
	require.Equal(t, GivenName, lookup("María").word().Flags&GivenName)
	require.Equal(t, Lookup("maria").Flags&(GivenName|PlaceName), lookup("María").word().Flags)
}

// TestTokensOfSamples checks the estimate of tokens for texts of several kinds, since a text with more tokens than that is copied while it is read.
func TestTokensOfSamples(t *testing.T) {
	t.Parallel()
	load()
	for name, piece := range map[string]string{
		"prose": "Anna Lind, the founder of Zorblax, was born in Porto in 1961. She studied physics at the University of Göttingen.\n\n",
		"table": "| 12 | 4.5 % | Kiel | 2024-03-07 |\n",
		"code":  "for (i = 0; i < n; i++) { a[i] = b[i] + c(i, 2); }\n",
	} {
		var d Document
		d.Text = strings.Repeat(piece, 3*largeText/len(piece))
		text := d.Text
		d.tokenize()
		n := tokensIn(text)
		assert.GreaterOrEqual(t, n, len(d.Tokens), name)
		assert.Less(t, n, 2*len(d.Tokens), name)
	}
}

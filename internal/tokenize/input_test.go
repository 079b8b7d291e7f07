package tokenize

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestInputsAgainstTokenizers compares inputs of one and two texts, cut to a limit,
// with those of the tokenizers package.
func TestInputsAgainstTokenizers(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/pairs.json")
	require.NoError(t, err)
	var cases []struct {
		Tokenizer, A, B     string
		Limit               int
		Single, Pair, Types []int32
	}
	require.NoError(t, json.Unmarshal(data, &cases))
	require.NotEmpty(t, cases)
	toks := map[string]*Tokenizer{"wordpiece": open(t, "wordpiece"), "unigram": open(t, "unigram")}
	for _, c := range cases {
		t.Run(c.Tokenizer, func(t *testing.T) {
			tok := toks[c.Tokenizer]
			a, b := tok.Append(nil, c.A), tok.Append(nil, c.B)
			assert.Equal(t, c.Single, tok.Single(a, c.Limit))
			ids, types := tok.Pair(a, b, c.Limit)
			assert.Equal(t, c.Pair, ids)
			assert.Equal(t, c.Types, types)
		})
	}
}

func TestWindows(t *testing.T) {
	t.Parallel()
	tok := open(t, "unigram")
	for _, c := range []struct{ n, limit, overlap, want int }{
		{0, 10, 2, 1}, {8, 10, 2, 1}, {9, 10, 2, 2}, {14, 10, 2, 2}, {15, 10, 2, 3}, {1000, 10, 0, 125}, {1001, 10, 0, 126}, {5000, 512, 32, 11},
	} {
		t.Run(fmt.Sprint(c.n), func(t *testing.T) {
			text := make([]int32, c.n)
			for i := range text {
				text[i] = int32(i) + 100
			}
			windows := tok.Windows(text, c.limit, c.overlap)
			require.Len(t, windows, c.want, "%+v", c)
			seen := 0 // of the text
			for i, w := range windows {
				require.LessOrEqual(t, len(w), c.limit)
				require.Equal(t, int32(0), w[0])
				require.Equal(t, int32(2), w[len(w)-1])
				inner := w[1 : len(w)-1]
				if i > 0 {
					require.Len(t, w, c.limit)
					require.LessOrEqual(t, int(inner[0]-100)+c.overlap, seen, "%+v window %d", c, i)
				}
				if len(inner) > 0 {
					require.Equal(t, text[inner[0]-100:][:len(inner)], inner)
					seen = int(inner[len(inner)-1]-100) + 1
				}
			}
			require.Equal(t, c.n, seen)
		})
	}
}

package clean

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNextMarked(t *testing.T) {
	t.Parallel()
	for c := range 256 {
		if c >= ' ' && c < 0x7f {
			continue
		}
		var marked [256]bool
		marked[c] = true
		for at := range 20 {
			s := strings.Repeat("a", at) + string([]byte{byte(c)}) + strings.Repeat("~ \n\x00é"[:2+c%5], 3)
			require.Equal(t, at, NextMarked(s, 0, &marked), "%x", c)
			next := strings.IndexByte(s[at+1:], byte(c))
			if next < 0 {
				next = len(s) - at - 1
			}
			require.Equal(t, at+1+next, NextMarked(s, at+1, &marked), "%x", c)
		}
	}
	require.Equal(t, 3, NextMarked("abc", 0, new([256]bool)))
	require.Equal(t, 0, NextMarked("", 0, new([256]bool)))
}

func TestBlankControls(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a text of printable characters\n", 20)
	require.Equal(t, long, BlankControls(long))
	require.Equal(t, long+" \t  é", BlankControls(long+"\x01\t\x7f\x1bé"))
	require.Equal(t, " "+long+" ", BlankControls("\x00"+long+"\r"))
}

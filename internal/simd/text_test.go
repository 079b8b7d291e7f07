package simd

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// textLengths are lengths around the numbers of bytes that kernels read at a time.
var textLengths = []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 11, 15, 16, 17, 23, 31, 32, 33, 34, 40, 47, 48, 63, 64, 65, 66, 79, 95, 96, 97, 127, 128, 130}

// eachText calls f with texts of tildes of several lengths: with one other byte c at each position at, and without (at is -1). The bytes
// before and after a text in memory are edge.
func eachText(edge byte, f func(s string, c byte, at int)) {
	for i, n := range textLengths {
		buf := unaligned[byte](n+2, i%7)
		copy(buf, bytes.Repeat([]byte("~"), n+1))
		buf[0], buf[n+1] = edge, edge
		s := unsafe.String(&buf[1], n)
		f(s, '~', -1)
		for c := range 256 {
			for at := range n {
				buf[1+at] = byte(c)
				f(s, byte(c), at)
				buf[1+at] = '~'
			}
		}
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	for _, k := range []struct {
		name  string
		plain func(string) int
	}{{"generic", plainGeneric}, {Active().String(), Plain}} {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			eachText('"', func(s string, c byte, at int) {
				want := at
				if c >= ' ' && c < 0x80 && c != '"' && c != '\\' {
					want = len(s)
				}
				if got := k.plain(s); got != want {
					require.Equal(t, want, got, "%#x at %d of %d", c, at, len(s))
				}
			})
		})
	}
}

func TestBreaks(t *testing.T) {
	t.Parallel()
	for _, k := range []struct {
		name   string
		breaks func(string) bool
	}{{"generic", breaksGeneric}, {Active().String(), Breaks}} {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			eachText('.', func(s string, c byte, at int) {
				want := c == '.' || c == '?' || c == '!' || c == '\n' || c >= 0x80
				if got := k.breaks(s); got != want {
					require.Equal(t, want, got, "%#x at %d of %d", c, at, len(s))
				}
			})
		})
	}
}

// TestMayHave checks that pairs are found at every position, and that the kernels reject a long text that has only single letters of pairs.
func TestMayHave(t *testing.T) {
	t.Parallel()
	p := Pairs{'i', 'f', 'n', 'l', 'v', 'i'}
	for i, n := range textLengths {
		buf := unaligned[byte](n+2, i%7)
		fill := func() {
			for j := range buf {
				buf[j] = "flie"[j%4]
			}
			buf[0], buf[n+1] = 'i', 'f'
		}
		fill()
		s := unsafe.String(&buf[1], n)
		if (active == AVX2 || active == AVX512) && n >= 33 {
			require.False(t, p.MayHave(s), "%d without any", n)
		}
		for at := 0; at+1 < n; at++ {
			for _, pair := range []string{"if", "nl", "vi", "If", "Nl", "Vi"} {
				fill()
				copy(buf[1+at:], pair)
				buf[n+1] = 'f'
				if !p.MayHave(s) {
					require.Fail(t, "not found", "%q at %d of %d", pair, at, n)
				}
			}
		}
	}
}

func BenchmarkPlain(b *testing.B) {
	for _, k := range []struct {
		name  string
		plain func(string) int
	}{{"generic", plainGeneric}, {Active().String(), Plain}} {
		for _, n := range []int{8, 20, 36, 80, 1000} {
			b.Run(fmt.Sprint(k.name, "/", n), func(b *testing.B) {
				s := strings.Repeat("x", n)
				for b.Loop() {
					if k.plain(s) != n {
						b.Fatal("not plain")
					}
				}
			})
		}
	}
}

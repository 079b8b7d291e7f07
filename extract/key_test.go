package extract

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
)

func TestKey(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                             "",
		"  ":                           "",
		"paris":                        "paris",
		"The Beatles":                  "beatles",
		"the the":                      "the",
		"A Tale of Two Cities":         "tale of two cities",
		"an apple":                     "apple",
		"Göttingen":                    "gottingen",
		"Łódź":                         "lodz",
		"Straße":                       "strasse",
		"Ærø":                          "aero",
		"Nguyễn Văn":                   "nguyen van",
		"cafe\u0301":                   "cafe",
		"Alex's":                       "alex",
		"Alex’s dog":                   "alex dog",
		"the Joneses'":                 "joneses",
		"O’Brien":                      "o'brien",
		"U.S.":                         "us",
		"St. Louis":                    "st louis",
		"J. K. Rowling":                "jk rowling",
		"J.K. Rowling":                 "jk rowling",
		"Washington, D.C.":             "washington dc",
		"Person - centered therapy":    "person-centered therapy",
		"Jean–Paul":                    "jean-paul",
		"Johnson & Johnson":            "johnson and johnson",
		"AT&T":                         "at&t",
		"C++":                          "c++",
		"C#":                           "c#",
		".NET":                         ".net",
		"node.js":                      "node.js",
		"v1.2.3":                       "v1.2.3",
		"ERR-1042":                     "err-1042",
		"65,000":                       "65000",
		"“Hello  World”":               "hello world",
		"東京":                           "東京",
		"ＡＢＣ":                          "abc",
		"src/main.go":                  "src/main.go",
		"ada@example.org":              "ada@example.org",
		"https://example.org/a?b=1":    "https://example.org/a?b=1",
		"Really?!":                     "really",
		"bad\xffbyte":                  "bad byte",
		strings.Repeat("ab", 300):      strings.Repeat("ab", 128),
		strings.Repeat("é ", 3) + "zz": "eee zz",
	} {
		t.Run(in, func(t *testing.T) {
			assert.Equal(t, want, Key(in), "Key(%q)", in)
		})
	}
}

func FuzzKey(f *testing.F) {
	for _, s := range []string{"The A B's", "a-'s.", "& - x", "x 's 's", "Ünï – cödé", "\xff'", "a . b", "1,2,,3", "the an a b c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		k := Key(s)
		if len(k) > MaxKey || !utf8.ValidString(k) && utf8.ValidString(s) {
			t.Fatalf("Key(%q) = %q: too long or not UTF-8", s, k)
		}
		if again := Key(k); again != k {
			t.Fatalf("Key(%q) = %q, but its key is %q", s, k, again)
		}
	})
}

func BenchmarkKey(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Key("The University of Göttingen's")
	}
}

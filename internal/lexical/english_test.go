package lexical

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"github.com/stretchr/testify/require"
)

// generatedStem is the stem of the generated stemmer.
func generatedStem(word string) string {
	env := snowballstem.NewEnv(word)
	english.Stem(env)
	return env.Current()
}

// TestStemEnglishAsGenerated compares the stemmer with the generated one: on words that the suffixes of all steps make of many beginnings, and on
// letters at random.
func TestStemEnglishAsGenerated(t *testing.T) {
	if testing.Short() {
		t.Skip("computes in one goroutine: left out with -short")
	}
	check := func(word string) {
		if len(word) < 3 {
			return
		}
		if want, got := generatedStem(word), string(stemEnglish([]byte(word))); want != got { // very many times: require takes longer than both
			require.Equal(t, want, got, word)
		}
	}
	suffixes := strings.Fields(`s es ss us sses ies ied eed eedly ed edly ing ingly y ly ily e l ll le el ational tional enci ency anci ancy abli ably entli ently izer
		ization ation ator alism aliti ality alli ally fulness ousli ously ousness iveness iviti ivity biliti bility bli bly ogi ogy logi logy fulli fully
		lessli lessly li alize icate iciti icity ical ful ness ative al ance ence er ic able ible ant ement ment ent ism ate iti ous ive ize sion tion ion ism`)
	beginnings := strings.Fields(`a b y ay by ya yy eye say bay bow box wax tow hop plan rat siz bl conflat troubl hiss miss fall fell gener general commun arsen
		succe proce exce inn out cann herr earr sk sky ti di ly ty id gent ugl earl onl singl new how atl cosm bi and rel cond val digit conform radic differ
		vile analog vietnam oper feud decis hope callous formal sensit sensib triplic form electr good adjust depend adopt comun angul effect bowdler prob
		cease control roll youth enjoy flying play toy yell buy beyond xy wy qu st str employ`)
	for word := range unlikeOthers {
		check(word)
	}
	for word := range afterPlural {
		check(word)
		check(word + "s")
		check(word + "es")
	}
	n := 0
	for _, b := range beginnings {
		check(b)
		for _, s := range suffixes {
			check(b + s)
			for _, more := range suffixes {
				if n++; n%4 == 0 {
					check(b + s + more)
				}
			}
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	const letters = "aeiouyyylsdtnbgmrcwx" // those that rules name
	for range 50_000 {
		b := make([]byte, 3+r.IntN(10))
		for i := range b {
			b[i] = letters[r.IntN(len(letters))]
		}
		check(string(b))
	}
}

func FuzzStemEnglish(f *testing.F) {
	f.Add("generalizations")
	f.Add("yearlyeedly")
	f.Fuzz(func(t *testing.T, word string) {
		if len(word) < 3 || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") != "" {
			return
		}
		require.Equal(t, generatedStem(word), string(stemEnglish([]byte(word))))
	})
}

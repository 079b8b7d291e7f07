package graph

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

func TestSpeaksOfSelf(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 8))
	some := []string{"i", "I", "i'm", "I'VE", "i'd", "my", "Me", "mine", "we", "OUR", "us", "user", "users", "U", "m", "e'", "'", "’", " ", ", ", "\a", "@", "[", "é", "北", "\xff", "w", "Anna", "7", "_"}
	self := strings.Fields("i i'm i've i'd my me mine we our us user")
	yes := 0
	for range 20000 {
		var b strings.Builder
		for range rng.IntN(6) {
			b.WriteString(some[rng.IntN(len(some))])
		}
		want := slices.ContainsFunc(strings.FieldsFunc(b.String(), func(r rune) bool {
			return r != '\'' && (r > unicode.MaxASCII || !unicode.IsLetter(r))
		}), func(w string) bool { return slices.Contains(self, strings.ToLower(w)) })
		require.Equal(t, want, speaksOfSelf(b.String()), "%q", b.String())
		if want {
			yes++
		}
	}
	require.Greater(t, yes, 1000)
	require.Less(t, yes, 19000)
}

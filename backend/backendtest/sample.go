package backendtest

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"
)

// Vector returns a unit vector of dim dimensions that depends on text alone. Texts
// that share words have a larger inner product than texts that do not.
func Vector(text string, dim int) []float32 {
	sum := make([]float64, dim)
	for _, word := range append(strings.Fields(strings.ToLower(text)), "") {
		h := fnv.New64a()
		h.Write([]byte(word))
		rng := rand.New(rand.NewPCG(h.Sum64(), 7))
		for i := range sum {
			sum[i] += rng.NormFloat64()
		}
	}
	norm := 0.0
	for _, v := range sum {
		norm += v * v
	}
	out := make([]float32, dim)
	for i, v := range sum {
		out[i] = float32(v / math.Sqrt(norm))
	}
	return out
}

// subjects, verbs and objects make sentences that share words in every way.
var (
	subjects = strings.Fields("Anna Bruno Carla Dmitri Elena Farid Greta Hugo")
	verbs    = strings.Fields("repaired painted ordered described borrowed measured forgot planted")
	objects  = strings.Fields("bicycle lantern telescope sweater violin orchard ladder teapot compass harbour")
	places   = strings.Fields("Lisbon Oslo Kyoto Quito Tallinn Galway")
)

// Sentence returns a short English sentence that depends on rng alone.
func Sentence(rng *rand.Rand) string {
	return fmt.Sprintf("%s %s the %s near %s in %d", pick(rng, subjects), pick(rng, verbs), pick(rng, objects), pick(rng, places), 1990+rng.IntN(30))
}

// Text returns n sentences.
func Text(rng *rand.Rand, n int) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = Sentence(rng) + "."
	}
	return strings.Join(parts, " ")
}

func pick[T any](rng *rand.Rand, from []T) T { return from[rng.IntN(len(from))] }

// newRand returns a generator for a seed.
func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)) }

// hostile lists strings that a backend must store unchanged.
var hostile = []string{
	"",
	" ",
	"\x00",
	"a\x00b",
	"../../etc/passwd",
	`C:\con\aux`,
	"a/b", "a:b", "a|b", "a,b", "a;b", "a%00b", "a\nb", "a\tb", "\x1f\x1e",
	"' OR 1=1; --", `"quoted"`, "`tick`", "$1 ?1 :x @y",
	"\xff\xfe invalid \xc3\x28 utf-8",
	"caf\u00e9", "cafe\u0301", // equal to the eye, not in bytes
	"\u202eright to left\u202c", "\U0001F9ED",
	"a", "A",
	"NULL", "null", "0", "-1", "9223372036854775808", "1e400",
	"%", "_", "*", "[a-z]",
	strings.Repeat("long", 1<<18),
}

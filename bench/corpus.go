package bench

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"unicode"
)

// LoadCorpus reads a file that corpus.sh wrote, with one document a line.
func LoadCorpus(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w (made by corpus.sh)", err)
	}
	defer f.Close()
	var docs []string
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		docs = append(docs, lines.Text())
	}
	return docs, lines.Err()
}

// MadeUp returns n documents of 5 to 30 words of a made-up language, distributed by Zipf's
// law. They suffice to try the harness without the corpus.
func MadeUp(seed uint64, n int) []string {
	r := rand.New(rand.NewPCG(seed, 1))
	words := make([]string, 5000)
	for i := range words {
		words[i] = fmt.Sprintf("w%xq", r.Uint32())
	}
	zipf := rand.NewZipf(r, 1.1, 8, uint64(len(words)-1))
	docs := make([]string, n)
	for i := range docs {
		some := make([]string, 5+r.IntN(26))
		for j := range some {
			some[j] = words[zipf.Uint64()]
		}
		docs[i] = strings.Join(some, " ")
	}
	return docs
}

// Stretch returns n documents: first docs, then combinations of the first half of one
// document and the second half of another, chosen from a seed.
func Stretch(docs []string, n int) []string {
	if n <= len(docs) {
		return docs[:n]
	}
	r := rand.New(rand.NewPCG(uint64(n), 2))
	out := append(make([]string, 0, n), docs...)
	for len(out) < n {
		a, b := strings.Fields(docs[r.IntN(len(docs))]), strings.Fields(docs[r.IntN(len(docs))])
		out = append(out, strings.Join(append(a[:(len(a)+1)/2:(len(a)+1)/2], b[len(b)/2:]...), " "))
	}
	return out
}

// stopWords lists words that are left out of queries, as two of the contenders ignore them and one does not.
var stopWords = strings.Fields(`a about above after again against all also am an and any are as at be because been before being
below between both but by can cannot could did do does doing down during each few for from further had has have having he
her here hers herself him himself his how i if in into is it its itself let may me more most much must my myself no nor not of
off on once one only or other ought our ours ourselves out over own same shall she should so some such than that the their
theirs them themselves then there these they this those through to too under until up upon used using very was we were what
when where which while who whom why will with would you your yours yourself yourselves`)

// Queries draws n queries of 1 to 5 distinct words, equally many of each length. The words of a query are drawn
// by position from one document. So words are as frequent in queries as in the text, and at least one document
// contains all words of a query.
func Queries(seed uint64, docs []string, n int) [][]string {
	r := rand.New(rand.NewPCG(seed, 3))
	stop := make(map[string]bool, len(stopWords))
	for _, w := range stopWords {
		stop[w] = true
	}
	out := make([][]string, 0, n)
	for len(out) < n {
		words := strings.FieldsFunc(strings.ToLower(docs[r.IntN(len(docs))]), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
		r.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		want := 1 + len(out)%5
		var q []string
		seen := map[string]bool{}
		for _, w := range words {
			if len(q) < want && len(w) >= 2 && !stop[w] && !seen[w] {
				seen[w] = true
				q = append(q, w)
			}
		}
		if len(q) == want {
			out = append(out, q)
		}
	}
	return out
}

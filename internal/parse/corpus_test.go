package parse

import (
	"bufio"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"

	"github.com/contextmem/contextmem/document"
)

// ownCorpus is a small corpus. Its files and references were written for this test (CC0).
const ownCorpus = "testdata/corpus"

var (
	corpusDir   = flag.String("corpus", ownCorpus, "folder of documents that TestCorpus measures")
	corpusOut   = flag.String("corpus.out", "", "folder that TestCorpus writes the texts to")
	damageCount = flag.Int("damage", 3, "files that TestDamageIsReported makes of each file and kind of damage")
	damageShow  = flag.String("damage.show", "", "part of a format, kind or name whose silent losses TestDamageIsReported writes to the temporary folder")
)

// TestCorpus measures how much of reference texts the parsers return: of the small corpus in testdata, whose recall has a floor, or of
// another folder. The folder has list.tsv (name, format, class, expectation), files/, and ref/NAME.txt with the text that a good extraction
// returns, in order:
//
// go test -run Corpus -v -corpus DIR ./internal/parse
//
// Recall is the share of the reference's words that are returned. Order is the share of those that are in the same order (the longest
// increasing run of unique words). Adjacency is the share of the reference's word pairs that stay adjacent.
func TestCorpus(t *testing.T) {
	list, err := os.Open(filepath.Join(*corpusDir, "list.tsv"))
	require.NoError(t, err)
	defer list.Close()
	r := New()
	sums := map[string]*corpusScore{}
	for in := bufio.NewScanner(list); in.Scan(); {
		f := strings.Split(in.Text(), "\t")
		if len(f) < 4 || strings.HasPrefix(f[0], "#") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(*corpusDir, "files", f[0]))
		require.NoError(t, err)
		doc, err := r.Parse(t.Context(), document.Input{Name: f[0], Data: data}, document.Limits{})
		if err != nil || f[3] != "text" {
			if err == nil {
				t.Logf("%-28s %s: %d bytes of text, partial %q", f[0], f[3], len(doc.Text), doc.Partial)
			} else {
				t.Logf("%-28s %s: %v", f[0], f[3], err)
			}
			if f[3] == "text" {
				t.Errorf("%s has no text", f[0])
			}
			continue
		}
		if *corpusOut != "" {
			require.NoError(t, os.WriteFile(filepath.Join(*corpusOut, f[0]+".txt"), []byte(doc.Text), 0o600))
		}
		ref, err := os.ReadFile(filepath.Join(*corpusDir, "ref", f[0]+".txt"))
		require.NoError(t, err)
		s := scoreText(doc.Text, string(ref))
		if *corpusDir == ownCorpus {
			assert.Greater(t, s.recall, .99, f[0])
			assert.Empty(t, doc.Partial, f[0])
		}
		t.Logf("%-28s recall %.4f order %.4f adjacency %.4f title %q", f[0], s.recall, s.order, s.adjacency, doc.Title)
		for _, key := range []string{"all", f[1]} {
			if sums[key] == nil {
				sums[key] = &corpusScore{}
			}
			sums[key].add(s)
		}
	}
	for _, key := range slices.Sorted(func(yield func(string) bool) {
		for k := range sums {
			if !yield(k) {
				return
			}
		}
	}) {
		s := sums[key]
		n := float64(s.n)
		t.Logf("MEAN %-6s %3d files: recall %.4f order %.4f adjacency %.4f", key, s.n, s.recall/n, s.order/n, s.adjacency/n)
	}
}

type corpusScore struct {
	recall, order, adjacency float64
	n                        int
}

func (s *corpusScore) add(o corpusScore) {
	s.recall += o.recall
	s.order += o.order
	s.adjacency += o.adjacency
	s.n++
}

func scoreText(got, want string) corpusScore {
	g, w := corpusWords(got), corpusWords(want)
	count := map[string]int{}
	at := map[string][]int{}
	for i, x := range g {
		count[x]++
		at[x] = append(at[x], i)
	}
	found := 0
	times := map[string]int{}
	for _, x := range w {
		times[x]++
		if count[x] > 0 {
			count[x]--
			found++
		}
	}
	var places []int
	for _, x := range w {
		if times[x] == 1 && len(at[x]) == 1 {
			places = append(places, at[x][0])
		}
	}
	pairs := map[[2]string]int{}
	for i := 1; i < len(g); i++ {
		pairs[[2]string{g[i-1], g[i]}]++
	}
	kept := 0
	for i := 1; i < len(w); i++ {
		if p := [2]string{w[i-1], w[i]}; pairs[p] > 0 {
			pairs[p]--
			kept++
		}
	}
	share := func(a, b int) float64 {
		if b <= 0 {
			return 1
		}
		return float64(a) / float64(b)
	}
	return corpusScore{recall: share(found, len(w)), order: share(longestIncrease(places), len(places)), adjacency: share(kept, len(w)-1), n: 1}
}

// longestIncrease returns the length of the longest increasing subsequence.
func longestIncrease(a []int) int {
	var tails []int
	for _, x := range a {
		i, _ := slices.BinarySearch(tails, x)
		if i == len(tails) {
			tails = append(tails, x)
		} else {
			tails[i] = x
		}
	}
	return len(tails)
}

// corpusWords returns the words of a text in lower case with compatibility forms folded. Each ideograph or kana is a word.
func corpusWords(s string) []string {
	s = strings.ToLower(norm.NFKC.String(strings.NewReplacer("\u00ad", "", "-\n", "", "\u2010\n", "").Replace(s)))
	var out []string
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			out = append(out, word.String())
			word.Reset()
		}
	}
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
			end()
			out = append(out, string(r))
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r):
			word.WriteRune(r)
		default:
			end()
		}
	}
	end()
	return out
}

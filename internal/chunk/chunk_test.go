package chunk

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// small options make short samples show what long texts do.
var small = Options{TargetBytes: 120, MaxBytes: 200, OverlapBytes: -1}

func texts(chunks []Chunk) []string {
	var out []string
	for _, c := range chunks {
		out = append(out, c.Text)
	}
	return out
}

func headings(chunks []Chunk) []string {
	var out []string
	for _, c := range chunks {
		out = append(out, c.Heading)
	}
	return out
}

// check fails the test unless chunks keep every promise of [Split].
func check(t testing.TB, src string, chunks []Chunk, o Options) {
	t.Helper()
	o = o.withDefaults()
	at := 0
	for i, c := range chunks {
		require.True(t, at <= c.Start && c.Start < c.End && c.End <= len(src), "chunk %d: range [%d,%d) after %d", i, c.Start, c.End, at)
		require.Empty(t, strings.TrimSpace(src[at:c.Start]), "before chunk %d: text is lost", i)
		require.LessOrEqual(t, len(c.Text), o.MaxBytes, "chunk %d", i)
		require.NotEmpty(t, strings.TrimSpace(c.Text), "chunk %d", i)
		require.True(t, strings.HasSuffix(c.Text, src[c.Start:c.End]), "chunk %d: %q does not end with its source", i, c.Text)
		if extra := len(c.Text) - (c.End - c.Start); extra > 0 {
			overlaps := extra <= o.OverlapBytes && c.Start >= extra && src[c.Start-extra:c.End] == c.Text
			header := extra <= o.MaxBytes/2+1 && strings.Contains(src[:c.Start], c.Text[:extra-1]) && strings.Contains(c.Text[:extra], "|")
			require.True(t, overlaps || header || isPart(src[:c.Start], c.Text[:extra]), "chunk %d: unexplained text %q", i, c.Text[:extra])
		}
		if utf8.ValidString(src) {
			require.True(t, utf8.ValidString(c.Text), "chunk %d cuts a character", i)
			require.True(t, utf8.ValidString(c.Heading), "chunk %d", i)
		}
		at = c.End
	}
	require.Empty(t, strings.TrimSpace(src[at:]), "text is lost at the end")
	if s := strings.TrimSpace(src); s == "" {
		require.Empty(t, chunks)
	} else if len(s) <= o.TargetBytes && !strings.ContainsAny(s, "#=-1234567890") { // no sections
		require.Len(t, chunks, 1)
		require.Equal(t, s, chunks[0].Text)
	}
}

// isPart reports whether before is what stands before a part of a wide row: names of columns and the first cell of the row, all from src.
func isPart(src, before string) bool {
	if !strings.Contains(before, "|\n| --- |") {
		return false
	}
	for _, cell := range strings.FieldsFunc(before, func(r rune) bool { return r == '|' || r == '\n' }) {
		if cell = strings.TrimSpace(cell); cell != "---" && !strings.Contains(src, cell) {
			return false
		}
	}
	return true
}

func TestShortTexts(t *testing.T) {
	t.Parallel()
	for _, src := range []string{"", " \r\n\t", "x", "  A note.\r\n", "# Title\n\n- one\n- two\n", "user: hi\nassistant: hello", "\u6771\u4eac\u3002\u5927\u962a\u3002"} {
		for _, md := range []bool{false, true} {
			check(t, src, Split(src, md, nil, Options{}), Options{})
		}
	}
	assert.Equal(t, "Title", Split("# Title\n\ntext", true, nil, Options{})[0].Heading)
	assert.Empty(t, Split("# Title\n\ntext", false, nil, Options{})[0].Heading)
	assert.Equal(t, "A > B", Split("# A\n\n## B\n\ntext", true, nil, Options{})[0].Heading, "a heading without text is only a way")
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	assert.Equal(t, Options{1200, 2000, 150}, Options{}.withDefaults())
	assert.Equal(t, Options{1200, 2000, 0}, Options{OverlapBytes: -1}.withDefaults())
	assert.Equal(t, Options{500, 500, 125}, Options{MaxBytes: 500}.withDefaults())
	assert.Equal(t, Options{3000, 3000, 150}, Options{TargetBytes: 3000}.withDefaults())
	assert.Equal(t, Options{64, 64, 16}, Options{TargetBytes: 1, MaxBytes: 1}.withDefaults())
}

func TestSections(t *testing.T) {
	t.Parallel()
	filler := strings.TrimSpace(strings.Repeat("Oak and elm. ", 8)) // 103 bytes
	src := "Preface.\n\n# Garden\n\nShort.\n\n## Trees #\n\n" + filler + "\n\n## Herbs\n\nMint.\n\n## Roots\n\nBeet.\n\nHouse\n=====\n\nRoof\n----\n\n" + filler + "\n"
	chunks := Split(src, true, nil, small)
	check(t, src, chunks, small)
	require.Equal(t, []string{
		"Preface.",
		"# Garden\n\nShort.",
		"## Trees #\n\n" + filler,
		"## Herbs\n\nMint.",
		"## Roots\n\nBeet.",
		"House\n=====\n\nRoof\n----\n\n" + filler,
	}, texts(chunks))
	assert.Equal(t, []string{"", "Garden", "Garden > Trees", "Garden > Herbs", "Garden > Roots", "House > Roof"}, headings(chunks))
}

func TestSiblingsStayApart(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		src            string
		texts, heading []string
	}{
		"two short sections": {"# A\n\n## B\n\ntext\n\n## C\n\nmore", []string{"# A\n\n## B\n\ntext", "## C\n\nmore"}, []string{"A > B", "A > C"}},
		"questions": {"## How long?\n\nTen days.\n\n## How much?\n\nFive euros.", []string{"## How long?\n\nTen days.", "## How much?\n\nFive euros."},
			[]string{"How long?", "How much?"}},
		"empty sections go with what follows": {"# A\n\n# B\n\n# C\n\ntext", []string{"# A\n\n# B\n\n# C\n\ntext"}, []string{"C"}},
		"an introduction":                     {"# A\n\nintro\n\n## B\n\ntext", []string{"# A\n\nintro", "## B\n\ntext"}, []string{"A", "A > B"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chunks := Split(tc.src, true, nil, Options{})
			check(t, tc.src, chunks, Options{})
			assert.Equal(t, tc.texts, texts(chunks))
			assert.Equal(t, tc.heading, headings(chunks))
		})
	}
}

func TestFencesInLists(t *testing.T) {
	t.Parallel()
	after := "\n\n# Next\n\ntext"
	for name, src := range map[string]string{
		"on the item's line":       "# First\n\n- ```go\n  # no heading\n  ```" + after,
		"numbered":                 "# First\n\n1. ```sh\n   # no heading\n   ls\n   ```\n2. more" + after,
		"below the item":           "# First\n\n- run it:\n\n  ```\n  # no heading\n  ```" + after,
		"in a nested item":         "# First\n\n- a\n  - b\n    ~~~\n    # no heading\n    ~~~\n- c" + after,
		"two markers":              "# First\n\n- 1. ```\n     # no heading\n     ```" + after,
		"never closed":             "# First\n\n- run it:\n\n  ```\n  # no heading" + after,
		"closed by the next item":  "# First\n\n- ```\n  # no heading\n- more" + after,
		"indented, in no list":     "# First\n\n  ```\n# no heading\n  ```" + after,
		"after a list has ended":   "# First\n\n- a\n\ntext\n\n  ```\n# no heading\n  ```" + after,
		"tabs":                     "# First\n\n-\t```\n\t# no heading\n\t```" + after,
		"a fence longer than both": "# First\n\n- ````md\n  ```\n  # no heading\n  ```\n  ````" + after,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chunks := Split(src, true, nil, Options{})
			check(t, src, chunks, Options{})
			assert.Equal(t, []string{"First", "Next"}, headings(chunks), "%q", texts(chunks))
		})
	}
}

func TestNotHeadings(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("word ", 40)
	for _, line := range []string{"#hashtag", "####### seven", "    # indented", "# " + strings.Repeat("long ", 60)} {
		t.Run(line, func(t *testing.T) {
			for _, c := range Split(line+"\n\n"+filler, true, nil, small) {
				assert.Empty(t, c.Heading, line)
			}
		})
	}
	src := "- item\n---\n" + filler
	assert.Empty(t, Split(src, true, nil, small)[0].Heading, "a rule after a list item")
	src = "above\n\n---\nbelow\n===\n\n" + filler
	chunks := Split(src, true, nil, small)
	assert.Equal(t, "below", chunks[len(chunks)-1].Heading, "a rule is not part of a title")
}

func TestNumberedHeadings(t *testing.T) {
	t.Parallel()
	filler := strings.TrimSpace(strings.Repeat("Oak and elm. ", 8))
	src := "1 Scope\n\n" + filler + "\n\n1.1 Terms (new)\n\n" + filler + "\n\n2. Rules\n\n2.1 Tools\n\n" + filler
	chunks := Split(src, false, nil, small)
	check(t, src, chunks, small)
	var headings []string
	for _, c := range chunks {
		headings = append(headings, c.Heading)
	}
	assert.Equal(t, []string{"1 Scope", "1 Scope > 1.1 Terms (new)", "2. Rules > 2.1 Tools"}, headings)

	list := "1. Milk\n\n2. Bread\n\n3. Eggs and so on\n\n" + filler + "\n\n4 apples were left.\n\n5 for you\n\n" + filler
	chunks = Split(list, false, nil, small)
	check(t, list, chunks, small)
	assert.Equal(t, "3. Eggs and so on", chunks[len(chunks)-1].Heading, "sentences and lower case are no headings")
}

func TestCode(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("\tx := f(1)\n\n", 12)
	src := "# Use\n\nText before.\n\n~~~~go\n# not a heading\n~~~\n" + body + "~~~~~\n\nText after the code, long enough to stand alone."
	chunks := Split(src, true, nil, small)
	check(t, src, chunks, small)
	require.Equal(t, []string{
		"# Use\n\nText before.\n\n~~~~go\n# not a heading\n~~~\n" + strings.Repeat("\tx := f(1)\n\n", 12) + "~~~~~",
		"Text after the code, long enough to stand alone.",
	}, texts(chunks))

	src = "```\n" + strings.Repeat("\tx := f(1)\n", 40) // never closed
	chunks = Split(src, true, nil, small)
	check(t, src, chunks, small)
	require.Greater(t, len(chunks), 2)
	for _, c := range chunks[1:] {
		assert.True(t, strings.HasPrefix(c.Text, "\tx := f(1)"), "%q: lines and their indentation are kept", c.Text)
	}
}

func TestLists(t *testing.T) {
	t.Parallel()
	src := "Things to do:\n" + strings.Repeat("- water the plants and\n  feed the birds\n", 8) + "\n1) read the paper, then go out for a walk along the river and back over the hill\n2) write to the landlord about the heating\n\u2022 sleep"
	for _, md := range []bool{true, false} {
		t.Run(fmt.Sprint(md), func(t *testing.T) {
			chunks := Split(src, md, nil, small)
			check(t, src, chunks, small)
			for _, c := range chunks[1:] {
				assert.Regexp(t, `^(- water|1\)|2\)|\x{2022} )`, c.Text, "an item is not cut")
			}
		})
	}
}

func TestOverlap(t *testing.T) {
	t.Parallel()
	o := Options{TargetBytes: 200, MaxBytes: 300, OverlapBytes: 50}
	var s []string
	for i := range 30 {
		s = append(s, fmt.Sprintf("Sentence number %02d is here.", i))
	}
	for _, sep := range []string{" ", "\n\n"} {
		t.Run(sep, func(t *testing.T) {
			src := strings.Join(s, sep)
			chunks := Split(src, false, nil, o)
			check(t, src, chunks, o)
			require.Greater(t, len(chunks), 3)
			for i, c := range chunks[1:] {
				assert.True(t, strings.HasPrefix(c.Text, "Sentence number"), "%q", c.Text)
				assert.Equal(t, s[0][:16], src[c.Start:c.Start+16])
				before := chunks[i]
				assert.Equal(t, src[before.End-27:before.End], c.Text[:27], "the last sentence is repeated")
			}
		})
	}
	// Not across headings, lists or from sentences that are too long.
	long := strings.Repeat("word ", 30)
	src := "# A\n\n" + long + ".\n\n" + long + ".\n\n# B\n\n" + long + ". Tiny.\n\n- " + long
	for _, c := range Split(src, true, nil, o) {
		assert.Equal(t, src[c.Start:c.End], c.Text)
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	para := strings.TrimSpace(strings.Repeat("Oak and elm. ", 8))
	src := para + "\n\n" + para + "\n\n" + para
	second := len(para) + 2
	pages := []Page{{Number: 7, Start: 10}, {Number: 8, Start: second - 1}, {Number: 9, Start: 2*second + 3}}
	chunks := Split(src, false, pages, small)
	require.Len(t, chunks, 3)
	assert.Equal(t, [2]int{0, 0}, [2]int{chunks[0].Page, chunks[0].PageStart})
	assert.Equal(t, [2]int{8, 1}, [2]int{chunks[1].Page, chunks[1].PageStart})
	assert.Equal(t, [2]int{8, second + 1}, [2]int{chunks[2].Page, chunks[2].PageStart})
}

func TestLineEndings(t *testing.T) {
	t.Parallel()
	src := "# A\n\n" + strings.Repeat("Line of text\nand more. ", 8) + "\n\n## B\n\n" + strings.Repeat("- item\n", 30)
	want := Split(src, true, nil, small)
	for _, eol := range []string{"\r\n", "\r"} {
		t.Run(eol, func(t *testing.T) {
			other := strings.ReplaceAll(src, "\n", eol)
			got := Split(other, true, nil, small)
			check(t, other, got, small)
			require.Equal(t, want[0].Heading, got[0].Heading)
			require.Equal(t, "A > B", got[len(got)-1].Heading)
		})
	}
}

func TestFrontMatter(t *testing.T) {
	t.Parallel()
	src := "---\ntitle: Trees\ntags: [a, b]\n---\n# Oak\n\n" + strings.Repeat("Text. ", 40)
	chunks := Split(src, true, nil, small)
	check(t, src, chunks, small)
	assert.Equal(t, "Oak", chunks[len(chunks)-1].Heading, "the metadata is no heading")
	src = "---\n\n# Oak\n\n" + strings.Repeat("Text. ", 40)
	assert.Equal(t, "Oak", Split(src, true, nil, small)[1].Heading)
}

// document of random structure, with a bias to what is hard to cut.
func randomText(r *rand.Rand) string {
	words := []string{"tea", "garden", "Dr.", "e.g.", "42.", "U.S.", "na\u00efve", "e\u0301\u0301", "\U0001f469\u200d\U0001f680", "\u6771\u4eac\u3002", "\u0928\u092e\u0938\u094d\u0924\u0947\u0964", "end.", "why?", "\"so!\"", "|", "user:", "x,", strings.Repeat("z", 300), "\u00a0", "`"}
	starts := []string{"", "", "", "# ", "## ", "### ", "- ", "3. ", "1.2 ", "    ", "> ", "| ", "user: ", "assistant: ", "```\n", "---\n", "===\n", "|--|--|\n", "\t"}
	ends := []string{"\n", "\n", "\n\n", "\r\n", "\r\n\r\n", "\n \t\n", "\r", " "}
	var b strings.Builder
	for range r.IntN(60) {
		b.WriteString(starts[r.IntN(len(starts))])
		for range r.IntN(40) {
			b.WriteString(words[r.IntN(len(words))])
			if r.IntN(8) > 0 {
				b.WriteByte(' ')
			}
		}
		b.WriteString(ends[r.IntN(len(ends))])
	}
	return b.String()
}

func TestProperties(t *testing.T) {
	t.Parallel()
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 1))
		src := randomText(r)
		o := Options{TargetBytes: r.IntN(1500), MaxBytes: r.IntN(2500), OverlapBytes: r.IntN(300) - 50}
		md := seed%2 == 0
		chunks := Split(src, md, nil, o)
		check(t, src, chunks, o)
		require.Equal(t, chunks, Split(src, md, nil, o), "seed %d", seed)
		for _, c := range chunks {
			first, _ := utf8.DecodeRuneInString(src[c.Start:])
			if c.Start > 0 {
				last, _ := utf8.DecodeLastRuneInString(src[:c.Start])
				require.False(t, !unicode.IsSpace(last) && (unicode.IsMark(first) || first == 0x200d || last == 0x200d),
					"seed %d: a character is cut at %d", seed, c.Start)
			}
		}
	}
}

// A quadratic step would take minutes on these.
func TestLinearTime(t *testing.T) {
	t.Parallel()
	const size = 1 << 17
	for _, unit := range []string{
		"\r", "\n ", " ", "# a\n", "###### a\n", "#", "a\n===\n", "---\n", "-|\n", "| a |\n|-|\n", "|", "- a\n", "- ", "1. ", "1.1 A\n\n",
		"```\n", "```", "~", "user:\n", "user: a\nassistant: b\n", "assistant:", ". ", "a. ", "a b. A", "e.g. ", "!", ".\n\n", "\u3002", "\u0301", "a\u200d", "\x80", "a", "\"",
		"x\n\n" + strings.Repeat(" ", 200), "|a|\n|-|\n" + strings.Repeat("|b|\n", 500), "# " + strings.Repeat("t", 150) + "\n## b\n",
	} {
		t.Run(unit, func(t *testing.T) {
			for _, head := range []string{"", "user: a\nassistant: " + strings.Repeat("b", 3000) + "\n", strings.Repeat(" ", 1<<16) + "x" + strings.Repeat(" ", 1<<16)} {
				for _, md := range []bool{true, false} {
					src := head + strings.Repeat(unit, size/len(unit))
					begin := time.Now()
					chunks := Split(src, md, nil, Options{})
					require.Less(t, time.Since(begin), time.Minute, "%q after %.20q", unit, head)
					check(t, src, chunks, Options{})
				}
			}
		})
	}
}

func FuzzSplit(f *testing.F) {
	for seed := range uint64(12) { // short, or minimising them takes all the time
		src := randomText(rand.New(rand.NewPCG(seed, 2)))
		f.Add(src[:min(len(src), 400)], seed%2 == 0, 100, 150, 20)
	}
	f.Add("a\u0301\u0301\u0301 \xff\xfe\x80", true, 0, 0, 0)
	f.Add(strings.Repeat("\u0301", 500), false, 64, 64, 16)
	f.Add(strings.Repeat("\x80", 500), false, 64, 64, 16)
	f.Fuzz(func(t *testing.T, src string, md bool, target, limit, overlap int) {
		if len(src) > 1<<16 {
			return
		}
		o := Options{TargetBytes: target, MaxBytes: limit, OverlapBytes: overlap}
		check(t, src, Split(src, md, []Page{{1, 0}}, o), o)
	})
}

func BenchmarkSplit(b *testing.B) {
	var s strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&s, "## Section %d\n\n", i)
		s.WriteString(strings.Repeat("The bakery opens at seven and sells rye bread, rolls and cake. Dr. Lee buys two. ", 2+i%20))
		s.WriteString("\n\n- one thing\n- another thing\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\ncode\n```\n\n")
	}
	src := s.String()
	for name, in := range map[string]struct {
		src string
		md  bool
	}{
		"markdown": {src, true},
		"plain":    {src, false},
		"han":      {strings.Repeat("\u6211\u559c\u6b22\u559d\u8336\uff0c\u4ed6\u559c\u6b22\u559d\u5496\u5561\u3002", 40000), false},
		"one line": {strings.Repeat("x", 1<<20), false},
		"note":     {src[:600], false},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(in.src)))
			b.ReportAllocs()
			for b.Loop() {
				Split(in.src, in.md, nil, Options{})
			}
		})
	}
}

package lexical

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func terms(q *Query) string {
	var words []string
	for _, t := range q.Terms {
		w := t.Term
		if IsStem(w) {
			continue
		}
		if t.Optional {
			w += "?"
		}
		words = append(words, w)
	}
	return strings.Join(words, " ")
}

func TestParseQuery(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		op   Operator
		want string
	}{
		"question words go":         {"When did Martha plant the roses?", Or, "martha plant rose"},
		"contractions go":           {"What's it that they don't like?", Or, "like"},
		"nothing left keeps all":    {"what are you doing", Or, "what you do"},
		"a month":                   {"What happened in May?", Or, "happen may"},
		"may first is a question":   {"May I come? May she?", Or, "come"},
		"may in small":              {"what may happen", Or, "happen"},
		"quotes keep":               {`who said "where are you" first`, Or, "say where you first"},
		"typographic quotes keep":   {`who said “where am I”`, Or, "say where am i"},
		"inches are not quotes":     {`is the 5" or the 7" about right`, Or, "5 7 right"},
		"US and WHO":                {"what does the US say about WHO", Or, "us say who"},
		"acronym is not a pronoun":  {"what is the U.S. policy", Or, "us polici"},
		"and keeps":                 {"When did Martha", And, "when did martha"},
		"phrase keeps":              {"when did the roses", Phrase, "when did \x00the rose"},
		"whole compound optional":   {"err_1042 iPhone", And, "err_1042? err 1042 iphon phone?"},
		"pairs only where required": {"北京", And, "北京"},
		"single Han in or":          {"北京", Or, "北京 北? 京?"},
		"empty":                     {"", Or, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, terms(ParseQuery(c.text, c.op)))
		})
	}
}

func TestFirstPerson(t *testing.T) {
	t.Parallel()
	text := "When did I water my roses for her?"
	assert.Equal(t, "water rose", terms(ParseQuery(text, Or)))
	assert.Equal(t, "i water my rose", terms(Parser{FirstPerson: true}.Parse(text, Or)))
}

func TestParseQueryBoosts(t *testing.T) {
	t.Parallel()
	q := ParseQuery("where is the rose garden with the roses", Or)
	assert.Equal(t, []QueryTerm{{Term: "rose", Boost: 2}, {Term: "garden", Boost: 1}}, q.Terms)
	assert.Less(t, len(ParseQuery(strings.Repeat("a1 b2 ", 3)+longQuery(5000), Or).Terms), 1025)
}

func longQuery(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat("x", i%50+1) + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + " ")
	}
	return b.String()
}

func TestPhrases(t *testing.T) {
	t.Parallel()
	mem := NewMem()
	for row, text := range []string{
		"The state of the art in gardening", // 0
		"The art of the state",              // 1
		"state art",                         // 2
		"An iPhone case for sale",           // 3
		"iphone case",                       // 4
		"see foo.bar/baz-2 there",           // 5
		"foo bar baz 2",                     // 6
		"我在北京大学学习",                          // 7
		"京北 学大",                             // 8
		"the error ERR_1042 occurred while watering the tulips", // 9
	} {
		require.NoError(t, mem.Add(uint32(row), Doc{Fields: []Field{{Text: text}}}))
	}
	require.NoError(t, mem.Add(10, Doc{Fields: []Field{{Text: "red"}, {Text: "roses"}}}))
	for _, part := range []Part{mem, segmentOf(t, mem)} {
		for _, c := range []struct {
			text string
			op   Operator
			want []uint32
		}{
			{"state of the art", Phrase, []uint32{0}},
			{"state art", Phrase, []uint32{2}},
			{"art state", And, []uint32{0, 1, 2}},
			{"iPhone case", Phrase, []uint32{3, 4}},
			{"iphone case", Phrase, []uint32{3, 4}},
			{"foo bar baz", Phrase, []uint32{5, 6}},
			{"foo.bar/baz-2", Phrase, []uint32{5, 6}},
			{"foo.bar/baz-2", And, []uint32{5, 6}},
			{"北京大学", Phrase, []uint32{7}},
			{"京", Or, []uint32{7, 8}},
			{"ERR_1042 occurred", Phrase, []uint32{9}},
			{"1042", Phrase, []uint32{9}},
			{`tulips "error err"`, And, []uint32{9}},
			{`tulips "err error"`, And, nil},
			{"red roses", Phrase, nil},
			{"red roses", And, []uint32{10}},
			{"missing state", And, nil},
			{"", And, nil},
			{"the of", Phrase, nil},
		} {
			hits, err := Search(t.Context(), ParseQuery(c.text, c.op), 20, []View{{Part: part}})
			require.NoError(t, err)
			var rows []uint32
			for _, h := range hits {
				rows = append(rows, h.Row)
			}
			assert.ElementsMatch(t, c.want, rows, "%T %q", part, c.text)
		}
	}
}

func TestWholeCompoundsComeFirst(t *testing.T) {
	t.Parallel()
	mem := NewMem()
	for row, text := range []string{"err number 1042", "ERR_1042", "err err 1042 1042"} {
		require.NoError(t, mem.Add(uint32(row), Doc{Fields: []Field{{Text: text}}}))
	}
	hits, err := Search(t.Context(), ParseQuery("what is err_1042?", Or), 3, []View{{Part: mem}})
	require.NoError(t, err)
	require.Len(t, hits, 3)
	assert.Equal(t, uint32(1), hits[0].Row)
}

// TestManyTerms checks that many distinct terms stay distinct, and that Parse bounds their number.
func TestManyTerms(t *testing.T) {
	t.Parallel()
	var words []string
	for i := range maxQueryTerms + 100 {
		words = append(words, fmt.Sprint("w", i, "q"))
	}
	for _, n := range []int{listTerms - 1, listTerms, listTerms + 1, 100, len(words)} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			twice := strings.Join(words[:n], " ")
			got := map[string]float32{}
			for _, term := range ParseQuery(twice+" "+twice, Or).Terms {
				if _, ok := got[term.Term]; ok {
					t.Fatalf("%s twice", term.Term)
				}
				got[term.Term] = term.Boost
			}
			if n < maxQueryTerms {
				assert.InDelta(t, 2, got[words[n-1]], 0, n)
			}
			assert.LessOrEqual(t, len(got), maxQueryTerms)
		})
	}
}

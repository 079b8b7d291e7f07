package lexical

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// show writes tokens as term@position, in order.
func show(tokens []Token) string {
	var b strings.Builder
	for i, t := range tokens {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%s@%d", t.Term, t.Pos)
	}
	return b.String()
}

func TestAnalyze(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"empty":             {"", ""},
		"only punctuation":  {" .,;-- !?", ""},
		"English":           {"The gardens were growing quickly.", "garden@1 were@2 grow@3 quick@4"},
		"possessive":        {"Anna's roses and the boys’ bikes", "anna@0 rose@1 boy@4 bike@5"},
		"contraction":       {"I'm sure they don't", "i@0 sure@1 don@3"},
		"elision":           {"l'école d’été", "l@0 ecol@1 d@2 ete@3"},
		"names":             {"O'Brien met D'Angelo's", "o@0 brien@1 meet@2 d@3 angelo@4"},
		"German":            {"Die Straßen für Übergrößen", "die@0 strassen@1 fur@2 ubergrossen@3"},
		"French":            {"Le cœur naïf à Noël", "le@0 coeur@1 naif@2 noel@4"},
		"decomposed":        {"cafe\u0301 café CAFÉ", "cafe@0 cafe@1 cafe@2"},
		"full width":        {"ＡＢＣ１２３ ﬁn", "abc123@0 fin@1"},
		"Russian":           {"Ёлка и Мой Йод", "елка@0 и@1 мой@2 йод@3"},
		"Greek":             {"Οδυσσέας ΟΔΥΣΣΕΑΣ", "οδυσσεασ@0 οδυσσεασ@1"},
		"Turkish":           {"İstanbul ılık", "istanbul@0 ilik@1"},
		"Arabic":            {"مُحَمَّد إلى مدرسة ١٢٣", "محمد@0 الي@1 مدرسه@2 123@3"},
		"Hebrew":            {"שָׁלוֹם", "שלום@0"},
		"Hindi":             {"हिन्दी भाषा २०२४", "हिन्दी@0 भाषा@1 2024@2"},
		"Chinese":           {"我爱北京。", "我爱@0 我@0 爱北@1 爱@1 北京@2 北@2 京@3"},
		"one Han":           {"猫 x", "猫@0 x@1"},
		"Japanese":          {"東京タワーへ", "東京@0 東@0 京タ@1 京@1 タワ@2 ワー@3 ーへ@4"},
		"half-width kana":   {"ｶﾞｽ", "ガス@0"},
		"Korean":            {"서울 강", "서울@0 강@2"},
		"Thai":              {"ที่นี่", "ที่นี่@0"},
		"mixed scripts":     {"iPhone买了2台", "iphon@0 phone@0 买了@1 买@1 了@2 2@3 台@4"},
		"emoji":             {"Party 🎉 time🎂🎉", "parti@0 🎉@1 time@1 🎂@2 🎉@2"},
		"emoji alone":       {"🎂", "🎂@0"},
		"emoji variants":    {"❤️ 👍🏽 👩🏾‍🚀 🏃‍♀️", "❤@0 👍@0 👩@0 🚀@0 🏃@0"},
		"flags":             {"🇫🇷🇩🇪 🇫", "🇫🇷@0 🇩🇪@0 🇫@0"},
		"newest emoji":      {"\U0001FAEA", "\U0001FAEA@0"},
		"emoji in scripts":  {"猫🐱 кот🐱", "猫@0 🐱@1 кот@1 🐱@2"},
		"no emoji":          {"→ ■ • ™ ± ➤ ✝x", "✝@0 x@0"},
		"snake":             {"ERR_1042 seen", "err_1042@0 err@0 1042@1 see@2"},
		"path":              {"foo.bar/baz-2", "foo.bar/baz-2@0 foo@0 bar@1 baz@2 2@3"},
		"version":           {"v1.2.3", "v1.2.3@0 v1@0 1@0 2@1 3@2"},
		"camel":             {"getUserName", "getusernam@0 get@0 user@0 name@0"},
		"capitals in camel": {"HTTPServer APIs", "httpserver@0 http@0 server@0 api@1"},
		"letters and digits": {"iPhone15 10km 2nd h264",
			"iphone15@0 phone@0 15@0 10km@1 10@1 km@1 2nd@2 h264@3"},
		"mail": {"Mail max.muster@example.com!",
			"mail@0 max.muster@example.com@1 max@1 muster@2 exampl@3 com@4"},
		"url": {"see https://example.org/a?q=1&r=b#top.",
			"see@0 https://example.org/a?q=1&r=b#top@1 https@1 exampl@2 org@3 q@5 1@6 r@7 b@8 top@9"},
		"hyphen":       {"well-known co-operation", "well@0 know@1 co@2 oper@3"},
		"number":       {"1,234,567.50 and 3.5 or 12,34", "1234567.50@0 1234567@0 50@1 3.5@3 3@3 5@4 12@6 34@7"},
		"clock":        {"at 10:30", "10:30@1 10@1 30@2"},
		"acronym":      {"U.S.A. e.g. R&D", "usa@0 eg@1 r&d@2 r@2 d@3"},
		"languages":    {"C++ C# f# notepad++ a+b", "c++@0 c#@1 f#@2 notepad++@3 notepad@3 a+b@4 b@5"},
		"soft hyphen":  {"Wander\u00adweg", "wanderweg@0"},
		"sentence end": {"End.Next one", "end.next@0 end@0 next@1 one@2"},
		"ellipsis":     {"wait...what yes--no", "wait@0 what@1 yes@2"},
		"only stops":   {"to be or not to be", ""},
		"not UTF-8":    {"ab\xffcd \xc3", "ab@0 cd@1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, show(Analyze(nil, c.text)))
		})
	}
}

func TestAnalyzeOffsets(t *testing.T) {
	t.Parallel()
	text := "Zoë’s foo_bar 東京 ｶﾞ"
	var got []string
	for _, tok := range Analyze(nil, text) {
		got = append(got, text[tok.Start:tok.End])
	}
	assert.Equal(t, []string{"Zoë", "foo_bar", "foo", "bar", "東京", "東", "京", "ｶﾞ"}, got)
}

func TestAnalyzeAppends(t *testing.T) {
	t.Parallel()
	dst := Analyze(nil, "one")
	dst = Analyze(dst, "two")
	assert.Equal(t, "one@0 two@0", show(dst))
}

func TestLongWords(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		strings.Repeat("x", 10_000), strings.Repeat("é", 10_000), strings.Repeat("ab.", 10_000), strings.Repeat("aB", 10_000),
		strings.Repeat("1,234", 10_000), strings.Repeat("漢", 10_000), "http://" + strings.Repeat("a/", 10_000),
	} {
		t.Run(text, func(t *testing.T) {
			tokens := Analyze(nil, text)
			require.NotEmpty(t, tokens)
			for _, tok := range tokens {
				require.LessOrEqual(t, len(tok.Term), maxTermBytes)
				require.True(t, utf8.ValidString(tok.Term))
			}
		})
	}
}

func TestStem(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"running": "run", "gardens": "garden", "is": "is", "": "", "Running": "Running", "naïve": "naïve", "happily": "happili",
	} {
		t.Run(word, func(t *testing.T) {
			assert.Equal(t, want, Stem(word), word)
		})
	}
}

func TestWordLists(t *testing.T) {
	t.Parallel()
	assert.Len(t, stopWords, 33)
	assert.True(t, IsStopWord("the"))
	assert.False(t, IsStopWord("who"))
	assert.True(t, IsQuestionWord("who"))
	assert.False(t, IsQuestionWord("garden"))
}

func FuzzAnalyze(f *testing.F) {
	for _, s := range []string{"The gardens' rose-bed", "foo.bar/baz-2 v1.2.3", "https://a.b/c?d=e", "東京タワー ｶﾞ", "İß’s \xff", "1,234,5"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		pos := 0
		for _, tok := range Analyze(nil, text) {
			require.NotEmpty(t, tok.Term)
			require.LessOrEqual(t, len(tok.Term), maxTermBytes)
			require.GreaterOrEqual(t, tok.Pos, pos)
			pos = tok.Pos
			require.True(t, 0 <= tok.Start && tok.Start < tok.End && tok.End <= len(text))
		}
		for _, op := range []Operator{Or, And, Phrase} {
			q := ParseQuery(text, op)
			for _, term := range q.Terms {
				require.Positive(t, term.Boost)
			}
		}
	})
}

func BenchmarkAnalyze(b *testing.B) {
	text := strings.Repeat(`The committee decided on Tuesday that every gardener should water the roses twice
a week; Martha objected, because her tulips (planted in 2019) were drowning already. See notes.txt. `, 50)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	var tokens []Token
	for b.Loop() {
		tokens = Analyze(tokens[:0], text)
	}
}

package lexical

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestStemsMeet checks that each StemLanguage has one stem for two forms of a word, and another stem for another word.
func TestStemsMeet(t *testing.T) {
	t.Parallel()
	for code, words := range map[string][3]string{
		"ar": {"كتابها", "كتابهم", "مدرسة"},
		"da": {"husene", "huset", "hunden"},
		"de": {"Häuser", "Hauses", "Hafen"},
		"es": {"canciones", "canción", "cantina"},
		"fi": {"taloissa", "talossa", "tuoli"},
		"fr": {"mangées", "manger", "manteau"},
		"hi": {"किताबों", "किताबें", "बाज़ार"},
		"hu": {"házban", "házak", "kutya"},
		"it": {"ragazze", "ragazzi", "ragione"},
		"nl": {"boeken", "boek", "broek"},
		"no": {"husene", "huset", "hunden"},
		"pt": {"gatinhas", "gatinha", "garagem"},
		"ro": {"casele", "case", "caiet"},
		"ru": {"собаки", "собаку", "собор"},
		"sv": {"bilarna", "bilen", "hunden"},
		"tr": {"kitaplar", "kitapları", "köpek"},
	} {
		t.Run(code, func(t *testing.T) {
			in := stemLanguageOf[code]
			require.NotZero(t, in)
			stem := func(word string) string { term, _ := stemTerm(word, in); return term }
			one, two, other := stem(words[0]), stem(words[1]), stem(words[2])
			assert.Equal(t, one, two)
			assert.NotEqual(t, one, other)
			assert.True(t, strings.HasPrefix(one, "\x01"+code), one)
			assert.True(t, IsStem(one))
			assert.Equal(t, one, stem(words[0]), "as remembered")
		})
	}
	assert.Len(t, stemLanguages, 17, "each is tested")
}

func TestStemLanguageOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Ayer vendimos las bicicletas rojas":      "es",
		"Jag har köpt två nya cyklar till barnen": "sv",
		"Jeg har ikke købt noget til børnene":     "da",
		"Jeg vet ikke hva som skjer med bilen":    "no",
		"Minulla ei ole enää pyörää täällä":       "fi",
		"Nem tudom, hogy hol van a kulcsom":       "hu",
		"Nu știu unde este mașina mea":            "ro",
		"Мы вчера купили новые книги":             "ru",
		"the bicycle is red and the car is blue":  "",
		"昨日から新しい会社で働き始めました":                       "",
		"Gdzie teraz mieszkam?":                   "",
		"Leipzig":                                 "",
	} {
		t.Run(text, func(t *testing.T) { assert.Equal(t, stemLanguageOf[want], StemLanguageOf("", text, "x")) })
	}
}

// TestEnglishHasNoStems checks that neither documents nor questions in English have stems, and that a document in another language keeps all its words.
func TestEnglishHasNoStems(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"We sold the red bicycles", "Where is my red bicycle?", "who did my sister meet in Lyon?"} {
		for _, term := range ParseQuery(text, Or).Terms {
			assert.False(t, IsStem(term.Term), text)
		}
		assert.Zero(t, StemLanguageOf(text))
	}
	spanish := "Ayer vendimos las bicicletas rojas en Madrid"
	var words []Token
	for _, token := range AnalyzeDocument(nil, spanish, stemLanguageOf["es"]) {
		if !IsStem(token.Term) {
			assert.Equal(t, token.Stop(), token.Uncounted())
			words = append(words, token)
			continue
		}
		assert.True(t, token.Uncounted())
		assert.Equal(t, words[len(words)-1].Pos, token.Pos, "at the place of its word")
	}
	assert.Equal(t, AnalyzeDocument(nil, spanish, 0), words)
}

// TestStemsOfQueries checks that a short question has stems in every possible StemLanguage, a long one in its own, and that And and Phrase queries have none.
func TestStemsOfQueries(t *testing.T) {
	t.Parallel()
	stems := func(text string, op Operator) map[string]bool {
		out := map[string]bool{}
		for _, term := range ParseQuery(text, op).Terms {
			if IsStem(term.Term) {
				assert.True(t, term.Optional)
				out[term.Term[1:3]] = true
			}
		}
		return out
	}
	assert.Len(t, stems("bicicletas rojas", Or), len(latinLanguages))
	assert.Equal(t, map[string]bool{"ru": true}, stems("где мои книги", Or))
	assert.Equal(t, map[string]bool{"es": true}, stems(strings.Repeat("¿Dónde están las bicicletas rojas de mi hermana? ", 5), Or))
	assert.Empty(t, stems("bicicletas rojas", And))
	assert.Empty(t, stems("bicicletas rojas", Phrase))
	assert.Empty(t, stems("自転車はどこ", Or))
}

func FuzzStem(f *testing.F) {
	for _, s := range []string{"bicicletas", "Häuser", "İstanbul", "كتابها", "किताबों", "a\xff", "x\x00y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, word string) {
		for in := range stemLanguages[1:] {
			term := makeStemTerm(word, StemLanguage(in+1))
			require.True(t, term == "" || IsStem(term) && len(term) > 3)
		}
	})
}

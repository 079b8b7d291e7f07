package language

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSubject(t *testing.T) {
	t.Parallel()
	for question, want := range map[string]string{
		"¿Dónde vive mi hermana ahora?":                   "¿ vive hermana ?",
		"Wie viel hat mein letztes Fahrrad gekostet?":     "viel letztes Fahrrad gekostet?",
		"À quel prix j'ai vendu la maison ?":              "prix ' vendu maison ?",
		"Dove lavora mio fratello?":                       "lavora fratello?",
		"Waar woont mijn zus tegenwoordig?":               "woont zus tegenwoordig?",
		"Gdzie teraz mieszkam?":                           "mieszkam?",
		"Qual é o nome do meu gato?":                      "nome gato?",
		"Kız kardeşim nerede çalışıyor?":                  "Kız kardeşim çalışıyor?",
		"Как зовут мою собаку?":                           "зовут собаку?",
		"أين أسكن الآن؟":                                  "أسكن الآن؟",
		"मेरी बहन कहाँ रहती है?":                          "बहन रहती ?",
		"我的猫叫什么名字？":                                       "猫叫 名字？",
		"妹はどこに住んでいますか？":                                   "妹は に住んでい ？",
		"내 개 이름이 뭐야?":                                     "개 이름이 ?",
		"สุนัขของฉันชื่ออะไร":                             "สุนัข ชื่อ",
		"Where does my sister live now?":                  "Where does my sister live now?", // the index knows these
		"¿Qué dijo ella de \"la casa de los espíritus\"?": "¿Qué dijo ella de \"la casa de los espíritus\"?",
		"¿Quién es?":   "¿Quién es?", // nothing would be left
		"我是谁":          "我是谁",
		"Leipzig 4711": "Leipzig 4711",
		"":             "",
	} {
		t.Run(question, func(t *testing.T) {
			got, _ := Subject(question)
			if got != question {
				got = strings.Join(strings.Fields(got), " ")
			}
			assert.Equal(t, want, got)
		})
	}
}

// TestSubjectIsBounded: long texts are left alone, broken ones cost nothing but themselves.
func TestSubjectIsBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("¿dónde vive mi hermana? ", maxQuery)
	assert.Equal(t, long, first(Subject(long)))
	assert.Contains(t, first(Subject("дом где \xff\xfe я")), "\xff\xfe")
}

// first is the subject alone.
func first(subject, _ string) string { return subject }

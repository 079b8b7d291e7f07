package language

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestGuess(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"where did we put the old camera?":                         "en",
		"cello lessons on Tuesday for my daughter":                 "en",
		"Wo wohne ich jetzt?":                                      "de",
		"Der Hund frisst nur noch das Futter aus der blauen Dose.": "de",
		"¿Cómo se llama mi perro?":                                 "es",
		"Mi hermana tiene un taller de cerámica en Sevilla":        "es",
		"Quel instrument joue ma fille ?":                          "fr",
		"On a déménagé à Lyon en mars":                             "fr",
		"Dove lavora mio fratello?":                                "it",
		"Waar woont mijn zus tegenwoordig?":                        "nl",
		"Gdzie teraz mieszkam?":                                    "pl",
		"Qual é o nome do meu gato?":                               "pt",
		"Kız kardeşim nerede çalışıyor?":                           "tr",
		"Как зовут мою собаку?":                                    "ru",
		"昨日から新しい会社で働き始めました":                                        "ja",
		"我住在哪里？":                                                   "zh",
		"내 개 이름이 뭐야?":                                              "ko",
		"สุนัขของฉันชื่ออะไร":                                      "th",
		"أين أسكن الآن؟":                                           "ar",
		"मेरी बहन कहाँ रहती है?":                                   "hi",
		"iPhone买了2台":                                               "zh",
		"Πού μένω;":                                                "",
		"":                                                         "",
		"4711 / 0815":                                              "",
		"Leipzig":                                                  "",
		"cost per pupil: 12.50, chaperone: Mr Osei, destination: planetarium, departure: 14 March": "",
		"Piet van Loon, lead climbing, Thursday, Tower, fee 45 EUR":                                "",
		"Piet van Loon": "nl",
	} {
		t.Run(text, func(t *testing.T) {
			assert.Equal(t, want, Guess(text), text)
		})
	}
}

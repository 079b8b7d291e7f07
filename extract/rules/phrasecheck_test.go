package rules

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/contextmem/contextmem/extract"
)

// TestPhrasesStateNothing finds nothing where the words of a phrase mean something else, are denied, are quoted, or have no object that fits.
func TestPhrasesStateNothing(t *testing.T) {
	t.Parallel()
	for text, found := range map[string]bool{
		"No quiero hablar de eso.": false, "Ich will nicht wissen, welches Kapitel.": false, "Não quero ser avó.": false,
		"Nacho dice que soy un fantasma con mandil.": false, "Durmo na boleia e falo sozinha.": false, "Parlo con Leeds e basta.": false, "N'en parle pas": false,
		"Mi hanno mandato un ThinkPad e un iPhone aziendale.": false, "La compañera de la noche me llamó a mí.": false, "Le dieron trabajo en Cancún, en un hotel.": false,
		"Faccio il giro del porto senza fermarmi.": false, "Lo voglio pronto per giugno.": false, "Je travaille pour payer mon pick-up.": false, "Vengo de meter el brazo en una vaquillona.": false,
		"Boaz mag blijven als junior, ik heb hem voorgedragen": false, "我爸说我十三岁也想跑马": false, "我对花椒不过敏": false,
		"Quiero hablar con ella.": true, "Ich will ein Haus bauen.": true, "Falo português e um pouco de francês.": true, "Trabajo en Cancún.": true, "Y trabajo en Cancún.": true, "Faccio il panettiere.": true,
		"La professoressa è un'amica, Lorena è un architetto.": true, "我十三岁": true, "我对花椒过敏": true, "我爱人叫阮晴": true, "Je travaille pour Decathlon.": true,
	} {
		out := one(t, extract.Input{Text: text, Time: ref, Speaker: "Alex", Memory: true, Infer: true})
		assert.Equal(t, found, len(out.Facts) > 0, "%s: %v", text, stated(out))
	}
}

// TestPhrasesOfTheSpeaker finds what the speaker states himself, and of whom.
func TestPhrasesOfTheSpeaker(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"Mi tío grita «vivo en Marte» y se ríe":       {},
		"El lema era \"me gusta el mar\"":             {},
		"Según Ana, trabajo en Siemens":               {},
		"Ana dice que sí, pero vivo en Vigo":          {"Alex lives_in Vigo"},
		"Sí, vivo en Madrid":                          {"Alex lives_in Madrid"},
		"Vivo en Vigo, dice mi abuela":                {},
		"Se vivessi a Roma avrei un terrazzo":         {},
		"Minha irmã se chama Rita e mora em Recife":   {"Rita sibling_of Alex", "Rita lives_in Recife"},
		"Ab Januar arbeite ich bei Bosch":             {},
		"wohne ich in Bonn eigentlich gut":            {},
		"Ich wohne seit drei Jahren in Bonn":          {"Alex lives_in Bonn"},
		"Ich habe am 3. März Geburtstag":              {"Alex birthday 3. März"},
		"Ich bin Softwareentwicklerin":                {"Alex has_role Softwareentwicklerin"},
		"Ich bin kein Lehrer":                         {},
		"Ich bin nach Ulm gezogen":                    {"Alex lives_in Ulm"},
		"Ich bin 41, na und":                          {"Alex age 41"},
		"Ich bin 20 Minuten zu spät":                  {},
		"Mi hermana trabaja en Correos":               {"Alex's hermana works_at Correos"},
		"La hija de mi hermana vive en Roma":          {},
		"Der Hund von Ana wohnt in Bonn":              {},
		"Mi hijo Andrés, que vive en León, es médico": {"Andrés child_of Alex", "Andrés lives_in León"},
		"Chi abita a Milano paga":                     {},
		"Hablo inglés, francés y ruso":                {"Alex speaks inglés", "Alex speaks francés", "Alex speaks ruso"},
		"Odeio acordar cedo, sério, é tortura":        {"Alex dislikes acordar cedo"},
		"Ho vent'anni di servizio":                    {},
		"J'ai trois ans pour rembourser":              {},
		"Vivo in attesa del geometra":                 {},
		"Trabajo en una panadería de madrugada":       {"Alex works_at panadería"},
		"Je voudrais un devis":                        {},
		"Ik woon met mijn man in Gent":                {"Alex lives_in Gent"},
		"Als ik in Gent zou wonen was ik blij":        {},
		"Mieszkam w Krakowie":                         {"Alex lives_in Krakowie"},
		"Brat pracuje w Holandii":                     {},
		"Я живу в Туле и работаю в школе":             {"Alex lives_in Туле", "Alex works_at школе"},
		"我姐在华为上班":                                     {"Alex's 姐 works_at 华为"},
		"他说“我住在上海”":                                   {},
		"我是医生":                                        {"Alex has_role 医生"},
		"父は銀行で働いています":                                 {"Alex's 父 works_at 銀行"},
		"紅茶が好きな人":                                     {},
		"看護師です":                                       {"Alex has_role 看護師"},
		"夢の中で京都に住んでいた":                                {},
	} {
		out := one(t, extract.Input{Text: text, Time: ref, Speaker: "Alex", Memory: true, Infer: true})
		assert.Equal(t, want, stated(out), text)
	}
}

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
		"Boaz mag blijven als junior, ik heb hem voorgedragen": false, "我爸说我十三岁也想跑马": false, "我对花椒不过敏": false, "我爱人叫阮晴": false,
		"Quiero hablar con ella.": true, "Ich will ein Haus bauen.": true, "Falo português e um pouco de francês.": true, "Trabajo en Cancún.": true, "Y trabajo en Cancún.": true, "Faccio il panettiere.": true,
		"La professoressa è un'amica, Lorena è un architetto.": true, "我十三岁": true, "我对花椒过敏": true, "Je travaille pour Decathlon.": true,
	} {
		out := one(t, extract.Input{Text: text, Time: ref, Speaker: "Alex", Memory: true, Infer: true})
		assert.Equal(t, found, len(out.Facts) > 0, "%s: %v", text, stated(out))
	}
}

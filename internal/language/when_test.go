package language

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestWhenInOtherLanguages(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for q, want := range map[string]bool{
		"متى تبدأ إجازتي؟":                     true,
		"أين تسكن أختي؟":                       false,
		"Wann fängt mein neuer Job an?":        true,
		"Seit wann habe ich die Katze?":        true,
		"Wo wohnt meine Schwester jetzt?":      false,
		"¿Cuándo es la boda de mi hermana?":    true,
		"¿Dónde trabaja mi hermano ahora?":     false,
		"Quand est mon rendez-vous ?":          true,
		"Et à quelle heure part le train ?":    true,
		"Que mange mon chat quand il pleut ?":  false,
		"मेरी परीक्षा कब है?":                  true,
		"मेरी बहन कहाँ रहती है?":               false,
		"Quando parte il mio treno?":           true,
		"Come si chiama il mio gatto?":         false,
		"いつ引っ越しましたか？":                          true,
		"どこに住んでいますか？":                          false,
		"언제 이사했어?":                             true,
		"어디에 살아?":                              false,
		"Wanneer is de bruiloft van mijn zus?": true,
		"Waar werkt mijn broer nu?":            false,
		"Kiedy mam wizytę u lekarza?":          true,
		"Gdzie mieszka moja siostra?":          false,
		"Quando é que eu viajo para o Porto?":  true,
		"Onde é que a minha irmã trabalha?":    false,
		"Когда у меня экзамен?":                true,
		"Где живёт моя сестра?":                false,
		"ฉันย้ายบ้านเมื่อไหร่":                 true,
		"ฉันอยู่ที่ไหน":                        false,
		"Düğün ne zaman?":                      true,
		"Kız kardeşim nerede çalışıyor?":       false,
		"我什么时候搬家的？":                            true,
		"我住在哪里？":                               false,
	} {
		assert.Equal(t, want, SomeCues(q, now, CueTimes).When, q)
	}
}

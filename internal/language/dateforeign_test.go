package language

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestForeignDates(t *testing.T) {
	t.Parallel()
	// today is Monday, 8 May 2023.
	for text, want := range map[string]string{
		"Fui al cine ayer.":                     "ayer=2023-05-07..2023-05-07 day*",
		"Nos vimos la semana pasada en Madrid.": "la semana pasada=2023-05-01..2023-05-07 day*",
		"Me mudé hace dos años.":                "hace dos años=2021-01-01..2021-12-31 year*",
		"Lo vi el lunes pasado.":                "el lunes pasado=2023-05-01..2023-05-01 day*",
		"Viajé el verano pasado.":               "el verano pasado=2022-06-01..2022-08-31 month*",
		"Ich war gestern im Kino.":              "gestern=2023-05-07..2023-05-07 day*",
		"Wir trafen uns letzte Woche.":          "letzte Woche=2023-05-01..2023-05-07 day*",
		"Ich war vor drei Wochen dort.":         "vor drei Wochen=2023-04-17..2023-04-17 day*",
		"Wir waren letzten Freitag dort.":       "letzten Freitag=2023-05-05..2023-05-05 day*",
		"Je suis allé au cinéma hier.":          "hier=2023-05-07..2023-05-07 day*",
		"On s'est vu le mois dernier.":          "le mois dernier=2023-04-01..2023-04-30 month*",
		"Je l'ai vu il y a deux semaines.":      "il y a deux semaines=2023-04-24..2023-04-24 day*",
		"Fui ao cinema ontem.":                  "ontem=2023-05-07..2023-05-07 day*",
		"Viajei para lá há 3 meses.":            "há 3 meses=2023-02-01..2023-02-28 month*",
		"Siamo andati al cinema ieri.":          "ieri=2023-05-07..2023-05-07 day*",
		"L'ho visto due settimane fa.":          "due settimane fa=2023-04-24..2023-04-24 day*",
		"Ci vediamo tra tre giorni.":            "tra tre giorni=2023-05-11..2023-05-11 day*",
		"我昨天去了北京。":                              "昨天=2023-05-07..2023-05-07 day*",
		"我上个月搬家了。":                              "上个月=2023-04-01..2023-04-30 month*",
		"我三天前见过他。":                              "三天前=2023-05-05..2023-05-05 day*",
		"我2年前来的。":                               "2年前=2021-01-01..2021-12-31 year*",
		"昨日映画を見ました。":                            "昨日=2023-05-07..2023-05-07 day*",
		"去年の夏に行きました。":                           "去年=2022-01-01..2022-12-31 year*",
		"2週間前に会いました。":                           "2週間前=2023-04-24..2023-04-24 day*",
	} {
		t.Run(text, func(t *testing.T) {
			assert.Equal(t, []string{want}, spans(Dates(text, today)), text)
		})
	}
	assert.Empty(t, Dates("The fa of hier and ayer is here.", today), "English words of other languages")
}

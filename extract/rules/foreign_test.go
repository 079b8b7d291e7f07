package rules

import (
	"testing"
	"time"

	"github.com/contextmem/contextmem/extract"
	"github.com/stretchr/testify/assert"
)

// stated lists facts as "subject predicate object", with "-" before those that retract.
func stated(out extract.Output) []string {
	list := []string{}
	for _, f := range out.Facts {
		s := f.Subject + " " + f.Predicate + " " + f.Object
		if f.Retracts {
			s = "-" + s
		}
		list = append(list, s)
	}
	return list
}

func TestForeignFacts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"Me gusta el café.":                             {"Alex likes café"},
		"Me gustan mucho el té, el café y la música.":   {"Alex likes té", "Alex likes café", "Alex likes música"},
		"No me gusta la leche, pero me encanta el vino": {"Alex dislikes leche", "Alex likes vino"},
		"Vivo en Madrid.":                               {"Alex lives_in Madrid"},
		"Desde 2020 vivo en Madrid con mi familia.":     {"Alex lives_in Madrid"},
		"Me mudé a Valencia el año pasado.":             {"Alex lives_in Valencia"},
		"Ya no vivo en Madrid.":                         {"-Alex lives_in Madrid"},
		"Trabajo en Zorblax como ingeniera.":            {"Alex works_at Zorblax"},
		"Tengo 34 años y mi hermana se llama Clara.":    {"Alex age 34", "Clara sibling_of Alex"},
		"Mi cumpleaños es el 3 de mayo.":                {"Alex birthday 3 de mayo"},
		"Mi hermana Clara trabaja en Zorblax.":          {"Clara sibling_of Alex", "Clara works_at Zorblax"},
		"Meine Schwester Clara arbeitet bei Siemens.":   {"Clara sibling_of Alex", "Clara works_at Siemens"},
		"Mi jefe es muy amable.":                        {},
		"Mi color favorito es el azul.":                 {"Alex favorite_color azul"},
		"Soy una ingeniera de Bilbao.":                  {"Alex is_a ingeniera de Bilbao"},
		"Trabajo como ingeniera.":                       {"Alex has_role ingeniera"},
		"¿Vivo en Madrid?":                              {},
		"Si vivo en Madrid, me gusta el mar.":           {"Alex likes mar"},
		"Ich mag Tee und Kaffee.":                       {"Alex likes Tee", "Alex likes Kaffee"},
		"Ich mag keinen Kaffee.":                        {"Alex dislikes Kaffee"},
		"Ich wohne in Berlin.":                          {"Alex lives_in Berlin"},
		"Seit 2020 wohne ich in Berlin.":                {"Alex lives_in Berlin"},
		"Ich wohne nicht mehr in Berlin.":               {"-Alex lives_in Berlin"},
		"Ich bin letztes Jahr nach Hamburg gezogen.":    {"Alex lives_in Hamburg"},
		"Ich arbeite bei Zorblax.":                      {"Alex works_at Zorblax"},
		"Ich bin 34 Jahre alt.":                         {"Alex age 34"},
		"Meine Schwester heißt Clara.":                  {"Clara sibling_of Alex"},
		"J'aime le thé.":                                {"Alex likes thé"},
		"J’aime le thé et je n'aime pas le lait.":       {"Alex likes thé", "Alex dislikes lait"},
		"J'habite à Lyon depuis trois ans.":             {"Alex lives_in Lyon"},
		"Je n'habite plus à Lyon.":                      {"-Alex lives_in Lyon"},
		"Je travaille chez Zorblax.":                    {"Alex works_at Zorblax"},
		"J'ai 34 ans.":                                  {"Alex age 34"},
		"Ma soeur s'appelle Clara.":                     {"Clara sibling_of Alex"},
		"Gosto de café.":                                {"Alex likes café"},
		"Não gosto de leite.":                           {"Alex dislikes leite"},
		"Moro em Lisboa.":                               {"Alex lives_in Lisboa"},
		"Não moro mais em Lisboa.":                      {"-Alex lives_in Lisboa"},
		"Trabalho na Zorblax.":                          {"Alex works_at Zorblax"},
		"Tenho 34 anos e minha irmã se chama Clara.":    {"Alex age 34", "Clara sibling_of Alex"},
		"Mi piace il tè.":                               {"Alex likes tè"},
		"Non mi piace il latte.":                        {"Alex dislikes latte"},
		"Vivo a Roma.":                                  {"Alex lives_in Roma"},
		"Non vivo più a Roma.":                          {"-Alex lives_in Roma"},
		"Lavoro per Zorblax.":                           {"Alex works_at Zorblax"},
		"Ho 34 anni.":                                   {"Alex age 34"},
		"Mia sorella si chiama Clara.":                  {"Clara sibling_of Alex"},
		"我喜欢绿茶。":                                        {"Alex likes 绿茶"},
		"我不喜欢牛奶，但是我喜欢咖啡。":                               {"Alex dislikes 牛奶", "Alex likes 咖啡"},
		"我住在北京。":                                        {"Alex lives_in 北京"},
		"我搬到上海了。":                                       {"Alex lives_in 上海"},
		"我不再住在北京。":                                      {"-Alex lives_in 北京"},
		"我在谷歌工作。":                                       {"Alex works_at 谷歌"},
		"我叫王小明，今年34岁。":                                  {"Alex name 王小明", "Alex age 34"},
		"我的妻子叫李娜。":                                      {"李娜 married_to Alex"},
		"我喜欢什么？":                                        {},
		"緑茶が好きです。":                                      {"Alex likes 緑茶"},
		"私は牛乳が嫌いです。":                                    {"Alex dislikes 牛乳"},
		"私は東京に住んでいます。":                                  {"Alex lives_in 東京"},
		"大阪に引っ越しました。":                                   {"Alex lives_in 大阪"},
		"もう東京には住んでいません。":                                {"-Alex lives_in 東京"},
		"ソニーで働いています。":                                   {"Alex works_at ソニー"},
		"私の名前は田中花子です。34歳です。":                            {"Alex name 田中花子", "Alex age 34"},
		"妻の名前は由美です。":                                    {"由美 married_to Alex"},
		"東京に住んでいますか？":                                   {},
	} {
		t.Run(text, func(t *testing.T) {
			in := extract.Input{Text: text, Time: ref, Speaker: "Alex", Memory: true, Infer: true}
			out := one(t, in)
			assert.Equal(t, want, stated(out), text)
			check(t, &in, &out)
		})
	}
}

// TestForeignRelations checks that statements about others make relations, also in documents.
func TestForeignRelations(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Anna Lind vive en Madrid.":           "anna lind lives_in madrid",
		"Anna Lind wohnt in Berlin.":          "anna lind lives_in berlin",
		"Anna Lind travaille chez Zorblax.":   "anna lind works_at zorblax",
		"Anna Lind mora em Lisboa.":           "anna lind lives_in lisboa",
		"Anna Lind lavora per Zorblax.":       "anna lind works_at zorblax",
		"Gestern kam Post. Ute mag Tee nicht": "",
		"王小明住在北京。":                            "王小明 lives_in 北京",
		"他住在北京。":                              "",
		"田中さんは東京に住んでいます。":                     "田中 lives_in 東京",
		"彼は東京に住んでいます。":                        "",
	} {
		t.Run(text, func(t *testing.T) {
			in := extract.Input{Text: text, Time: ref}
			out := one(t, in)
			check(t, &in, &out)
			var got []string
			for _, r := range out.Relations {
				if r.Confidence == confForeign {
					got = append(got, r.Source+" "+r.Predicate+" "+r.Target)
				}
			}
			if want == "" {
				return
			}
			assert.Equal(t, []string{want}, got, text)
		})
	}
}

func TestForeignStatementsInTheirWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Me encanta el café.":       "A Alex le gusta café.",
		"Ich wohne in Berlin.":      "Alex wohnt in Berlin.",
		"J'habite à Lyon.":          "Alex habite à Lyon.",
		"Moro em Lisboa.":           "Alex mora em Lisboa.",
		"Mia sorella è Clara.":      "Clara è sorella di Alex.",
		"我住在北京。":                    "Alex住在北京。",
		"緑茶が大好きです。":                 "Alexは緑茶が好きです。",
		"Mi color favorito es rojo": "color favorito de Alex: rojo.",
	} {
		t.Run(text, func(t *testing.T) {
			out := one(t, extract.Input{Text: text, Time: ref, Speaker: "Alex", Memory: true, Infer: true})
			if assert.NotEmpty(t, out.Facts, text) {
				assert.Equal(t, want, out.Facts[0].Text, text)
			}
		})
	}
	moved := one(t, extract.Input{Text: "Me mudé a Valencia en 2015.", Time: ref, Memory: true, Infer: true}).Facts[0]
	assert.Equal(t, time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC), moved.ValidFrom)
	assert.Equal(t, time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC), moved.Asserted)
	assert.True(t, moved.Functional)
}

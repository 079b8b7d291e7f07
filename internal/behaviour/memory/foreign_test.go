package memory_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// TestNewerFactRetiresTheOlderInAnyLanguage checks that facts found by the tables of other languages follow the same
// rules.
func TestNewerFactRetiresTheOlderInAnyLanguage(t *testing.T) {
	t.Parallel()
	for language, told := range map[string]struct{ first, second, ended, old, now string }{
		"Spanish":    {"Vivo en Madrid.", "Me mudé a Valencia.", "Ya no vivo en Valencia.", "user madrid", "user valencia"},
		"German":     {"Ich wohne in Berlin.", "Ich bin nach Hamburg gezogen.", "Ich wohne nicht mehr in Hamburg.", "user berlin", "user hamburg"},
		"French":     {"J'habite à Lyon.", "J'ai déménagé à Paris.", "Je n'habite plus à Paris.", "user lyon", "user paris"},
		"Portuguese": {"Moro em Lisboa.", "Me mudei para Braga.", "Não moro mais em Braga.", "user lisboa", "user braga"},
		"Italian":    {"Vivo a Roma.", "Mi sono trasferito a Milano.", "Non vivo più a Milano.", "user roma", "user milano"},
		"Chinese":    {"我住在北京。", "我搬到了上海。", "我不再住在上海。", "user 北京", "user 上海"},
		"Japanese":   {"東京に住んでいます。", "大阪に引っ越しました。", "もう大阪には住んでいません。", "user 東京", "user 大阪"},
	} {
		for _, infer := range []bool{false, true} {
			t.Run(language, func(t *testing.T) {
				t.Parallel()
				_, tn := servicetest.Open(t, nil)
				c := servicetest.NewStory(t, tn, contextmem.Memory{Text: told.first, Time: servicetest.OnDay("2020-03-01"), Infer: infer}, contextmem.Memory{Text: told.second, Time: servicetest.OnDay("2022-06-01"), Infer: infer})
				require.Equal(t, []string{told.now}, c.GraphStates("lives_in", nil))
				require.Equal(t, []string{told.old}, c.GraphStates("lives_in", asOf("2021-01-01")))
				c.Add(contextmem.Memory{ID: "ended", Text: told.ended, Time: servicetest.OnDay("2023-06-01"), Infer: infer})
				require.Empty(t, c.GraphStates("lives_in", nil))
				require.Equal(t, []string{told.now}, c.GraphStates("lives_in", asOf("2022-12-01")))
			})
		}
	}
}

// TestForeignInferenceCanBeRead checks that the statement inferred from a memory in another language is recalled beside
// it.
func TestForeignInferenceCanBeRead(t *testing.T) {
	t.Parallel()
	_, tn := servicetest.Open(t, nil)
	s := tn.Sub("a")
	servicetest.Remember(t, s, contextmem.Memory{ID: "m", Text: "Ayer fue un día largo, pero me encanta el café de Colombia.", UserName: "Ana", Infer: true})
	res, err := s.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "¿Qué le gusta a Ana?", PerSource: 2})
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"Ayer fue un día largo, pero me encanta el café de Colombia.", "A Ana le gusta café de Colombia."}, servicetest.Texts(res))
}

package both_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/embed"
	"github.com/contextmem/contextmem/embed/joint"
	both "github.com/contextmem/contextmem/models/e5-bge"
)

func TestModel(t *testing.T) {
	t.Parallel()
	e, err := both.New()
	require.NoError(t, err)
	assert.Equal(t, 768, e.Dim())
	assert.Equal(t, "joint/33e1409c", e.Model(), "another identity makes stored vectors useless")
	d, err := embed.Default()
	require.NoError(t, err, "its members are no defaults beside it")
	assert.Same(t, e, d)
}

// TestQuestionsFindTheirAnswers asks in several languages for what was said in others, in other words.
func TestQuestionsFindTheirAnswers(t *testing.T) {
	t.Parallel()
	e, err := both.New()
	require.NoError(t, err)
	answers := []string{
		"Wir sind letzten Monat nach Hamburg gezogen, die Wohnung hat endlich einen Balkon.",
		"My knee is getting better, the physiotherapist says I may run again in March.",
		"昨日から新しい会社で働き始めました。上司はとても親切です。",
		"El perro se llama Trueno y tiene miedo de los fuegos artificiales.",
		"Ma fille joue du violon depuis trois ans.",
		"The parcel for the neighbours is in the hall, they will fetch it after six.",
	}
	documents, err := e.EmbedDocuments(t.Context(), answers)
	require.NoError(t, err)
	for question, want := range map[string]int{
		"Wann darf ich wieder joggen?": 1, "Как зовут мою собаку?": 3, "¿Qué instrumento toca la niña?": 4, "when can I go jogging again?": 1,
		"Who will pick up what the postman left?": 5, "In welcher Stadt wohne ich?": 0,
	} {
		t.Run(question, func(t *testing.T) {
			q, err := e.EmbedQuery(t.Context(), question)
			require.NoError(t, err)
			best, at := -1.0, -1
			for k, d := range documents {
				var dot float64
				for j := range d {
					dot += float64(q[j]) * float64(d[j])
				}
				if dot > best {
					best, at = dot, k
				}
			}
			assert.Equal(t, answers[want], answers[at], question)
		})
	}
}

// TestMemories asks for things that somebody mentioned in passing. The models for memories must find the statement, where those for files
// find a text that has its words.
func TestMemories(t *testing.T) {
	t.Parallel()
	all, err := both.New()
	require.NoError(t, err)
	e, ok := all.Memories().(*joint.Embedder)
	require.True(t, ok)
	assert.Equal(t, all.Dim(), e.Dim())
	assert.Nil(t, e.Memories())
	gained := 0
	asked := map[string][2]string{ // the text that answers, and the one that only shares words
		"which town am I living in at the moment?": {"first night in the new place and the seagulls are unreal, nobody warned me about brighton seagulls", "which town hall is that in the picture?"},
		"what do I get around on these days?":      {"picked up the new-to-me fiesta today", "there is no getting around this, these days are long"},
		"who looks after my teeth?":                {"Dr Amin drilled for an hour and then billed me for two", "the puppy is getting her adult teeth"},
		"wo arbeite ich gerade?":                   {"erster Tag bei der Stadtbibliothek, die Kaffeemaschine ist schon kaputt", "die Handwerker arbeiten gerade am Dach"},
		"¿qué coche conduzco?":                     {"hoy recogí el Seat de segunda mano, huele a perro", "mi primo conduce un coche de bomberos"},
	}
	right := 0
	for question, texts := range asked {
		vectors := func(e *joint.Embedder) (q []float32, d [][]float32) {
			q, err := e.EmbedQuery(t.Context(), question)
			require.NoError(t, err)
			d, err = e.EmbedDocuments(t.Context(), texts[:])
			require.NoError(t, err)
			return q, d
		}
		q, d := vectors(e)
		m := e.MemoryQuery(q)
		require.Len(t, m, e.Dim())
		require.NotEqual(t, q, m)
		told := gap(m, d)
		if told > 0 {
			right++
		}
		if told > gap(vectors(all)) {
			gained++
		}
	}
	assert.GreaterOrEqual(t, right, 4, "of %d", len(asked))
	assert.GreaterOrEqual(t, gained, 4, "of %d", len(asked))
}

// gap returns by how much the question is nearer to the first text than to the second.
func gap(q []float32, d [][]float32) (sum float64) {
	for i, x := range q {
		sum += float64(x) * float64(d[0][i]-d[1][i])
	}
	return sum
}

// TestSlots asks in some languages what matters questions are about.
func TestSlots(t *testing.T) {
	t.Parallel()
	e, err := both.New()
	require.NoError(t, err)
	for question, want := range map[string]string{
		"Where do I live?": "home", "What do they pay me?": "salary", "What pills do I swallow in the morning?": "medication", "Am I allergic to anything?": "allergy",
		"Who do I work for?": "employer", "Wie heißt meine Katze?": "pet", "¿Qué coche tengo ahora?": "car",
		"What is the capital of Norway?": "", "How do I boil an egg?": "",
	} {
		t.Run(question, func(t *testing.T) {
			v, err := e.EmbedQuery(t.Context(), question)
			require.NoError(t, err)
			name, p := e.QuestionSlot(v)
			if want == "" {
				assert.True(t, name == "" || p < .5, "%s %v", name, p)
				return
			}
			assert.Equal(t, want, name)
			assert.GreaterOrEqual(t, p, .5)
		})
	}
}

// TestStatements checks, in several languages, statements with a slot and statements without.
func TestStatements(t *testing.T) {
	t.Parallel()
	all, err := both.New()
	require.NoError(t, err)
	e, ok := all.Memories().(embed.StatementReader)
	require.True(t, ok)
	slots := e.StatementSlots()
	require.Len(t, slots, 26)
	for text, want := range map[string]string{
		"Ana: el médico me ha puesto metformina, dos pastillas al día": "medication",
		"Ken: 先月から猫を飼い始めた。名前はモモ":                                       "pet",
		"Tom: they pay me 44 an hour now, it was 39 before":            "salary",
		"Ana: qué calor hace hoy, no se puede ni pensar":               "",
	} {
		t.Run(text, func(t *testing.T) {
			d, err := all.Memories().EmbedDocuments(t.Context(), []string{text})
			require.NoError(t, err)
			best, at := -9.0, ""
			for _, s := range slots {
				score := s.Bias
				for i, w := range s.Vector {
					score += float64(w) * float64(d[0][i])
				}
				if score > best {
					best, at = score, s.Name
				}
			}
			if want == "" {
				assert.Less(t, best, 0., "%s", at)
				return
			}
			assert.Equal(t, want, at)
			assert.Greater(t, best, 0.)
		})
	}
}

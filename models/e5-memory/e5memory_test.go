package e5memory

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/embed"
	"github.com/contextmem/contextmem/embed/neural"
	"github.com/contextmem/contextmem/internal/models"
	"github.com/contextmem/contextmem/internal/models/modeltest"
)

func open(t *testing.T) *neural.Embedder {
	t.Helper()
	e, err := New()
	require.NoError(t, err)
	return e
}

func TestModel(t *testing.T) {
	t.Parallel()
	e := open(t)
	assert.Same(t, e, open(t))
	assert.Equal(t, 384, e.Dim())
	assert.Equal(t, 512, e.MaxTokens())
	assert.Equal(t, "e5-memory/9904976f", e.Model(), "another identity makes stored vectors useless")
	sum := sha256.Sum256(models.Bytes(weights))
	assert.Equal(t, weightsSHA256, hex.EncodeToString(sum[:]))
	assert.NotNil(t, e.Calibration())
	d, err := embed.Default()
	require.NoError(t, err)
	assert.NotSame(t, e, d)
	assert.Contains(t, d.Model(), "multilingual-e5-small/", "the default is the model that reads files too")
}

func TestVectorsAgainstPyTorch(t *testing.T) {
	t.Parallel()
	modeltest.Agree(t, open(t), modeltest.References(t, "testdata/reference.json.gz", 150), .99, .995)
}

// TestQuestionsFindTheirAnswers asks for what was said in other words.
func TestQuestionsFindTheirAnswers(t *testing.T) {
	t.Parallel()
	answers := []string{
		"Seit letzter Woche wohnen wir in Bremen, endlich mit Balkon.",
		"La rodilla va mejor, el fisio dice que en marzo ya puedo volver a correr.",
		"昨天第一天去新公司报到，领导看着挺和气。",
		"Vuur onder de bank: de hond kruipt weg zodra er vuurwerk is, het arme beest.",
		"Notre fille fait du violon depuis trois ans maintenant.",
	}
	questions := []string{"In welcher Stadt lebe ich?", "¿Cuándo podré salir a trotar de nuevo?", "我现在在哪儿上班了吗？", "Waar is onze hond bang voor?", "De quel instrument joue ma fille ?"}
	modeltest.FindsAnswers(t, open(t), questions, answers)
}

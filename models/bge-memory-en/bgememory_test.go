package bgememory

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
	assert.Equal(t, "bge-memory-en/4b39048a", e.Model(), "another identity makes stored vectors useless")
	sum := sha256.Sum256(models.Bytes(weights))
	assert.Equal(t, weightsSHA256, hex.EncodeToString(sum[:]))
	assert.NotNil(t, e.Calibration())
	d, err := embed.Default()
	require.NoError(t, err)
	assert.Same(t, e, d, "importing the package makes it the default")
}

func TestVectorsAgainstPyTorch(t *testing.T) {
	t.Parallel()
	modeltest.Agree(t, open(t), modeltest.References(t, "testdata/reference.json.gz", 150), .99, .995)
}

// TestQuestionsFindTheirAnswers asks for what was said in other words.
func TestQuestionsFindTheirAnswers(t *testing.T) {
	t.Parallel()
	answers := []string{
		"We moved to Hamburg last month and finally have a balcony.",
		"My knee is getting better, the physiotherapist says I may run again in March.",
		"Started at the new firm yesterday, my boss seems kind.",
		"Thunder hides under the sofa whenever there are fireworks, poor thing.",
		"Our girl has had violin lessons for three years now.",
	}
	questions := []string{"Which city do I live in?", "when can I go jogging again?", "what is my job situation?", "what is the dog scared of?", "Which instrument does my daughter play?"}
	modeltest.FindsAnswers(t, open(t), questions, answers)
}

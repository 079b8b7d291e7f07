package bge

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/embed"
	"github.com/contextmem/contextmem/embed/neural"
)

// reference is a text with the vector that ONNX Runtime gives it.
type reference struct {
	Query  bool
	Text   string
	Vector string // 384 signed bytes, base64
}

func references(t *testing.T) (rs []reference) {
	t.Helper()
	f, err := os.Open("testdata/reference.json.gz")
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	data, err := io.ReadAll(z)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &rs))
	require.Greater(t, len(rs), 150)
	return rs
}

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
	assert.Equal(t, "bge-small-en-v1.5/dba3263c", e.Model(), "another identity makes stored vectors useless")
	sum := sha256.Sum256(bytesOf(weights))
	assert.Equal(t, weightsSHA256, hex.EncodeToString(sum[:]))
	assert.NotNil(t, e.Calibration())
	d, err := embed.Default()
	require.NoError(t, err)
	assert.Same(t, e, d, "importing the package makes it the default")
}

func TestVectorsAgainstONNXRuntime(t *testing.T) {
	t.Parallel()
	e := open(t)
	worst, sum := 1.0, 0.0
	rs := references(t)
	for _, r := range rs {
		var v []float32
		if r.Query {
			var err error
			v, err = e.EmbedQuery(t.Context(), r.Text)
			require.NoError(t, err)
		} else {
			vs, err := e.EmbedDocuments(t.Context(), []string{r.Text})
			require.NoError(t, err)
			v = vs[0]
		}
		want, err := base64.StdEncoding.DecodeString(r.Vector)
		require.NoError(t, err)
		require.Len(t, v, len(want))
		var dot, length float64
		for i, b := range want {
			x := float64(int8(b))
			dot += x * float64(v[i])
			length += x * x
		}
		c := dot / math.Sqrt(length)
		assert.GreaterOrEqual(t, c, 0.99, r.Text)
		worst, sum = min(worst, c), sum+c
	}
	assert.GreaterOrEqual(t, sum/float64(len(rs)), .995)
	t.Logf("%d texts: worst cosine %.5f, mean %.5f", len(rs), worst, sum/float64(len(rs)))
}

// TestQuestionsFindTheirAnswers asks for what was said in other words.
func TestQuestionsFindTheirAnswers(t *testing.T) {
	t.Parallel()
	e := open(t)
	answers := []string{
		"We moved to Hamburg last month and finally have a balcony.",
		"My knee is getting better, the physiotherapist says I may run again in March.",
		"Started at the new firm yesterday, my boss seems kind.",
		"Thunder hides under the sofa whenever there are fireworks, poor thing.",
		"Our girl has had violin lessons for three years now.",
	}
	questions := []string{"Which city do I live in?", "when can I go jogging again?", "what is my job situation?", "what is the dog scared of?", "Which instrument does my daughter play?"}
	documents, err := e.EmbedDocuments(t.Context(), answers)
	require.NoError(t, err)
	for i, question := range questions {
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
		assert.Equal(t, answers[i], answers[at], question)
	}
}

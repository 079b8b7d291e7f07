// Package modeltest has shared checks for the tests of embedding models.
package modeltest

import (
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/embed"
)

// Unzip reads a gzip file.
func Unzip(t testing.TB, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	data, err := io.ReadAll(z)
	require.NoError(t, err)
	return data
}

// Reference is a text with its vector from another inference engine.
type Reference struct {
	Group  string // kind or language of the text
	Query  bool
	Text   string
	Vector string // signed bytes, base64
}

// References reads a gzip file of JSON references and fails the test unless the file has more than least of them.
func References(t testing.TB, path string, least int) (rs []Reference) {
	t.Helper()
	require.NoError(t, json.Unmarshal(Unzip(t, path), &rs))
	require.Greater(t, len(rs), least)
	return rs
}

// Cosine returns the cosine of v, a unit vector, and the reference's vector.
func (r Reference) Cosine(t testing.TB, v []float32) float64 {
	t.Helper()
	want, err := base64.StdEncoding.DecodeString(r.Vector)
	require.NoError(t, err)
	require.Len(t, v, len(want))
	var dot, length float64
	for i, b := range want {
		x := float64(int8(b))
		dot += x * float64(v[i])
		length += x * x
	}
	return dot / math.Sqrt(length)
}

// Embed returns e's vector for the reference's text.
func (r Reference) Embed(t testing.TB, e embed.Embedder) []float32 {
	t.Helper()
	if r.Query {
		v, err := e.EmbedQuery(t.Context(), r.Text)
		require.NoError(t, err)
		return v
	}
	vs, err := e.EmbedDocuments(t.Context(), []string{r.Text})
	require.NoError(t, err)
	return vs[0]
}

// Agree fails the test if the cosine of a vector of e is below least, or if the mean cosine is below mean.
func Agree(t *testing.T, e embed.Embedder, rs []Reference, least, mean float64) {
	t.Helper()
	worst, sum := 1.0, 0.0
	for _, r := range rs {
		c := r.Cosine(t, r.Embed(t, e))
		assert.GreaterOrEqual(t, c, least, r.Text)
		worst, sum = min(worst, c), sum+c
	}
	assert.GreaterOrEqual(t, sum/float64(len(rs)), mean)
	t.Logf("%d texts: worst cosine %.5f, mean %.5f", len(rs), worst, sum/float64(len(rs)))
}

// FindsAnswers fails the test unless, for each i, the answer nearest to question i is answer i.
func FindsAnswers(t *testing.T, e embed.Embedder, questions, answers []string) {
	t.Helper()
	documents, err := e.EmbedDocuments(t.Context(), answers)
	require.NoError(t, err)
	for i, question := range questions {
		q, err := e.EmbedQuery(t.Context(), question)
		require.NoError(t, err)
		best, at := math.Inf(-1), -1
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

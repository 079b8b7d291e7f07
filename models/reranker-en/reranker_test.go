package reranker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/internal/models"
	"github.com/contextmem/contextmem/internal/models/modeltest"
	"github.com/contextmem/contextmem/rerank"
)

// weightsSHA256 is the SHA-256 of model.safetensors.
const weightsSHA256 = "88350673a2cbed4d350558240fece2bd20db044efa491e7a1d3faec848f0ad22"

// reference is a question with the model's outputs for some texts, by ONNX Runtime. The first text answers the question.
type reference struct {
	Query  string
	Texts  []string
	Logits []float64
}

func references(t *testing.T) (rs []reference) {
	t.Helper()
	require.NoError(t, json.Unmarshal(modeltest.Unzip(t, "testdata/reference.json.gz"), &rs))
	require.Greater(t, len(rs), 40)
	return rs
}

func open(t *testing.T) *Reranker {
	t.Helper()
	r, err := New()
	require.NoError(t, err)
	return r
}

func TestModel(t *testing.T) {
	t.Parallel()
	r := open(t)
	assert.Same(t, r, open(t))
	sum := sha256.Sum256(models.Bytes(weights))
	assert.Equal(t, weightsSHA256, hex.EncodeToString(sum[:]))
	assert.Equal(t, []string{"en"}, r.Languages())
	d, err := rerank.Default()
	require.NoError(t, err)
	assert.Same(t, r, d, "importing the package makes it the default")
}

// TestLogitsAgainstONNXRuntime compares the outputs, and the best text of each question.
func TestLogitsAgainstONNXRuntime(t *testing.T) {
	t.Parallel()
	r := open(t)
	var xs, ys []float64
	same, rs := 0, references(t)
	for _, ref := range rs {
		scores, err := r.Rerank(t.Context(), ref.Query, ref.Texts)
		require.NoError(t, err)
		require.Len(t, scores, len(ref.Logits))
		for i, s := range scores {
			xs, ys = append(xs, math.Log(s/(1-s))), append(ys, ref.Logits[i])
		}
		if slices.Index(scores, slices.Max(scores)) == slices.Index(ref.Logits, slices.Max(ref.Logits)) {
			same++
		}
	}
	var off float64
	for i := range xs {
		off += math.Abs(xs[i]-ys[i]) / float64(len(xs))
	}
	t.Logf("%d pairs: correlation %.5f, mean difference %.3f, same best text for %d of %d questions", len(xs), correlation(xs, ys), off, same, len(rs))
	assert.Greater(t, correlation(xs, ys), .99)
	assert.Less(t, off, .5)
	assert.GreaterOrEqual(t, same, len(rs)*9/10)
}

func correlation(xs, ys []float64) float64 {
	n := float64(len(xs))
	var x, y, xx, yy, xy float64
	for i := range xs {
		x, y, xx, yy, xy = x+xs[i], y+ys[i], xx+xs[i]*xs[i], yy+ys[i]*ys[i], xy+xs[i]*ys[i]
	}
	return (xy - x*y/n) / math.Sqrt((xx-x*x/n)*(yy-y*y/n))
}

func TestCancel(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := open(t).Rerank(ctx, "who?", []string{"me"})
	assert.ErrorIs(t, err, context.Canceled)
}

// BenchmarkRerank is the time for twenty passages of about 40 tokens.
func BenchmarkRerank(b *testing.B) {
	r, err := New()
	require.NoError(b, err)
	texts := make([]string, 20)
	for i := range texts {
		texts[i] = "We went to see the old lighthouse on the cape with my sister and her two boys, and on the way back the car broke down near the bridge, so we walked home in the rain."
	}
	for b.Loop() {
		if _, err := r.Rerank(b.Context(), "where did the car break down?", texts); err != nil {
			b.Fatal(err)
		}
	}
}

package neural_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/embed/neural"
)

// pairs are 16 pairs in two groups, whose questions are their answers.
func pairs() (ps []neural.Pair) {
	texts := []string{"the cat", "the dog ran", "ann lives in oslo", "who sat on the mat", "the house", "where is ann", "oslo", "the cat sat"}
	for g := range 2 {
		for i, text := range texts {
			text += map[int]string{0: ".", 1: " in the house on the mat?"}[g]
			ps = append(ps, neural.Pair{Query: text, Document: text, Group: fmt.Sprint(g), Topic: fmt.Sprint(i / 2)})
		}
	}
	return ps
}

func TestCalibrate(t *testing.T) {
	t.Parallel()
	dir := directory(t, nil)
	e := load(t, dir, nil)
	ps := pairs()
	ps[0].Document, ps[9].Document = "the cat ran.", "the dog sat in the house."
	c, err := neural.Calibrate(t.Context(), e, ps)
	require.NoError(t, err)

	queries, documents := make([]float32, e.Dim()), make([]float32, e.Dim())
	var vs [2][][]float32
	for _, p := range ps {
		q, d := one(t, e, p.Query), one(t, e, p.Document)
		for i := range q {
			queries[i] += q[i] / float32(len(ps))
			documents[i] += d[i] / float32(len(ps))
		}
		vs[0], vs[1] = append(vs[0], q), append(vs[1], d)
	}
	assert.InDeltaSlice(t, queries, c.QueryMean, 1e-5)
	assert.InDeltaSlice(t, documents, c.DocumentMean, 1e-5)
	centered := func(v, mean []float32) []float32 {
		out := make([]float32, len(v))
		for i := range v {
			out[i] = v[i] - mean[i]
		}
		return out
	}
	var related, unrelated []float64
	for i := range ps {
		for k := range ps {
			s := cosine(centered(vs[0][i], queries), centered(vs[1][k], documents))
			switch {
			case i == k:
				related = append(related, s)
			case ps[i].Group == ps[k].Group && ps[i].Topic != ps[k].Topic:
				unrelated = append(unrelated, s)
			}
		}
	}
	require.Len(t, unrelated, 2*8*6)
	assert.InDelta(t, mean(related), c.RelatedMean, 1e-4)
	assert.InDelta(t, mean(unrelated), c.UnrelatedMean, 1e-4)
	assert.Greater(t, c.RelatedMean, c.UnrelatedMean+c.UnrelatedStd)

	data, err := neural.EncodeCalibration(c)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, neural.CalibrationFile), data, 0o600))
	assert.Equal(t, c, load(t, dir, nil).Calibration())
}

func mean(xs []float64) float64 {
	var s float64
	for _, x := range xs {
		s += x
	}
	return s / float64(len(xs))
}

func TestCalibrateRefuses(t *testing.T) {
	t.Parallel()
	e := load(t, directory(t, nil), nil)
	same := pairs()
	for i := range same {
		same[i].Topic = "x"
	}
	wrong := pairs()
	for i, p := range pairs() { // each question with the answer to another question
		wrong[i/8*8+(i+4)%8].Document = p.Document
	}
	for what, ps := range map[string][]neural.Pair{"no pairs": nil, "eight pairs": pairs()[:9], "two topics": same, "of no use": wrong} {
		t.Run(what, func(t *testing.T) {
			_, err := neural.Calibrate(t.Context(), e, ps)
			assert.ErrorContains(t, err, what)
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := neural.Calibrate(ctx, e, pairs())
	assert.ErrorIs(t, err, context.Canceled)
}

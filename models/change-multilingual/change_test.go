package change_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/judge"
	"github.com/contextmem/contextmem/judge/neural"
	change "github.com/contextmem/contextmem/models/change-multilingual"
	e5 "github.com/contextmem/contextmem/models/multilingual-e5-small"
)

//go:embed testdata/reference.json.gz
var reference []byte

// example is a pair that PyTorch scored: a question and a passage, or an earlier and a later statement.
type example struct {
	Head, Lang, A, B string
	P                float64
	Label            int
}

func examples(t testing.TB) []example {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(reference))
	require.NoError(t, err)
	data, err := io.ReadAll(r)
	require.NoError(t, err)
	var out []example
	require.NoError(t, json.Unmarshal(data, &out))
	require.Greater(t, len(out), 150)
	return out
}

func model(t testing.TB) *neural.Judge {
	t.Helper()
	m, err := change.New()
	require.NoError(t, err)
	return m
}

// score asks the model about one example.
func score(t testing.TB, m judge.Judge, x example) float64 {
	t.Helper()
	var p []float64
	var err error
	if x.Head == "answers" {
		p, err = m.Answers(context.Background(), x.A, []string{x.B})
	} else {
		p, err = m.Replaces(context.Background(), []judge.Pair{{Earlier: judge.Statement{Text: x.A}, Later: judge.Statement{Text: x.B}}})
	}
	require.NoError(t, err)
	require.Len(t, p, 1)
	return p[0]
}

// TestProbabilitiesAreThoseOfTraining compares 8 bits in Go with float32 in PyTorch.
func TestProbabilitiesAreThoseOfTraining(t *testing.T) {
	t.Parallel()
	m := model(t)
	xs := examples(t)
	langs := map[string]bool{}
	off := make([]float64, len(xs))
	for i, x := range xs {
		off[i] = math.Abs(score(t, m, x) - x.P)
		langs[x.Lang] = true
	}
	slices.Sort(off)
	t.Logf("%d pairs in %d languages: median %.4f, 95 of 100 %.4f, worst %.4f", len(xs), len(langs), off[len(off)/2], off[len(off)*95/100], off[len(off)-1])
	assert.Greater(t, len(langs), 12)
	assert.Less(t, off[len(off)*95/100], .02)
	assert.Less(t, off[len(off)-1], .05)
}

// TestTogetherAndAlone checks that neither other pairs in a call nor earlier calls change a result.
func TestTogetherAndAlone(t *testing.T) {
	t.Parallel()
	m := model(t)
	var pairs []judge.Pair
	var alone []float64
	for _, x := range examples(t) {
		if x.Head == "replaces" && len(pairs) < 24 {
			pairs = append(pairs, judge.Pair{Earlier: judge.Statement{Text: x.A}, Later: judge.Statement{Text: x.B}})
			alone = append(alone, score(t, m, x))
		}
	}
	pairs = slices.Insert(pairs, 5, judge.Pair{Earlier: judge.Statement{Text: " "}, Later: pairs[0].Later})
	alone = slices.Insert(alone, 5, 0)
	for range 2 {
		together, err := m.Replaces(context.Background(), pairs)
		require.NoError(t, err)
		assert.InDeltaSlice(t, alone, together, 1e-5)
	}
	none, err := m.Answers(context.Background(), "who?", nil)
	require.NoError(t, err)
	assert.Empty(t, none)
}

func TestLongTexts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("the tram was late again and I read on the platform. ", 2000)
	p, err := model(t).Replaces(context.Background(), []judge.Pair{{Earlier: judge.Statement{Text: long}, Later: judge.Statement{Text: long}}})
	require.NoError(t, err)
	assert.True(t, p[0] >= 0 && p[0] <= 1)
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := model(t).Replaces(ctx, []judge.Pair{{}})
	require.ErrorIs(t, err, context.Canceled)
	_, err = model(t).Answers(ctx, "who?", []string{"me"})
	require.ErrorIs(t, err, context.Canceled)
}

func TestModelNamesTheWeights(t *testing.T) {
	t.Parallel()
	assert.Regexp(t, `^change-multilingual/[0-9a-f]{8}$`, model(t).Model())
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	for _, name := range []string{"config.json", "model.safetensors", "rating.json", "reader.safetensors"} {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(name)
			require.NoError(t, err)
			assert.Contains(t, string(readme), fmt.Sprintf("%x", sha256.Sum256(data)), name)
		})
	}
}

func TestOtherEncoderIsRefused(t *testing.T) {
	t.Parallel()
	config, err := os.ReadFile("config.json")
	require.NoError(t, err)
	weights, err := os.ReadFile("model.safetensors")
	require.NoError(t, err)
	encoder, err := e5.New()
	require.NoError(t, err)
	for name, f := range map[string]struct{ from, to, says string }{
		"encoder":     {"multilingual-e5-small/", "another/", "another encoder"},
		"text length": {`"max_text_tokens": 128`, `"max_text_tokens": 2`, "max_text_tokens"},
		"calibration": {`"scale": `, `"scale": -`, "calibration"},
	} {
		t.Run(name, func(t *testing.T) {
			changed := bytes.Replace(config, []byte(f.from), []byte(f.to), 1)
			require.False(t, bytes.Equal(config, changed), name)
			_, err := neural.New(neural.Files{Config: changed, Weights: weights}, encoder, &neural.Options{Model: "x"})
			assert.ErrorContains(t, err, f.says, name)
		})
	}
	_, err = neural.New(neural.Files{Config: config, Weights: weights[:len(weights)-1]}, encoder, &neural.Options{Model: "x"})
	require.ErrorContains(t, err, "safetensors")
	_, err = neural.New(neural.Files{Config: config, Weights: weights}, encoder, nil)
	require.ErrorContains(t, err, "Options.Model")
	_, err = neural.New(neural.Files{Config: config, Weights: weights}, encoder, &neural.Options{Model: "x", Threads: -1})
	require.ErrorContains(t, err, "Options.Threads")
}

// TestRatingTellsWhatWasNeverTold checks that Rate, and not Answers, has the layer of rating.json: a detail that nobody told is rated lower.
func TestRatingTellsWhatWasNeverTold(t *testing.T) {
	t.Parallel()
	m, ctx := model(t), context.Background()
	const told = "user: The new car came today, a blue Skoda. Karen drove it home.\nassistant: Congratulations! How does it drive?"
	rate := func(question string) float64 {
		p, err := judge.Rate(ctx, m, question, []string{told, " "})
		require.NoError(t, err)
		assert.Zero(t, p[1])
		return p[0]
	}
	assert.Greater(t, rate("What car do I drive?"), 2*rate("What is the registration number of my car?"))
	a, err := m.Answers(ctx, "What car do I drive?", []string{told})
	require.NoError(t, err)
	assert.Greater(t, math.Abs(a[0]-rate("What car do I drive?")), 1e-6)
}

// TestRatingFile checks that a judge without a rating answers instead, and that a damaged one is refused.
func TestRatingFile(t *testing.T) {
	t.Parallel()
	config, err := os.ReadFile("config.json")
	require.NoError(t, err)
	weights, err := os.ReadFile("model.safetensors")
	require.NoError(t, err)
	rating, err := os.ReadFile("rating.json")
	require.NoError(t, err)
	encoder, err := e5.New()
	require.NoError(t, err)
	reader, err := os.ReadFile("reader.safetensors")
	require.NoError(t, err)
	with := func(rating, reader []byte) (*neural.Judge, error) {
		return neural.New(neural.Files{Config: config, Weights: weights, Rating: rating, Reader: reader}, encoder, &neural.Options{Model: "change-multilingual"})
	}
	open := func(rating []byte) (*neural.Judge, error) { return with(rating, reader) }
	without, err := with(nil, nil)
	require.NoError(t, err)
	assert.Equal(t, model(t).Model(), without.Model(), "nothing is compared again for the sake of a rating")
	a, err := without.Answers(context.Background(), "who?", []string{"Ann did it"})
	require.NoError(t, err)
	r, err := without.Rate(context.Background(), "who?", []string{"Ann did it"})
	require.NoError(t, err)
	assert.Equal(t, a, r)
	for name, damaged := range map[string][]byte{"cut": rating[:len(rating)/2], "too few": []byte(`{"out":[1],"direct":[1,2,3],"bias":0}`), "too large": bytes.Replace(rating, []byte(`"bias": `), []byte(`"bias": 1e99`), 1)} {
		t.Run(name, func(t *testing.T) {
			_, err := open(damaged)
			assert.ErrorContains(t, err, "rating.json")
		})
	}
	for name, files := range map[string][2][]byte{"no rating": {nil, reader}, "no reader": {rating, nil}, "cut": {rating, reader[:len(reader)/2]}} {
		t.Run(name, func(t *testing.T) {
			_, err := with(files[0], files[1])
			assert.ErrorContains(t, err, "reader.safetensors")
		})
	}
}

// TestReaderAgainstPython compares the logits of the reader with those of build/reader.py, in 18 languages. The passages have 8 bits here.
func TestReaderAgainstPython(t *testing.T) {
	t.Parallel()
	var pairs []struct {
		Q, Passage string
		Logit      float64
	}
	data, err := os.ReadFile("testdata/reader.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &pairs))
	require.Greater(t, len(pairs), 50)
	config, err := os.ReadFile("config.json")
	require.NoError(t, err)
	weights, err := os.ReadFile("model.safetensors")
	require.NoError(t, err)
	reader, err := os.ReadFile("reader.safetensors")
	require.NoError(t, err)
	rating, err := json.Marshal(map[string]any{"out": make([]float32, 192), "direct": make([]float32, 3), "bias": 0, "reader": 1})
	require.NoError(t, err)
	encoder, err := e5.New()
	require.NoError(t, err)
	m, err := neural.New(neural.Files{Config: config, Weights: weights, Rating: rating, Reader: reader}, encoder, &neural.Options{Model: "x"})
	require.NoError(t, err)
	var off []float64
	for _, x := range pairs {
		p, err := m.Rate(t.Context(), x.Q, []string{x.Passage})
		require.NoError(t, err)
		off = append(off, math.Abs(math.Log(p[0]/(1-p[0]))-x.Logit))
	}
	slices.Sort(off)
	t.Logf("logits differ by %.3f at the median, %.3f at most", off[len(off)/2], off[len(off)-1])
	assert.Less(t, off[len(off)/2], .05)
	assert.Less(t, off[len(off)-1], .4)
}

// BenchmarkMemory compares a new statement with twelve earlier ones whose states are cached, on one thread.
func BenchmarkMemory(b *testing.B) {
	encoder, err := e5.New()
	require.NoError(b, err)
	config, err := os.ReadFile("config.json")
	require.NoError(b, err)
	weights, err := os.ReadFile("model.safetensors")
	require.NoError(b, err)
	m, err := neural.New(neural.Files{Config: config, Weights: weights}, encoder, &neural.Options{Model: "x", Threads: 1})
	require.NoError(b, err)
	var statements []string
	for _, x := range examples(b) {
		if x.Head == "replaces" {
			statements = append(statements, x.A)
		}
	}
	slices.SortFunc(statements, func(a, b string) int { return cmp.Compare(len(a), len(b)) })
	statements = statements[len(statements)/2:][:12]
	pairs := make([]judge.Pair, 12)
	for i := 0; b.Loop(); i++ {
		later := fmt.Sprintf("%s %d", statements[i%12], i) // not seen before
		for k, s := range statements {
			pairs[k] = judge.Pair{Earlier: judge.Statement{Text: s}, Later: judge.Statement{Text: later}}
		}
		if _, err := m.Replaces(context.Background(), pairs); err != nil {
			b.Fatal(err)
		}
	}
}

package neural_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/embed/neural"
	"github.com/contextmem/contextmem/internal/checkpoint/tiny"
)

var (
	_ contextmem.Embedder = (*neural.Embedder)(nil)
	_ contextmem.Covering = (*neural.Embedder)(nil)
)

// directory writes a tiny model and extra files.
func directory(t *testing.T, extra map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tiny")
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, tiny.Write(dir, tiny.Files(1, 0)))
	for name, text := range extra {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

func load(t *testing.T, dir string, o *neural.Options) *neural.Embedder {
	t.Helper()
	e, err := neural.Load(dir, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return e
}

func one(t *testing.T, e *neural.Embedder, text string) []float32 {
	t.Helper()
	vs, err := e.EmbedDocuments(t.Context(), []string{text})
	require.NoError(t, err)
	require.Len(t, vs, 1)
	return vs[0]
}

func cosine(a, b []float32) float64 {
	var dot, na, nb float64
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
		na += float64(a[i]) * float64(a[i])
		nb += float64(b[i]) * float64(b[i])
	}
	return dot / math.Sqrt(na*nb)
}

func TestEmbed(t *testing.T) {
	t.Parallel()
	e := load(t, directory(t, nil), nil)
	assert.Equal(t, tiny.Hidden, e.Dim())
	assert.Equal(t, tiny.MaxTokens, e.MaxTokens())
	assert.Regexp(t, `^tiny/[0-9a-f]{8}$`, e.Model())
	assert.Nil(t, e.Calibration())

	texts := []string{"the cat sat on the mat.", "", strings.Repeat("the dog ran. ", 40), " \n", "Ann lives in Oslo."}
	all, err := e.EmbedDocuments(t.Context(), texts)
	require.NoError(t, err)
	require.Len(t, all, len(texts))
	for i, v := range all {
		require.Len(t, v, e.Dim())
		require.InDelta(t, map[bool]float64{true: 0, false: 1}[strings.TrimSpace(texts[i]) == ""], dot(v, v), 1e-5)
		alone := one(t, e, texts[i])
		for k := range v {
			require.InDelta(t, alone[k], v[k], 1e-5, "a text alone has the vector that it has among others")
		}
	}
	q, err := e.EmbedQuery(t.Context(), texts[0])
	require.NoError(t, err)
	assert.InDelta(t, 1, cosine(q, all[0]), 1e-6, "without prefixes queries are documents")
	assert.Less(t, cosine(all[0], all[4]), 0.99)

	none, err := e.EmbedDocuments(t.Context(), nil)
	require.NoError(t, err)
	assert.Empty(t, none)
}

func dot(a, b []float32) float64 {
	var s float64
	for i := range a {
		s += float64(a[i]) * float64(b[i])
	}
	return s
}

func TestLongTextIsTheMeanOfItsWindows(t *testing.T) {
	t.Parallel()
	e := load(t, directory(t, nil), &neural.Options{MaxTokens: 18}) // 16 without special tokens; 2 overlap
	words := strings.Fields(strings.Repeat("the cat sat on the mat ann lives in oslo ", 3))[:30]
	long := one(t, e, strings.Join(words, " "))
	a, b := one(t, e, strings.Join(words[:16], " ")), one(t, e, strings.Join(words[14:], " "))
	// Windows weigh with their own lengths, which unit vectors no longer show, so long
	// only has to lie between the two.
	between := make([]float32, len(a))
	for i := range a {
		between[i] = a[i] + b[i]
	}
	assert.Greater(t, cosine(long, between), 0.999)
	assert.Less(t, cosine(a, b), cosine(long, between))
}

func TestHints(t *testing.T) {
	t.Parallel()
	plain := load(t, directory(t, nil), nil)
	prefix := "query: "
	for name, c := range map[string]struct {
		files map[string]string
		same  *neural.Options // gives the same vectors without the files
	}{
		"pooling":      {map[string]string{"1_Pooling/config.json": `{"pooling_mode_cls_token":true,"pooling_mode_mean_tokens":false}`}, &neural.Options{Pooling: neural.CLS}},
		"its new name": {map[string]string{"1_Pooling/config.json": `{"pooling_mode":"cls"}`}, &neural.Options{Pooling: neural.CLS}},
		"modules": {map[string]string{
			"modules.json":      `[{"path":"","type":"sentence_transformers.models.Transformer"},{"path":"pool","type":"sentence_transformers.models.Pooling"},{"path":"2_Normalize","type":"sentence_transformers.models.Normalize"}]`,
			"pool/config.json":  `{"pooling_mode_cls_token":true}`,
			"1_Pooling/unused.": ``,
		}, &neural.Options{Pooling: neural.CLS}},
		"length":  {map[string]string{"sentence_bert_config.json": `{"max_seq_length":20}`}, &neural.Options{MaxTokens: 20}},
		"prompts": {map[string]string{"config_sentence_transformers.json": `{"prompts":{"query":"query: ","passage":"query: "}}`}, &neural.Options{QueryPrefix: &prefix, DocumentPrefix: &prefix}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hinted, set := load(t, directory(t, c.files), nil), load(t, directory(t, nil), c.same)
			text := strings.Repeat("where is the cat? ", 5)
			assert.Equal(t, set.Model(), hinted.Model())
			assert.NotEqual(t, plain.Model(), hinted.Model(), "other vectors, other identity")
			assert.Equal(t, one(t, set, text), one(t, hinted, text))
			assert.Less(t, cosine(one(t, plain, text), one(t, hinted, text)), 0.99999)
		})
	}
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	dir := directory(t, nil)
	plain := load(t, dir, nil)
	f := tiny.Files(1, 0)
	same, err := neural.New(neural.Files{Config: f.Config, Tokenizer: f.Tokenizer, Weights: f.Weights}, &neural.Options{Model: "tiny"})
	require.NoError(t, err)
	assert.Equal(t, plain.Model(), same.Model())
	assert.Equal(t, one(t, plain, "the cat"), one(t, same, "the cat"))
	assert.NoError(t, same.Close())

	f = tiny.Files(2, 0)
	other, err := neural.New(neural.Files{Config: f.Config, Tokenizer: f.Tokenizer, Weights: f.Weights}, &neural.Options{Model: "tiny"})
	require.NoError(t, err)
	assert.NotEqual(t, plain.Model(), other.Model(), "other weights")
}

func TestQueryCache(t *testing.T) { // counts allocations, so alone
	e := load(t, directory(t, nil), &neural.Options{QueryCache: 2})
	first, err := e.EmbedQuery(t.Context(), "the cat")
	require.NoError(t, err)
	want := append([]float32(nil), first...)
	first[0] = 100 // the caller's own
	again, err := e.EmbedQuery(t.Context(), "the cat")
	require.NoError(t, err)
	assert.Equal(t, want, again)
	again[0] = 100
	for _, q := range []string{"the dog", "oslo", "the cat", strings.Repeat("the mat ", 300)} {
		_, err := e.EmbedQuery(t.Context(), q)
		require.NoError(t, err)
	}
	again, err = e.EmbedQuery(t.Context(), "the cat")
	require.NoError(t, err)
	assert.Equal(t, want, again)

	allocs := testing.AllocsPerRun(10, func() {
		_, _ = e.EmbedQuery(context.Background(), "the cat")
	})
	assert.LessOrEqual(t, allocs, 1.0, "a remembered query is not tokenised again")
}

func TestCancel(t *testing.T) {
	t.Parallel()
	e := load(t, directory(t, nil), nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := e.EmbedDocuments(ctx, []string{"the cat"})
	assert.ErrorIs(t, err, context.Canceled)
	_, err = e.EmbedQuery(ctx, "the cat")
	assert.ErrorIs(t, err, context.Canceled)
}

func TestCoverage(t *testing.T) {
	t.Parallel()
	e := load(t, directory(t, nil), nil)
	assert.InDelta(t, 1, e.Coverage("the cat sat"), 0)
	assert.InDelta(t, 0.5, e.Coverage("cat 猫"), 0)
	assert.InDelta(t, 0, e.Coverage(" "), 0)
}

func TestCalibration(t *testing.T) {
	t.Parallel()
	mean := make([]float32, tiny.Hidden)
	mean[3] = 0.25
	file := map[string]any{"query_mean": mean, "document_mean": mean, "unrelated_mean": 0.01, "unrelated_std": 0.1, "related_mean": 0.6, "related_std": 0.2}
	text := func(changes map[string]any) map[string]string {
		all := map[string]any{}
		for _, m := range []map[string]any{file, changes} {
			for k, v := range m {
				all[k] = v
			}
		}
		data, err := json.Marshal(all)
		require.NoError(t, err)
		return map[string]string{neural.CalibrationFile: string(data)}
	}
	e := load(t, directory(t, text(nil)), nil)
	assert.Equal(t, &neural.Calibration{QueryMean: mean, DocumentMean: mean, UnrelatedMean: 0.01, UnrelatedStd: 0.1, RelatedMean: 0.6, RelatedStd: 0.2}, e.Calibration())
	var calibrated interface {
		Calibration() *struct {
			QueryMean, DocumentMean                              []float32
			UnrelatedMean, UnrelatedStd, RelatedMean, RelatedStd float32
		}
	} = e // as a package that does not import this one declares it
	assert.NotNil(t, calibrated.Calibration())

	for _, changes := range []map[string]any{{"query_mean": mean[1:]}, {"unrelated_std": 0}, {"related_mean": 0}, {"related_std": "x"}} {
		_, err := neural.Load(directory(t, text(changes)), nil)
		assert.ErrorContains(t, err, neural.CalibrationFile)
	}
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		files map[string]string
		o     *neural.Options
	}{
		"config.json":                             {files: map[string]string{"config.json": `{"model_type":"gpt2"}`}},
		"tokenizer.json":                          {files: map[string]string{"tokenizer.json": `{`}},
		"safetensors":                             {files: map[string]string{"model.safetensors": `short`}},
		"pooling by \"max_tokens\"":               {files: map[string]string{"1_Pooling/config.json": `{"pooling_mode_max_tokens":true}`}},
		"a module of type \"Dense\"":              {files: map[string]string{"modules.json": `[{"path":"2_Dense","type":"sentence_transformers.models.Dense"}]`}},
		"modules.json: invalid":                   {files: map[string]string{"modules.json": `nonsense`}},
		"pooling \"max\", want":                   {o: &neural.Options{Pooling: "max"}},
		"65 tokens at most":                       {o: &neural.Options{MaxTokens: 65}},
		"15 tokens at most":                       {o: &neural.Options{MaxTokens: 15}},
		"QueryCache":                              {o: &neural.Options{QueryCache: 1 << 30}},
		"the tokeniser has 75 ids":                {files: map[string]string{"config.json": strings.Replace(string(tiny.Files(1, 0).Config), `"vocab_size":75`, `"vocab_size":70`, 1)}},
		"pooling \"x\", want \"mean\" or \"cls\"": {o: &neural.Options{Pooling: "x"}},
		"\"cls\"; -1 tokens at most":              {o: &neural.Options{Pooling: "x", MaxTokens: -1}},
	} {
		t.Run(what, func(t *testing.T) {
			dir := directory(t, c.files)
			_, err := neural.Load(dir, c.o)
			if assert.ErrorContains(t, err, what) {
				assert.NotContains(t, err.Error(), filepath.Dir(dir), "errors hold no paths")
			}
		})
	}
	missing := directory(t, map[string]string{"model.safetensors.index.json": "{}"})
	require.NoError(t, os.Remove(filepath.Join(missing, "model.safetensors")))
	_, err := neural.Load(missing, nil)
	assert.ErrorContains(t, err, "several files")
	_, err = neural.Load(filepath.Join(missing, "nowhere"), nil)
	assert.ErrorIs(t, err, os.ErrNotExist)
	_, err = neural.New(neural.Files{}, nil)
	assert.ErrorContains(t, err, "Options.Model")
}

// countdown is a context that is cancelled when it was asked some times.
type countdown struct {
	context.Context
	left atomic.Int64
}

func (c *countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

func TestCancelOnTheWay(t *testing.T) {
	t.Parallel()
	e := load(t, directory(t, nil), nil)
	texts := slices.Repeat([]string{strings.Repeat("the cat ran. ", 15)}, 20)
	whole := &countdown{Context: t.Context()}
	whole.left.Store(1 << 40)
	_, err := e.EmbedDocuments(whole, texts)
	require.NoError(t, err)
	asked := 1<<40 - whole.left.Load()
	require.Greater(t, asked, int64(4), "it looks at ctx while it works")
	for left := range asked {
		ctx := &countdown{Context: t.Context()}
		ctx.left.Store(left)
		vs, err := e.EmbedDocuments(ctx, texts)
		require.ErrorIs(t, err, context.Canceled)
		require.Nil(t, vs)
	}
}

func TestConcurrent(t *testing.T) {
	t.Parallel()
	f := tiny.Files(1, 0)
	e, err := neural.New(neural.Files{Config: f.Config, Tokenizer: f.Tokenizer, Weights: f.Weights}, &neural.Options{Model: "tiny"})
	require.NoError(t, err)
	texts := []string{"the cat", "where is ann?", strings.Repeat("the dog ran. ", 30), ""}
	var wait sync.WaitGroup
	got := make([][][]float32, 8)
	for i := range got {
		wait.Go(func() {
			for range 20 {
				vs, err := e.EmbedDocuments(t.Context(), texts)
				if !assert.NoError(t, err) {
					return
				}
				q, err := e.EmbedQuery(t.Context(), texts[i%2])
				if !assert.NoError(t, err) {
					return
				}
				got[i] = append(vs, q)
			}
		})
	}
	wait.Wait()
	for i, vs := range got {
		assert.Equal(t, got[0][:len(texts)], vs[:len(texts)])
		assert.Equal(t, got[0][i%2], vs[len(texts)])
	}
}

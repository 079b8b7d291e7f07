package transformer

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// small returns a configuration of a small encoder.
func small(modelType string) Config {
	c := Config{
		ModelType: modelType, Vocab: 200, Hidden: 64, Layers: 2, Heads: 4, Intermediate: 256,
		MaxPositions: 50, TypeVocab: 2, LayerNormEps: 1e-12, Act: "gelu",
	}
	if modelType != "bert" {
		c.PadID, c.TypeVocab, c.LayerNormEps = 1, 1, 1e-5
	}
	return c
}

// randomTexts returns texts of the given lengths, without the padding token.
func randomTexts(c Config, lengths ...int) [][]int32 {
	rng := rand.New(rand.NewPCG(7, 7))
	out := make([][]int32, len(lengths))
	for i, n := range lengths {
		for range n {
			out[i] = append(out[i], int32(2+rng.IntN(c.Vocab-2)))
		}
	}
	return out
}

func TestEncode(t *testing.T) {
	t.Parallel()
	odd := small("bert")
	odd.Hidden, odd.Heads, odd.Intermediate = 60, 5, 122
	wide := small("bert")
	wide.Hidden, wide.Heads = 128, 2
	tanh := small("bert")
	tanh.Act = "gelu_new"
	relu := small("bert")
	relu.Act = "relu"
	untyped := small("roberta")
	untyped.TypeVocab = 0
	for name, cfg := range map[string]Config{
		"bert": small("bert"), "xlm-roberta": small("xlm-roberta"), "no token types": untyped,
		"sizes that fill no register": odd, "two wide heads": wide, "tanh": tanh, "relu": relu,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := randomCheckpoint(cfg, 1)
			m := c.load(t)
			texts := randomTexts(cfg, 1, 2, 12, m.MaxTokens(), 5, 17, 33)
			want := make([][][]float64, len(texts))
			for i, text := range texts {
				want[i] = c.encode(text, nil)
			}
			for _, k := range testKernels() {
				m.k = k
				for pool, name := range map[Pooling]string{PoolMean: "mean", PoolCLS: "cls"} {
					got, err := m.Encode(context.Background(), texts, pool)
					require.NoError(t, err)
					require.Len(t, got, len(texts))
					for i := range texts {
						assert.Greater(t, cosine(got[i], pooled(want[i], pool)), .995, "%s %s text %d", k.name, name, i)
					}
				}
			}
		})
	}
}

func TestEncodeForms(t *testing.T) {
	t.Parallel()
	c := randomCheckpoint(small("bert"), 2)
	texts := randomTexts(c.cfg, 1, 9, 40)
	for name, f := range forms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// A byte in front, as embedded data has any alignment.
			file := append([]byte{0}, c.as(f)...)[1:]
			m, err := Load(c.cfg, file, nil)
			require.NoError(t, err)
			got, err := m.Encode(context.Background(), texts, PoolMean)
			require.NoError(t, err)
			held := c.roundedTo(f)
			for i, text := range texts {
				assert.Greater(t, cosine(got[i], held.pooled(text, PoolMean)), .996, "text %d", i)
			}
		})
	}
}

// TestEncodeLong has texts whose attention takes several blocks of queries, several batches, and a
// text longer than a batch.
func TestEncodeLong(t *testing.T) {
	t.Parallel()
	cfg := small("bert")
	cfg.MaxPositions, cfg.Layers = 300, 1
	c := randomCheckpoint(cfg, 3)
	m := c.load(t)
	texts := randomTexts(cfg, 90, 200, 300, 1)
	got, err := m.Encode(context.Background(), texts, PoolMean)
	require.NoError(t, err)
	for i, text := range texts {
		assert.Greater(t, cosine(got[i], c.pooled(text, PoolMean)), .997, "text %d", i)
	}
}

// TestBatches wants the same bits for a text alone and among others.
func TestBatches(t *testing.T) {
	t.Parallel()
	c := randomCheckpoint(small("xlm-roberta"), 4)
	m := c.load(t)
	texts := randomTexts(c.cfg, 3, 47, 12, 12, 1, 30, 7)
	for _, k := range testKernels() {
		m.k = k
		together, err := m.Encode(context.Background(), texts, PoolCLS)
		require.NoError(t, err)
		for i, text := range texts {
			alone, err := m.Encode(context.Background(), [][]int32{text}, PoolCLS)
			require.NoError(t, err)
			assert.Equal(t, alone[0], together[i], "%s text %d", k.name, i)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	c := randomCheckpoint(small("bert"), 5)
	m := c.load(t)
	var wait sync.WaitGroup
	for i := range 4 {
		texts := randomTexts(c.cfg, 5+10*i, 8)
		want, err := m.Encode(context.Background(), texts, PoolMean)
		require.NoError(t, err)
		wait.Go(func() {
			for range 5 {
				got, err := m.Encode(context.Background(), texts, PoolMean)
				assert.NoError(t, err)
				assert.Equal(t, want, got)
			}
		})
	}
	wait.Wait()
}

// TestPaddingToken checks the positions that Hugging Face gives: the padding token has a position of its own and is not counted.
func TestPaddingToken(t *testing.T) {
	t.Parallel()
	m := Model{cfg: small("xlm-roberta")}
	next, got := 0, []int(nil)
	for _, id := range []int32{5, 1, 6, 7} {
		got = append(got, m.position(&next, id))
	}
	assert.Equal(t, []int{2, 1, 3, 4}, got)
	assert.Equal(t, 48, m.MaxTokens())
}

func TestCancel(t *testing.T) {
	t.Parallel()
	c := randomCheckpoint(small("bert"), 6)
	m := c.load(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := m.Encode(ctx, randomTexts(c.cfg, 4), PoolMean)
	assert.ErrorIs(t, err, context.Canceled)
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	cfg := small("bert")
	cfg.Labels = 1
	c := randomCheckpoint(cfg, 7)
	m := c.load(t)
	long := make([]int32, m.MaxTokens()+1)
	for name, texts := range map[string][][]int32{
		"no tokens": {{1}, {}}, "too long": {long}, "negative": {{1, -1}}, "outside": {{int32(cfg.Vocab)}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := m.Encode(context.Background(), texts, PoolMean)
			require.Error(t, err)
			_, err = m.Classify(context.Background(), texts, nil)
			require.Error(t, err)
		})
	}
	for name, types := range map[string][][]int32{
		"missing": {}, "shorter": {{0}}, "outside": {{0, 2}}, "negative": {{0, -1}},
	} {
		t.Run("types "+name, func(t *testing.T) {
			_, err := m.Classify(context.Background(), [][]int32{{1, 2}}, types)
			require.Error(t, err)
		})
	}
	_, err := m.Encode(context.Background(), nil, Pooling(7))
	require.Error(t, err)
	got, err := m.Encode(context.Background(), nil, PoolCLS)
	require.NoError(t, err)
	assert.Empty(t, got)
}

func TestClassify(t *testing.T) {
	t.Parallel()
	one, several, roberta := small("bert"), small("bert"), small("xlm-roberta")
	one.Labels, roberta.Labels, several.Labels = 1, 3, 3
	several.NamedHeads = []Head{{"relevance", 1}, {"relation", 2}}
	for name, cfg := range map[string]Config{"bert": one, "named heads": several, "xlm-roberta": roberta} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := randomCheckpoint(cfg, 8)
			m := c.load(t)
			texts := randomTexts(cfg, 10, 3, 45)
			types := make([][]int32, len(texts))
			for i, text := range texts {
				types[i] = make([]int32, len(text))
				for j := range text {
					if cfg.TypeVocab > 1 && j > len(text)/2 {
						types[i][j] = 1
					}
				}
			}
			for _, k := range testKernels() {
				m.k = k
				for _, ts := range [][][]int32{nil, types} {
					got, err := m.Classify(context.Background(), texts, ts)
					require.NoError(t, err)
					for i, text := range texts {
						var of []int32
						if ts != nil {
							of = ts[i]
						}
						want := c.logits(text, of)
						require.Len(t, got[i], len(want))
						for j := range want {
							assert.InDelta(t, want[j], got[i][j], .15, "%s text %d logit %d", k.name, i, j)
						}
					}
				}
			}
		})
	}
	t.Run("no head", func(t *testing.T) {
		t.Parallel()
		c := randomCheckpoint(small("bert"), 9)
		_, err := c.load(t).Classify(context.Background(), randomTexts(c.cfg, 4), nil)
		require.Error(t, err)
	})
}

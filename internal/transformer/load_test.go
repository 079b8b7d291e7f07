package transformer

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadConfig(t *testing.T) {
	t.Parallel()
	const bert = `"model_type":"bert","vocab_size":100,"hidden_size":32,"num_hidden_layers":2,
		"num_attention_heads":4,"intermediate_size":64,"max_position_embeddings":50`
	got, err := ReadConfig([]byte(`{` + bert + `,"pad_token_id":3,"layer_norm_eps":1e-6,"hidden_act":"relu","unknown":[1]}`))
	require.NoError(t, err)
	assert.Equal(t, Config{
		ModelType: "bert", Vocab: 100, Hidden: 32, Layers: 2, Heads: 4, Intermediate: 64, MaxPositions: 50,
		TypeVocab: 2, LayerNormEps: 1e-6, PadID: 3, Act: "relu",
	}, got)

	for name, c := range map[string]struct {
		extra  string
		labels int
	}{
		"an encoder has no labels": {``, 0},
		"two labels by default":    {`,"architectures":["BertForSequenceClassification"]`, 2},
		"labels by name":           {`,"architectures":["BertForSequenceClassification"],"id2label":{"0":"LABEL_0"}`, 1},
		"labels by number":         {`,"architectures":["XForSequenceClassification"],"num_labels":5`, 5},
		"named heads":              {`,"classifier_heads":[{"name":"a","labels":1},{"name":"b","labels":3}]`, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := ReadConfig([]byte(`{` + bert + c.extra + `}`))
			require.NoError(t, err)
			assert.Equal(t, c.labels, got.Labels)
		})
	}

	roberta, err := ReadConfig([]byte(strings.Replace(`{`+bert+`}`, `"bert"`, `"xlm-roberta"`, 1)))
	require.NoError(t, err)
	assert.Equal(t, 1, roberta.PadID)
	assert.Equal(t, 48, roberta.MaxTokens())

	for field, bad := range map[string]string{
		"model_type": `"gpt2"`, "vocab_size": `0`, "hidden_size": `99999999`, "num_hidden_layers": `-1`,
		"num_attention_heads": `5`, "intermediate_size": `2049`, "max_position_embeddings": `100000000000`,
		"hidden_act": `"swish"`, "layer_norm_eps": `-1`, "pad_token_id": `100`, "type_vocab_size": `-2`,
		"position_embedding_type": `"relative_key"`, "classifier_heads": `[{"name":"","labels":1}]`,
	} {
		t.Run("bad "+field, func(t *testing.T) {
			t.Parallel()
			_, err := ReadConfig([]byte(`{` + bert + `,"` + field + `":` + bad + `}`))
			require.ErrorContains(t, err, "config.json")
		})
	}
	_, err = ReadConfig([]byte(`{`))
	require.Error(t, err)
}

// TestLoadRefuses changes one thing of a good file each time.
func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	cfg := small("bert")
	cfg.Layers, cfg.Labels = 1, 1
	c := randomCheckpoint(cfg, 1)
	good := func(f form) map[string]stored {
		ts, err := readTensors(c.as(f))
		require.NoError(t, err)
		out := map[string]stored{}
		for n, s := range ts {
			out[n] = stored{s.dtype, s.shape, bytes.Clone(s.data)}
		}
		return out
	}
	const query = "bert.encoder.layer.0.attention.self.query"
	for name, change := range map[string]struct {
		form form
		do   func(ts map[string]stored)
	}{
		"missing matrix":     {asF32, func(ts map[string]stored) { delete(ts, query+".weight") }},
		"missing bias":       {asF32, func(ts map[string]stored) { delete(ts, query+".bias") }},
		"missing words":      {asF32, func(ts map[string]stored) { delete(ts, "bert.embeddings.word_embeddings.weight") }},
		"missing positions":  {asF32, func(ts map[string]stored) { delete(ts, "bert.embeddings.position_embeddings.weight") }},
		"missing classifier": {asF32, func(ts map[string]stored) { delete(ts, "classifier.weight") }},
		"missing pooler":     {asF32, func(ts map[string]stored) { delete(ts, "bert.pooler.dense.weight") }},
		"missing scale":      {asI8, func(ts map[string]stored) { delete(ts, query+".weight_scale") }},
		"other shape":        {asF32, func(ts map[string]stored) { ts[query+".weight"] = ts["bert.pooler.dense.bias"] }},
		"two encoders": {asF32, func(ts map[string]stored) {
			ts["x.embeddings.position_embeddings.weight"] = stored{"F32", []int{0}, nil}
		}},
		"groups do not divide": {asQ4, func(ts map[string]stored) { ts[query+".weight_scale"] = stored{"F16", []int{64, 3}, make([]byte, 384)} }},
		"scales of I8 grouped": {asI8, func(ts map[string]stored) { ts[query+".weight_scale"] = stored{"F16", []int{64, 2}, make([]byte, 256)} }},
		"U8 without scales":    {asF32, func(ts map[string]stored) { ts[query+".weight"] = stored{"U8", []int{64, 64}, make([]byte, 4096)} }},
		"NaN weight":           {asF32, func(ts map[string]stored) { nan(ts[query+".weight"].data) }},
		"NaN bias":             {asF32, func(ts map[string]stored) { nan(ts[query+".bias"].data) }},
		"NaN scale":            {asI8, func(ts map[string]stored) { nan(ts[query+".weight_scale"].data) }},
		"NaN head":             {asF32, func(ts map[string]stored) { nan(ts["classifier.weight"].data) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ts := good(change.form)
			_, err := Load(cfg, safetensors(ts), nil)
			require.NoError(t, err)
			change.do(ts)
			_, err = Load(cfg, safetensors(ts), nil)
			require.ErrorContains(t, err, "safetensors: ")
		})
	}
}

// TestLoadOver checks that tensors of a second file replace those of the first, whatever forms they have.
func TestLoadOver(t *testing.T) {
	t.Parallel()
	cfg := small("bert")
	base, other := randomCheckpoint(cfg, 1), randomCheckpoint(cfg, 2)
	mixed := checkpoint{cfg, maps.Clone(base.tensors)}
	const learnt = "encoder.layer.1." // and nothing else
	over := map[string]stored{}
	for name, m := range other.tensors {
		if !strings.HasPrefix(name, learnt) {
			continue
		}
		mixed.tensors[name] = m
		if weight, ok := strings.CutSuffix(name, ".weight"); ok && m.cols > 0 {
			asI8(weight, m, over)
		} else {
			over[name] = f32(m)
		}
	}
	require.NotEmpty(t, over)
	texts := [][]int32{{1, 2, 3, 4}}
	vectors := func(m *Model, err error) [][]float32 {
		require.NoError(t, err)
		vs, err := m.Encode(t.Context(), texts, PoolMean)
		require.NoError(t, err)
		return vs
	}
	plain := vectors(Load(cfg, base.as(asI8), nil))
	want := vectors(Load(cfg, mixed.as(asI8), nil))
	require.NotEqual(t, plain, want)
	assert.Equal(t, want, vectors(Load(cfg, base.as(asI8), safetensors(over))))
	four := vectors(Load(cfg, base.as(asQ4), safetensors(over)))
	assert.NotEqual(t, vectors(Load(cfg, base.as(asQ4), nil)), four, "int8 in place of 4 bits")

	over["encoder.layer.9.output.dense.bias"] = over[learnt+"output.dense.bias"]
	_, err := Load(cfg, base.as(asI8), safetensors(over))
	require.ErrorContains(t, err, "replaces none")
	_, err = Load(cfg, base.as(asI8), []byte("short"))
	require.ErrorContains(t, err, "safetensors: ")
}

func nan(b []byte) { binary.LittleEndian.PutUint32(b[8:], math.Float32bits(float32(math.NaN()))) }

func TestReadTensorsRefuses(t *testing.T) {
	t.Parallel()
	file := func(header string, data int) []byte {
		out := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
		return append(append(out, header...), make([]byte, data)...)
	}
	_, err := readTensors(file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}   `, 8))
	require.NoError(t, err)
	for name, f := range map[string][]byte{
		"empty":             nil,
		"header too long":   binary.LittleEndian.AppendUint64(nil, math.MaxUint64),
		"no JSON":           file(`[]`, 0),
		"entry of no shape": file(`{"a":1}`, 8),
		"one offset":        file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[8]}}`, 8),
		"backwards":         file(`{"a":{"dtype":"F32","shape":[0],"data_offsets":[8,0]}}`, 8),
		"negative":          file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[-8,0]}}`, 8),
		"behind the end":    file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}}`, 8),
		"shape too small":   file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,8]}}`, 8),
		"negative shape":    file(`{"a":{"dtype":"F32","shape":[-1,-2],"data_offsets":[0,8]}}`, 8),
		"overlap": file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},`+
			`"b":{"dtype":"I8","shape":[8],"data_offsets":[0,8]}}`, 8),
		"overflow": file(`{"a":{"dtype":"F32","shape":[4611686018427387904,4,2],"data_offsets":[0,8]}}`, 8),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := readTensors(f)
			require.ErrorContains(t, err, "safetensors")
		})
	}
}

// TestExpand4 wants 4-bit weights back within the rounding to 8 bits, for signs and group
// sizes of every kind.
func TestExpand4(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for _, group := range []int{2, 6, 16, 32, 128} {
		t.Run(fmt.Sprint(group), func(t *testing.T) {
			for range 20 {
				scales := randoms(rng, 12, 1)
				packed := extremes(rng, len(scales)*group/2, 0, 255)
				q := make([]byte, 2*len(packed))
				scale := expand4(q, packed, scales)
				for i := range q {
					want := float32(int(packed[i/2]>>(4*(i%2))&15)-8) * scales[i/group]
					require.InDelta(t, want, float32(int8(q[i]))*scale, .52*float64(scale), "group %d value %d", group, i)
				}
			}
		})
	}
	q := []byte{1, 2, 3, 4}
	assert.Zero(t, expand4(q, []byte{7, 7}, []float32{0}))
	assert.Equal(t, make([]byte, 4), q)
}

func TestSumInt8(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 3))
	for _, n := range []int{0, 1, 7, 8, 1023, 1024, 1025, 5000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			for _, q := range [][]byte{extremes(rng, n, 0x80, 0x7F), bytes.Repeat([]byte{0x7F}, n), bytes.Repeat([]byte{0x80}, n)} {
				want := int32(0)
				for _, v := range q {
					want += int32(int8(v))
				}
				assert.Equal(t, want, sumInt8(q))
			}
		})
	}
}

func TestHalf(t *testing.T) {
	t.Parallel()
	for h, want := range map[uint16]float32{
		0: 0, 0x3C00: 1, 0xC000: -2, 0x7BFF: 65504, 1: 1.0 / (1 << 24), 0x03FF: 1023.0 / (1 << 24), 0x3555: 0.333251953125,
	} {
		t.Run(fmt.Sprint(h), func(t *testing.T) {
			assert.Equal(t, want, half(h))
		})
	}
	assert.True(t, math.IsInf(float64(half(0xFC00)), -1))
	assert.True(t, math.IsNaN(float64(half(0x7E00))))
}

// FuzzLoad wants an error or a model that runs, whatever the bytes.
func FuzzLoad(f *testing.F) {
	cfg := Config{
		ModelType: "bert", Vocab: 3, Hidden: 4, Layers: 1, Heads: 2, Intermediate: 4, MaxPositions: 3, TypeVocab: 1,
		LayerNormEps: 1e-12, Act: "gelu", Labels: 1,
	}
	c := randomCheckpoint(cfg, 1)
	for _, form := range forms {
		f.Add(c.as(form))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		m, err := Load(cfg, file, nil)
		if err != nil {
			return
		}
		_, err = m.Encode(t.Context(), [][]int32{{0}}, PoolMean)
		require.NoError(t, err)
	})
}

// FuzzReadConfig wants an error or a configuration within the limits.
func FuzzReadConfig(f *testing.F) {
	f.Add([]byte(`{"model_type":"bert","vocab_size":3,"hidden_size":4,"num_hidden_layers":1,"num_attention_heads":2,
		"intermediate_size":4,"max_position_embeddings":3,"num_labels":1,"id2label":{"0":"a"},"classifier_heads":
		[{"name":"a","labels":2}],"architectures":["BertForSequenceClassification"]}`))
	f.Fuzz(func(t *testing.T, config []byte) {
		cfg, err := ReadConfig(config)
		if err != nil {
			return
		}
		require.NoError(t, cfg.check())
		_, err = Load(cfg, []byte("\x02\x00\x00\x00\x00\x00\x00\x00{}"), nil)
		require.ErrorContains(t, err, "safetensors")
	})
}

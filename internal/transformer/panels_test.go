package transformer

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPanels checks that a file in panels gives the same model as the file that it was made from, without copying, for the kernels of every
// instruction set.
func TestPanels(t *testing.T) {
	t.Parallel()
	cfg := small("bert")
	cfg.Hidden, cfg.Heads, cfg.Intermediate, cfg.Labels = 128, 4, 192, 64
	c := randomCheckpoint(cfg, 5)
	texts := randomTexts(cfg, 3, 17, 1)
	for name, f := range forms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := c.as(f)
			panels, err := Panels(file)
			require.NoError(t, err)
			plain, err := Load(cfg, file, nil)
			require.NoError(t, err)
			m, err := Load(cfg, file, panels)
			require.NoError(t, err)
			for _, l := range m.layers {
				for _, lin := range []*linear{l.qkv, l.project, l.up, l.down} {
					for _, g := range lin.groups {
						assert.True(t, within(g, panels), "weights are not read in place")
					}
				}
			}
			for _, k := range testKernels() {
				plain.k, m.k = k, k
				want, err := plain.Encode(context.Background(), texts, PoolMean)
				require.NoError(t, err)
				got, err := m.Encode(context.Background(), texts, PoolMean)
				require.NoError(t, err)
				assert.Equal(t, want, got, k.name)
				logits, err := m.Classify(context.Background(), texts, nil)
				require.NoError(t, err)
				wantLogits, err := plain.Classify(context.Background(), texts, nil)
				require.NoError(t, err)
				assert.Equal(t, wantLogits, logits, k.name)
			}
		})
	}
}

// within reports whether part is memory of whole.
func within(part, whole []byte) bool {
	for i := range whole {
		if &whole[i] == &part[0] {
			return true
		}
	}
	return false
}

// TestPanelSums checks that the sums of channels are exact, and the same for the kernels of every instruction set.
func TestPanelSums(t *testing.T) {
	t.Parallel()
	eachLevel(t, func(t *testing.T, k *kernels, rng *rand.Rand) {
		const in = 512
		l := newLinear(groupCols, in)
		for o := range groupCols {
			l.set(o, extremes(rng, in, 0x81, 0x7F), 1)
		}
		scales := make([]byte, 0, 4*groupCols)
		for o := range groupCols {
			scales = binary.LittleEndian.AppendUint32(scales, uint32(0x3F000000+o)) // about 1/2
		}
		w := weights{out: groupCols, in: in, groups: 1, scale: tensor{"F32", []int{groupCols}, scales}}
		w.q = tensor{"I8", []int{groupCols / panelCols, in / packDepth, panelCols, packDepth}, l.groups[0]}
		require.True(t, w.inPanels())
		to := emptyLinear(groupCols, in)
		to.addGroups(w.q.data)
		require.NoError(t, packing{to, 0, .25, w}.panels(k))
		for o := range groupCols {
			scale := math.Float32frombits(binary.LittleEndian.Uint32(scales[4*o:])) * .25
			assert.Equal(t, scale, to.column(o)[0])
			assert.Equal(t, scale*l.column(o)[groupCols], to.column(o)[groupCols])
		}
	})
}

// TestPanelsOver checks that tensors in panels can replace other tensors, and be in one layer with others.
func TestPanelsOver(t *testing.T) {
	t.Parallel()
	cfg := small("bert")
	cfg.Hidden, cfg.Heads, cfg.Intermediate, cfg.Labels = 64, 4, 128, 0
	base, learnt := randomCheckpoint(cfg, 1), randomCheckpoint(cfg, 2)
	plain := base.as(asI8)
	panels, err := Panels(plain)
	require.NoError(t, err)
	over := map[string]stored{}
	asI8("encoder.layer.0.attention.self.key", learnt.tensors["encoder.layer.0.attention.self.key.weight"], over)
	want, err := Load(cfg, base.as(asI8), safetensors(over))
	require.NoError(t, err)
	overPanels, err := Panels(safetensors(over))
	require.NoError(t, err)
	texts := randomTexts(cfg, 5, 9)
	for name, files := range map[string][][]byte{
		"both in panels": {panels, safetensors(over), overPanels}, "the base in panels": {panels, safetensors(over)}, "what is over it in panels": {nil, safetensors(over), overPanels},
	} {
		m, err := Load(cfg, plain, files...)
		require.NoError(t, err, name)
		a, err := want.Encode(context.Background(), texts, PoolCLS)
		require.NoError(t, err)
		b, err := m.Encode(context.Background(), texts, PoolCLS)
		require.NoError(t, err)
		assert.Equal(t, a, b, name)
	}
}

// TestPanelsLayout: what readers of safetensors files ask for, and the alignment.
func TestPanelsLayout(t *testing.T) {
	t.Parallel()
	cfg := small("bert")
	cfg.Hidden, cfg.Heads, cfg.Intermediate, cfg.Labels = 64, 4, 96, 0
	whole := randomCheckpoint(cfg, 1).as(asQ4)
	file, err := Panels(whole)
	require.NoError(t, err)
	n := binary.LittleEndian.Uint64(file)
	assert.Zero(t, (8+n)%64)
	var header map[string]struct {
		Shape   []int  `json:"shape"`
		Offsets [2]int `json:"data_offsets"`
	}
	require.NoError(t, json.Unmarshal(file[8:8+n], &header))
	delete(header, "__metadata__")
	at := 0
	for _, name := range slices.SortedFunc(maps.Keys(header), func(a, b string) int { return header[a].Offsets[0] - header[b].Offsets[0] }) {
		e := header[name]
		assert.Equal(t, at, e.Offsets[0], "%s: a gap", name)
		at = e.Offsets[1]
		if len(e.Shape) == 4 {
			assert.Zero(t, e.Offsets[0]%64, name)
		}
		assert.NotContains(t, name, ".intermediate.", "96 channels are no whole groups")
	}
	assert.Equal(t, len(file)-8-int(n), at)
	assert.Equal(t, []int{4, 16, 16, 4}, header["encoder.layer.0.attention.self.query.weight"].Shape)

	bad := slices.Clone(file)
	scale := header["encoder.layer.0.attention.self.query.weight_scale"].Offsets[0]
	binary.LittleEndian.PutUint32(bad[8+int(n)+scale:], 0x7FC00000)
	_, err = Load(cfg, whole, bad)
	require.ErrorIs(t, err, errNotFinite)
	_, err = Panels(nil)
	require.ErrorContains(t, err, "shorter")
	none, err := Panels(safetensors(nil))
	require.NoError(t, err)
	assert.Nil(t, none)
}

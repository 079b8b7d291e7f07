package transformer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const compareHidden, compareWidth = 6, 5

// compareTensors are random tensors of two heads.
func compareTensors() map[string]matrix {
	rng := rand.New(rand.NewPCG(8, 8))
	ts := map[string]matrix{}
	add := func(name string, rows, cols int) {
		v := make([]float32, rows*max(cols, 1))
		for i := range v {
			v[i] = float32(rng.NormFloat64())
		}
		ts[name] = matrix{rows, cols, v}
	}
	add("mean", compareHidden, 0)
	for _, head := range []string{"one", "two"} {
		for _, l := range []struct {
			name    string
			out, in int
		}{{"dense", compareWidth, 4*compareHidden + 3}, {"out", 1, compareWidth}, {"direct", 1, 3}} {
			add(head+"."+l.name+".weight", l.out, l.in)
			add(head+"."+l.name+".bias", l.out, 0)
		}
	}
	return ts
}

func compareFile(ts map[string]matrix) []byte {
	out := map[string]stored{}
	for n, m := range ts {
		out[n] = f32(m)
	}
	return safetensors(out)
}

// compared is the reference: the logit of a head, in float64.
func compared(ts map[string]matrix, head string, a, b []float32) float64 {
	c := checkpoint{tensors: ts}
	text := func(states []float32) ([]float64, float64) {
		n, length := len(states)/compareHidden, 0.0
		u := make([]float64, compareHidden)
		for i, v := range states {
			u[i%compareHidden] += float64(v) / float64(n)
		}
		for i := range u {
			u[i] -= float64(ts["mean"].v[i])
			length += u[i] * u[i]
		}
		for i := range u {
			u[i] /= math.Sqrt(length)
		}
		return u, math.Log(float64(n))
	}
	u, lu := text(a)
	v, lv := text(b)
	var products, differences []float64
	cosine := 0.0
	for i := range u {
		products = append(products, u[i]*v[i])
		differences = append(differences, math.Abs(u[i]-v[i]))
		cosine += u[i] * v[i]
	}
	extra := []float64{cosine, lu, lv}
	x := append(append(append(append(products, differences...), u...), v...), extra...)
	wide := c.dense(head+".dense", x)
	for i, w := range wide {
		wide[i] = w / 2 * (1 + math.Erf(w/math.Sqrt2))
	}
	return c.dense(head+".out", wide)[0] + c.dense(head+".direct", extra)[0]
}

func TestCompare(t *testing.T) {
	t.Parallel()
	ts := compareTensors()
	c, err := LoadCompare(compareFile(ts), compareHidden, []string{"one", "two"})
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(9, 9))
	var states [][]float32
	var texts []Text
	for _, tokens := range []int{1, 2, 7, 30} {
		v := make([]float32, tokens*compareHidden)
		for i := range v {
			v[i] = float32(rng.NormFloat64())
		}
		text, err := c.Text(v)
		require.NoError(t, err)
		states, texts = append(states, v), append(texts, text)
	}
	for i := range texts {
		for k := range texts {
			for head, name := range []string{"one", "two"} {
				assert.InDelta(t, compared(ts, name, states[i], states[k]), float64(c.Logit(head, texts[i], texts[k])), 1e-4)
			}
		}
	}
	_, err = c.Text(nil)
	require.Error(t, err)
	_, err = c.Text(make([]float32, compareHidden+1))
	require.Error(t, err)
}

func TestLoadCompareRefuses(t *testing.T) {
	t.Parallel()
	good := compareTensors()
	for name, spoil := range map[string]func(map[string]matrix){
		"no mean":      func(ts map[string]matrix) { delete(ts, "mean") },
		"no head":      func(ts map[string]matrix) { delete(ts, "two.out.weight") },
		"no bias":      func(ts map[string]matrix) { delete(ts, "two.dense.bias") },
		"other width":  func(ts map[string]matrix) { ts["one.out.weight"] = matrix{1, 4, make([]float32, 4)} },
		"not a number": func(ts map[string]matrix) { ts["one.out.bias"] = matrix{1, 0, []float32{float32(math.NaN())}} },
		"infinite": func(ts map[string]matrix) {
			ts["one.direct.weight"] = matrix{1, 3, []float32{0, float32(math.Inf(1)), 0}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			ts := map[string]matrix{}
			for n, m := range good {
				ts[n] = m
			}
			spoil(ts)
			c, err := LoadCompare(compareFile(ts), compareHidden, []string{"one", "two"})
			if name == "infinite" { // the values of matrices are read with the first text
				require.NoError(t, err)
				_, err = c.Text(make([]float32, compareHidden))
			}
			assert.Error(t, err, name)
		})
	}
	for _, hidden := range []int{0, -1, compareHidden + 1, maxWidth + 1} {
		t.Run(fmt.Sprint(hidden), func(t *testing.T) {
			_, err := LoadCompare(compareFile(good), hidden, []string{"one"})
			require.Error(t, err)
		})
	}
}

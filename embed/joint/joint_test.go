package joint_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/embed/joint"
)

// fake embeds a text as counts of some letters, and one component that all texts share.
type fake struct {
	name    string
	letters string
	err     error
	short   bool
}

func (f *fake) Model() string { return f.name }
func (f *fake) Dim() int      { return len(f.letters) + 1 }

func (f *fake) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	v := make([]float32, f.Dim())
	v[0] = 3
	for _, r := range text {
		for k, l := range f.letters {
			if r == l {
				v[k+1]++
			}
		}
	}
	var square float32
	for _, x := range v {
		square += x * x
	}
	for i := range v {
		v[i] /= sqrt(square)
	}
	return v, f.err
}

func sqrt(x float32) float32 {
	y := x
	for range 40 {
		y = (y + x/y) / 2
	}
	return y
}

func (f *fake) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	var out [][]float32
	for _, t := range texts {
		v, err := f.EmbedQuery(ctx, t)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	if f.short {
		return out[:len(out)-1], nil
	}
	return out, nil
}

func (f *fake) Calibration() *joint.Calibration {
	mean := make([]float32, f.Dim())
	mean[0] = .7
	return &joint.Calibration{QueryMean: mean, DocumentMean: mean, UnrelatedMean: .1, UnrelatedStd: .1, RelatedMean: .4, RelatedStd: .2}
}

func open(t *testing.T, base, beside *fake) *joint.Embedder {
	t.Helper()
	e, err := joint.New(base, beside, "en")
	require.NoError(t, err)
	return e
}

func dot(a, b []float32) (s float64) {
	for i := range a {
		s += float64(a[i]) * float64(b[i])
	}
	return s
}

func TestBothSpeak(t *testing.T) {
	t.Parallel()
	base, beside := &fake{name: "many", letters: "kq"}, &fake{name: "english", letters: "xj"}
	e := open(t, base, beside)
	assert.Equal(t, base.Dim()+beside.Dim(), e.Dim())
	assert.True(t, e.Slow())
	// Only the second model distinguishes the English texts, and only the first the German ones.
	texts := []string{"the x x x", "the j j j", "der k k k", "der q q q"}
	docs, err := e.EmbedDocuments(t.Context(), texts)
	require.NoError(t, err)
	require.Len(t, docs, len(texts))
	for i, d := range docs {
		require.Len(t, d, e.Dim())
		second := dot(d[base.Dim():], d[base.Dim():])
		if i < 2 {
			assert.InDelta(t, 1, dot(d, d), 1e-5, texts[i])
		} else {
			assert.Zero(t, second, "%s is not English", texts[i])
		}
	}
	q, err := e.EmbedQuery(t.Context(), "what has the x x?")
	require.NoError(t, err)
	assert.Greater(t, dot(q, docs[0]), dot(q, docs[1])+.1)
	q, err = e.EmbedQuery(t.Context(), "wer hat das q q?")
	require.NoError(t, err)
	assert.Zero(t, dot(q[base.Dim():], q[base.Dim():]))
	assert.Greater(t, dot(q, docs[3]), dot(q, docs[2])+.1)
	q, err = e.EmbedQuery(t.Context(), "what has the q q?") // across languages
	require.NoError(t, err)
	assert.Greater(t, dot(q, docs[3]), dot(q, docs[2])+.1)
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	a, b := &fake{name: "a", letters: "kq"}, &fake{name: "b", letters: "xj"}
	assert.Equal(t, open(t, a, b).Model(), open(t, a, b).Model())
	assert.NotEqual(t, open(t, a, b).Model(), open(t, a, &fake{name: "c", letters: "xj"}).Model())
	german, err := joint.New(a, b, "de")
	require.NoError(t, err)
	assert.NotEqual(t, open(t, a, b).Model(), german.Model())
	c := open(t, a, b).Calibration()
	assert.Len(t, c.QueryMean, 6)
	assert.Less(t, c.UnrelatedMean, c.RelatedMean)
	assert.Positive(t, c.UnrelatedStd)
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	a := &fake{name: "a", letters: "kq"}
	_, err := joint.New(a, nil, "en")
	require.Error(t, err)
	_, err = joint.New(a, a)
	require.Error(t, err)
	_, err = joint.New(a, bare{a}, "en")
	require.ErrorContains(t, err, "not calibrated")
}

// bare is an embedder without a calibration.
type bare struct{ *fake }

func (bare) Calibration() *joint.Calibration { return nil }

func TestErrorsOfMembers(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	for what, e := range map[string]*joint.Embedder{
		"base":   open(t, &fake{name: "a", letters: "a", err: down}, &fake{name: "b", letters: "b"}),
		"beside": open(t, &fake{name: "a", letters: "a"}, &fake{name: "b", letters: "b", err: down}),
	} {
		t.Run(what, func(t *testing.T) {
			_, err := e.EmbedQuery(t.Context(), "what is the news?")
			require.ErrorIs(t, err, down, what)
			_, err = e.EmbedDocuments(t.Context(), []string{"that is the news"})
			require.ErrorIs(t, err, down, what)
		})
	}
	_, err := open(t, &fake{name: "a", letters: "a"}, &fake{name: "b", letters: "b", err: down}).EmbedQuery(t.Context(), "wie ist das Wetter?")
	require.NoError(t, err, "the second model is not asked")
	_, err = open(t, &fake{name: "a", letters: "a", short: true}, &fake{name: "b", letters: "b"}).EmbedDocuments(t.Context(), []string{"x", "y"})
	require.Error(t, err)
}

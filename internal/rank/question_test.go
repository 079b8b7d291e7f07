package rank

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/internal/language"
)

// TestWords checks that question words are left out of the keyword search with a calibrated embedder, and kept with other embedders and
// without one.
func TestWords(t *testing.T) {
	t.Parallel()
	const asked, subject = "Wo wohnt denn jetzt meine Schwester?", " wohnt denn   Schwester?"
	for name, c := range map[string]struct {
		calibrated, dense bool
		want              string
	}{
		"calibrated":     {true, true, subject},
		"keywords alone": {true, false, asked},
		"not calibrated": {false, true, asked},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := conversation()
			e := engine()
			if c.calibrated {
				e.Unrelated = &Spread{Mean: .1, Std: .1}
			}
			sp := w.space()
			sp.DenseOff = !c.dense
			a, err := e.Search(t.Context(), sp, Request{Part: memories, Question: e.Ask(asked, time.Time{}, language.AllCues), K: 10, Alpha: balanced})
			require.NoError(t, err)
			a.Release()
			assert.Equal(t, []string{c.want, c.want}, w.asked.text)
		})
	}
}

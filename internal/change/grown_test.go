package change

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/item"
)

// TestCrosses checks which memory is the one with which many are known, where some state nothing of their owner.
func TestCrosses(t *testing.T) {
	t.Parallel()
	rowsOf := func(n int, silent ...int64) (rows []*backend.Hydrated, r *run) {
		r = &run{ctx: t.Context(), docs: map[int64]*item.Doc{}}
		for num := int64(n); num > 0; num-- {
			row := &backend.Hydrated{Src: &backend.Source{Num: num}}
			row.Text = "I have a lamp."
			for _, s := range silent {
				if s == num {
					row.Text = "assistant: Noted."
				}
			}
			rows, r.docs[num] = append(rows, row), &item.Doc{}
		}
		return rows, r
	}
	for _, c := range []struct {
		name   string
		at     int64
		silent []int64
		want   int
	}{
		{"before", crowded - 1, nil, 0},
		{"at", crowded, nil, crowded - 1},
		{"behind", crowded + 1, nil, 0},
		{"behind a silent one", crowded + 1, []int64{crowded}, crowded - 1},
		{"behind silent ones and one that states something", crowded + 2, []int64{crowded + 1}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rows, r := rowsOf(60, c.silent...)
			before, err := r.crosses(&version{src: &backend.Source{Num: c.at}}, rows)
			require.NoError(t, err)
			assert.Len(t, before, c.want)
			assert.NotContains(t, before, c.at)
		})
	}
}

package recall

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// TestInOrder checks that scores follow the order of values, and that hits that did not move keep their scores.
func TestInOrder(t *testing.T) {
	t.Parallel()
	at := func(score, gains float64) weighed { return weighed{Hit: &Hit{Score: score}, gains: gains} }
	got := inOrder([]weighed{at(1, 3), at(.5, 0), at(.3, 0), at(1.2, 0)})
	require.Equal(t, []float64{1.2, .5, .3}, got[:3], "the first was lifted over what fell behind all")
	require.Less(t, got[3], .3)
	require.InDelta(t, .3, got[3], 1e-9)
	require.Equal(t, []float64{.9, .4, .2}, inOrder([]weighed{at(.9, 0), at(.4, 0), at(.2, 2)}), "nothing is before what it belongs behind")
	got = inOrder([]weighed{at(.6, 0), {Hit: &Hit{Score: .1}, lifted: true}, at(.4, 0)})
	require.Equal(t, []float64{.6, .4}, got[:2])
	require.Less(t, got[2], .4, "two never share a score")
}

// TestKeepBehind checks that what a reranker says does not turn the order of two memories of which the later one may have replaced the
// earlier one, along chains in any order, and moves nothing else.
func TestKeepBehind(t *testing.T) {
	t.Parallel()
	day := func(n int) time.Time { return time.Date(2024, 1, n, 0, 0, 0, 0, time.UTC) }
	at := func(num int64, told time.Time, before, value float64) *weighed {
		src := &backend.Source{Num: num, Time: told, Part: backend.Partition{Class: backend.Memory}}
		return &weighed{Hit: &Hit{Row: &backend.Hydrated{Src: src}}, own: true, before: before, value: value}
	}
	keep := func(talk float64, hints []backend.Succession, all ...*weighed) (values []float64) {
		s := &succession{run: &run{Request: &Request{}}, hints: hints}
		of := map[int64][]*weighed{}
		for _, x := range all {
			of[x.Row.Src.Num] = append(of[x.Row.Src.Num], x)
		}
		s.keepBehind(of, talk)
		for _, x := range all {
			values = append(values, x.value)
		}
		return values
	}
	replaced := func(earlier, later int64) backend.Succession {
		return backend.Succession{Earlier: earlier, Later: later, Confidence: .5}
	}

	got := keep(0, []backend.Succession{replaced(1, 2)}, at(1, day(1), 1, 5), at(2, day(2), 2, 3), at(3, day(3), 3, 1))
	require.Less(t, got[0], got[1], "the earlier one stays behind")
	require.InDelta(t, 3, got[0], 1e-9, "and right behind")
	require.Equal(t, []float64{3, 1}, got[1:], "nothing else moves")

	for _, hints := range [][]backend.Succession{{replaced(1, 2), replaced(2, 3)}, {replaced(2, 3), replaced(1, 2)}} {
		got = keep(0, hints, at(1, day(1), 1, 5), at(2, day(2), 2, 4), at(3, day(3), 3, 2))
		require.Less(t, got[0], got[1])
		require.Less(t, got[1], got[2])
	}

	require.Equal(t, []float64{5, 3}, keep(0, []backend.Succession{replaced(1, 2)}, at(1, day(1), 2, 5), at(2, day(2), 1, 3)), "it stood before it already")
	require.Equal(t, []float64{5, 3}, keep(0, []backend.Succession{replaced(1, 2)}, at(1, day(1), 1, 5), at(2, day(1).Add(time.Hour), 2, 3)), "told in one sitting")

	for talk, follows := range map[float64]bool{wholeTalk: true, wholeTalk / 2: false} {
		asked, answer := at(1, day(1), 1, 2), at(4, day(1), 1, 5)
		asked.answer = answer
		got = keep(talk, []backend.Succession{replaced(1, 2)}, asked, answer, at(2, day(2), 2, 3))
		require.Equal(t, follows, got[1] < got[2], "the answer to the earlier one follows it in a chat")
	}
}

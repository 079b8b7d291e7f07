package contextmem

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// TestRequestLog: the latest recalls are remembered as they were, for their organisation alone, and the oldest go first.
func TestRequestLog(t *testing.T) {
	t.Parallel()
	var l requestLog
	q := &Recall{Class: ClassMemory}
	scopes := []scope{{part: backend.Partition{Sub: "a"}}, {part: backend.Partition{Sub: ""}}}
	ids := make([]string, rememberedRequests+10)
	add := func(i int) {
		ids[i] = NewRequestID()
		q.Query = strings.Repeat("?", i%3*200) + strconv.Itoa(i)
		l.add(ids[i], Sub{org: "o", tenant: "t"}, q, scopes[:i%3], make([]SourceInfo, i%2))
	}
	for i := range rememberedRequests {
		add(i)
	}
	first, ok := l.get("o", ids[0])
	require.True(t, ok)
	assert.Equal(t, recalled{org: "o", tenant: "t", query: "0", class: ClassMemory, subs: []string{}, sources: []string{}}, first)
	for i := rememberedRequests; i < len(ids); i++ {
		add(i)
	}
	for i, id := range ids {
		if i > 20 && i%97 > 0 {
			continue
		}
		r, ok := l.get("o", id)
		require.Equal(t, i >= 10, ok, i)
		if ok {
			require.Equal(t, strconv.Itoa(i), strings.Trim(r.query, "?"))
			require.Equal(t, []string{"a", ""}[:i%3], r.subs)
			require.Len(t, r.sources, i%2)
		}
	}
	last := ids[len(ids)-1]
	for _, id := range []string{"", last[1:], NewRequestID(), strings.Replace(last, "-", "0", 1), "g" + last[1:]} {
		_, ok := l.get("o", id)
		assert.False(t, ok, id)
	}
	_, ok = l.get("p", last)
	assert.False(t, ok, "of another organisation")
}

// TestRequestLogBytes: what is remembered is bounded in bytes, the latest last, also where entries end at the end of the memory.
func TestRequestLogBytes(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 4 {
		var l requestLog
		q := &Recall{Class: ClassMemory}
		var ids, queries []string
		for total := 0; total < 3*rememberedBytes; {
			q.Query = strings.Repeat(string(rune('a'+len(ids)%26)), rng.IntN(60_000))
			total += len(q.Query)
			ids, queries = append(ids, NewRequestID()), append(queries, q.Query)
			l.add(ids[len(ids)-1], Sub{org: "o", tenant: "t"}, q, nil, nil)
			require.LessOrEqual(t, len(l.text), rememberedBytes)
		}
		kept := 0
		for i := len(ids) - 1; i >= 0; i-- {
			r, ok := l.get("o", ids[i])
			if !ok {
				for _, id := range ids[:i] {
					_, ok := l.get("o", id)
					require.False(t, ok, "an older one than one that is gone")
				}
				break
			}
			require.Equal(t, queries[i], r.query)
			kept += len(queries[i])
		}
		require.Greater(t, kept, rememberedBytes-130_000)
		require.Less(t, kept, rememberedBytes)
		q.Query = strings.Repeat("?", rememberedBytes)
		id := NewRequestID()
		l.add(id, Sub{}, q, nil, nil)
		_, ok := l.get("", id)
		require.False(t, ok, "more than all")
		_, ok = l.get("o", ids[len(ids)-1])
		require.True(t, ok)
	}
}

package feedback

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRequests: the latest recalls are remembered as they were, for their organisation alone, and the oldest go first.
func TestRequests(t *testing.T) {
	t.Parallel()
	var l Requests
	_, ok := l.Get("o", uuid.NewString())
	require.False(t, ok, "nothing is remembered yet")
	subs, sources := []string{"a", ""}, []string{"x"}
	ids := make([]string, rememberedRequests+10)
	add := func(i int) {
		ids[i] = uuid.NewString()
		l.Add(ids[i], &Recalled{Org: "o", Tenant: "t", Class: 2, Query: strings.Repeat("?", i%3*200) + strconv.Itoa(i), Subs: subs[:i%3], Sources: sources[:i%2]})
	}
	for i := range rememberedRequests {
		add(i)
	}
	first, ok := l.Get("o", strings.ToUpper(ids[0]))
	require.True(t, ok)
	assert.Equal(t, Recalled{Org: "o", Tenant: "t", Query: "0", Class: 2, Subs: []string{}, Sources: []string{}}, first)
	for i := rememberedRequests; i < len(ids); i++ {
		add(i)
	}
	for i, id := range ids {
		if i > 20 && i%97 > 0 {
			continue
		}
		r, ok := l.Get("o", id)
		require.Equal(t, i >= 10, ok, i)
		if ok {
			require.Equal(t, strconv.Itoa(i), strings.Trim(r.Query, "?"))
			require.Equal(t, subs[:i%3], r.Subs)
			require.Equal(t, sources[:i%2], r.Sources)
		}
	}
	last := ids[len(ids)-1]
	for _, id := range []string{"", last[1:], uuid.NewString(), "g" + last[1:]} {
		t.Run(id, func(t *testing.T) {
			_, ok := l.Get("o", id)
			assert.False(t, ok, id)
		})
	}
	_, ok = l.Get("p", last)
	assert.False(t, ok, "of another organisation")
}

// TestRequestsAgain: of two recalls with one id the later one is remembered, and what was long is forgotten with its memory.
func TestRequestsAgain(t *testing.T) {
	t.Parallel()
	var l Requests
	id := uuid.NewString()
	for _, query := range []string{strings.Repeat("long ", 1000), "short"} {
		l.Add(id, &Recalled{Org: "o", Query: query})
		r, ok := l.Get("o", id)
		require.True(t, ok)
		require.Equal(t, query, r.Query)
	}
	for range rememberedRequests {
		l.Add(uuid.NewString(), &Recalled{Org: "o", Query: "short"})
	}
	_, ok := l.Get("o", id)
	require.False(t, ok)
	require.Less(t, l.bytes, rememberedRequests*20, "no place keeps the memory of a long recall")
}

// TestRequestsBytes: what is remembered is bounded in bytes too, and the latest last.
func TestRequestsBytes(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	var l Requests
	var ids, queries []string
	for total := 0; total < 3*rememberedBytes; {
		query := strings.Repeat(string(rune('a'+len(ids)%26)), rng.IntN(60_000))
		total += len(query)
		ids, queries = append(ids, uuid.NewString()), append(queries, query)
		l.Add(ids[len(ids)-1], &Recalled{Org: "o", Tenant: "t", Query: query})
		require.LessOrEqual(t, l.bytes, rememberedBytes)
	}
	kept := 0
	for i := len(ids) - 1; i >= 0; i-- {
		r, ok := l.Get("o", ids[i])
		if !ok {
			for _, id := range ids[:i] {
				_, ok := l.Get("o", id)
				require.False(t, ok, "an older one than one that is gone")
			}
			break
		}
		require.Equal(t, queries[i], r.Query)
		kept += len(queries[i])
	}
	require.Greater(t, kept, rememberedBytes-130_000)
	large := uuid.NewString()
	l.Add(large, &Recalled{Org: "o", Query: strings.Repeat("?", rememberedBytes)})
	_, ok := l.Get("o", large)
	require.False(t, ok, "more than all")
	_, ok = l.Get("o", ids[len(ids)-1])
	require.True(t, ok)
}

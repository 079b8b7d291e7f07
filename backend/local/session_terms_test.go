package local

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// Checks that a search over sessions answers like the oracle while lists of a frequent term are cached, after each kind of change
// that may make a list wrong.
func TestCachedSessions(t *testing.T) {
	t.Parallel()
	want, ix, apply := both(t)
	part := backend.Partition{Sub: "s", Class: backend.Memory}
	began := time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)
	// Sessions of three sources each, by their times; every tenth session has a name instead.
	put := func(source int64, session int, minute int, text string) backend.Change {
		c := backend.Change{Kind: backend.PutChunks, Part: part, Source: source, Time: began.Add(time.Duration(session)*4*backend.SessionGap + time.Duration(minute)*time.Minute)}
		if session%10 == 0 {
			c.Session = fmt.Sprint("session ", session)
		}
		c.Rows = []backend.Row{{Chunk: source, Key: fmt.Sprint("k", source), Text: text}}
		return c
	}
	const sessions = 300
	var first []backend.Change
	for i := range int64(3 * sessions) {
		text := fmt.Sprintf("kettle word%d", i%7)
		if i%11 == 0 {
			text += " kettle kettle lamp"
		}
		if i%5 != 0 {
			text += " lamp"
		}
		first = append(first, put(i+1, int(i/3), int(i%3), text))
	}
	apply(first...)
	cached := func() int64 {
		s := ix.find(part)
		require.NotNil(t, s)
		return s.p.Load().sessions.terms.bytes()
	}
	compare := func(t *testing.T) {
		t.Helper()
		for _, op := range []backend.Operator{backend.Or, backend.And, backend.Phrase} {
			for _, text := range []string{"kettle", "lamp kettle word3", "lamp absent", "kettle lamp", "brass lamp"} {
				for _, filter := range []backend.Filter{{}, {Not: []uint64{77}}} {
					q := backend.KeywordQuery{Part: part, Text: text, K: 2 * sessions, Operator: op, Filter: filter}
					w, err := want.SearchSessions(t.Context(), q)
					require.NoError(t, err)
					g, err := ix.SearchSessions(t.Context(), q)
					require.NoError(t, err)
					sameHits(t, w, g, "%v %q", op, text)
				}
			}
		}
	}
	const gap = int(backend.SessionGap / time.Minute)
	next := int64(10_000)
	steps := []struct {
		name   string
		change func() []backend.Change
		flush  bool
		empty  bool // the change may alter a list, so the cache must be empty before the next search
	}{
		{name: "in memory"},
		{name: "flushed", flush: true, empty: true},
		{name: "the same again"},
		{name: "a source joins a session", change: func() []backend.Change { return []backend.Change{put(next, 7, 3, "kettle kettle brass lamp")} }},
		{name: "a new session", change: func() []backend.Change { return []backend.Change{put(next+1, sessions+5, 0, "brass kettle")} }},
		{name: "a source is replaced", change: func() []backend.Change { return []backend.Change{put(31, 10, 0, "nothing of this")} }, empty: true},
		{name: "a source in the middle leaves", change: func() []backend.Change {
			return []backend.Change{put(next+2, 21, gap+1, "kettle"), {Kind: backend.Drop, Part: part, Source: 65}}
		}, empty: true},
		{name: "two sessions become one", change: func() []backend.Change {
			return []backend.Change{put(next+3, 41, gap, "lamp"), put(next+4, 41, 2*gap-1, "lamp"), put(next+5, 41, 3*gap-2, "kettle"), put(next+6, 41, 4*gap-5, "brass")}
		}, empty: true},
		{name: "the tail is flushed", flush: true, empty: true},
		{name: "a whole session leaves", change: func() []backend.Change {
			return []backend.Change{{Kind: backend.Drop, Part: part, Source: 1}, {Kind: backend.Drop, Part: part, Source: 2}, {Kind: backend.Drop, Part: part, Source: 3}}
		}, empty: true},
		{name: "a session takes its place", change: func() []backend.Change { return []backend.Change{put(next+7, sessions+9, 0, "kettle lamp")} }},
	}
	flushed := false
	for _, s := range steps {
		if s.change != nil {
			apply(s.change()...)
		}
		if s.flush {
			require.NoError(t, ix.Flush(t.Context()))
			flushed = true
		}
		if s.empty {
			require.Zero(t, cached(), s.name)
		}
		compare(t)
		require.Equal(t, flushed, cached() > 0, s.name)
		compare(t) // from the cache
	}
}

// Checks that the cache keeps to its limit and that a list is found again.
func TestSessionTermsBounded(t *testing.T) {
	t.Parallel()
	var x sessionTerms
	for i := range 100 {
		term := fmt.Sprint("t", i)
		x.put(term, make([]sessionTF, 10+i%7), 64)
		_, ok := x.get(term)
		require.True(t, ok)
		sum := 0
		for _, l := range x.lists {
			sum += len(l)
		}
		require.Equal(t, sum, x.entries)
		require.LessOrEqual(t, sum, 64)
	}
	x.put("long", make([]sessionTF, 65), 64)
	_, ok := x.get("long")
	require.False(t, ok)
	x.empty()
	require.Zero(t, x.bytes())
}

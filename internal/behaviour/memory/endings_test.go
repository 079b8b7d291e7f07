package memory_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// endingStory is a line of testdata/endings.txt: messages of one person, and words of what the earlier ones say that does or does not hold after the last.
type endingStory struct {
	messages   []string
	gone, kept []string
	known      []string // words of facts that hold after the last message
}

func stories(t *testing.T, file string) (out []endingStory) {
	t.Helper()
	b, err := os.ReadFile("testdata/" + file)
	require.NoError(t, err)
	for line := range strings.Lines(string(b)) {
		told, labels, ok := strings.Cut(strings.TrimSpace(line), " ## ")
		if !ok || line[0] == '#' {
			continue
		}
		s := endingStory{messages: strings.Split(told, " => ")}
		for l := range strings.FieldsSeq(labels) {
			switch l[0] {
			case '-':
				s.gone = append(s.gone, l[1:])
			case '+':
				s.kept = append(s.kept, l[1:])
			case '=':
				s.known = append(s.known, l[1:])
			default:
				require.Fail(t, "a label without a sign", line)
			}
		}
		out = append(out, s)
	}
	return out
}

// outcome counts what holds after stories: among memories and among the facts that were read of them before.
type outcome struct {
	ends, ended, lost            int // memories: what should end, what did, and what ended wrongly
	factEnds, factEnded, factGot int // facts: what was read that should end, what did, and what ended wrongly
	keeps, factKeeps             int
	knowns, known                int
}

// holds returns the current facts that Facts and Profile show, one in a line.
func holds(t *testing.T, sub contextmem.Sub) (known, profiled string) {
	t.Helper()
	page, err := sub.Facts(t.Context(), facts.Request{Subject: "User"})
	require.NoError(t, err)
	profile, err := sub.Profile(t.Context(), facts.ProfileRequest{Subject: "User"})
	require.NoError(t, err)
	list := func(all []facts.Fact) string {
		var b strings.Builder
		for _, f := range all {
			if f.Status == facts.Current && !strings.HasPrefix(f.Predicate, "not_") {
				fmt.Fprintf(&b, "%s %s\n", f.Predicate, strings.ToLower(f.Object))
			}
		}
		return b.String()
	}
	for _, s := range profile.Slots {
		profiled += list(s.Facts)
		for _, x := range s.Statements {
			profiled += strings.ToLower(x.Text) + "\n"
		}
	}
	return list(page.Facts), profiled + list(profile.Other)
}

// linesWith counts the facts with a word that held before, and those of them that still hold.
func linesWith(before, after, word string) (was, is int) {
	for line := range strings.Lines(before) {
		if strings.Contains(line, word) {
			if was++; strings.Contains("\n"+after, "\n"+line) {
				is++
			}
		}
	}
	return was, is
}

// tellStories stores each story in a sub-tenant of its own, and compares what holds after its last message with the labels.
func tellStories(t *testing.T, acme contextmem.Tenant, all []endingStory) (c outcome) {
	t.Helper()
	ctx := t.Context()
	for i, s := range all {
		sub := acme.Sub(fmt.Sprint("s", i))
		tell := func(k int) {
			_, err := sub.Remember(ctx, contextmem.Memory{ID: fmt.Sprint("m", k), Text: s.messages[k], Infer: true, Time: time.Date(2026, 3, 2+k, 9, 0, 0, 0, time.UTC)})
			require.NoError(t, err)
			require.NoError(t, sub.WaitRefined(ctx))
		}
		last := len(s.messages) - 1
		for k := range last {
			tell(k)
		}
		before, profiledBefore := holds(t, sub)
		tell(last)
		after, profiled := holds(t, sub)
		r, err := sub.Recall(ctx, contextmem.Recall{Query: strings.Join(s.messages[:last], " "), Class: contextmem.ClassMemory})
		require.NoError(t, err)
		superseded := map[int]bool{}
		for _, ch := range r.Chunks {
			var k int
			if _, err := fmt.Sscanf(ch.SourceID, "m%d", &k); err == nil && ch.SupersededBy != nil {
				superseded[k] = true
			}
		}
		said := func(word string) (by int) {
			for k := range last {
				if strings.Contains(strings.ToLower(s.messages[k]), word) {
					by = k
				}
			}
			return by
		}
		var off []string
		add := func(what, word string) { off = append(off, what+" "+word) }
		both := map[int]bool{}
		for _, w := range s.gone {
			both[said(w)] = true
			if c.ends++; superseded[said(w)] {
				c.ended++
			} else {
				add("memory not ended:", w)
			}
			for _, x := range [][2]string{{before, after}, {profiledBefore, profiled}} {
				if was, is := linesWith(x[0], x[1], w); was > 0 {
					if c.factEnds++; is == 0 {
						c.factEnded++
					} else {
						add("fact not ended:", w)
					}
				}
			}
		}
		for _, w := range s.kept {
			if c.keeps++; superseded[said(w)] && !both[said(w)] {
				c.lost++
				add("memory lost:", w)
			}
			for _, x := range [][2]string{{before, after}, {profiledBefore, profiled}} {
				if was, is := linesWith(x[0], x[1], w); was > 0 {
					if c.factKeeps++; is < was {
						c.factGot++
						add("fact lost:", w)
					}
				}
			}
		}
		for _, w := range s.known {
			if c.knowns++; strings.Contains(after, w) {
				c.known++
			} else {
				add("not known:", w)
			}
		}
		if len(off) > 0 {
			t.Logf("%s\n   %q\n   facts %q -> %q\n   profile %q -> %q", strings.Join(s.messages, " => "), off, before, after, profiledBefore, profiled)
		}
	}
	return c
}

// TestEndings measures which statements end with what somebody tells later. testdata has how the sets were made.
func TestEndings(t *testing.T) {
	t.Parallel()
	for file, least := range map[string]struct{ ended, factEnded int }{"endings.txt": {67, 126}, "endingsheld.txt": {27, 48}, "endingslast.txt": {20, 32}} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			_, acme := servicetest.Open(t, nil)
			c := tellStories(t, acme, stories(t, file))
			t.Logf("memories: %d of %d ended, %d of %d lost; facts: %d of %d ended, %d of %d lost; %d of %d known", c.ended, c.ends, c.lost, c.keeps, c.factEnded, c.factEnds, c.factGot, c.factKeeps, c.known, c.knowns)
			assert.GreaterOrEqual(t, c.ended, least.ended)
			assert.GreaterOrEqual(t, c.factEnded, least.factEnded)
			assert.Equal(t, c.knowns, c.known)
			assert.GreaterOrEqual(t, float64(c.ended), .92*float64(c.ended+c.lost))
			assert.GreaterOrEqual(t, float64(c.factEnded), .92*float64(c.factEnded+c.factGot))
		})
	}
}

// TestEndedFacts checks that a fact that a later message ended held before, stays in the history, and holds again where the ending is undone.
func TestEndedFacts(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	sub, ctx := acme.Sub("anna"), t.Context()
	rememberStatements(t, sub, "I eat fish on Fridays and rice on Mondays.", "I've gone vegan.")
	require.NoError(t, sub.WaitRefined(ctx))
	fish := func(r facts.Request) (out []facts.Fact) {
		r.Predicate = "eats"
		page, err := sub.Facts(ctx, r)
		require.NoError(t, err)
		for _, f := range page.Facts {
			if f.Object == "fish" {
				out = append(out, f)
			}
		}
		return out
	}
	told := time.Date(2024, 3, 2, 9, 0, 0, 0, time.UTC)
	assert.Empty(t, fish(facts.Request{}))
	assert.Len(t, fish(facts.Request{AsOf: told.Add(-time.Hour)}), 1)
	assert.Len(t, fish(facts.Request{KnownAt: told.Add(-time.Hour)}), 1)
	past := fish(facts.Request{History: true})
	require.Len(t, past, 1)
	assert.Equal(t, facts.Superseded, past[0].Status)
	assert.Equal(t, told, past[0].Retired.UTC())

	_, err := sub.Restore(ctx, "m0")
	require.NoError(t, err)
	assert.Len(t, fish(facts.Request{}), 1)
}

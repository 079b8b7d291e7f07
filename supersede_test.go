package contextmem_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/embed"
	"github.com/contextmem/contextmem/embed/static"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/judge"
)

// labelled is a judge that knows the answers: a pair of words, of which the second takes the place of the first.
type labelled struct {
	replaces map[[2]string]float64
	answers  map[string]float64
}

func (labelled) Model() string { return "labelled" }

func (l labelled) Replaces(_ context.Context, pairs []judge.Pair) ([]float64, error) {
	out := make([]float64, len(pairs))
	for i, p := range pairs {
		for words, prob := range l.replaces {
			if strings.Contains(p.Earlier.Text, words[0]) && strings.Contains(p.Later.Text, words[1]) {
				out[i] = prob
			}
		}
	}
	return out, nil
}

func (l labelled) Answers(_ context.Context, _ string, passages []string) ([]float64, error) {
	out := make([]float64, len(passages))
	for i, p := range passages {
		for word, prob := range l.answers {
			if strings.Contains(p, word) {
				out[i] = prob
			}
		}
	}
	return out, nil
}

// homes are memories of where somebody lives, told a month apart, and one of something else.
func homes() []contextmem.Memory {
	return []contextmem.Memory{
		{ID: "lisbon", Text: "I live in Lisbon near the river", Time: on("2024-01-01")},
		{ID: "porto", Text: "Porto it is from now on, the boxes are unpacked", Time: on("2024-02-01")},
		{ID: "faro", Text: "first night in Faro, the gulls are loud", Time: on("2024-03-01")},
		{ID: "tea", Text: "I like green tea in the morning", Time: on("2024-01-02")},
	}
}

var moved = map[[2]string]float64{{"Lisbon", "Porto"}: .95, {"Porto", "Faro"}: .9}

// told adds memories and waits until they were compared.
func toldAll(t *testing.T, j judge.Judge, ms ...contextmem.Memory) contextmem.Sub {
	t.Helper()
	_, acme := open(t, &contextmem.Options{Judge: j})
	sub := acme.Sub("ana")
	remember(t, sub, ms...)
	require.NoError(t, sub.WaitRefined(t.Context()))
	return sub
}

// ask returns the ids of what a recall finds, and the chunks by id.
func ask(t *testing.T, s contextmem.Sub, q contextmem.Recall) (ids []string, by map[string]contextmem.Chunk) {
	t.Helper()
	q.Class = contextmem.ClassMemory
	r, err := s.Recall(t.Context(), q)
	require.NoError(t, err)
	by = map[string]contextmem.Chunk{}
	for _, c := range r.Chunks {
		if _, ok := by[c.SourceID]; !ok {
			ids, by[c.SourceID] = append(ids, c.SourceID), c
		}
	}
	return ids, by
}

func TestSupersededMemories(t *testing.T) {
	t.Parallel()
	sub := toldAll(t, labelled{replaces: moved}, homes()...)
	const question = "where do I live near the river"
	ids, by := ask(t, sub, contextmem.Recall{Query: question, MaxResults: 3})
	require.Equal(t, []string{"faro", "lisbon"}, ids[:2])
	require.Equal(t, "faro", ids[0], "the end of the chain stands where the first stood, though it was no candidate")
	old := by["lisbon"]
	require.NotNil(t, old.SupersededBy)
	assert.Equal(t, "porto", old.SupersededBy.ID)
	assert.InDelta(t, .95, old.SupersededBy.Confidence, 1e-9)
	assert.Equal(t, "judge: labelled", old.SupersededBy.Decider)
	assert.Contains(t, old.SupersededBy.Evidence, "Porto")
	assert.Equal(t, on("2024-01-01"), old.ValidFrom)
	assert.Equal(t, on("2024-02-01"), old.ValidTo)
	assert.False(t, old.Retracted)
	assert.Negative(t, old.Explain.Succession)
	assert.Positive(t, by["faro"].Explain.Succession)
	assert.Nil(t, by["faro"].SupersededBy)
	assert.Zero(t, by["faro"].ValidTo)

	ids, by = ask(t, sub, contextmem.Recall{Query: question, Superseded: contextmem.SupersededMark})
	assert.Equal(t, "lisbon", ids[0])
	assert.NotNil(t, by["lisbon"].SupersededBy)
	ids, _ = ask(t, sub, contextmem.Recall{Query: question, Superseded: contextmem.SupersededDrop})
	assert.NotContains(t, ids, "lisbon")
	assert.NotContains(t, ids, "porto")
	assert.Equal(t, "faro", ids[0])

	ids, by = ask(t, sub, contextmem.Recall{Query: question, AsOf: on("2024-02-10")})
	assert.Equal(t, "porto", ids[0], "what held then")
	assert.Equal(t, "faro", ids[len(ids)-1], "it was told later")
	assert.Equal(t, "porto", by["lisbon"].SupersededBy.ID)
	ids, by = ask(t, sub, contextmem.Recall{Query: question, AsOf: on("2024-01-10")})
	assert.Equal(t, "lisbon", ids[0])
	assert.Nil(t, by["lisbon"].SupersededBy)
	ids, _ = ask(t, sub, contextmem.Recall{Query: question, KnownAt: on("2024-02-10")})
	assert.Equal(t, "porto", ids[0])

	_, err := sub.Recall(t.Context(), contextmem.Recall{Query: question, Superseded: "hide"})
	require.ErrorIs(t, err, contextmem.ErrInvalid)
	require.ErrorContains(t, err, "Superseded")
}

// What was inferred from a memory is superseded with it.
func TestSupersededInferred(t *testing.T) {
	t.Parallel()
	_, acme := open(t, nil)
	sub := acme.Sub("nora")
	remember(t, sub, contextmem.Memory{ID: "bonn", Infer: true, Text: "Nora lives in Bonn.", Time: on("2024-01-03")},
		contextmem.Memory{ID: "oslo", Infer: true, Text: "Nora moved to Oslo and no longer lives in Bonn.", Time: on("2024-02-03")})
	ids, by := ask(t, sub, contextmem.Recall{Query: "Where does Nora live?"})
	require.Equal(t, []string{"oslo", "bonn"}, ids)
	require.NotEmpty(t, by["bonn"].Statements, "the statement stands for the memory")
	require.NotNil(t, by["bonn"].SupersededBy)
	require.Equal(t, "oslo", by["bonn"].SupersededBy.ID)
}

// An edge whose other side the caller may not see has no effect.
func TestSupersededUnseen(t *testing.T) {
	t.Parallel()
	sub := toldAll(t, labelled{replaces: moved}, homes()...)
	ids, by := ask(t, sub, contextmem.Recall{Query: "where do I live near the river", IDs: []string{"lisbon", "tea"}})
	assert.Equal(t, "lisbon", ids[0])
	assert.Nil(t, by["lisbon"].SupersededBy)
}

// What is not certain enough to be shown still orders the two; what is improbable does nothing.
func TestSupersededPerhaps(t *testing.T) {
	t.Parallel()
	sub := toldAll(t, labelled{replaces: map[[2]string]float64{{"Lisbon", "Porto"}: .6, {"Lisbon", "Faro"}: .05}}, homes()...)
	ids, by := ask(t, sub, contextmem.Recall{Query: "where do I live near the river"})
	require.Equal(t, []string{"porto", "lisbon"}, ids[:2])
	assert.Nil(t, by["lisbon"].SupersededBy)
}

// Hints too weak to order two memories by themselves decide between memories that a question finds about equally.
func TestSupersededHints(t *testing.T) {
	t.Parallel()
	ms := []contextmem.Memory{
		{ID: "old", Text: "the standup is at nine on weekdays", Time: on("2024-01-01")},
		{ID: "new", Text: "the standup is at ten on weekdays", Time: on("2024-02-01")},
		{ID: "tea", Text: "I like green tea in the morning", Time: on("2024-01-02")},
	}
	const question = "when is the standup, nine?"
	for name, hint := range map[string]float64{"none": 0, "weak": .3} {
		t.Run(name, func(t *testing.T) {
			sub := toldAll(t, labelled{replaces: map[[2]string]float64{{"nine", "ten"}: hint}}, ms...)
			ids, by := ask(t, sub, contextmem.Recall{Query: question})
			if hint == 0 {
				require.Equal(t, []string{"old", "new"}, ids[:2], name)
				return
			}
			require.Equal(t, []string{"new", "old"}, ids[:2], name)
			assert.Nil(t, by["old"].SupersededBy, "a hint is not shown")
			assert.Positive(t, by["new"].Explain.Succession, "it got the score of the one that it stands before")
			assert.Less(t, by["old"].Score, by["new"].Score)
			ids, _ = ask(t, sub, contextmem.Recall{Query: question, Superseded: contextmem.SupersededMark})
			assert.Equal(t, "old", ids[0])
			ids, _ = ask(t, sub, contextmem.Recall{Query: "when was the standup before the team moved, nine?"})
			assert.Equal(t, "old", ids[0], "the question is about what held once")
			cs, err := sub.Conflicts(t.Context(), facts.ConflictsRequest{})
			require.NoError(t, err)
			require.Len(t, cs, 1)
			assert.InDelta(t, hint, cs[0].Confidence, 1e-9)
		})
	}
}

// What is less certain than a conflict counts as a hint and is not listed.
func TestSupersededHintsAreNoConflicts(t *testing.T) {
	t.Parallel()
	sub := toldAll(t, labelled{replaces: map[[2]string]float64{{"Lisbon", "Porto"}: .15}}, homes()...)
	cs, err := sub.Conflicts(t.Context(), facts.ConflictsRequest{})
	require.NoError(t, err)
	assert.Empty(t, cs)
}

// A memory that is deleted, or told anew, no longer takes the place of others.
func TestSupersessionGoesWithItsMemories(t *testing.T) {
	t.Parallel()
	sub := toldAll(t, labelled{replaces: moved}, homes()...)
	_, err := sub.DeleteItems(t.Context(), contextmem.DeleteItemsRequest{IDs: []string{"faro"}, Class: contextmem.ClassMemory})
	require.NoError(t, err)
	ids, _ := ask(t, sub, contextmem.Recall{Query: "where do I live near the river"})
	require.Equal(t, "porto", ids[0])
	remember(t, sub, contextmem.Memory{ID: "porto", Text: "we watched a film about boats", Time: on("2024-02-01")})
	require.NoError(t, sub.WaitRefined(t.Context()))
	ids, by := ask(t, sub, contextmem.Recall{Query: "where do I live near the river"})
	require.Equal(t, "lisbon", ids[0])
	assert.Nil(t, by["lisbon"].SupersededBy)
}

// What was told late but happened early is compared with what came after it.
func TestSupersededOutOfOrder(t *testing.T) {
	t.Parallel()
	ms := homes()
	sub := toldAll(t, labelled{replaces: moved}, ms[2], ms[1])
	remember(t, sub, ms[0])
	require.NoError(t, sub.WaitRefined(t.Context()))
	ids, _ := ask(t, sub, contextmem.Recall{Query: "where do I live near the river"})
	assert.Equal(t, "faro", ids[0])
}

// A caller's word outweighs the deciders', and what was restored is not found again.
func TestSupersedeAndRestore(t *testing.T) {
	t.Parallel()
	sub := toldAll(t, labelled{replaces: map[[2]string]float64{{"Lisbon", "Porto"}: .95, {"Lisbon", "Faro"}: .6}}, homes()...)
	cs, err := sub.Conflicts(t.Context(), facts.ConflictsRequest{})
	require.NoError(t, err)
	require.Len(t, cs, 1)
	assert.Equal(t, "lisbon", cs[0].Earlier)
	assert.Equal(t, "faro", cs[0].Later)
	assert.InDelta(t, .6, cs[0].Confidence, 1e-9)
	cs, err = sub.Conflicts(t.Context(), facts.ConflictsRequest{After: cs[0].ID})
	require.NoError(t, err)
	assert.Empty(t, cs)

	n, err := sub.Restore(t.Context(), "lisbon")
	require.NoError(t, err)
	assert.Equal(t, 2, n)
	const question = "where do I live near the river"
	ids, by := ask(t, sub, contextmem.Recall{Query: question})
	require.Equal(t, "lisbon", ids[0])
	assert.Nil(t, by["lisbon"].SupersededBy)
	require.NoError(t, sub.Supersede(t.Context(), "lisbon", "tea", "moved to the hills"))
	ids, by = ask(t, sub, contextmem.Recall{Query: question})
	require.Equal(t, []string{"tea", "lisbon"}, ids[:2])
	told, err := sub.Superseded(t.Context(), "lisbon", "nothing", "tea")
	require.NoError(t, err)
	assert.Equal(t, []*contextmem.Supersession{by["lisbon"].SupersededBy, nil, nil}, told)
	assert.Equal(t, contextmem.Supersession{ID: "tea", Time: on("2024-01-02"), Confidence: 1, Evidence: "moved to the hills", Decider: "caller"}, *by["lisbon"].SupersededBy)
	n, err = sub.Restore(t.Context(), "lisbon")
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	ids, _ = ask(t, sub, contextmem.Recall{Query: question})
	require.Equal(t, "lisbon", ids[0])

	_, err = sub.Restore(t.Context(), "nobody")
	require.ErrorIs(t, err, contextmem.ErrNotFound)
	require.ErrorIs(t, sub.Supersede(t.Context(), "lisbon", "nobody", ""), contextmem.ErrNotFound)
	require.ErrorIs(t, sub.Supersede(t.Context(), "lisbon", "lisbon", ""), contextmem.ErrConflict)
	_, err = sub.Conflicts(t.Context(), facts.ConflictsRequest{Limit: 1001})
	require.ErrorIs(t, err, contextmem.ErrInvalid)
}

// The judge tells how relevant the best are, and what is not relevant enough is left out.
func TestRelevance(t *testing.T) {
	t.Parallel()
	sub := toldAll(t, labelled{answers: map[string]float64{"Lisbon": .9, "tea": .3}}, homes()...)
	_, by := ask(t, sub, contextmem.Recall{Query: "where do I live near the river"})
	assert.InDelta(t, .9, by["lisbon"].Relevance, 1e-9)
	ids, _ := ask(t, sub, contextmem.Recall{Query: "where do I live near the river", MinRelevance: .5})
	assert.Equal(t, []string{"lisbon"}, ids)
	ids, _ = ask(t, sub, contextmem.Recall{Query: "what is the name of my dentist", MinRelevance: .95})
	assert.Empty(t, ids, "what was never told has no hit")

	// What holds now says nothing of the river, and answers as well as what it took the place of.
	now := toldAll(t, labelled{replaces: moved, answers: map[string]float64{"Lisbon": .9, "Faro": .2}}, homes()...)
	ids, by = ask(t, now, contextmem.Recall{Query: "where do I live near the river"})
	require.Equal(t, "faro", ids[0])
	assert.InDelta(t, .9, by["faro"].Relevance, 1e-9)

	plain := toldAll(t, nil, homes()...)
	_, by = ask(t, plain, contextmem.Recall{Query: "where do I live near the river"})
	for id, c := range by {
		assert.GreaterOrEqual(t, c.Relevance, 0.0, id)
		assert.LessOrEqual(t, c.Relevance, 1.0, id)
	}
	assert.Greater(t, by["lisbon"].Relevance, by["tea"].Relevance)
	_, err := plain.Recall(t.Context(), contextmem.Recall{Query: "x", MinRelevance: 1.5})
	require.ErrorIs(t, err, contextmem.ErrInvalid)
}

// TestSupersededAhead: without a judge a memory is looked at only where something may take its place: what was told before it, or ahead of its time.
func TestSupersededAhead(t *testing.T) {
	t.Parallel()
	goes := contextmem.Memory{ID: "goes", Text: "I go to pilates every Tuesday."}
	stopped := contextmem.Memory{ID: "stopped", Text: "I stopped going to pilates."}
	ahead := stopped
	ahead.Time = time.Now().AddDate(0, 0, 2)
	dated := goes
	dated.Time = on("2024-01-01")
	for name, tc := range map[string]struct {
		told []contextmem.Memory
		want bool
	}{
		"in order":                 {[]contextmem.Memory{goes, stopped}, true},
		"the other way round":      {[]contextmem.Memory{stopped, goes}, false},
		"ahead of its time":        {[]contextmem.Memory{ahead, goes}, true},
		"told before it came in":   {[]contextmem.Memory{stopped, dated}, true},
		"beside others that are":   {[]contextmem.Memory{{ID: "trip", Text: "The trip to Rome is over.", Time: ahead.Time}, goes, stopped}, true},
		"beside others, reversely": {[]contextmem.Memory{{ID: "trip", Text: "The trip to Rome is over.", Time: ahead.Time}, stopped, goes}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sub := toldAll(t, nil, tc.told...)
			_, by := ask(t, sub, contextmem.Recall{Query: "do I go to pilates"})
			require.Contains(t, by, "goes")
			if !tc.want {
				assert.Nil(t, by["goes"].SupersededBy)
				return
			}
			require.NotNil(t, by["goes"].SupersededBy)
			assert.Equal(t, "stopped", by["goes"].SupersededBy.ID)
		})
	}
}

// narrow sees two texts alone.
type narrow struct{ labelled }

func (narrow) Narrow() bool { return true }

// What a narrow judge says of people who talk with each other orders nothing: they come back to what they said.
func TestSupersededTalk(t *testing.T) {
	t.Parallel()
	var ms []contextmem.Memory
	for _, m := range homes() {
		m.Text, m.UserName = "Ann: "+m.Text, "Bob"
		ms = append(ms, m)
	}
	for name, j := range map[string]judge.Judge{"narrow": narrow{labelled{replaces: moved}}, "not": labelled{replaces: moved}} {
		t.Run(name, func(t *testing.T) {
			sub := toldAll(t, j, ms...)
			ids, by := ask(t, sub, contextmem.Recall{Query: "where do I live near the river"})
			if name == "narrow" {
				assert.Equal(t, "lisbon", ids[0])
				assert.Nil(t, by["lisbon"].SupersededBy)
			} else {
				assert.Equal(t, "faro", ids[0])
				assert.NotNil(t, by["lisbon"].SupersededBy)
			}
		})
	}
}

// meant is an embedder whose scores mean something.
type meant struct{ contextmem.Embedder }

func (m meant) Calibration() *embed.Calibration {
	none := make([]float32, m.Dim())
	return &embed.Calibration{QueryMean: none, DocumentMean: none, UnrelatedMean: .05, UnrelatedStd: .08, RelatedMean: .4, RelatedStd: .15}
}

// In a chat that is stored message by message, the answer to what holds now comes with it.
func TestSupersededAnswer(t *testing.T) {
	t.Parallel()
	said := func(id, session, day, who, text string) contextmem.Memory {
		return contextmem.Memory{ID: id, Session: session, Time: on(day), UserName: "Ana", Text: who + ": " + text}
	}
	_, acme := open(t, &contextmem.Options{Judge: labelled{replaces: map[[2]string]float64{{"Lisbon", "Faro"}: .6}}, Embedder: meant{static.New()}})
	sub := acme.Sub("ana")
	remember(t, sub, said("lisbon", "a", "2024-01-01", "Ana", "I live in Lisbon near the river"), said("lisbon+", "a", "2024-01-01", "Assistant", "Good to know."),
		said("tea", "b", "2024-02-01", "Ana", "tea by the river with a friend"), said("tea+", "b", "2024-02-01", "Assistant", "Enjoy the river!"),
		said("walk", "c", "2024-02-11", "Ana", "a walk along the river"), said("walk+", "c", "2024-02-11", "Assistant", "The river is fine in spring."),
		said("faro", "d", "2024-03-01", "Ana", "first night in Faro, the gulls are loud"), said("faro+", "d", "2024-03-01", "Assistant", "Sleep well all the same."))
	require.NoError(t, sub.WaitRefined(t.Context()))
	ids, by := ask(t, sub, contextmem.Recall{Query: "where do I live near the river"})
	require.Equal(t, []string{"faro", "faro+", "lisbon"}, ids[:3], "%v", ids)
	assert.Positive(t, by["faro+"].Explain.Succession)
}

// In a chat that is stored message by message, a hint against a message is one against its answer too, which repeats it; and one that an answer brings up counts for the message.
func TestSupersededWithItsAnswer(t *testing.T) {
	t.Parallel()
	said := func(id, session, day, who, text string) contextmem.Memory {
		return contextmem.Memory{ID: id, Session: session, Time: on(day), UserName: "Ana", Text: who + ": " + text}
	}
	for name, hint := range map[string]float64{"none": 0, "weak": .4} {
		t.Run(name, func(t *testing.T) {
			_, acme := open(t, &contextmem.Options{Judge: labelled{replaces: map[[2]string]float64{{"ninth", "Faro"}: hint}}, Embedder: meant{static.New()}})
			sub := acme.Sub("ana")
			remember(t, sub, said("flat", "a", "2024-01-01", "Ana", "the ninth floor, and no lift"), said("flat+", "a", "2024-01-01", "Assistant", "So you live near the river, on the ninth floor."),
				said("faro", "d", "2024-03-01", "Ana", "first night in Faro, the gulls are loud"), said("faro+", "d", "2024-03-01", "Assistant", "Sleep well all the same."))
			require.NoError(t, sub.WaitRefined(t.Context()))
			ids, by := ask(t, sub, contextmem.Recall{Query: "where do I live near the river"})
			if hint == 0 {
				require.Equal(t, "flat+", ids[0], "%v", ids)
				return
			}
			require.Equal(t, "faro", ids[0], "%v", ids)
			assert.Negative(t, by["flat+"].Explain.Succession)
		})
	}
}

// In such a chat, what may have taken the place of a hit is found however far behind it stands.
func TestSupersededFarBehind(t *testing.T) {
	t.Parallel()
	said := func(id, day, who, text string) contextmem.Memory {
		return contextmem.Memory{ID: id, Session: id[:3], Time: on(day), UserName: "Ana", Text: who + ": " + text}
	}
	for name, hint := range map[string]float64{"none": 0, "weak": .45} {
		t.Run(name, func(t *testing.T) {
			_, acme := open(t, &contextmem.Options{Judge: labelled{replaces: map[[2]string]float64{{"Lisbon", "Faro"}: hint}}, Embedder: meant{static.New()}})
			sub := acme.Sub("ana")
			ms := []contextmem.Memory{said("one", "2024-01-01", "Ana", "I live in Lisbon near the river"), said("one+", "2024-01-01", "Assistant", "Noted."),
				said("two", "2024-05-01", "Ana", "first night in Faro, the gulls are loud"), said("two+", "2024-05-01", "Assistant", "Sleep well.")}
			for i := range 40 {
				ms = append(ms, said(string(rune('a'+i/26))+string(rune('a'+i%26))+"x", "2024-02-01", "Ana", "a walk along the river"))
			}
			remember(t, sub, ms...)
			require.NoError(t, sub.WaitRefined(t.Context()))
			ids, _ := ask(t, sub, contextmem.Recall{Query: "where do I live near the river", MaxResults: 3})
			require.Equal(t, "one", ids[0], "%v", ids)
			if hint == 0 {
				assert.NotContains(t, ids, "two")
			} else {
				assert.Contains(t, ids, "two")
			}
		})
	}
}

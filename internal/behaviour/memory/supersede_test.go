package memory_test

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
	"github.com/contextmem/contextmem/internal/servicetest"
	"github.com/contextmem/contextmem/judge"
)

// fixedJudge is a judge with fixed answers: pairs of words, the second of which replaces the first.
type fixedJudge struct {
	replaces map[[2]string]float64
	answers  map[string]float64
}

func (fixedJudge) Model() string { return "labelled" }

func (l fixedJudge) Replaces(_ context.Context, pairs []judge.Pair) ([]float64, error) {
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

func (l fixedJudge) Answers(_ context.Context, _ string, passages []string) ([]float64, error) {
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

// homeMemories returns memories of where a person lives, a month apart, and one about something else.
func homeMemories() []contextmem.Memory {
	return []contextmem.Memory{
		{ID: "lisbon", Text: "I live in Lisbon near the river", Time: servicetest.OnDay("2024-01-01")},
		{ID: "porto", Text: "Porto it is from now on, the boxes are unpacked", Time: servicetest.OnDay("2024-02-01")},
		{ID: "faro", Text: "first night in Faro, the gulls are loud", Time: servicetest.OnDay("2024-03-01")},
		{ID: "tea", Text: "I like green tea in the morning", Time: servicetest.OnDay("2024-01-02")},
	}
}

var homeMoves = map[[2]string]float64{{"Lisbon", "Porto"}: .95, {"Porto", "Faro"}: .9}

// rememberCompared adds memories and waits until they are compared.
func rememberCompared(t *testing.T, j judge.Judge, ms ...contextmem.Memory) contextmem.Sub {
	t.Helper()
	_, acme := servicetest.Open(t, &contextmem.Options{Judge: j})
	sub := acme.Sub("ana")
	servicetest.Remember(t, sub, ms...)
	require.NoError(t, sub.WaitRefined(t.Context()))
	return sub
}

// recallMemories returns the ids of a recall's chunks, and the chunks by id.
func recallMemories(t *testing.T, s contextmem.Sub, q contextmem.Recall) (ids []string, by map[string]contextmem.Chunk) {
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
	sub := rememberCompared(t, fixedJudge{replaces: homeMoves}, homeMemories()...)
	const question = "where do I live near the river"
	ids, by := recallMemories(t, sub, contextmem.Recall{Query: question, MaxResults: 3})
	require.Equal(t, []string{"faro", "lisbon"}, ids[:2])
	require.Equal(t, "faro", ids[0], "the end of the chain stands where the first stood, though it was no candidate")
	old := by["lisbon"]
	require.NotNil(t, old.SupersededBy)
	assert.Equal(t, "porto", old.SupersededBy.ID)
	assert.InDelta(t, .95, old.SupersededBy.Confidence, 1e-9)
	assert.Equal(t, "judge: labelled", old.SupersededBy.Decider)
	assert.Contains(t, old.SupersededBy.Evidence, "Porto")
	assert.Equal(t, servicetest.OnDay("2024-01-01"), old.ValidFrom)
	assert.Equal(t, servicetest.OnDay("2024-02-01"), old.ValidTo)
	assert.False(t, old.Retracted)
	assert.Negative(t, old.Explain.Succession)
	assert.Positive(t, by["faro"].Explain.Succession)
	assert.Nil(t, by["faro"].SupersededBy)
	assert.Zero(t, by["faro"].ValidTo)

	ids, by = recallMemories(t, sub, contextmem.Recall{Query: question, Superseded: contextmem.SupersededMark})
	assert.Equal(t, "lisbon", ids[0])
	assert.NotNil(t, by["lisbon"].SupersededBy)
	ids, by = recallMemories(t, sub, contextmem.Recall{Query: question, Superseded: contextmem.SupersededDrop})
	assert.NotContains(t, ids, "lisbon")
	assert.Equal(t, "faro", ids[0])
	assert.True(t, by["porto"].SupersededBy.Partly, "it stays: the boxes are unpacked")

	ids, by = recallMemories(t, sub, contextmem.Recall{Query: question, AsOf: servicetest.OnDay("2024-02-10")})
	assert.Equal(t, "porto", ids[0], "what held then")
	assert.Equal(t, "faro", ids[len(ids)-1], "it was told later")
	assert.Equal(t, "porto", by["lisbon"].SupersededBy.ID)
	ids, by = recallMemories(t, sub, contextmem.Recall{Query: question, AsOf: servicetest.OnDay("2024-01-10")})
	assert.Equal(t, "lisbon", ids[0])
	assert.Nil(t, by["lisbon"].SupersededBy)
	ids, _ = recallMemories(t, sub, contextmem.Recall{Query: question, KnownAt: servicetest.OnDay("2024-02-10")})
	assert.Equal(t, "porto", ids[0])

	_, err := sub.Recall(t.Context(), contextmem.Recall{Query: question, Superseded: "hide"})
	require.ErrorIs(t, err, contextmem.ErrInvalid)
	require.ErrorContains(t, err, "Superseded")
}

// TestSupersededInferred checks that a statement inferred from a memory is superseded with it.
func TestSupersededInferred(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	sub := acme.Sub("nora")
	servicetest.Remember(t, sub, contextmem.Memory{ID: "bonn", Infer: true, Text: "Nora lives in Bonn.", Time: servicetest.OnDay("2024-01-03")},
		contextmem.Memory{ID: "oslo", Infer: true, Text: "Nora moved to Oslo and no longer lives in Bonn.", Time: servicetest.OnDay("2024-02-03")})
	ids, by := recallMemories(t, sub, contextmem.Recall{Query: "Where does Nora live?"})
	require.Equal(t, []string{"oslo", "bonn"}, ids)
	require.NotEmpty(t, by["bonn"].Statements, "the statement stands for the memory")
	require.NotNil(t, by["bonn"].SupersededBy)
	require.Equal(t, "oslo", by["bonn"].SupersededBy.ID)
}

// TestSupersededByAHiddenMemory checks that a supersession has no effect for a caller who may not see the superseding
// memory.
func TestSupersededByAHiddenMemory(t *testing.T) {
	t.Parallel()
	sub := rememberCompared(t, fixedJudge{replaces: homeMoves}, homeMemories()...)
	ids, by := recallMemories(t, sub, contextmem.Recall{Query: "where do I live near the river", IDs: []string{"lisbon", "tea"}})
	assert.Equal(t, "lisbon", ids[0])
	assert.Nil(t, by["lisbon"].SupersededBy)
}

// TestUncertainSupersessionOrdersOnly checks that a supersession too uncertain to be shown still orders the two
// memories, and that an improbable one has no effect.
func TestUncertainSupersessionOrdersOnly(t *testing.T) {
	t.Parallel()
	sub := rememberCompared(t, fixedJudge{replaces: map[[2]string]float64{{"Lisbon", "Porto"}: .6, {"Lisbon", "Faro"}: .05}}, homeMemories()...)
	ids, by := recallMemories(t, sub, contextmem.Recall{Query: "where do I live near the river"})
	require.Equal(t, []string{"porto", "lisbon"}, ids[:2])
	assert.Nil(t, by["lisbon"].SupersededBy)
}

// TestSupersededHints checks that a hint too weak to order two memories by itself decides between memories that match a
// question about equally.
func TestSupersededHints(t *testing.T) {
	t.Parallel()
	ms := []contextmem.Memory{
		{ID: "old", Text: "the standup is at nine on weekdays", Time: servicetest.OnDay("2024-01-01")},
		{ID: "new", Text: "the standup is at ten on weekdays", Time: servicetest.OnDay("2024-02-01")},
		{ID: "tea", Text: "I like green tea in the morning", Time: servicetest.OnDay("2024-01-02")},
	}
	const question = "when is the standup, nine?"
	for name, hint := range map[string]float64{"none": 0, "weak": .3} {
		t.Run(name, func(t *testing.T) {
			sub := rememberCompared(t, fixedJudge{replaces: map[[2]string]float64{{"nine", "ten"}: hint}}, ms...)
			ids, by := recallMemories(t, sub, contextmem.Recall{Query: question})
			if hint == 0 {
				require.Equal(t, []string{"old", "new"}, ids[:2], name)
				return
			}
			require.Equal(t, []string{"new", "old"}, ids[:2], name)
			assert.Nil(t, by["old"].SupersededBy, "a hint is not shown")
			assert.Positive(t, by["new"].Explain.Succession, "it got the score of the one that it stands before")
			assert.Less(t, by["old"].Score, by["new"].Score)
			ids, _ = recallMemories(t, sub, contextmem.Recall{Query: question, Superseded: contextmem.SupersededMark})
			assert.Equal(t, "old", ids[0])
			ids, _ = recallMemories(t, sub, contextmem.Recall{Query: "when was the standup before the team moved, nine?"})
			assert.Equal(t, "old", ids[0], "the question is about what held once")
			page, err := sub.Conflicts(t.Context(), facts.ConflictsRequest{})
			require.NoError(t, err)
			require.Len(t, page.Conflicts, 1)
			assert.InDelta(t, hint, page.Conflicts[0].Confidence, 1e-9)
		})
	}
}

// TestSupersededHintsAreNoConflicts checks that a hint less certain than a conflict is not listed.
func TestSupersededHintsAreNoConflicts(t *testing.T) {
	t.Parallel()
	sub := rememberCompared(t, fixedJudge{replaces: map[[2]string]float64{{"Lisbon", "Porto"}: .15}}, homeMemories()...)
	page, err := sub.Conflicts(t.Context(), facts.ConflictsRequest{})
	require.NoError(t, err)
	assert.Empty(t, page.Conflicts)
}

// TestSupersessionGoesWithItsMemories checks that a memory that is deleted or replaced supersedes no others.
func TestSupersessionGoesWithItsMemories(t *testing.T) {
	t.Parallel()
	sub := rememberCompared(t, fixedJudge{replaces: homeMoves}, homeMemories()...)
	_, err := sub.DeleteItems(t.Context(), contextmem.DeleteItemsRequest{IDs: []string{"faro"}, Class: contextmem.ClassMemory})
	require.NoError(t, err)
	ids, _ := recallMemories(t, sub, contextmem.Recall{Query: "where do I live near the river"})
	require.Equal(t, "porto", ids[0])
	servicetest.Remember(t, sub, contextmem.Memory{ID: "porto", Text: "we watched a film about boats", Time: servicetest.OnDay("2024-02-01")})
	require.NoError(t, sub.WaitRefined(t.Context()))
	ids, by := recallMemories(t, sub, contextmem.Recall{Query: "where do I live near the river"})
	require.Equal(t, "lisbon", ids[0])
	assert.Nil(t, by["lisbon"].SupersededBy)
}

// TestSupersededOutOfOrder checks that an event stored late is compared with later events.
func TestSupersededOutOfOrder(t *testing.T) {
	t.Parallel()
	ms := homeMemories()
	sub := rememberCompared(t, fixedJudge{replaces: homeMoves}, ms[2], ms[1])
	servicetest.Remember(t, sub, ms[0])
	require.NoError(t, sub.WaitRefined(t.Context()))
	ids, _ := recallMemories(t, sub, contextmem.Recall{Query: "where do I live near the river"})
	assert.Equal(t, "faro", ids[0])
}

// TestSupersedeAndRestore checks that a supersession by the caller takes precedence over the judge's, and that a
// restored memory is not superseded again.
func TestSupersedeAndRestore(t *testing.T) {
	t.Parallel()
	sub := rememberCompared(t, fixedJudge{replaces: map[[2]string]float64{{"Lisbon", "Porto"}: .95, {"Lisbon", "Faro"}: .6}}, homeMemories()...)
	page, err := sub.Conflicts(t.Context(), facts.ConflictsRequest{})
	require.NoError(t, err)
	cs := page.Conflicts
	require.Len(t, cs, 1)
	assert.Equal(t, "lisbon", cs[0].Earlier)
	assert.Equal(t, "faro", cs[0].Later)
	assert.InDelta(t, .6, cs[0].Confidence, 1e-9)
	page, err = sub.Conflicts(t.Context(), facts.ConflictsRequest{After: cs[0].ID})
	require.NoError(t, err)
	assert.Empty(t, page.Conflicts)
	n, err := sub.Restore(t.Context(), "lisbon")
	require.NoError(t, err)
	assert.Equal(t, 2, n)
	const question = "where do I live near the river"
	ids, by := recallMemories(t, sub, contextmem.Recall{Query: question})
	require.Equal(t, "lisbon", ids[0])
	assert.Nil(t, by["lisbon"].SupersededBy)
	require.NoError(t, sub.Supersede(t.Context(), "lisbon", "tea", "moved to the hills"))
	ids, by = recallMemories(t, sub, contextmem.Recall{Query: question})
	require.Equal(t, []string{"tea", "lisbon"}, ids[:2])
	told, err := sub.Superseded(t.Context(), "lisbon", "nothing", "tea")
	require.NoError(t, err)
	assert.Equal(t, []*contextmem.Supersession{by["lisbon"].SupersededBy, nil, nil}, told)
	assert.Equal(t, contextmem.Supersession{ID: "tea", Time: servicetest.OnDay("2024-01-02"), Confidence: 1, Evidence: "moved to the hills", Decider: "caller"}, *by["lisbon"].SupersededBy)
	n, err = sub.Restore(t.Context(), "lisbon")
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	ids, _ = recallMemories(t, sub, contextmem.Recall{Query: question})
	require.Equal(t, "lisbon", ids[0])

	_, err = sub.Restore(t.Context(), "nobody")
	require.ErrorIs(t, err, contextmem.ErrNotFound)
	require.ErrorIs(t, sub.Supersede(t.Context(), "lisbon", "nobody", ""), contextmem.ErrNotFound)
	require.ErrorIs(t, sub.Supersede(t.Context(), "lisbon", "lisbon", ""), contextmem.ErrConflict)
	_, err = sub.Conflicts(t.Context(), facts.ConflictsRequest{Limit: 1001})
	require.ErrorIs(t, err, contextmem.ErrInvalid)
}

// TestRelevance checks that results have the judge's relevance, and that results below MinRelevance are left out.
func TestRelevance(t *testing.T) {
	t.Parallel()
	sub := rememberCompared(t, fixedJudge{answers: map[string]float64{"Lisbon": .9, "tea": .3}}, homeMemories()...)
	_, by := recallMemories(t, sub, contextmem.Recall{Query: "where do I live near the river"})
	assert.InDelta(t, .9, by["lisbon"].Relevance, .01)
	ids, _ := recallMemories(t, sub, contextmem.Recall{Query: "where do I live near the river", MinRelevance: .5})
	assert.Equal(t, []string{"lisbon"}, ids)
	ids, _ = recallMemories(t, sub, contextmem.Recall{Query: "what is the name of my dentist", MinRelevance: .95})
	assert.Empty(t, ids, "what was never told has no hit")

	// The current memory does not mention the river, and is relevant since the memory that it superseded is.
	now := rememberCompared(t, fixedJudge{replaces: homeMoves, answers: map[string]float64{"Lisbon": .9, "Faro": .2}}, homeMemories()...)
	ids, by = recallMemories(t, now, contextmem.Recall{Query: "where do I live near the river"})
	require.Equal(t, "faro", ids[0])
	assert.InDelta(t, .8, by["faro"].Relevance, .01)

	plain := rememberCompared(t, nil, homeMemories()...)
	_, by = recallMemories(t, plain, contextmem.Recall{Query: "where do I live near the river"})
	for id, c := range by {
		assert.GreaterOrEqual(t, c.Relevance, 0.0, id)
		assert.LessOrEqual(t, c.Relevance, 1.0, id)
	}
	assert.Greater(t, by["lisbon"].Relevance, by["tea"].Relevance)
	_, err := plain.Recall(t.Context(), contextmem.Recall{Query: "x", MinRelevance: 1.5})
	require.ErrorIs(t, err, contextmem.ErrInvalid)
}

// TestComparedWithEarlierMemoriesOnly checks that without a judge a memory is compared only with memories that may
// supersede it: those stored earlier, or ahead of their time.
func TestComparedWithEarlierMemoriesOnly(t *testing.T) {
	t.Parallel()
	goes := contextmem.Memory{ID: "goes", Text: "I go to pilates every Tuesday."}
	stopped := contextmem.Memory{ID: "stopped", Text: "I stopped going to pilates."}
	ahead := stopped
	ahead.Time = time.Now().AddDate(0, 0, 2)
	dated := goes
	dated.Time = servicetest.OnDay("2024-01-01")
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
			sub := rememberCompared(t, nil, tc.told...)
			_, by := recallMemories(t, sub, contextmem.Recall{Query: "do I go to pilates"})
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

// narrowJudge is a judge that reads only two texts, without their context.
type narrowJudge struct{ fixedJudge }

func (narrowJudge) Narrow() bool { return true }

// TestNarrowJudgeIgnoresConversations checks that a narrow judge's answers about messages of several speakers have no
// effect, since speakers return to earlier topics.
func TestNarrowJudgeIgnoresConversations(t *testing.T) {
	t.Parallel()
	var ms []contextmem.Memory
	for _, m := range homeMemories() {
		m.Text, m.UserName = "Ann: "+m.Text, "Bob"
		ms = append(ms, m)
	}
	for name, j := range map[string]judge.Judge{"narrow": narrowJudge{fixedJudge{replaces: homeMoves}}, "not": fixedJudge{replaces: homeMoves}} {
		t.Run(name, func(t *testing.T) {
			sub := rememberCompared(t, j, ms...)
			ids, by := recallMemories(t, sub, contextmem.Recall{Query: "where do I live near the river"})
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

// calibratedEmbedder is an embedder with calibrated scores.
type calibratedEmbedder struct{ contextmem.Embedder }

func (m calibratedEmbedder) Calibration() *embed.Calibration {
	none := make([]float32, m.Dim())
	return &embed.Calibration{QueryMean: none, DocumentMean: none, UnrelatedMean: .05, UnrelatedStd: .08, RelatedMean: .4, RelatedStd: .15}
}

// TestAnswerIsRecalledWithItsMessage checks that in a chat stored message by message, the answer to the current message
// is recalled with it if it repeats it.
func TestAnswerIsRecalledWithItsMessage(t *testing.T) {
	t.Parallel()
	said := func(id, session, day, who, text string) contextmem.Memory {
		return contextmem.Memory{ID: id, Session: session, Time: servicetest.OnDay(day), UserName: "Ana", Text: who + ": " + text}
	}
	_, acme := servicetest.Open(t, &contextmem.Options{Judge: fixedJudge{replaces: map[[2]string]float64{{"Lisbon", "Faro"}: .6}}, Embedder: calibratedEmbedder{static.New()}})
	sub := acme.Sub("ana")
	servicetest.Remember(t, sub, said("lisbon", "a", "2024-01-01", "Ana", "I live in Lisbon near the river"), said("lisbon+", "a", "2024-01-01", "Assistant", "Good to know."),
		said("tea", "b", "2024-02-01", "Ana", "tea by the river with a friend"), said("tea+", "b", "2024-02-01", "Assistant", "Enjoy the river!"),
		said("walk", "c", "2024-02-11", "Ana", "a walk along the river"), said("walk+", "c", "2024-02-11", "Assistant", "The river is fine in spring."),
		said("faro", "d", "2024-03-01", "Ana", "first night in Faro, the gulls are loud"), said("faro+", "d", "2024-03-01", "Assistant", "Your first night in Faro, and loud gulls."))
	require.NoError(t, sub.WaitRefined(t.Context()))
	ids, by := recallMemories(t, sub, contextmem.Recall{Query: "where do I live near the river"})
	require.Equal(t, []string{"faro", "faro+", "lisbon"}, ids[:3], "%v", ids)
	assert.Positive(t, by["faro+"].Explain.Succession)
}

// TestHintsCountForTheAnswerToo checks that in a chat stored message by message, a hint against a message also counts
// against its answer, which repeats it, and a hint found through an answer counts for its message.
func TestHintsCountForTheAnswerToo(t *testing.T) {
	t.Parallel()
	said := func(id, session, day, who, text string) contextmem.Memory {
		return contextmem.Memory{ID: id, Session: session, Time: servicetest.OnDay(day), UserName: "Ana", Text: who + ": " + text}
	}
	for name, hint := range map[string]float64{"none": 0, "weak": .4} {
		t.Run(name, func(t *testing.T) {
			_, acme := servicetest.Open(t, &contextmem.Options{Judge: fixedJudge{replaces: map[[2]string]float64{{"ninth", "Faro"}: hint}}, Embedder: calibratedEmbedder{static.New()}})
			sub := acme.Sub("ana")
			servicetest.Remember(t, sub, said("flat", "a", "2024-01-01", "Ana", "the ninth floor, and no lift"), said("flat+", "a", "2024-01-01", "Assistant", "So you live near the river, on the ninth floor."),
				said("faro", "d", "2024-03-01", "Ana", "first night in Faro, the gulls are loud"), said("faro+", "d", "2024-03-01", "Assistant", "Your first night in Faro, and loud gulls."))
			require.NoError(t, sub.WaitRefined(t.Context()))
			ids, by := recallMemories(t, sub, contextmem.Recall{Query: "where do I live near the river"})
			if hint == 0 {
				require.Equal(t, "flat+", ids[0], "%v", ids)
				return
			}
			require.Equal(t, "faro", ids[0], "%v", ids)
			assert.Negative(t, by["flat+"].Explain.Succession)
		})
	}
}

// TestSupersedingMemoryIsFoundAtAnyRank: in such a chat a memory that may supersede a hit is found however low it ranks.
func TestSupersedingMemoryIsFoundAtAnyRank(t *testing.T) {
	t.Parallel()
	said := func(id, day, who, text string) contextmem.Memory {
		return contextmem.Memory{ID: id, Session: id[:3], Time: servicetest.OnDay(day), UserName: "Ana", Text: who + ": " + text}
	}
	for name, hint := range map[string]float64{"none": 0, "weak": .45} {
		t.Run(name, func(t *testing.T) {
			_, acme := servicetest.Open(t, &contextmem.Options{Judge: fixedJudge{replaces: map[[2]string]float64{{"Lisbon", "Faro"}: hint}}, Embedder: calibratedEmbedder{static.New()}})
			sub := acme.Sub("ana")
			ms := []contextmem.Memory{said("one", "2024-01-01", "Ana", "I live in Lisbon near the river"), said("one+", "2024-01-01", "Assistant", "Noted."),
				said("two", "2024-05-01", "Ana", "first night in Faro, the gulls are loud"), said("two+", "2024-05-01", "Assistant", "Sleep well.")}
			for i := range 40 {
				ms = append(ms, said(string(rune('a'+i/26))+string(rune('a'+i%26))+"x", "2024-02-01", "Ana", "a walk along the river"))
			}
			servicetest.Remember(t, sub, ms...)
			require.NoError(t, sub.WaitRefined(t.Context()))
			ids, _ := recallMemories(t, sub, contextmem.Recall{Query: "where do I live near the river", MaxResults: 3})
			require.Equal(t, "one", ids[0], "%v", ids)
			if hint == 0 {
				assert.NotContains(t, ids, "two")
			} else {
				assert.Contains(t, ids, "two")
			}
		})
	}
}

package change

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/pipeline"
	"github.com/contextmem/contextmem/judge"
)

// described describes memories as the graph index does, by their texts.
func described(texts ...string) (all []backend.Neighbours) {
	for i, text := range texts {
		rest := strings.TrimPrefix(text, pipeline.SpeakerOf(text))
		all = append(all, backend.Neighbours{Chunk: int64(i + 1), Speaker: pipeline.SpeakerOf(text), Question: strings.HasSuffix(text, "?"),
			First: strings.Contains(rest, " I "), Second: strings.Contains(rest, " you ")})
	}
	return all
}

func TestHeadThatHeadsOtherMessagesSpeaks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, head, user string
		session          []string
		want             bool
	}{
		{"two who talk", "ana", "", []string{"Ana: See the shop at eight.", "Bo: Fine.", "Ana: Bring cake."}, true},
		{"the other of them", "bo", "", []string{"Ana: See the shop at eight.", "Bo: Fine.", "Ana: Bring cake.", "Bo: Cake is sold out."}, true},
		{"one alone", "ana", "", []string{"Ana: Moved to Porto.", "Ana: Got a dog.", "Ana: Sold the car."}, true},
		{"a list", "coach", "", []string{"Coach: Berndt", "Venue: Hartley Barn", "Band: The Low Tides", "Cake: Oonagh"}, false},
		{"a list with a change", "coach", "", []string{"Coach: Berndt", "Venue: Hartley Barn", "Band: The Low Tides", "Coach: Ilse from May"}, false},
		{"a note of its own", "coach", "", []string{"Coach: Berndt"}, false},
		{"a note in a conversation", "venue", "", []string{"Ana: See the shop at eight.", "Bo: Fine.", "Ana: Bring cake.", "Bo: Cake is sold out.", "Venue: Hartley Barn"}, false},
		{"beside a named user's notes", "coach", "Ann", []string{"Ann: Bins on Tuesday.", "Ann: Milk.", "Ann: Eggs.", "Ann: Bread.", "Coach: Berndt", "Venue: Hartley Barn", "Coach: Ilse", "Band: The Low Tides"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, converses(c.head, c.user, described(c.session...)))
		})
	}
}

func TestHeadOfWhoSpeaksOfHimself(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, head string
		found      []string
		want       bool
	}{
		{"says I", "ana", []string{"Ana: Moved to Porto.", "Ana: So I sold the car."}, true},
		{"asks", "ana", []string{"Ana: Moved to Porto.", "Ana: Is the car sold?"}, true},
		{"addresses", "ana", []string{"Ana: Moved to Porto.", "Ana: Did see you there."}, true},
		{"often", "ana", []string{"Ana: Porto.", "Ana: Car sold.", "Ana: Dog.", "Ana: Cake.", "Ana: Late."}, true},
		{"a topic and its change", "coach", []string{"Coach: Berndt", "Coach: Ilse"}, false},
		{"others speak", "coach", []string{"Coach: Berndt", "Coach: Ilse", "Ana: So I sold the car.", "Ana: Is the coach here?"}, false},
		{"once", "venue", []string{"Venue: Hartley Barn, I paid"}, false},
		{"a note that has the word", "coach", []string{"Coach: Berndt", "Did I ask the coach?"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, says(c.head, described(c.found...)))
		})
	}
}

func TestTopicHead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Coach: Berndt":                              "Coach",
		"Kinderarzt: Dr. Brandl":                     "Kinderarzt",
		"Ana: I'm late":                              "Ana", // only other messages tell
		"user: I moved to Porto":                     "",
		"assistant: Porto is nice":                   "",
		"Usuario: me mudé a Oporto":                  "",
		"Nutzer: Ich bin umgezogen":                  "",
		"Ann: moved to Porto":                        "", // the user
		"Reminder: bins on Tuesday":                  "",
		"Rent: 850 a month":                          "", // no speaker for any decider
		"Coach: Berndt" + strings.Repeat(" o", 200):  "",
		"See the list: Berndt, Ilse and the new one": "",
	} {
		assert.Equal(t, want, topicHead(&item.Doc{UserName: "Ann"}, text), text)
	}
	assert.Empty(t, topicHead(&item.Doc{Pairs: true}, "Coach: Berndt"), "rendered turns")
	assert.Empty(t, topicHead(&item.Doc{Turns: []item.Turn{{}}}, "Coach: Berndt"), "a conversation")
}

// graphOf is the graph index of memories in no session.
type graphOf struct {
	backend.Graph
	all []backend.Neighbours
}

func (g graphOf) Neighbours(_ context.Context, _ backend.Partition, chunks []int64) (out []backend.Neighbours, err error) {
	for _, c := range chunks {
		out = append(out, g.all[c-1])
	}
	return out, nil
}

// keywordsOf is a keyword index that finds all memories.
type keywordsOf struct {
	backend.Keywords
	n int
}

func (k keywordsOf) SearchKeywords(context.Context, backend.KeywordQuery) (hits []backend.Hit, err error) {
	for i := range k.n {
		hits = append(hits, backend.Hit{Chunk: int64(i + 1)})
	}
	return hits, nil
}

// slim is a judge that sees only two statements.
type slim struct{ judge.Judge }

func (slim) Narrow() bool { return true }

// TestTopicIsReadWithItsHead checks that only the decider about notes reads a topic: the other deciders read a speaker, whose words are behind the colon.
func TestTopicIsReadWithItsHead(t *testing.T) {
	t.Parallel()
	texts := []string{"Coach: Berndt", "Ana: I moved to Porto.", "Ana: Is it raining?", "Reminder: bins on Tuesday", "user: I like tea.", "Coach: Ilse from May"}
	r := &run{Engine: &Engine{Judge: slim{}}, Space: &Space{Graph: graphOf{all: described(texts...)}, Keywords: keywordsOf{n: len(texts)}}, ctx: t.Context()}
	v := &version{src: &backend.Source{}}
	for i, text := range texts {
		v.read(&item.Doc{}, []backend.Chunk{{Num: int64(i + 1), Text: text}})
	}
	require.Len(t, v.statements, len(texts))
	versions := []*version{v}
	require.NoError(t, r.topics(versions))
	for i, want := range []struct {
		note bool
		text string
	}{{true, "Coach: Berndt"}, {false, "I moved to Porto."}, {false, "Is it raining?"}, {true, "bins on Tuesday"}, {false, "I like tea."}, {true, "Coach: Ilse from May"}} {
		n := v.statements[i].asNote()
		assert.Equal(t, want.note, n.note(), texts[i])
		assert.Equal(t, want.text, strings.TrimSpace(n.text), texts[i])
	}
	assert.Equal(t, "Berndt", strings.TrimSpace(v.statements[0].text), "for the other deciders")
	assert.False(t, v.statements[0].own)
	assert.Len(t, r.speakers, 2, "each head is looked up once")
}

// asker is a narrow judge that keeps the earlier statements that it was asked about.
type asker struct {
	slim
	asked *[]string
}

func (asker) Model() string { return "asker" }

func (a asker) Replaces(_ context.Context, pairs []judge.Pair) ([]float64, error) {
	for _, p := range pairs {
		*a.asked = append(*a.asked, p.Earlier.Text)
	}
	return make([]float64, len(pairs)), nil
}

func (asker) Answers(_ context.Context, _ string, texts []string) ([]float64, error) {
	return make([]float64, len(texts)), nil
}

// TestNotesBesideAreComparedAsNotesAlone checks that a note under another head is shown to the decider about notes alone, and with its head.
func TestNotesBesideAreComparedAsNotesAlone(t *testing.T) {
	t.Parallel()
	of := func(num int64, text string) *statement {
		s := read(&item.Doc{}, &backend.Source{Num: num}, &backend.Chunk{Num: num, Text: text})
		s.vector = []float32{1}
		s.readNote(text)
		return s
	}
	same, other, later := of(1, "Coach: Berndt"), of(2, "Trainer: Berndt"), of(3, "Coach: Ilse from May")
	other.aside = true
	near := []*statement{other, same}
	slices.SortStableFunc(near, asides)
	assert.Equal(t, []*statement{same}, told(near))
	var asked []string
	r := &run{Engine: &Engine{Judge: asker{asked: &asked}}, Space: &Space{}, ctx: t.Context()}
	_, err := r.decide(later, near)
	require.NoError(t, err)
	assert.Equal(t, []string{"Berndt", "Coach: Berndt", "Coach: Ilse from May", "Trainer: Berndt", "Coach: Ilse from May"}, asked)
}

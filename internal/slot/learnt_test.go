package slot

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/embed"
	"github.com/contextmem/contextmem/facts"
)

// reader is an embedder that recognises one slot.
type reader struct {
	embed.Embedder
	name string
	p    float64
	err  error
}

func (r *reader) EmbedQuery(context.Context, string) ([]float32, error) { return []float32{1}, r.err }

func (r *reader) QuestionSlot(v []float32) (string, float64) {
	if len(v) != 1 {
		return "", 0
	}
	return r.name, r.p
}

// plain is an embedder that recognises no slots and must not be called.
type plain struct{ embed.Embedder }

// TestAsOwn checks which questions about somebody are read as that person would ask them.
func TestAsOwn(t *testing.T) {
	t.Parallel()
	x := taxonomy(t)
	for question, want := range map[string]string{
		"Where does Alice live?":              "Where do I live?",
		"where does Dr. Okafor live":          "where do I live",
		"Where does my sister work?":          "Where do I work?",
		"Is Mary Jane married?":               "am I married?",
		"What is Tom's job?":                  "What is my job?",
		"What is my mother's phone number?":   "What is my phone number?",
		"Who is Priya's dog's vet?":           "",
		"Where does the cat's food live?":     "",
		"Where does my laptop live?":          "",
		"Where does live music happen here?":  "",
		"Where do I live?":                    "",
		"Where does Kafka live in our stack?": "",
	} {
		got, ok := x.asOwn(question)
		assert.Equal(t, want, got, question)
		assert.Equal(t, want != "", ok, question)
	}
}

func TestAsked(t *testing.T) {
	t.Parallel()
	x := taxonomy(t, facts.Slot{Name: "boat", Asks: []string{"my boat"}})
	down := errors.New("down")
	for name, c := range map[string]struct {
		e        embed.Embedder
		question string
		want     string
		p        float64
		err      error
	}{
		"nobody learnt":          {nil, "Where do I live?", "home", byObject, nil},
		"another embedder":       {plain{}, "Where do I live?", "home", byObject, nil},
		"learnt":                 {&reader{name: "car", p: .97}, "What do I get around on?", "car", .97, nil},
		"learnt wins":            {&reader{name: "salary", p: .97}, "What did my job bring in?", "salary", .97, nil},
		"unsure":                 {&reader{name: "car", p: learnt - .01}, "What do I get around on?", "", 0, nil},
		"unsure, a phrase too":   {&reader{name: "home", p: agreed}, "Where do I live?", "home", agreed, nil},
		"too unsure":             {&reader{name: "home", p: agreed - .01}, "Where do I live?", "", 0, nil},
		"a phrase of another":    {&reader{name: "car", p: agreed}, "Where do I live?", "", 0, nil},
		"about somebody":         {&reader{name: "home", p: agreed}, "Is Alice's home town nice, which city is it?", "home", agreed, nil},
		"somebody's, by phrase":  {&reader{name: "role", p: agreed}, "What is Alice's job?", "role", agreed, nil},
		"somebody's, unsure":     {&reader{name: "role", p: agreed - .01}, "What is Alice's job?", "", 0, nil},
		"somebody's, of another": {&reader{name: "car", p: agreed}, "What is Alice's job?", "", 0, nil},
		"of none":                {&reader{name: "", p: .99}, "What is the capital of Norway?", "", 0, nil},
		"of a slot that is not":  {&reader{name: "moon", p: .99}, "Where do I live?", "", 0, nil},
		"of callers":             {&reader{name: "belongings", p: .99}, "Where is my boat?", "boat", byObject, nil},
		"fails":                  {&reader{err: down}, "Where do I live?", "", 0, down},
		"fails unasked":          {&reader{err: down}, "Where is my boat?", "boat", byObject, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, p, err := x.Asked(t.Context(), c.e, c.question)
			require.ErrorIs(t, err, c.err)
			assert.Equal(t, c.want, got)
			assert.InDelta(t, c.p, p, 1e-9)
		})
	}
}

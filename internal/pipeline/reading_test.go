package pipeline

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/item"
)

const berths = "| berth | boat | owner |\n| --- | --- | --- |\n| A3 | Mirabel | Solberg |\n| A4 |  | Pike \\| Sons |"

func TestReadingOf(t *testing.T) {
	t.Parallel()
	type want struct {
		texts  []string
		shares []float32
	}
	for name, tt := range map[string]struct {
		doc                            item.Doc
		class                          backend.Class
		title, filename, text, heading string
		want                           want
	}{
		"prose": {class: backend.Knowledge, title: "a.md", filename: "a.md", text: "A | b.", want: want{[]string{"A | b."}, []float32{1}}},
		"table": {class: backend.Knowledge, title: "berth_list.csv", filename: "berth_list.csv", text: berths, want: want{
			[]string{"berth list: berth: A3, A4.", "berth list: boat: Mirabel.", "berth list: owner: Solberg, Pike | Sons.",
				"berth list: berth: A3, boat: Mirabel, owner: Solberg.", "berth list: berth: A4, owner: Pike | Sons."},
			[]float32{1. / 6, 1. / 6, 1. / 6, .25, .25}}},
		"one row below a heading": {class: backend.Knowledge, filename: "x.md", heading: "Harbour > Boats", text: "|a|b|\n|:--|--:|\n|1|2|", want: want{
			[]string{"Harbour > Boats: a: 1, b: 2."}, []float32{1}}},
		"a table among prose": {doc: item.Doc{NamedTitle: true}, class: backend.Knowledge, title: "Piers", filename: "x.md", text: "The piers are long and old.\n\n| a |\n| --- |\n| 1 |\n\nWalk them in the evening.",
			want: want{[]string{"Piers\nThe piers are long and old.\n\n\nWalk them in the evening.", "Piers: a: 1."}, []float32{11. / 15, 4. / 15}}},
		"in a memory": {class: backend.Memory, text: berths, want: want{[]string{berths}, []float32{1}}},
		"no rows":     {class: backend.Knowledge, filename: "x.csv", text: "| a | b |\n| --- | --- |", want: want{[]string{"| a | b |\n| --- | --- |"}, []float32{1}}},
		"empty":       {class: backend.Knowledge},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := readingOf(&tt.doc, tt.class, tt.title, tt.filename, tt.text, tt.heading)
			assert.Equal(t, tt.want.texts, r.texts)
			assert.InDeltaSlice(t, tt.want.shares, r.shares, 1e-6)
		})
	}
}

// TestReadingIsBounded checks that all rows of a large table are read, in a bounded number of texts.
func TestReadingIsBounded(t *testing.T) {
	t.Parallel()
	row := "|" + strings.Repeat(" x |", 100) + "\n"
	r := readingOf(&item.Doc{}, backend.Knowledge, "", "wide.csv", row+strings.ReplaceAll(row, "x", "---")+strings.Repeat(row, 50), "")
	assert.Len(t, r.texts, columnTexts+17)
	lines, sum := 0, float32(0)
	for i, text := range r.texts {
		sum += r.shares[i]
		if i >= columnTexts {
			lines += strings.Count(text, "\n") + 1
		}
	}
	assert.Equal(t, 50, lines)
	assert.InDelta(t, 1, sum, 1e-5)
}

// lettered embeds a text as the counts of two of its letters.
type lettered struct{ calls int }

func (*lettered) Model() string { return "lettered" }
func (*lettered) Dim() int      { return 2 }

func (e *lettered) EmbedDocuments(_ context.Context, texts []string) ([][]float32, error) {
	e.calls++
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i] = []float32{float32(strings.Count(t, "k")), float32(strings.Count(t, "q"))}
	}
	return out, nil
}

func (*lettered) EmbedQuery(context.Context, string) ([]float32, error) {
	return make([]float32, 2), nil
}

// TestUnembedded checks that the vector of several texts has the direction of their mean and the mean of their lengths.
func TestUnembedded(t *testing.T) {
	t.Parallel()
	var u unembedded
	var plain, none, both, opposite []float32
	u.add(backend.Knowledge, plainReading("kkq"), &plain)
	u.add(backend.Knowledge, plainReading(""), &none)
	u.add(backend.Knowledge, reading{[]string{"kkkk", "qqqq"}, []float32{.5, .5}}, &both)
	u.add(backend.Knowledge, reading{[]string{"", ""}, []float32{.5, .5}}, &opposite)
	e := new(lettered)
	require.NoError(t, u.embed(t.Context(), e))
	assert.Equal(t, 1, e.calls)
	assert.Equal(t, []float32{2, 1}, plain)
	assert.Nil(t, none)
	assert.InDeltaSlice(t, []float32{2.828427, 2.828427}, both, 1e-5)
	assert.Equal(t, []float32{0, 0}, opposite)
	assert.Zero(t, u.count())
}

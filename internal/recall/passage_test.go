package recall

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

func TestPassages(t *testing.T) {
	t.Parallel()
	const text = "# Leave\n\nEverybody has thirty days. Carry-over ends in March! Ask the office for forms.\n\n- The blue form is for parents\n- the red form is for travel\n\n| day | cost |\n|---|---|\n| Monday | 10 |\n| Friday | 20 |\n\n## Annex"
	for name, c := range map[string]struct{ query, want string }{
		"a sentence":           {"until when does carry-over last?", "Carry-over ends in March!"},
		"two":                  {"how many days everybody has, and carry-over in March", "Everybody has thirty days. Carry-over ends in March!"},
		"an item of a list":    {"red travel form", "- the red form is for travel"},
		"a row of a table":     {"cost on Friday 20", "| Friday | 20 |"},
		"a row by its header":  {"what is the cost of the day Friday?", "| Friday | 20 |"},
		"a heading":            {"leave", "# Leave\n\nEverybody has thirty days."},
		"a heading at the end": {"is there an annex?", "## Annex"},
		"form of the question": {"what is the heron?", ""},
		"nothing":              {"xyzzy", ""},
		"empty":                {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			row := func(text string) *Hit { return &Hit{Row: &backend.Hydrated{Chunk: backend.Chunk{Text: text}}} }
			r := &run{Request: &Request{Query: c.query}}
			r.res.Hits = []*Hit{row(text), row("form form form")}
			r.passages()
			p := r.res.Hits[0].Passage
			require.Equal(t, c.want, text[p.Start:p.End])
		})
	}
}

// TestPassagesOfHeadings: headings answer nothing, so a passage that has only these goes on with the sentence below them.
func TestPassagesOfHeadings(t *testing.T) {
	t.Parallel()
	row := func(text string) *Hit { return &Hit{Row: &backend.Hydrated{Chunk: backend.Chunk{Text: text}}} }
	for text, want := range map[string]string{
		"# Ovens\n\n## Cleaning\n\nScrub the stone with a dry brush. Do it on Fridays.": "# Ovens\n\n## Cleaning\n\nScrub the stone with a dry brush.",
		"# Oven\n\n## Parts\n\nA stone. A door.":                                        "# Oven\n\n## Parts\n\nA stone.",
		"# Oven\n\n# Mixer\n\nIt has a hook. It is loud.":                               "# Oven",
		"# Oven\n\nThe oven is of stone. It is old.":                                    "# Oven\n\nThe oven is of stone.",
		"#oven was the word of the day. It was nice.":                                   "#oven was the word of the day.",
	} {
		r := &run{Request: &Request{Query: "how is the oven cleaned?"}}
		r.res.Hits = []*Hit{row(text), row("Bread is baked. It rests.")}
		r.passages()
		p := r.res.Hits[0].Passage
		require.Equal(t, want, text[p.Start:p.End])
	}
}

func BenchmarkPassages(b *testing.B) {
	text := ""
	for range 12 {
		text += "The heron is a wader of shallow water. It stands still for long and takes fish, frogs and small mammals. "
	}
	r := &run{Request: &Request{Query: "which fish does the heron take in shallow water?"}}
	for range 10 {
		r.res.Hits = append(r.res.Hits, &Hit{Row: &backend.Hydrated{Chunk: backend.Chunk{Text: text}}})
	}
	b.SetBytes(int64(10 * len(text)))
	for b.Loop() {
		r.passages()
	}
}

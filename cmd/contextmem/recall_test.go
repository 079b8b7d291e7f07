package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRecallShowsThePlace: a hit says where in its document it stands, for people and in the lines for programs.
func TestRecallShowsThePlace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	long := strings.Repeat("The bakery opens early, and the dough that was kneaded in the evening\nrests for hours before anybody comes in.\n\n", 40) + "The gate code is four two one seven.\n"
	for name, text := range map[string]string{"sign.pdf": sign, "guide.md": "# Ovens\n\n## Cleaning\n\nScrub the stone with a dry brush.\n", "plain.txt": long} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	data := filepath.Join(t.TempDir(), "data")
	c := inProcess(t, data, "", "ingest", dir)
	require.Zero(t, c.code, "%s%s", c.out, c.err)
	for name, x := range map[string]struct{ question, place string }{
		"page":     {"when does the gate close?", "page 1"},
		"headings": {"how is the stone scrubbed?", "Ovens › Cleaning"},
		"offset":   {"what is the gate code?", "from byte "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := inProcess(t, data, "", "recall", "-n", "1", x.question)
			require.Zero(t, c.code, "%s%s", c.out, c.err)
			cells := strings.Split(strings.TrimSuffix(c.out, "\n"), "\t")
			require.Len(t, cells, 5, c.out)
			require.Empty(t, cells[3], "the notice")
			require.Contains(t, cells[4], x.place)
		})
	}
	require.NotContains(t, inProcess(t, data, "", "recall", "-n", "1", "how is the stone scrubbed?", "--json").out, `"offset"`, "it begins the document")
	require.Contains(t, inProcess(t, data, "", "recall", "-n", "1", "what is the gate code?", "--json").out, `"offset"`)
}

func TestPlaceOfAHit(t *testing.T) {
	t.Parallel()
	for want, h := range map[string]hit{
		"":                         {},
		"Ovens › Cleaning, page 3": {Heading: "Ovens > Cleaning", Page: 3, Offset: 9},
		"Ovens":                    {Heading: "Ovens", Offset: 9},
		"page 3":                   {Page: 3},
		"from byte 9":              {Offset: 9},
	} {
		require.Equal(t, want, h.place())
	}
}

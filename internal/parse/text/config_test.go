package text

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/charmap"

	"github.com/contextmem/contextmem/document"
)

// TestCutQuotes checks that a configuration that ends within a quoted value is partial, and that no other is.
func TestCutQuotes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, in string
		cut      bool
	}{
		{"a.toml", "# don't\n[bed]\nname = \"north\"\nnote = 'it is \"dry\"'\ntext = \"\"\"\na \"quote\" and \\\"\"\"\"\n", false},
		{"a.toml", "[bed]\nname = \"north of the", true},
		{"a.toml", "[bed]\nname = 'north of the", true},
		{"a.toml", "text = \"\"\"\nfirst\nsecond", true},
		{"a.toml", "text = '''\nit's\n'''\nname = \"a # b\" # don't", false},
		{"a.toml", "name = \"an error\nother = 1\n", false},
		{"a.yaml", "bed: \"north of the", true},
		{"a.yaml", "bed: 'north of the", true},
		{"a.yml", "beds:\n  - name: x\n    note: \"dry,\n      sunny", true},
		{"a.yml", "beds:\n  - 'it''s dry", true},
		{"a.yml", "beds:\n  - 'it''s dry'\n  - \"a \\\" b\"\n", false},
		{"a.yaml", "note: |\n  it's: \"open\n\n  key: \"more\nnext: 'x'\n", false},
		{"a.yaml", "- note: >-\n    key: \"open\n  other: 'closed'\n- |\n  - \"open\n", false},
		{"a.yaml", "- note: >-\n    key: \"open\n  other: 'not closed\n", true},
		{"a.yaml", "- |\n  - \"open\n- \"not closed\n", true},
		{"a.yaml", "note: don't \"do\" it: 'now\n  and \"then\n# a 'comment\nlast: it's\n", false},
		{"a.yaml", "\"quoted key\": \"value\"\nurl: \"http://a.example/?x='\" # 'not\n", false},
		{"a.yaml", "text: \"over\n  two lines\"\nnext: 'a\n\n  b'\n", false},
		{"a.txt", "name: \"north of the", false},
	} {
		doc, err := ParsePlain(t.Context(), document.Input{Name: tt.name, Data: []byte(tt.in)}, document.Limits{}.WithDefaults(0))
		require.NoError(t, err)
		assert.Equal(t, tt.cut, doc.Partial != "", tt.in)
		assert.Equal(t, strings.TrimRight(tt.in, "\n"), doc.Text)
	}
}

// TestOpenFrontMatter checks that Markdown whose front matter has no end is partial, and that a rule before a paragraph makes none so.
func TestOpenFrontMatter(t *testing.T) {
	t.Parallel()
	for in, open := range map[string]bool{
		"---\ntitle: Beds\ntags:\n  - peas\n- beans\nda":         true,
		"---\nbed: north\nplant: peas\nsown: Ma":                 true,
		"---\ntitle: Beds\n\nThe beds lie south of the wall.\n":  true,
		"---\ntitle: Beds\n---\nThe beds lie south.\n":           false,
		"---\ntitle: Beds\n...\nThe beds lie south.\n":           false,
		"---\n\nThe beds: they lie south.\n":                     false,
		"---\nNote: they lie south.\n":                           false,
		"---\nNote: they lie south.\nand west of the kitchen.\n": false,
		"---\nNote: they lie south.\n\n# Beds\n\n- peas\n":       false,
		"---\n- peas\n- beans\n":                                 false,
		"Title: Beds\nDate: May\n":                               false,
	} {
		doc, err := ParseMarkdown(t.Context(), document.Input{Name: "a.md", Data: []byte(in)}, document.Limits{}.WithDefaults(0))
		require.NoError(t, err)
		assert.Equal(t, open, doc.Partial != "", in)
	}
}

// TestMixedCharsets checks that a text with parts in two charsets is partial, and that one in a single charset is not.
func TestMixedCharsets(t *testing.T) {
	t.Parallel()
	const german = "Die Möhren und die Rüben müssen früh gesät werden, die Äpfel schön gelagert, und »großer Spaß« ist es auch.\n"
	latin1, err := charmap.Windows1252.NewEncoder().String(german)
	require.NoError(t, err)
	for name, tt := range map[string]struct {
		in, contentType string
		mixed           bool
	}{
		"both":                     {german + strings.Repeat(latin1, 3), "", true},
		"both, the other way":      {latin1 + german, "", true},
		"one":                      {strings.Repeat(latin1, 3), "", false},
		"UTF-8":                    {german, "", false},
		"UTF-8, declared as other": {german, "text/plain; charset=iso-8859-1", true},
		"declared":                 {latin1, "text/plain; charset=windows-1252", false},
		"French":                   {strings.Repeat("\xab \xc9t\xe9 \xbb et \xabMa\xefs\xbb, \xe0 No\xebl ; l'\xeele \xe2\x80 ", 9), "", false},
	} {
		doc, err := Parse(t.Context(), document.Input{Name: "a.txt", ContentType: tt.contentType, Data: []byte(tt.in)}, document.Limits{}.WithDefaults(0))
		require.NoError(t, err)
		assert.Equal(t, tt.mixed, doc.Partial != "", "%s: %s", name, doc.Text)
	}
}

package change

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/item"
)

// TestSeveralSpeak checks that a text in which several people speak to each other is not compared with anything, because it has many
// subjects of more than one person.
func TestSeveralSpeak(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		doc  item.Doc
		text string
		want string
	}{
		"two people":         {item.Doc{}, "1:56 pm on 8 May\nAna: I quit the choir.\nBo: Oh no, not the choir!\nAna: Yes.", ""},
		"one person":         {item.Doc{}, "I quit the choir.\nNo more Tuesdays.", "I quit the choir.\nNo more Tuesdays."},
		"a list":             {item.Doc{}, "Car: Fiesta\nPhone: Pixel", "Fiesta\nPhone: Pixel"},
		"one label":          {item.Doc{}, "Ana: I quit the choir.\nAna: For good.", "I quit the choir.\nAna: For good."},
		"user and assistant": {item.Doc{Pairs: true}, "user: I quit the choir.\nassistant: Noted.", "I quit the choir."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if s := read(&x.doc, &backend.Source{}, &backend.Chunk{Text: x.text}); s != nil {
				got = s.text
			}
			assert.Equal(t, x.want, got)
		})
	}
}

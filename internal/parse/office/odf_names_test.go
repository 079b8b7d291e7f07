package office

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestODFRange(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]struct {
		sheet string
		m     [4]int
		ok    bool
	}{
		"Ferries.A1:Ferries.C4":                 {"Ferries", [4]int{1, 1, 4, 3}, true},
		"$Ferries.$B$2:$Ferries.$C$4":           {"Ferries", [4]int{2, 2, 4, 3}, true},
		"'Night ferries'.A1:'Night ferries'.C4": {"Night ferries", [4]int{1, 1, 4, 3}, true},
		"'It''s: v1.2'.B3:'It''s: v1.2'.C4":     {"It's: v1.2", [4]int{3, 2, 4, 3}, true},
		"Ferries.AA7":                           {"Ferries", [4]int{7, 27, 7, 27}, true},
		"Ferries.A1:C4":                         {"Ferries", [4]int{1, 1, 4, 3}, true},
		"":                                      {},
		"'":                                     {},
		"'open.A1:B2":                           {},
		"A1":                                    {},
		"Ferries.:":                             {sheet: "Ferries"},
		"'a'A1":                                 {sheet: "a"},
		"Ferries.A99999999999999999999:Ferries.B12": {sheet: "Ferries"},
	} {
		sheet, m, ok := odfRange(address)
		assert.Equal(t, want.ok, ok, address)
		if ok {
			assert.Equal(t, want.sheet, sheet, address)
			assert.Equal(t, want.m, m, address)
		}
	}
}

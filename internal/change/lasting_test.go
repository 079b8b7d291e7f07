package change

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestWhatLastsEndsByItsName checks which notes may end what lasts.
func TestWhatLastsEndsByItsName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		earlier, later string
		apart          bool
	}{
		{"I'm allergic to penicillin, please remember that.", "I've switched to oat milk, dairy was making me bloated.", true},
		{"I'm lactose intolerant.", "i switched to sourdough, sliced white was giving me heartburn", true},
		{"My blood type is O negative", "my phone case is new, bright orange", true},
		{"Je suis allergique aux noix", "on a changé de lait, avoine maintenant", true},
		{"Ich bin allergisch gegen Bienen", "Wir trinken jetzt Hafermilch", true},
		{"I'm allergic to cats", "allergy clinic says it's dust mites", false},
		{"I'm allergic to nuts", "I can eat nuts, they tested me", false},
		{"Mum's birthday is the 12th", "mum was born on the 21st", false},
		{"I drink milk", "I've switched to oat milk", false},
		{"we get our veg from Riverford", "gone over to the farm shop", false},
	} {
		assert.Equal(t, c.apart, apartFrom(c.later, c.earlier), "%s - %s", c.earlier, c.later)
	}
}

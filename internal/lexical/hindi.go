package lexical

import (
	"strings"

	"github.com/blevesearch/snowballstem"
)

// hindiSuffixes are the inflections of the lightweight Hindi stemmer of Ramanathan and Rao (2003), longest first.
var hindiSuffixes = strings.Fields(`ाएंगी ाएंगे ाऊंगी ाऊंगा ाइयाँ ाइयों ाइयां
ाएगी ाएगा ाओगी ाओगे एंगी ेंगी एंगे ेंगे ूंगी ूंगा ातीं नाओं नाएं ताओं ताएं ियाँ ियों ियां
ाकर ाइए ाईं ाया ेगी ेगा ोगी ोगे ाने ाना ाते ाती ाता तीं ाओं ाएं ुओं ुएं ुआं
कर ाओ िए ाई ाए ने नी ना ते ीं ती ता ाँ ां ों ें
ो े ू ु ी ि ा`)

// hindiRest is the least number of characters of a stem.
const hindiRest = 2

// stemHindi removes the longest suffix of hindiSuffixes.
func stemHindi(env *snowballstem.Env) bool {
	word := env.Current()
	for _, s := range hindiSuffixes {
		if rest, ok := strings.CutSuffix(word, s); ok && len([]rune(rest)) >= hindiRest {
			env.SetCurrent(rest)
			return true
		}
	}
	return false
}

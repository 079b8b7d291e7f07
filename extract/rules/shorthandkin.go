package rules

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/contextmem/contextmem/internal/language"
)

// kinMod are words before words for family, friends and pets.
var kinMod = map[string]bool{"best": true, "twin": true, "older": true, "younger": true, "elder": true, "big": true, "little": true, "oldest": true, "youngest": true, "eldest": true, "baby": true, "middle": true}

// relative completes what is said of family, friends and pets: "Husband's called Marek", "dog = Biscuit, beagle", "son Eli just started school",
// "Mum lives in Perth".
func relative(s string, words []string) (edit, bool) {
	n := 0
	for n < len(words)-1 && kinMod[words[n]] {
		n++
	}
	noun, owner := strings.CutSuffix(words[n], "'s")
	if language.Lookup(noun).Flags&language.KinNoun == 0 || kinPredicate(noun) == "" || n+1 >= len(words) {
		return edit{}, false
	}
	n++
	my := strings.Join(append([]string{"My"}, append(slices.Clone(words[:n-1]), noun)...), " ")
	next := words[n]
	if owner {
		return edit{0, spanOf(s, n), my + "'s"}, kinStates[next] || next == "name" || next == "birthday"
	}
	if end, sign := signAfter(s, n); sign > 0 && next != "is" && next != "are" {
		v, _ := utf8.DecodeRuneInString(s[end+sign:])
		return edit{0, end + sign, my + " is called "}, unicode.IsUpper(v)
	}
	if strings.HasSuffix(strings.Fields(s)[n-1], ",") {
		return edit{0, spanOf(s, n), my + " is called"}, nameAt(s, n) && len(words) == n+1
	}
	return edit{0, spanOf(s, n), my}, relativeSays(s, words, n, noun)
}

// relativeSays reports whether the words of a note behind those for a relative, which are the first n, say something about him.
func relativeSays(s string, words []string, n int, noun string) bool {
	next := words[n]
	switch {
	case nameAt(s, n):
		if kinTitles[noun] && (noun != "sister" && noun != "brother" && noun != "cousin" || !strings.HasPrefix(s, noun)) {
			return false
		}
		last, name := words[min(n+1, len(words)-1)], strings.Fields(s)[n]
		return language.Lookup(next).Flags&(language.Weekday|language.Month) == 0 && !strings.HasSuffix(next, "'s") && !strings.HasSuffix(last, "'s") && strings.ToUpper(name) != name
	case next == "is":
		return n+1 < len(words) && (kinStates[words[n+1]] || nameAt(s, n+1))
	}
	return kinVerbs[next] && n+1 < len(words)
}

// kinTitles are words for relatives and others that are titles before a name: "Uncle Sam".
var kinTitles = map[string]bool{"uncle": true, "aunt": true, "auntie": true, "coach": true, "doctor": true, "teacher": true, "boss": true, "manager": true, "father": true, "mother": true, "sister": true, "brother": true, "cousin": true,
	"grandma": true, "grandpa": true, "landlord": true, "assistant": true, "trainer": true, "tutor": true, "mentor": true, "lawyer": true}

// kinStates and kinVerbs are what a note says of somebody without "my" before: "Mum is allergic to nuts", "sister lives in Perth".
var (
	kinStates = map[string]bool{"allergic": true, "vegan": true, "vegetarian": true, "diabetic": true, "coeliac": true, "celiac": true, "called": true, "named": true, "lactose": true, "gluten": true}
	kinVerbs  = map[string]bool{"lives": true, "works": true, "likes": true, "loves": true, "hates": true, "prefers": true, "speaks": true}
)

package change

import "github.com/contextmem/contextmem/internal/lazyregexp"

// What lasts ends by a note that speaks of it, and by no other: "I've switched to oat milk, dairy made me bloated" leaves "I'm allergic to penicillin"
// as it was, though both are about what the user may have.

// lasting are the matters that last, by the words that name them.
var lasting = []*lazyregexp.Regexp{
	lazyregexp.New(`(?i)allerg|alérgic|alergi|аллерги|intoleran|unverträglich|anaphyla|\bepipen|\bhives\b|\bcomes? out in\b|\bbrings? me out in\b|過敏|过敏|アレルギー|알레르기|알러지`),
	lazyregexp.New(`(?i)\bblood (?:type|group)\b|\bblutgruppe|\bgroupe sanguin|\bgrupo sangu|\bgruppo sanguigno|血型|血液型|혈액형`),
	lazyregexp.New(`(?i)\b(?:scared|afraid|terrified|frightened|fear) of\b|phobi|\bangst vor\b|\bpeur d|\bmiedo a\b|\bpaura d|\bmedo d`),
	lazyregexp.New(`(?i)\b(?:birthday|bday|b-day)\b|\bborn (?:on|in)\b|geburtstag|\bgeboren\b|anniversaire|\bnée? le\b|cumpleaños|compleanno|aniversário|生日|誕生日|생일`),
	lazyregexp.New(`(?i)\b(?:shoe|ring|collar|hat) size\b|\bsize \d|schuhgröße|\bpointure\b`),
}

// apartFrom reports whether an earlier note is about something that lasts, and a later one names neither that nor anything else of it.
func apartFrom(later, earlier string) bool {
	for _, r := range lasting {
		if !r.MatchString(earlier) {
			continue
		}
		if r.MatchString(later) {
			return false
		}
		in := termsOf(earlier)
		for t := range termsOf(later) {
			if in[t] {
				return false
			}
		}
		return true
	}
	return false
}

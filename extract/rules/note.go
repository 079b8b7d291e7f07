package rules

import (
	"strings"

	"github.com/contextmem/contextmem/extract"
)

// noteKeys are what a note such as "Allergies: nuts" can be about, besides the attributes, and the predicate.
var noteKeys = map[string]complement{
	"allergies":   {"", "allergic_to", extract.KindFact, "", false},
	"allergy":     {"", "allergic_to", extract.KindFact, "", false},
	"diet":        {"", "diet", extract.KindPreference, "", true},
	"hobbies":     {"", "likes", extract.KindPreference, "", false},
	"hobby":       {"", "likes", extract.KindPreference, "", false},
	"likes":       {"", "likes", extract.KindPreference, "", false},
	"dislikes":    {"", "dislikes", extract.KindPreference, "", false},
	"interests":   {"", "interested_in", extract.KindPreference, "", false},
	"location":    {"", "lives_in", extract.KindFact, "", true},
	"city":        {"", "lives_in", extract.KindFact, "", true},
	"job":         {"", "has_role", extract.KindFact, "", true},
	"occupation":  {"", "has_role", extract.KindFact, "", true},
	"role":        {"", "has_role", extract.KindFact, "", true},
	"goal":        {"", "goal", extract.KindGoal, "", false},
	"goals":       {"", "goal", extract.KindGoal, "", false},
	"languages":   {"", "speaks", extract.KindFact, "", false},
	"update":      {},
	"reminder":    {},
	"todo":        {},
	"fact":        {},
	"preferences": {},
	"preference":  {},
	"summary":     {},
	"date":        {},
	"subject":     {},
	"from":        {},
	"to":          {},
}

// noteKey reads the words before a colon as the name of an attribute.
func noteKey(words string) (complement, bool) {
	key := snake(words)
	if c, ok := noteKeys[key]; ok {
		return c, true
	}
	if attributes[key] || strings.HasPrefix(key, "favorite_") || strings.HasPrefix(key, "favourite_") {
		c := complement{predicate: american.Replace(key), kind: extract.KindFact, functional: true}
		if strings.HasPrefix(c.predicate, "favorite") {
			c.kind = extract.KindPreference
		}
		return c, true
	}
	return complement{}, false
}

// note reads "Birthday: May 8" and "Allergies: nuts, milk" in a memory as facts about its speaker.
func (d *doc) note(s *sentence) bool {
	colon := -1
	for i := s.lo + 1; i < min(s.hi-1, s.lo+4); i++ {
		if d.isPunct(s, i, ':') {
			colon = i
			break
		}
	}
	if colon < 0 || !d.in.Memory {
		return false
	}
	words := d.surface(s.lo, colon)
	c, ok := noteKey(words)
	if !ok || c.predicate == "" {
		return false
	}
	base := extract.Fact{Subject: s.speaker, Predicate: c.predicate, Kind: c.kind, Functional: c.functional, Confidence: confState}
	add := func(object string) {
		f := base
		f.Object = object
		f.Text = s.speaker + "'s " + strings.ToLower(words) + ": " + object + "."
		d.addFact(s, f)
	}
	if c.functional {
		if object := d.object(colon+1, s.hi); object != "" {
			add(object)
		}
		return true
	}
	d.eachObject(s, colon+1, s.hi, add)
	return true
}

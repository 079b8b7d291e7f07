package profile

import (
	"strings"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/internal/graph"
)

// persons are the slots whose things are people and animals, of whom much is said that is not of the slot.
var persons = map[string]bool{"family": true, "friends": true, "partner": true, "pet": true, "doctor": true}

// slotOf returns the slot of a fact: that of its predicate and object; of "Anna's pills are amlodipine" that of the thing; of what happened, "event".
func (e *Engine) slotOf(f *facts.Fact, l *graph.Link, inverse bool) (string, float64) {
	if name, sure := e.Slots.Of(l.Predicate, f.Object, inverse); sure > 0 {
		return name, sure
	}
	if _, thing, owned := strings.Cut(f.Subject, "'s "); owned {
		if name, sure := e.Slots.OfThing(thing); sure > 0 && !persons[name] {
			return name, sure
		}
	}
	if l.Kind == extract.KindEvent && !inverse {
		return e.Slots.OfEvent()
	}
	return "", 0
}

package profile

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/facts"
)

// soon is the longest time between two tellings of one occasion.
const soon = 36 * time.Hour

// sense is what a fact says, whatever the words are.
type sense struct{ subject, predicate, object string }

// synonyms are predicates that say the same as another.
var synonyms = map[string]string{
	"resides_in": "lives_in", "home": "lives_in", "is_based_in": "lives_in",
	"employer": "works_at", "employed_at": "works_at", "employed_by": "works_at", "was_employed": "works_at", "is_employed": "works_at",
	"occupation": "has_role", "job": "has_role", "profession": "has_role", "is_a": "has_role",
	"owns": "has", "possesses": "has",
	"born_on": "birthday", "intolerant_to": "intolerant_of",
	"loves": "likes", "enjoys": "likes", "hates": "dislikes", "also_known_as": "name",
}

// mutual are predicates that hold both ways.
var mutual = map[string]bool{"married_to": true, "engaged_to": true, "partner_of": true, "sibling_of": true, "friend_of": true, "colleague_of": true, "neighbor_of": true, "relative_of": true}

// diets are what one is and what one eats.
var diets = map[string]bool{"vegetarian": true, "vegan": true, "pescatarian": true}

// people are words for the same people.
var people = map[string]string{"kids": "child", "kid": "child", "children": "child", "mum": "mother", "mom": "mother", "dad": "father"}

func senseOf(f *facts.Fact) sense {
	predicate, denied := strings.CutPrefix(f.Predicate, extract.NotPrefix)
	subject, object := extract.Key(f.Subject), bare(f.Object)
	if p, ok := synonyms[predicate]; ok {
		predicate = p
	}
	switch allergen, allergy := strings.CutSuffix(object, " allergy"); {
	case predicate == "employs":
		predicate, subject, object = "works_at", bare(f.Object), subject
	case predicate == "works_at":
		object = strings.TrimPrefix(object, "by ")
	case predicate == "has" && allergy:
		predicate, object = "allergic_to", allergen
	case (predicate == "has_role" || predicate == "diet") && diets[object]:
		predicate = "diet"
	case mutual[predicate]:
		if subject = bare(subject); object < subject {
			subject, object = object, subject
		}
	}
	if denied {
		predicate = extract.NotPrefix + predicate
	}
	return sense{subject, predicate, object}
}

// bare is an object without its article, the last word in singular.
func bare(object string) string {
	words := strings.Fields(extract.Key(object))
	for len(words) > 1 && slices.Contains([]string{"a", "an", "the", "my", "our"}, words[0]) {
		words = words[1:]
	}
	if len(words) == 0 {
		return ""
	}
	last := words[len(words)-1]
	if p, ok := people[last]; ok {
		last = p
	} else if len(last) > 3 && strings.HasSuffix(last, "s") && !strings.HasSuffix(last, "ss") && !strings.HasSuffix(last, "us") && !strings.HasSuffix(last, "is") {
		last = last[:len(last)-1]
	}
	words[len(words)-1] = last
	return strings.Join(words, " ")
}

// sameOccasion reports whether two facts of one sense speak of the same: what lasts does, unless it begins or ends on different days; what happens does if it has the same date, or was
// told soon again.
func sameOccasion(a, b *facts.Fact) bool {
	if a.Status != b.Status || a.Status != facts.Current && a.Status != facts.Upcoming {
		return false
	}
	if !a.Since.IsZero() && !b.Since.IsZero() && !a.Since.Equal(b.Since) || !a.Until.Equal(b.Until) {
		return false
	}
	if a.Kind != extract.KindEvent && b.Kind != extract.KindEvent {
		return true
	}
	return !a.Since.IsZero() && a.Since.Equal(b.Since) || a.Learnt.Sub(b.Learnt).Abs() <= soon
}

// together makes one fact of those that say the same, in place of the first of them.
func together(fs []facts.Fact) []facts.Fact {
	at := map[sense][]int{}
	out := fs[:0]
	for i := range fs {
		f := fs[i]
		k := senseOf(&f)
		j := slices.IndexFunc(at[k], func(j int) bool { return sameOccasion(&out[j], &f) })
		if j < 0 {
			at[k] = append(at[k], len(out))
			out = append(out, f)
			continue
		}
		first := &out[at[k][j]]
		if first.Slot == "" {
			first.Slot, first.SlotConfidence = f.Slot, f.SlotConfidence
		}
		if first.Since.IsZero() {
			first.Since, first.Precision = f.Since, f.Precision
		}
		first.Confidence = max(first.Confidence, f.Confidence)
		first.ToldLater = first.ToldLater && f.ToldLater
		addOccurrence(first, &f)
	}
	return out
}

// addOccurrence adds the place of an equal fact to f.Also, if it is in another chunk.
func addOccurrence(f, other *facts.Fact) {
	if other.ChunkID == f.ChunkID || slices.ContainsFunc(f.Also, func(t facts.Occurrence) bool { return t.ChunkID == other.ChunkID }) {
		return
	}
	f.Also = append(f.Also, facts.Occurrence{ID: other.ID, Evidence: other.Evidence, Learnt: other.Learnt, SourceID: other.SourceID, ChunkID: other.ChunkID})
	slices.SortStableFunc(f.Also, func(a, b facts.Occurrence) int { return b.Learnt.Compare(a.Learnt) })
}

// earlier adds to the facts of a subject where the same was told before, if what was told later took its place.
func (e *Engine) earlier(ctx context.Context, a *asked, q backend.RelationQuery, fs []facts.Fact) error {
	by := map[string]int{}
	for i := range fs {
		by[fs[i].ID] = i
	}
	q.AllTime, q.After = true, 0
	links, release, _, _, err := a.links(ctx, q)
	if err != nil {
		return err
	}
	defer release()
	for i := len(links) - 1; i >= 0; i-- { // what took a place is stored later
		f, ok := e.fact(&links[i], a.now, time.Time{}, q.Entities)
		at, newer := by[f.SupersededBy]
		if !ok || f.SupersededBy == "" || !newer || f.Status != facts.Superseded || senseOf(&f) != senseOf(&fs[at]) {
			continue
		}
		by[f.ID] = at
		addOccurrence(&fs[at], &f)
	}
	return nil
}

// once removes relations whose sentence also states a fact of the same subject and time. For example, "I'm visiting Rome in May" gives a visit and a plan.
func once(fs []facts.Fact) []facts.Fact {
	type said struct {
		source, evidence, subject string
		since                     int64
	}
	of := func(f *facts.Fact) said { return said{f.SourceID, f.Evidence, f.Subject, f.Since.Unix()} }
	stated := map[said]bool{}
	for i := range fs {
		if fs[i].Kind != relation {
			stated[of(&fs[i])] = true
		}
	}
	return slices.DeleteFunc(fs, func(f facts.Fact) bool { return f.Kind == relation && stated[of(&f)] })
}

package slot

import (
	"context"

	"github.com/contextmem/contextmem/embed"
)

// Probabilities of what an embedder learnt to tell; docs/recall.md has how often it is right.
const (
	learnt = .85 // from here on its word is enough
	agreed = .6  // from here on a phrase that says the same is believed
)

// Asked returns the slot that a question asks about and how sure that is, 0 for none. Slots that callers added to are found by their phrases. For others, e is believed where
// it learnt slots: phrases alone are wrong as often as right, so that they count only where e thinks the same. The error is that of e, which is asked for
// the vector of the question.
func (t *Taxonomy) Asked(ctx context.Context, e embed.Embedder, question string) (name string, confidence float64, err error) {
	name, confidence = t.OfQuestion(question)
	reader, ok := e.(embed.SlotReader)
	if !ok || t.own[name] {
		return name, confidence, nil
	}
	v, err := e.EmbedQuery(ctx, question)
	if err != nil {
		return "", 0, err
	}
	said, p := reader.QuestionSlot(v)
	if p >= learnt && t.Has(said) || p >= agreed && said == name && name != "" {
		return said, p, nil
	}
	return "", 0, nil
}

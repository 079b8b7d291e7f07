package slot

import (
	"context"

	"github.com/contextmem/contextmem/embed"
)

// Thresholds of an embedder's slot probabilities; docs/recall.md has the measured precision.
const (
	learnt = .85 // the embedder's slot alone is enough
	agreed = .6  // enough if a phrase gives the same slot
)

// Asked returns the slot that a question asks about and the confidence of that; a confidence of 0 means no slot. Slots that callers have added to are found by phrases. For other
// slots phrases alone are wrong as often as right. If e recognises slots, phrases therefore count only if e agrees. A question about somebody else is also
// read as that person would ask it, and then a phrase and e have to agree. The error is that of e, which embeds the
// question.
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
	own, ok := t.asOwn(question)
	if name, _ = t.OfQuestion(own); !ok || name == "" {
		return "", 0, nil
	}
	if v, err = e.EmbedQuery(ctx, own); err != nil {
		return "", 0, err
	}
	if said, p = reader.QuestionSlot(v); p >= agreed && said == name {
		return said, p, nil
	}
	return "", 0, nil
}

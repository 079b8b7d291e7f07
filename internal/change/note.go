package change

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/chunk"
	"github.com/contextmem/contextmem/judge"
)

// Short notes have words of their own, and a judge that learnt of conversations gives nearly all their pairs a probability near 0. Its
// logits still order the pairs. A logistic function of them and of what the words say, learnt of stores of notes, tells the pairs apart.
// What it finds orders two memories and is not shown.

const (
	maxNote   = 300       // bytes of a note
	maxSaid   = 100       // bytes of a note that its owner says to an assistant: longer messages are about several things
	sureSaid  = .5        // least probability that such a note replaces another where many are known: see crowd
	byNotes   = "notes: " // begins the decider's name, before the judge's
	mostNoted = .79       // greatest confidence of the decider: below Shown
)

// note reports whether a statement is a short note, or a message to an assistant that is as short as one.
func (s *statement) note() bool {
	return s.own && len(s.text) <= maxNote && (!s.talk || len(s.text) <= maxSaid)
}

// OrdersByScores reports whether a succession is of the decider about notes, so that it orders two memories only together with their scores.
func OrdersByScores(f *backend.Succession) bool { return strings.HasPrefix(f.Decider, byNotes) }

// Weights of the logit with which a note replaces another for a question, learnt of questions to small stores of notes and messages. The shift is less than
// the learnt one, so that a note about another thing of the same kind stays behind: docs/recall.md has what that costs. A question about an earlier note of
// several sentences may be about another of them than the one that no longer holds.
const (
	orderNote    = 1.1
	orderShare   = 2.6
	orderShift   = .2
	orderSeveral = -1.6 // added if the earlier note has several sentences
)

// Before reports whether a note comes before the one that it may replace, by a succession of the decider about notes. share is its score as a share of the
// other's, 0 to 1.
func Before(f *backend.Succession, share float64) bool {
	logit := orderNote*logit(f.Confidence) + orderShare*min(share, 1) + orderShift
	if _, parts := unwrap(f.Extra); len(parts) > 0 { // Concerns knows which of them the question is about
		return logit > 0
	}
	sentences := 0
	for range chunk.Sentences(f.Matter) {
		if sentences++; sentences > 1 {
			return logit+orderSeveral > 0
		}
	}
	return logit > 0
}

// notes asks the judge about a note and the earlier notes that are near it, and keeps its verdict where it is more certain than that of other deciders.
func (r *run) notes(s *statement, near []*statement, out []verdict) error {
	later := s.asNote()
	if !r.narrow() || s.vector == nil || !later.note() {
		return nil
	}
	var earlier []*statement
	var at []int
	for i, n := range near {
		if last, _ := order(s, n); last == s && n.asNote().note() && !onlyAsks(n.text) && !apartFrom(later.text, n.asNote().text) {
			earlier, at = append(earlier, n.asNote()), append(at, i)
		}
	}
	if len(earlier) == 0 {
		return nil
	}
	asked, err := r.askAbout(later, earlier)
	if err != nil {
		return err
	}
	for i, x := range signals(later, earlier, asked) {
		x[sCrowd] = crowd(r.known)
		p := min(x.probability(), mostNoted)
		if later.talk && r.known >= crowded && p < sureSaid { // how far a message stands out says more
			continue
		}
		if p > out[at[i]].confidence && out[at[i]].confidence <= Orders { // rules that order two notes know more
			out[at[i]] = verdict{confidence: p, matter: short(earlier[i].text), evidence: short(later.text), decider: byNotes + r.Judge.Model()}
		}
	}
	return nil
}

// onlyAsks reports whether all sentences of a text are questions: there is nothing that another note could replace.
func onlyAsks(text string) bool {
	asks := false
	for from, to := range chunk.Sentences(text) {
		if last, _ := utf8.DecodeLastRuneInString(text[from:to]); !strings.ContainsRune("?？؟", last) {
			return false
		}
		asks = true
	}
	return asks
}

// judged is what a judge says about a note and an earlier one, as logits.
type judged struct {
	replaces float64 // the note replaces the earlier one
	back     float64 // the earlier one would replace the note
	answers  float64 // the note answers the earlier one, read as a question
}

// askAbout asks the judge about a note and each of the earlier ones.
func (r *run) askAbout(s *statement, earlier []*statement) ([]judged, error) {
	pairs := make([]judge.Pair, 0, 2*len(earlier))
	for _, e := range earlier {
		a, b := judge.Statement{Text: e.text}, judge.Statement{Text: s.text}
		pairs = append(pairs, judge.Pair{Earlier: a, Later: b}, judge.Pair{Earlier: b, Later: a})
	}
	probs, err := r.replaces(pairs)
	if err != nil {
		return nil, err
	}
	out := make([]judged, len(earlier))
	for i, e := range earlier {
		p, err := r.answers(e.text, s.text)
		if err != nil {
			return nil, err
		}
		out[i] = judged{logit(probs[2*i]), logit(probs[2*i+1]), logit(p)}
	}
	return out, nil
}

// answers returns the judge's probability that a passage answers a question.
func (r *run) answers(question, passage string) (float64, error) {
	var probs []float64
	err := fault.Guard(func() (err error) {
		probs, err = r.Judge.Answers(r.ctx, question, []string{passage})
		return err
	})
	if err == nil && len(probs) != 1 {
		err = errors.New("another number of probabilities")
	}
	if err != nil {
		return 0, fmt.Errorf("judge: %w", err)
	}
	return probs[0], nil
}

// logit returns the logit of a probability, which it keeps away from 0 and 1.
func logit(p float64) float64 {
	p = min(max(p, surest), 1-surest)
	return math.Log(p / (1 - p))
}

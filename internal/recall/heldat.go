package recall

import (
	"slices"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/language"
)

// askedOf returns the end of the past time whose state a question asks for: that of July for "how did I get around in July?". It is zero where the question is not in
// the past, names no time or one that is not over, or asks whether something happened: that is often told, or taken back, later. The words are English.
func askedOf(question string, cues *language.Cues, now time.Time) time.Time {
	if len(cues.Dates) == 0 || !pastVerb.MatchString(question) || laterVerb.MatchString(question) || whether.MatchString(question) {
		return time.Time{}
	}
	c := language.SomeCues(question, now, language.CueIntent)
	end := c.WindowEnd
	switch c.Intent {
	case language.IntentAsOf:
		end = c.Cutoff
	case language.IntentRange:
	default:
		return time.Time{}
	}
	if end.IsZero() || !end.Before(now) {
		return time.Time{}
	}
	return end
}

// heldAt returns the time at which what is asked for held: AsOf, or the past time that the question names. It is zero for the present.
func (r *run) heldAt() time.Time {
	if !r.AsOf.IsZero() {
		return r.AsOf
	}
	return r.askedOf
}

// afterwards reports whether a memory was told after the time that is asked for. Such a memory may still say something about that moment, for
// example "I lived in Porto then".
func (r *run) afterwards(src *backend.Source) bool {
	at := r.heldAt()
	return !at.IsZero() && src.Part.Class == backend.Memory && item.StatedAt(src).After(at)
}

// readBack adds the hints that say that hits told after the time that is asked for may supersede others.
func (s *succession) readBack(nums []int64) error {
	var later []int64
	for _, h := range s.hits {
		if num := h.Row.Src.Num; slices.Contains(nums, num) && s.afterwards(h.Row.Src) && !slices.Contains(later, num) {
			later = append(later, num)
		}
	}
	if len(later) == 0 {
		return nil
	}
	found, err := s.Store.Successions(s.ctx, backend.SuccessionQuery{Part: s.part, Later: later})
	if err != nil {
		return err
	}
	for _, f := range s.concerned(found) {
		if !slices.ContainsFunc(s.hints, func(h backend.Succession) bool {
			return h.Earlier == f.Earlier && h.Later == f.Later && h.EarlierChunk == f.EarlierChunk
		}) {
			s.hints = append(s.hints, f)
		}
	}
	return nil
}

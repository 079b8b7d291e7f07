package recall

import (
	"slices"
	"strings"

	"github.com/contextmem/contextmem/internal/pipeline"
	"github.com/contextmem/contextmem/internal/rank"
)

// In chats of short messages that are stored one by one, the judge rates exchanges. An answer then needs no rank of its own among what is rated, and what one
// side leaves open the other may say. Where question and best hit are English, the judge reads both sides as one text, without an answer that says nothing: behind
// "Thanks, noted." a message that answers looks as if it did not. In other languages each side is a text, and an answer counts by a share of its odds. docs/recall.md compares the two.
const (
	answerShare   = .4 // share of the odds of an answer that is added to those of its message
	exchangeShare = .2 // share of the odds of following exchanges whose sides are texts of their own; otherwise behindShare
)

// judged is what the judge rates of hits.
type judged struct {
	texts  []string
	sides  [][]int // of each rated hit or exchange: its texts, the answer's last
	of     []int   // for each of the first hits, the index in sides
	behind float64 // see pooled
}

// exchange is a hit, and in a chat of short messages the other side of its exchange if there is one. A row is nil until it is read.
type exchange struct {
	message, answer *Hit
	talk            bool
}

// together returns what the judge is to rate for the first hits: n of them or, in chats of short messages, n exchanges. Its errors are those of the Store.
func (r *run) together(hits []*Hit, n int) (*judged, error) {
	have := make(map[int64]*Hit, len(hits))
	for _, h := range hits {
		have[h.Row.Num] = h
	}
	var missing []*Hit
	side := func(of *Hit, chunk int64) *Hit {
		h := have[chunk]
		if h == nil && chunk != 0 {
			h = &Hit{ranked: rank.Scored{Chunk: chunk}, scope: of.scope}
			have[chunk] = h
			missing = append(missing, h)
		}
		return h
	}
	g := &judged{behind: behindShare}
	whole := readable([]string{"en"}, r.Query) && readable([]string{"en"}, hits[0].Row.Text)
	var found []exchange
	for _, h := range hits {
		x := exchange{message: h}
		if x.talk = h.talks(whole); x.talk {
			if message, answer := h.scope.answer.Exchange(&h.ranked); answer != 0 {
				x.message, x.answer = side(h, message), side(h, answer)
			}
		}
		k := slices.IndexFunc(found, func(o exchange) bool { return o.has(h) })
		if k < 0 {
			if k = len(found); k == n {
				break
			}
			found = append(found, x)
		}
		g.of = append(g.of, k)
	}
	if len(missing) > 0 {
		if _, err := r.read(missing, nil); err != nil {
			return nil, err
		}
	}
	g.write(found, whole)
	return g, nil
}

// talks reports whether a hit is of a chat whose exchanges are rated. An exchange that is rated as one text must be short, since a judge may read only its beginning.
func (h *Hit) talks(whole bool) bool {
	if h.scope == nil || h.scope.answer == nil {
		return false
	}
	talk := h.scope.answer.Talk()
	return talk >= wholeTalk || talk > 0 && !whole
}

// has reports whether a hit is a side of the exchange.
func (x exchange) has(h *Hit) bool { return h == x.message || h == x.answer }

// write sets the texts of hits and exchanges. whole says that an exchange is one text.
func (g *judged) write(found []exchange, whole bool) {
	g.sides = make([][]int, len(found))
	name := oneSpeaker(found)
	for k, x := range found {
		var texts []string
		for _, h := range []*Hit{x.message, x.answer} {
			if h == nil || h.Row == nil || whole && h == x.answer && len(texts) > 0 && empty(x.message.Row.Text, h.Row.Text) {
				continue
			}
			text := h.Row.Text
			if who := pipeline.SpeakerOf(text); x.talk && whole && who != "" {
				if role := "user"; h == x.answer || who == name {
					if h == x.answer {
						role = "assistant"
					}
					text = role + text[len(who):]
				}
			}
			texts = append(texts, text)
		}
		if whole && len(texts) > 1 {
			texts = []string{strings.Join(texts, "\n")}
		}
		if len(texts) > 1 {
			g.behind = exchangeShare
		}
		for _, text := range texts {
			g.sides[k] = append(g.sides[k], len(g.texts))
			g.texts = append(g.texts, text)
		}
	}
}

// oneSpeaker returns the name of the person whose messages are rated, or "" if they are of several people.
func oneSpeaker(found []exchange) string {
	name := ""
	for _, x := range found {
		if !x.talk || x.message == nil || x.message.Row == nil {
			continue
		}
		switch who := pipeline.SpeakerOf(x.message.Row.Text); {
		case name == "":
			name = who
		case who != name:
			return ""
		}
	}
	return name
}

// odds returns the odds of each rated hit or exchange from the probabilities of the texts.
func (g *judged) odds(probs []float64) []float64 {
	out := make([]float64, len(g.sides))
	for k, texts := range g.sides {
		for i, at := range texts {
			if i == 0 {
				out[k] = odds(probs[at])
			} else {
				out[k] += answerShare * odds(probs[at])
			}
		}
	}
	return out
}

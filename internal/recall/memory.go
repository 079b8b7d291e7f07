package recall

import (
	"math"
	"strings"
	"time"
	"unicode"

	"github.com/contextmem/contextmem/backend"
)

// Weights of the context of a memory (recall recipe, step 2a).
const (
	speakerWeight   = .2
	timeWeight      = .2
	lateWeight      = .4
	near1Weight     = .4  // the nearest neighbour in the session
	near2Weight     = .3  // the one after it
	replyWeight     = .4  // the memory before asks a question
	sessionWeight   = .5  // the session as one document
	sessionMax      = .4  // the best memory of the session
	whenBonus       = .3  // the question asks "when" and the memory names a time
	askPenalty      = .2  // the memory only asks
	openingBonus    = .12 // the memory opens a session: people begin with their news
	firstBonus      = .2  // it speaks in the first person: people tell of themselves
	secondMalus     = .05 // it speaks to the other
	contextTerms    = 25  // mean length of a memory at which its context counts in full
	contextFloor    = .2
	lateCandidates  = 100
	sessionsWidened = 5   // best sessions whose memories all become candidates
	sessionSpan     = 300 // memories of one session that are looked at
	replyFactor     = .6  // of what an assistant said, unless the question asks for it
)

// memory lifts memories by what stands around them.
func (q *work) memory() error {
	if err := q.surround(); err != nil {
		return err
	}
	session, err := q.sessions()
	if err != nil {
		return err
	}
	q.own()
	q.context(session)
	// Long replies of an assistant hold a word near to anything.
	if q.out.Thinking && q.Word != nil && !q.replies && !q.late("late interaction") {
		if err := q.interact(); err != nil {
			return err
		}
		q.context(session)
	}
	q.spread()
	return nil
}

// surround finds out what stands beside the candidates, and makes the neighbours
// of the best ones candidates too.
func (q *work) surround() error {
	if err := q.describe(); err != nil {
		return err
	}
	if !q.lonely() {
		for _, p := range q.some(lateCandidates, func(c *cand) float64 { return c.s0 }) {
			if a := q.beside(&q.cand[p.at]); a != nil {
				for _, n := range [...]int64{a.Prev[0], a.Prev[1], a.Next[0], a.Next[1]} {
					q.admit(n)
				}
			}
		}
	}
	return q.describe()
}

// lonely tells whether nothing stands beside the candidates but other candidates.
func (q *work) lonely() bool {
	for i := range q.around {
		a := &q.around[i]
		for _, n := range [...]int64{a.Prev[0], a.Prev[1], a.Next[0], a.Next[1]} {
			if n != 0 {
				if _, ok := q.index.get(n); !ok {
					return false
				}
			}
		}
	}
	return true
}

// beside returns what is around a candidate, nil when it is not known.
func (q *work) beside(c *cand) *backend.Around {
	if c.around == 0 {
		return nil
	}
	return &q.around[c.around-1]
}

// admit makes a chunk a candidate without a score of its own, unless a filter is on:
// then only the searches, which know the filter, may admit.
func (q *work) admit(chunk int64) {
	if chunk != 0 && len(q.req.Filter.All) == 0 && len(q.req.Filter.Not) == 0 {
		q.at(backend.Hit{Chunk: chunk})
	}
}

// describe fills in what is around each candidate that lacks it.
func (q *work) describe() error {
	chunks, at := q.chunks[:0], q.places[:0]
	for i := range q.cand {
		if q.cand[i].around == 0 {
			chunks = append(chunks, q.cand[i].Chunk)
			at = append(at, int32(i))
		}
	}
	q.chunks, q.places = chunks, at
	if len(chunks) == 0 {
		return nil
	}
	before := len(q.around)
	if err := q.appendAround(chunks); err != nil {
		return err
	}
	for i, j := range at {
		c := &q.cand[j]
		c.around = int32(before + i + 1)
		if c.Source == 0 {
			c.Source = q.around[before+i].Source
		}
	}
	return nil
}

// appendAround reads what is around chunks, into memory that the next search uses again
// where the graph can do so.
func (q *work) appendAround(chunks []int64) error {
	g, ok := q.Graph.(backend.AroundAppender)
	if !ok {
		list, err := q.Graph.Around(q.ctx, q.req.Part, chunks)
		q.around = append(q.around, list...)
		return err
	}
	all, err := g.AppendAround(q.ctx, q.around, q.req.Part, chunks)
	if err != nil {
		return err
	}
	q.around = all
	return nil
}

// sessions scores sessions as documents, and lets the memories of the best ones in.
func (q *work) sessions() (map[int64]float64, error) {
	hits, err := q.Keywords.SearchSessions(q.ctx, backend.KeywordQuery{Part: q.req.Part, Text: q.asked.text, K: 200, Filter: q.req.Filter})
	if err != nil {
		return nil, err
	}
	if len(hits) == 0 {
		return nil, q.describe()
	}
	score := make(map[int64]float64, len(hits))
	for i, h := range hits {
		score[h.Source] = float64(h.Score) / float64(hits[0].Score)
		if i < sessionsWidened && q.docs > 2000 {
			chunks, err := q.Graph.SessionChunks(q.ctx, q.req.Part, h.Source, sessionSpan)
			if err != nil {
				return nil, err
			}
			for _, c := range chunks {
				q.admit(c)
			}
		}
	}
	return score, q.describe()
}

// own sets the parts that depend on the memory alone: who speaks, and when.
func (q *work) own() {
	dates := q.datesNamed()
	var named map[string]bool
	known := map[string]said{}
	last, as := "", said{}
	for i := range q.cand {
		c := &q.cand[i]
		a := q.beside(c)
		if a == nil {
			continue
		}
		c.Time = timeWeight * dates(a.Time)
		if s := a.Speaker; s != last {
			var ok bool
			if as, ok = known[s]; !ok {
				if named == nil {
					named = q.names()
				}
				as = said{named: speaks(named, s), reply: assistant(s)}
				known[s] = as
			}
			last = s
		}
		if as.named {
			c.Speaker = speakerWeight
		}
		c.reply = as.reply
		q.replies = q.replies || as.reply
		q.asks = q.asks || a.Asks
	}
}

// said is what matters of a speaker.
type said struct {
	named bool // by the question
	reply bool // the machine side of a chat
}

// names returns the words of the question in lower case, for the names of speakers.
func (q *work) names() map[string]bool {
	m := map[string]bool{}
	for _, w := range q.asked.words() {
		m[w] = true
		m[strings.TrimSuffix(strings.TrimSuffix(w, "'s"), "’s")] = true
	}
	return m
}

func speaks(named map[string]bool, speaker string) bool {
	s := strings.ToLower(speaker)
	if s == "" {
		return false
	}
	if named[s] {
		return s != "user" && s != "assistant"
	}
	first, _, ok := strings.Cut(s, " ")
	return ok && len(first) > 2 && named[first]
}

// words splits a text into lower-case words; apostrophes stay inside.
func words(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '\'' && r != '’'
	})
}

// datesNamed returns how well a time fits the dates that the question names: 1
// inside a named month or year, falling by days from a named day.
func (q *work) datesNamed() func(t time.Time) float64 {
	if len(q.cues.Dates) == 0 {
		return func(time.Time) float64 { return 0 }
	}
	return func(t time.Time) float64 {
		if t.IsZero() {
			return 0
		}
		best := 0.0
		for _, d := range q.cues.Dates {
			v := 0.0
			switch {
			case !t.Before(d.From) && t.Before(d.To):
				v = 1
			case d.Precision == "day":
				days := min(math.Abs(t.Sub(d.From).Hours()), math.Abs(t.Sub(d.To).Hours())) / 24
				v = math.Exp(-days / 4)
			}
			best = max(best, v)
		}
		return best
	}
}

// closeness is how much of a memory's meaning lies around it: all when memories are
// short, little when they are long and carry their own context.
func (q *work) closeness() float64 {
	return math.Min(1, math.Max(contextFloor, contextTerms/math.Max(q.avg, 1)))
}

// context computes the final score from the own score and what is around.
func (q *work) context(session map[int64]float64) {
	c := q.closeness()
	asked, penalty := q.replies && q.asksAssistant(), q.asks && q.answersOnly()
	top := map[int64]float64{} // best memory by session
	for i := range q.cand {
		x := &q.cand[i]
		x.own = x.s0 + x.Late + x.Speaker + x.Time
		if !asked && x.reply {
			x.own *= replyFactor
		}
		if a := q.beside(x); a != nil && a.Session != 0 {
			top[a.Session] = max(top[a.Session], x.own)
		}
	}
	s := func(chunk int64) (float64, *cand) {
		if i, ok := q.index.get(chunk); ok && chunk != 0 {
			return q.cand[i].own, &q.cand[i]
		}
		return 0, nil
	}
	for i := range q.cand {
		x := &q.cand[i]
		x.Context = 0
		a := q.beside(x)
		if a != nil && a.Session != 0 {
			p1, prev := s(a.Prev[0])
			p2, _ := s(a.Prev[1])
			n1, _ := s(a.Next[0])
			n2, _ := s(a.Next[1])
			lift := near1Weight*max(p1, n1) + near2Weight*max(p2, n2) + sessionWeight*session[a.Session] + sessionMax*top[a.Session]
			if prev != nil && prev.around != 0 && q.beside(prev).Question {
				lift += replyWeight * p1
			}
			if a.Prev[0] == 0 && a.Next[0] != 0 {
				lift += openingBonus
			}
			x.Context = c * lift
		}
		if a != nil && !q.replies {
			if a.First {
				x.Context += c * firstBonus
			}
			if a.Second {
				x.Context -= min(c*secondMalus, (x.own+x.Context)/2)
			}
		}
		if q.cues.When && a != nil && a.HasTime {
			x.Context += whenBonus
		}
		if penalty && a != nil && a.Asks {
			x.Context -= min(askPenalty, (x.own+x.Context)/2)
		}
		x.Score = x.own + x.Context
		if x.reply { // the parts explain the score: what a reply lost is context
			x.Context = x.Score - (x.s0 + x.Late + x.Speaker + x.Time)
		}
	}
}

// answersOnly tells whether memories that only ask cannot be what the question is after:
// they hold no facts. But a user's requests to an assistant are what the user said, and
// some questions are about a question.
func (q *work) answersOnly() bool {
	if q.replies {
		return false
	}
	for _, w := range q.asked.words() {
		switch w {
		case "ask", "asks", "asked", "asking", "question", "questions", "wonder", "wonders", "wondered", "inquire", "inquired", "curious":
			return false
		}
	}
	return true
}

// assistant tells whether a speaker is the machine side of a chat. What it said is
// long and repeats the user's words; what users ask for later is mostly their own.
func assistant(speaker string) bool {
	switch strings.ToLower(speaker) {
	case "assistant", "ai", "bot", "system", "model", "chatbot":
		return true
	}
	return false
}

// asksAssistant tells whether a question is about what the assistant said: "what did
// you suggest", "your advice".
func (q *work) asksAssistant() bool {
	ws := q.asked.words()
	for i, w := range ws {
		switch w {
		case "assistant":
			return true
		case "you":
			for _, v := range ws[i+1 : min(i+4, len(ws))] {
				switch v {
				case "say", "said", "suggest", "suggested", "recommend", "recommended", "tell", "told", "give", "gave", "given", "advise", "advised",
					"mention", "mentioned", "explain", "explained", "propose", "proposed", "answer", "answered", "reply", "replied", "provide", "provided", "list", "listed":
					return i > 0 && ws[i-1] != "can" && ws[i-1] != "could" && ws[i-1] != "would" && ws[i-1] != "will"
				}
			}
		case "your":
			for _, v := range ws[i+1 : min(i+3, len(ws))] {
				switch v {
				case "suggestion", "suggestions", "recommendation", "recommendations", "advice", "answer", "reply", "response", "explanation", "list", "plan":
					return true
				}
			}
		}
	}
	return false
}

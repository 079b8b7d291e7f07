package rank

import "github.com/contextmem/contextmem/backend"

// session holds the scores of a session, a run of memories that belong together.
type session struct {
	num    int64
	score  float64 // score of the session as one document, as a share of the best
	top    float64 // score of its best memory
	better int32   // number of its memories that spread has visited
}

// sessionOf returns the index of a session in q.sessions, counted from 1. It adds the session if it is new.
func (q *work) sessionOf(num int64) int32 {
	if n := len(q.sessions); n > 0 && q.sessions[n-1].num == num {
		return int32(n)
	}
	at := q.sessionNums.add(num)
	if at == len(q.sessions) {
		q.sessions = append(q.sessions, session{num: num})
	}
	return int32(at + 1)
}

// filtered reports whether the request has a filter. If so, only searches may add candidates, since only they apply it.
func (q *work) filtered() bool { return len(q.req.Filter.All)+len(q.req.Filter.Not) > 0 }

// admit makes a chunk a candidate without a score and returns its row. If the request has a filter, admit
// adds no candidate, and returns -1 unless the chunk is one already.
func (q *work) admit(chunk int64) int32 {
	if q.filtered() {
		return q.get(chunk)
	}
	return q.at(backend.Hit{Chunk: chunk})
}

// readSurroundings reads the neighbours of the candidates, and makes those of the best ones
// candidates too.
func (q *work) readSurroundings() error {
	if err := q.describe(); err != nil {
		return err
	}
	if q.filtered() || q.selfContained() {
		return nil
	}
	most := besideBest
	if q.out.Thinking {
		most = lateCandidates
	}
	for _, p := range q.best(most, bySearch) {
		r := &q.rows[p.at]
		for _, n := range [...]int32{r.Prev[0], r.Prev[1], r.Next[0], r.Next[1]} {
			if n != 0 {
				q.cand[n-1].in = true
			}
		}
	}
	return q.describe()
}

// selfContained reports whether all neighbours of the candidates are candidates.
func (q *work) selfContained() bool {
	for i := range q.cand {
		if c := &q.cand[i]; !c.in && (!c.known || q.rows[i].Prev[0] != 0 || q.rows[i].Next[0] != 0) {
			return false
		}
	}
	return true
}

// describe reads the neighbours of candidates whose neighbours are not known. After a survey all are known. Outside of memories only the
// source of a chunk counts, and searches tell it.
func (q *work) describe() error {
	if !q.vague {
		return nil
	}
	chunks, at := q.chunks[:0], q.places[:0]
	memory := q.req.Part.Class == backend.Memory
	for i := range q.cand {
		if c := &q.cand[i]; c.in && !c.known && (memory || q.rows[i].Source == 0) {
			chunks = append(chunks, q.rows[i].Chunk)
			at = append(at, int32(i))
		}
	}
	q.chunks, q.places = chunks, at
	if len(chunks) == 0 {
		return nil
	}
	if err := q.readNeighbours(chunks); err != nil {
		return err
	}
	for i, j := range at {
		q.setBeside(j, &q.around[i])
	}
	return nil
}

// setBeside sets the neighbours, the session and the marks of a row.
func (q *work) setBeside(at int32, a *backend.Neighbours) {
	b := backend.NeighbourPlaces{Session: a.Session, Time: backend.MicrosOf(a.Time), Speaker: q.speakerOf(a.Speaker), Marks: marksOf(a)}
	for d := range 2 {
		if n := a.Prev[d]; n != 0 {
			b.Prev[d] = q.place(n) + 1
		}
		if n := a.Next[d]; n != 0 {
			b.Next[d] = q.place(n) + 1
		}
	}
	r, c := &q.rows[at], &q.cand[at]
	c.known, r.NeighbourPlaces = true, b
	if a.Session != 0 {
		c.session = q.sessionOf(a.Session)
	}
	if r.Source == 0 {
		r.Source = a.Source
	}
}

func marksOf(a *backend.Neighbours) backend.Marks {
	var m backend.Marks
	set := func(mark backend.Marks, has bool) {
		if has {
			m |= mark
		}
	}
	set(backend.MarkQuestion, a.Question)
	set(backend.MarkHasTime, a.HasTime)
	set(backend.MarkAsks, a.Asks)
	set(backend.MarkFirst, a.First)
	set(backend.MarkSecond, a.Second)
	set(backend.MarkOpens, a.Prev[0] == 0 && a.Next[0] != 0)
	return m
}

// speakerOf returns the index in q.speakers of a name that Neighbours returned. It adds the name if it is new.
func (q *work) speakerOf(name string) int32 {
	if len(q.speakers) == 0 {
		q.speakers = []string{""}
	}
	if name == "" {
		return 0
	}
	if last := len(q.speakers) - 1; q.speakers[last] == name {
		return int32(last)
	}
	at, ok := q.speakerAt[name]
	if !ok {
		if q.speakerAt == nil {
			q.speakerAt = make(map[string]int32)
		}
		at = int32(len(q.speakers))
		q.speakers = append(q.speakers, name)
		q.speakerAt[name] = at
	}
	return at
}

// readNeighbours reads the neighbours of chunks into q.around. If the graph can append to a given slice,
// searches use the memory of q.around again.
func (q *work) readNeighbours(chunks []int64) (err error) {
	if g, ok := q.Graph.(backend.NeighbourAppender); ok {
		q.around, err = g.AppendNeighbours(q.ctx, q.around[:0], q.req.Part, chunks)
	} else {
		q.around, err = q.Graph.Neighbours(q.ctx, q.req.Part, chunks)
	}
	return err
}

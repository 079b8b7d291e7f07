package rank

const (
	spreadStep = .1 // of the best score, for each better memory of the session
	spreadMost = 4  // better memories that count
)

// spread lowers memories of sessions that have better ones when the question asks for
// several things: the items of a list are in many sessions, while context lifts all memories of
// one. It undoes part of that lift, so it is as strong as context is. In a chat with an
// assistant one session may hold the whole list.
func (q *work) spread() {
	if !q.cues.List || q.replies {
		return
	}
	order := q.best(len(q.cand), byScore)
	if len(order) == 0 {
		return
	}
	step := spreadStep * q.closeness() * order[0].v
	for i := range q.sessions {
		q.sessions[i].better = 0
	}
	for _, p := range order {
		c := &q.cand[p.at]
		if c.session == 0 {
			continue
		}
		in := &q.sessions[c.session-1]
		lower := min(step*float64(min(in.better, spreadMost)), c.Score/2)
		in.better++
		c.Context -= lower
		c.Score -= lower
	}
}

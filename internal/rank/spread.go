package rank

const (
	spreadStep = .1 // decrease for each better memory of the session, as a share of the best score
	spreadMost = 4  // maximal number of better memories that count
)

// spread lowers the scores of memories in sessions with better memories, if the question asks
// for several things. The items of a list are in many sessions, but context raises the
// scores of all memories of one session. spread undoes part of that increase, and is
// scaled like it. It does nothing in a chat with an assistant, where one session may have
// the whole list.
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

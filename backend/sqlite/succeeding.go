package sqlite

import (
	"cmp"
	"context"
	"slices"

	"github.com/contextmem/contextmem/backend"
)

// successionList holds the successions in which a version is the earlier one.
type successionList struct {
	part backend.Partition
	list []backend.Succession
}

// Estimated bytes of a succession without its texts.
const successionBytes = 240

func (l *successionList) size() int {
	n := entityBytes
	for i := range l.list {
		x := &l.list[i]
		n += successionBytes + len(x.LaterID) + len(x.EarlierID) + len(x.Matter) + len(x.Evidence) + len(x.Decider) + len(x.Extra)
	}
	return n
}

// succeeding reads through the cache the successions in which some versions are the earlier ones, which recall needs for all hits. The
// result is valid if the store is still at version v.
func (s *store) succeeding(ctx context.Context, v uint64, q backend.SuccessionQuery) (out []backend.Succession, err error) {
	if err := s.Enter(ctx); err != nil {
		return nil, err
	}
	s.Leave()
	lists := make([]*successionList, len(q.Earlier))
	known, nothing := 0, &successionList{}
	s.cache.eachMarked(v, lasting, q.Part, q.Earlier, func(i int) {
		lists[i] = nothing
		known++
	})
	if known < len(lists) {
		s.cache.get(v, cachedSuccessions, 0, q.Earlier, func(i int, value any) {
			if l := value.(*successionList); l.part == q.Part && lists[i] == nil {
				lists[i] = l
				known++
			}
		})
	}
	if known < len(lists) {
		missing := without(q.Earlier, len(lists)-known, func(i int) bool { return lists[i] != nil })
		read, err := s.readSuccessions(ctx, backend.SuccessionQuery{Part: q.Part, Earlier: missing})
		if err != nil {
			return nil, err
		}
		by := make(map[int64]*successionList, len(missing))
		for i, num := range q.Earlier {
			if lists[i] == nil {
				if by[num] == nil {
					by[num] = &successionList{part: q.Part}
				}
				lists[i] = by[num]
			}
		}
		for i := range read {
			l := by[read[i].Earlier]
			l.list = append(l.list, read[i])
		}
		if s.commits.n.Load() == v {
			var last []int64
			for num, l := range by {
				if len(l.list) == 0 {
					last = append(last, num)
					continue
				}
				s.cache.put(v, newCacheKey(cachedSuccessions, 0, num), l, l.size())
			}
			s.cache.keepMarks(v, lasting, q.Part, last)
		}
	}
	for _, l := range lists {
		out = append(out, l.list...)
	}
	slices.SortFunc(out, func(a, b backend.Succession) int { return cmp.Compare(a.Num, b.Num) })
	return out, nil
}

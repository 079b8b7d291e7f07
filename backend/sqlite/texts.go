package sqlite

import (
	"context"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

var _ backend.TextReader = (*store)(nil)

// textRow is the text of a chunk of an indexed source, and when that expires in microseconds; 0: never.
type textRow struct {
	text    string
	expires int64
}

// textBytes is the size of a textRow without its text.
const textBytes = 32

// ChunkTexts implements [backend.TextReader]. It reads through the cache.
func (s *store) ChunkTexts(ctx context.Context, nums []int64, now time.Time) ([]backend.ChunkText, error) {
	v, quiet := s.commits.load()
	if err := s.Enter(ctx); err != nil {
		return nil, err
	}
	s.Leave()
	texts, missing := make([]*textRow, len(nums)), len(nums)
	if quiet {
		left := append([]int64(nil), nums...)
		s.cache.get(v, cachedText, 0, nums, func(i int, value any) {
			texts[i], left[i] = value.(*textRow), 0
			missing--
		})
		s.cache.get(v, cachedChunk, 0, left, func(i int, value any) {
			row := value.(*backend.Hydrated)
			texts[i] = &textRow{text: row.Text}
			if at := row.Src.ExpiresAt; !at.IsZero() {
				texts[i].expires = at.UnixMicro()
			}
			missing--
		})
	}
	var lost losses
	if missing > 0 {
		at := make(map[int64]int, len(nums))
		for i, num := range nums {
			at[num] = i
		}
		err := s.query(ctx, func(c *conn) error {
			return c.each(ctx, `SELECT c.num, c.text, coalesce(s.expires, 0) FROM json_each(?) j CROSS JOIN chunks c ON c.num = j.value
				CROSS JOIN sources s ON s.num = c.source WHERE s.indexed = 1`, func(r *row) error {
				x := &textRow{r.str(1), r.int(2)}
				if num := r.int(0); !lost.skip(r) && r.err == nil {
					texts[at[num]] = x
				}
				return nil
			}, jsonInts(without(nums, missing, func(i int) bool { return texts[i] != nil })))
		})
		if err != nil {
			return nil, err
		}
		if quiet && s.commits.n.Load() == v {
			for i, x := range texts { // put keeps a text that is cached
				if x != nil {
					s.cache.put(v, newCacheKey(cachedText, 0, nums[i]), x, textBytes+len(x.text))
				}
			}
		}
	}
	out, asOf := make([]backend.ChunkText, 0, len(nums)), storerules.Micros(now)
	for i, x := range texts {
		if x != nil && (x.expires == 0 || x.expires > asOf) {
			out = append(out, backend.ChunkText{Num: nums[i], Text: x.text})
		}
	}
	return out, lost.Err()
}

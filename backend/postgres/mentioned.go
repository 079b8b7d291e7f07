package postgres

import (
	"context"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

func (s *store) Mentioned(ctx context.Context, q backend.MentionQuery) (out []backend.Mentioned, err error) {
	const here = `FROM unnest($4::bytea[]) WITH ORDINALITY k (key_hash, at) JOIN parts p ON p.ws = $1 AND p.class = $2 AND p.sub_hash = $3
		JOIN entities own ON own.ws = $1 AND own.part = p.id AND own.key_hash = k.key_hash `
	sql := "SELECT k.at, e.key, m.source, m.type, m.count " + here + `JOIN entities e ON e.ws = $1 AND (e.num = own.num OR e.root = own.num AND e.root <> e.num)
		JOIN entity_sources m ON m.ws = $1 AND m.entity = e.num ORDER BY k.at, e.key, m.source`
	args := []any{int64(q.Part.Class), hashOf(q.Part.Sub), hashesOf(q.Keys)}
	switch {
	case q.Sources != nil:
		sql = "SELECT k.at, own.key, m.source, m.type, m.count " + here + "JOIN entity_sources m ON m.ws = $1 AND m.entity = own.num AND m.source = ($5::bigint[])[k.at] ORDER BY k.at"
		args = append(args, q.Sources)
	case q.Oldest > 0:
		sql = "SELECT k.at, own.key, m.source, m.type, m.count " + here + `CROSS JOIN LATERAL (SELECT x.source, x.type, x.count FROM entity_sources x
			WHERE x.ws = $1 AND x.entity = own.num ORDER BY x.source LIMIT $5) m ORDER BY k.at, m.source`
		args = append(args, q.Oldest)
	}
	err = s.query(ctx, func(c *conn) error {
		out = nil
		return c.each(ctx, sql, func(r *row) error {
			out = append(out, backend.Mentioned{At: int(r.int(0)) - 1, Key: r.str(1), Source: r.int(2), Type: r.str(3), Count: int(r.int(4))})
			return nil
		}, args...)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (s *store) MentionsOf(ctx context.Context, part backend.Partition, keys []string, versions int) (out []backend.KeyMention, err error) {
	var lost losses
	err = s.read(ctx, func(c *conn) error {
		out, lost = nil, losses{}
		type version struct {
			at         int
			num, first int64
		}
		var vs []version
		var nums []int64
		err := c.each(ctx, `SELECT k.at, m.source, m.first_chunk FROM unnest($4::bytea[]) WITH ORDINALITY k (key_hash, at)
			JOIN parts p ON p.ws = $1 AND p.class = $2 AND p.sub_hash = $3 JOIN entities e ON e.ws = $1 AND e.part = p.id AND e.key_hash = k.key_hash
			CROSS JOIN LATERAL (SELECT x.source, s.first_chunk FROM entity_sources x JOIN sources s ON s.ws = x.ws AND s.num = x.source
				WHERE x.ws = $1 AND x.entity = e.num ORDER BY x.source LIMIT $5) m ORDER BY k.at, m.source`, func(r *row) error {
			vs = append(vs, version{int(r.int(0)) - 1, r.int(1), r.int(2)})
			nums = append(nums, r.int(1))
			return nil
		}, int64(part.Class), hashOf(part.Sub), hashesOf(keys), max(versions, 0))
		if err != nil || len(vs) == 0 {
			return err
		}
		of := map[int64][]storerules.Mention{} // a version mentions several of the keys
		err = c.each(ctx, "SELECT source, crc, data FROM mentions WHERE ws = $1 AND source = ANY($2)", func(r *row) error {
			data := r.checked(1, 2, "mentions of source", r.int(0))
			var ms []storerules.Mention
			if r.err == nil {
				ms, r.err = storerules.UnpackMentions(data)
			}
			if !lost.skip(r) {
				of[r.int(0)] = ms
			}
			return nil
		}, distinct(nums))
		if err != nil {
			return err
		}
		for _, v := range vs {
			for _, m := range of[v.num] {
				if m.Key == keys[v.at] {
					out = append(out, backend.KeyMention{At: v.at, Source: v.num, Chunk: v.first + m.Chunk, Weight: m.Weight})
				}
			}
		}
		out = storerules.FoldMentions(out)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, lost.Err()
}

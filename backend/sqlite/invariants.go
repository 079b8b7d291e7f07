package sqlite

// invariants are queries that return no rows for an undamaged store.
var invariants = map[string]string{
	"item with two newest versions": `SELECT part, id FROM sources WHERE newest = 1 GROUP BY part, id HAVING count(*) > 1`,
	"old version that was not indexed, or without its newest": `SELECT num FROM sources s WHERE newest = 0 AND
		(indexed = 0 OR NOT EXISTS (SELECT 1 FROM sources n WHERE n.part = s.part AND n.id = s.id AND n.newest = 1 AND n.older = s.num))`,
	"counters of no partition":                    `SELECT id FROM counters WHERE id > 0 AND id NOT IN (SELECT id FROM parts)`,
	"partition without a name":                    `SELECT id FROM parts WHERE typeof(class) <> 'integer' OR typeof(sub) <> 'text'`,
	"partition without counters":                  `SELECT id FROM parts WHERE id NOT IN (SELECT id FROM counters)`,
	"source without partition":                    `SELECT num FROM sources WHERE part NOT IN (SELECT id FROM parts)`,
	"chunk outside its version":                   `SELECT c.num FROM chunks c LEFT JOIN sources s ON s.num = c.source WHERE s.num IS NULL OR s.indexed = 0 OR c.num NOT BETWEEN s.first_chunk AND s.first_chunk + s.chunks - 1`,
	"version without a chunk":                     `SELECT num FROM sources s WHERE chunks <> (SELECT count(*) FROM chunks c WHERE c.num BETWEEN s.first_chunk AND s.first_chunk + s.chunks - 1)`,
	"vector without chunk":                        `SELECT chunk FROM vectors WHERE chunk NOT IN (SELECT num FROM chunks)`,
	"vector that stands twice":                    `SELECT chunk FROM vectors WHERE chunk IN (SELECT num FROM chunks WHERE vector IS NOT NULL)`,
	"vector in a lane without chunk":              `SELECT id FROM lane_vectors WHERE id >> 2 NOT IN (SELECT num FROM chunks) OR id & 3 = 0`,
	"vector in a lane that is not filled":         `SELECT v.id FROM lane_vectors v JOIN chunks c ON c.num = v.id >> 2 JOIN sources s ON s.num = c.source WHERE s.lanes & (1 << (v.id & 3)) = 0`,
	"vector in the first lane that is not filled": `SELECT c.num FROM chunks c JOIN sources s ON s.num = c.source LEFT JOIN vectors v ON v.chunk = c.num WHERE s.lanes & 1 = 0 AND (v.chunk IS NOT NULL OR c.vector IS NOT NULL)`,
	"blob without version":                        `SELECT id FROM blobs WHERE id >> 3 NOT IN (SELECT num FROM sources)`,
	"original in no chunk, or that stands twice":  `SELECT num FROM sources s WHERE original = 1 AND (chunks <> 1 OR indexed = 0 OR EXISTS (SELECT 1 FROM blobs WHERE id = s.num << 3 | 1))`,
	"piece without blob":                          `SELECT p.id FROM pieces p LEFT JOIN blobs b ON b.id = p.id >> 14 WHERE b.id IS NULL OR b.crc >= 0`,
	"blob that lacks pieces":                      `SELECT id FROM blobs b WHERE b.crc < 0 AND -b.crc <> (SELECT count(*) FROM pieces p WHERE p.id BETWEEN b.id << 14 AND (b.id << 14) - b.crc - 1)`,
	"tag of no newest version":                    `SELECT source FROM tags WHERE source NOT IN (SELECT num FROM sources WHERE newest = 1)`,
	"mentions without version":                    `SELECT source FROM mentions WHERE source NOT IN (SELECT num FROM sources WHERE graph = 1)`,
	"relation without version":                    `SELECT num FROM relations WHERE source NOT IN (SELECT num FROM sources WHERE graph = 1)`,
	"relation without entity":                     `SELECT num FROM relations WHERE from_id NOT IN (SELECT num FROM entities) OR to_id <> 0 AND to_id NOT IN (SELECT num FROM entities)`,
	"relation retired by none":                    `SELECT num FROM relations WHERE superseded_by <> 0 AND superseded_by NOT IN (SELECT num FROM relations)`,
	"entity edge without end": `SELECT entity FROM entity_sources WHERE entity NOT IN (SELECT num FROM entities)
		OR source NOT IN (SELECT source FROM mentions)`,
	"entity that nothing uses": `SELECT num FROM entities WHERE uses <= 0 OR mentions < 0`,
	"entity without its root":  `SELECT num FROM entities e WHERE NOT EXISTS (SELECT 1 FROM entities r WHERE r.num = e.root AND r.root = r.num)`,
	"wrong count of items":     `SELECT id FROM counters n WHERE id > 0 AND items <> (SELECT count(*) FROM sources WHERE part = n.id AND newest = 1 AND num <= (SELECT source FROM counters WHERE id = 0))`,
	"wrong count of chunks":    `SELECT id FROM counters n WHERE id > 0 AND chunks <> (SELECT coalesce(sum(chunks), 0) FROM sources WHERE part = n.id AND num <= (SELECT source FROM counters WHERE id = 0))`,
	"wrong count of states": `SELECT 1 FROM counters WHERE id = 0 AND (queued <> (SELECT count(*) FROM sources WHERE newest = 1 AND state = 1)
		OR processing <> (SELECT count(*) FROM sources WHERE newest = 1 AND state = 2)
		OR graph <> (SELECT count(*) FROM sources WHERE newest = 1 AND state = 3)
		OR completed <> (SELECT count(*) FROM sources s WHERE newest = 1 AND state = 4 AND num <= counters.source)
		OR errored <> (SELECT count(*) FROM sources WHERE newest = 1 AND state = 5))`,
	"wrong count of retractions": `SELECT 1 FROM counters WHERE id = 0 AND retractions <> (SELECT count(*) FROM relations WHERE flags > 1)`,
	"number given out twice": `SELECT 1 FROM counters WHERE id = 0 AND (chunk < (SELECT coalesce(max(c.num), 0) FROM chunks c JOIN sources s ON s.num = c.source WHERE s.num <= counters.source) OR entity < (SELECT coalesce(max(num), 0) FROM entities)
		OR relation < (SELECT coalesce(max(num), 0) FROM relations) OR seq < (SELECT coalesce(max(seq), 0) FROM changes)
		OR event < (SELECT coalesce(max(seq), 0) FROM events) OR part < (SELECT coalesce(max(id), 0) FROM parts))`,
	"version that the counters do not have and that was not placed": `SELECT s.num FROM sources s JOIN counters n ON n.id = 0 AND s.num > n.source
		WHERE s.seq_chunks <> s.num OR s.newest = 0 OR s.state <> 4 OR s.older <> 0`,
	"succession without its versions":  `SELECT num FROM successions x WHERE NOT EXISTS (SELECT 1 FROM sources WHERE num = x.later AND part = x.part) OR NOT EXISTS (SELECT 1 FROM sources WHERE num = x.earlier AND part = x.part)`,
	"counters that are too far behind": `SELECT 1 FROM counters n WHERE n.id = 0 AND (SELECT count(*) FROM sources WHERE num > n.source) > 64`,
	"put of no version":                `SELECT seq FROM changes WHERE sub IS NULL AND source NOT IN (SELECT num FROM sources)`,
	"version that does not know its place in the feed": `SELECT seq FROM changes f JOIN sources s ON s.num = f.source
		WHERE f.sub IS NULL AND f.seq <> CASE f.kind WHEN 1 THEN s.seq_chunks WHEN 2 THEN s.seq_tags WHEN 3 THEN s.seq_graph WHEN 22 THEN s.seq_lane_1 WHEN 38 THEN s.seq_lane_2 WHEN 54 THEN s.seq_lane_3 END`,
	"indexed version that is not in the feed": `SELECT num FROM sources WHERE indexed = 1 AND seq_chunks NOT IN (SELECT seq FROM changes)
		AND (seq_chunks <> num OR num > (SELECT max(placed, (SELECT coalesce(max(num), 0) FROM sources WHERE num > counters.source)) FROM counters WHERE id = 0))`,
}

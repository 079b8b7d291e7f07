-- A commit writes a page for each table and index that it touches, so that what changes
-- together stands together.

-- Row 0 counts what is in the file: the numbers given out last, where the change feed starts,
-- how many newest versions stand in each state, and how many relations retract others. The
-- row of a partition counts its newest versions, and the chunks of all its indexed ones.
-- Up to 64 versions that were placed above source, the last number, are not counted yet.
-- placed: up to there a version whose seq_chunks is its own number is the entry of the feed
-- that puts its chunks, and none is in changes.
CREATE TABLE counters (
  id         INTEGER PRIMARY KEY,
  items      INTEGER NOT NULL DEFAULT 0, chunks     INTEGER NOT NULL DEFAULT 0,
  source     INTEGER NOT NULL DEFAULT 0, chunk      INTEGER NOT NULL DEFAULT 0,
  entity     INTEGER NOT NULL DEFAULT 0, relation   INTEGER NOT NULL DEFAULT 0,
  merge_no   INTEGER NOT NULL DEFAULT 0, event      INTEGER NOT NULL DEFAULT 0,
  part       INTEGER NOT NULL DEFAULT 0, seq        INTEGER NOT NULL DEFAULT 0,
  feed_start INTEGER NOT NULL DEFAULT 0, queued     INTEGER NOT NULL DEFAULT 0,
  processing INTEGER NOT NULL DEFAULT 0, graph      INTEGER NOT NULL DEFAULT 0,
  completed  INTEGER NOT NULL DEFAULT 0, errored    INTEGER NOT NULL DEFAULT 0,
  retractions INTEGER NOT NULL DEFAULT 0, placed    INTEGER NOT NULL DEFAULT 0
);
INSERT INTO counters SELECT 0, 0, 0, source, chunk, entity, relation, merge_no, event, part, seq, feed_start,
  queued, processing, graph, completed, errored, retractions, 0 FROM ledger;
INSERT INTO counters (id, items, chunks) SELECT id, items, chunks FROM parts;
DROP TABLE ledger;
ALTER TABLE parts DROP COLUMN items;
ALTER TABLE parts DROP COLUMN chunks;

-- The vector of a chunk without a text stands in its row: nobody reads such a row without it.
-- That of another is in vectors.
ALTER TABLE chunks ADD COLUMN vector_crc INTEGER;
ALTER TABLE chunks ADD COLUMN vector BLOB;

-- Later rows come last, where a page that is full is not split.
DROP INDEX sources_list;
CREATE INDEX sources_list ON sources (part, updated, expires) WHERE newest = 1;

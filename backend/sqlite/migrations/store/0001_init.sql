-- Times are microseconds since 1970 in UTC; NULL is "none".
-- Hashes are the first eight bytes of a SHA-256; whoever uses one compares the text as well.

-- The numbers given out last, where the change feed starts, how many newest versions
-- stand in each state, and how many relations retract others.
CREATE TABLE ledger (
  id         INTEGER PRIMARY KEY CHECK (id = 1),
  source     INTEGER NOT NULL, chunk    INTEGER NOT NULL, entity INTEGER NOT NULL,
  relation   INTEGER NOT NULL, merge_no INTEGER NOT NULL, event  INTEGER NOT NULL,
  part       INTEGER NOT NULL, seq      INTEGER NOT NULL, feed_start INTEGER NOT NULL,
  queued     INTEGER NOT NULL, processing INTEGER NOT NULL, graph INTEGER NOT NULL,
  completed  INTEGER NOT NULL, errored  INTEGER NOT NULL, retractions INTEGER NOT NULL
);
INSERT INTO ledger VALUES (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

CREATE TABLE vals (
  name TEXT PRIMARY KEY,
  crc  INTEGER NOT NULL,
  data BLOB
) WITHOUT ROWID;

-- items counts newest versions, chunks the chunks of all indexed ones.
CREATE TABLE parts (
  id     INTEGER PRIMARY KEY,
  class  INTEGER NOT NULL,
  sub    TEXT NOT NULL,
  items  INTEGER NOT NULL DEFAULT 0,
  chunks INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX parts_name ON parts (sub, class);

-- A row is a version. due: 0 when it can be claimed at any time, else from when on.
-- The chunks of a version have consecutive numbers from first_chunk on; dense tells that
-- their ordinals are 0, 1, 2 in that order. older is the indexed version that stays
-- visible meanwhile. seq_*: where the feed has the version.
CREATE TABLE sources (
  num           INTEGER PRIMARY KEY,
  part          INTEGER NOT NULL,
  hash          INTEGER NOT NULL,
  id            TEXT NOT NULL,
  newest        INTEGER NOT NULL DEFAULT 1,
  indexed       INTEGER NOT NULL DEFAULT 0,
  graph         INTEGER NOT NULL DEFAULT 0,
  dense         INTEGER NOT NULL DEFAULT 0,
  state         INTEGER NOT NULL,
  attempts      INTEGER NOT NULL DEFAULT 0,
  due           INTEGER NOT NULL DEFAULT 0,
  token         TEXT NOT NULL DEFAULT '',
  not_before    INTEGER,
  lease         INTEGER,
  older         INTEGER NOT NULL DEFAULT 0,
  first_chunk   INTEGER NOT NULL DEFAULT 0,
  chunks        INTEGER NOT NULL DEFAULT 0,
  seq_chunks    INTEGER NOT NULL DEFAULT 0,
  seq_tags      INTEGER NOT NULL DEFAULT 0,
  seq_graph     INTEGER NOT NULL DEFAULT 0,
  created       INTEGER,
  updated       INTEGER,
  time          INTEGER,
  expires       INTEGER,
  size          INTEGER NOT NULL,
  infer         INTEGER NOT NULL,
  title         TEXT NOT NULL,
  kind          TEXT NOT NULL,
  filename      TEXT NOT NULL,
  media         TEXT NOT NULL,
  session       TEXT NOT NULL,
  error_code    TEXT NOT NULL DEFAULT '',
  error_message TEXT NOT NULL DEFAULT '',
  tags          BLOB,
  metadata      BLOB,
  additional    BLOB,
  doc           BLOB
);
CREATE INDEX sources_item ON sources (hash, part);
CREATE INDEX sources_pending ON sources (due) WHERE newest = 1 AND state < 4;
CREATE INDEX sources_list ON sources (part, updated DESC, expires) WHERE newest = 1;
CREATE INDEX sources_expires ON sources (expires) WHERE expires IS NOT NULL;

-- Of newest versions.
CREATE TABLE tags (
  part   INTEGER NOT NULL,
  tag    INTEGER NOT NULL,
  source INTEGER NOT NULL,
  PRIMARY KEY (part, tag, source)
) WITHOUT ROWID;

-- id is the version's number times eight plus the kind.
CREATE TABLE blobs (
  id   INTEGER PRIMARY KEY,
  crc  INTEGER NOT NULL,
  data BLOB NOT NULL
);

CREATE TABLE chunks (
  num     INTEGER PRIMARY KEY,
  source  INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  hash    INTEGER NOT NULL,
  crc     INTEGER NOT NULL,
  key     TEXT NOT NULL,
  text    TEXT NOT NULL,
  heading TEXT NOT NULL,
  layout  BLOB,
  extra   BLOB
);
CREATE INDEX chunks_key ON chunks (hash);

-- Little-endian float32.
CREATE TABLE vectors (
  chunk INTEGER PRIMARY KEY,
  crc   INTEGER NOT NULL,
  data  BLOB NOT NULL
);

-- All mentions of a version in one row, and which entities they are.
CREATE TABLE mentions (
  source INTEGER PRIMARY KEY,
  crc    INTEGER NOT NULL,
  data   BLOB NOT NULL
);
CREATE TABLE entity_sources (
  entity INTEGER NOT NULL,
  source INTEGER NOT NULL,
  PRIMARY KEY (entity, source)
) WITHOUT ROWID;

-- One row per key that something uses. root is the entity that the key stands for
-- (itself, unless it was folded into another). mentions and uses count those of the key
-- and of the keys folded into it; a row without uses is removed. named: name and type
-- come from a mention.
CREATE TABLE entities (
  num      INTEGER PRIMARY KEY,
  part     INTEGER NOT NULL,
  key      TEXT NOT NULL,
  name     TEXT NOT NULL,
  type     TEXT NOT NULL,
  named    INTEGER NOT NULL,
  root     INTEGER NOT NULL,
  mentions INTEGER NOT NULL,
  uses     INTEGER NOT NULL
);
CREATE UNIQUE INDEX entities_key ON entities (part, key);
CREATE INDEX entities_root ON entities (root) WHERE root <> num;

CREATE TABLE aliases (
  part     INTEGER NOT NULL,
  key      TEXT NOT NULL,
  into_key TEXT NOT NULL,
  PRIMARY KEY (part, key)
) WITHOUT ROWID;
CREATE TABLE merges (
  num      INTEGER PRIMARY KEY,
  part     INTEGER NOT NULL,
  from_key TEXT NOT NULL,
  into_key TEXT NOT NULL,
  reason   TEXT NOT NULL,
  at       INTEGER,
  undone   INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX merges_part ON merges (part);

-- from_id and to_id are the entities of the keys themselves. ord is known_from with the
-- least integer for "none". flags: 1 functional, 2 retracts.
CREATE TABLE relations (
  num           INTEGER PRIMARY KEY,
  part          INTEGER NOT NULL,
  source        INTEGER NOT NULL,
  chunk         INTEGER NOT NULL,
  from_id       INTEGER NOT NULL,
  to_id         INTEGER NOT NULL,
  ord           INTEGER NOT NULL,
  flags         INTEGER NOT NULL,
  superseded_by INTEGER NOT NULL DEFAULT 0,
  valid_from    INTEGER,
  valid_to      INTEGER,
  known_to      INTEGER,
  confidence    REAL NOT NULL,
  predicate     TEXT NOT NULL,
  from_key      TEXT NOT NULL,
  to_key        TEXT NOT NULL,
  raw           TEXT NOT NULL,
  context       TEXT NOT NULL,
  temporal      TEXT NOT NULL,
  origin        TEXT NOT NULL,
  kind          TEXT NOT NULL,
  object        TEXT NOT NULL,
  precision     TEXT NOT NULL
);
CREATE INDEX relations_part ON relations (part);
CREATE INDEX relations_source ON relations (source);
CREATE INDEX relations_from ON relations (from_id, predicate, ord);
CREATE INDEX relations_functional ON relations (from_id, predicate, ord) WHERE flags = 1;
CREATE INDEX relations_retracting ON relations (from_id, predicate, ord) WHERE flags > 1;
CREATE INDEX relations_to ON relations (to_id) WHERE to_id <> 0;
CREATE INDEX relations_retired ON relations (superseded_by) WHERE superseded_by <> 0;

CREATE TABLE events (
  seq           INTEGER PRIMARY KEY,
  class         INTEGER NOT NULL,
  sub           TEXT NOT NULL,
  item          TEXT NOT NULL,
  source        INTEGER NOT NULL,
  status        INTEGER NOT NULL,
  error_code    TEXT NOT NULL,
  error_message TEXT NOT NULL,
  at            INTEGER
);

-- Puts name their version; tombstones say what it was.
CREATE TABLE changes (
  seq    INTEGER PRIMARY KEY,
  kind   INTEGER NOT NULL,
  source INTEGER NOT NULL,
  class  INTEGER,
  sub    TEXT,
  id     TEXT
);
CREATE INDEX changes_gone ON changes (sub) WHERE sub IS NOT NULL;

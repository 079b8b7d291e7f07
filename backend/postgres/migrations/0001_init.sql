-- Texts are bytea, because they may hold any bytes. *_hash columns are the first 16 bytes of the SHA-256 of a text
-- (texts may be too long for an index); orders go by the first 200 bytes of a text, then by all of it.
-- Times are microseconds since 1970 in UTC; NULL is "none".

-- What a workspace is called, and its number, which all rows of it carry as ws. One that is gone is being removed.
CREATE TABLE workspaces (
  ws   bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  uid  text NOT NULL,
  gone boolean NOT NULL DEFAULT false
);
CREATE UNIQUE INDEX workspaces_uid ON workspaces (uid) WHERE NOT gone;
CREATE INDEX workspaces_gone ON workspaces (uid) WHERE gone;

-- One row for each workspace, locked by whoever changes it: the numbers given out last, where the change feed starts,
-- how many newest versions have ended, how many relations retract others. rev rises with every transaction.
-- epoch is that of the last opening that wrote. recent are random numbers of the latest transactions, so that one whose answer
-- was lost can be recognised.
CREATE TABLE ledgers (
  ws         bigint PRIMARY KEY,
  rev        bigint NOT NULL DEFAULT 0,
  source     bigint NOT NULL DEFAULT 0, chunk      bigint NOT NULL DEFAULT 0, entity     bigint NOT NULL DEFAULT 0,
  relation   bigint NOT NULL DEFAULT 0, merge_no   bigint NOT NULL DEFAULT 0, event      bigint NOT NULL DEFAULT 0,
  part       bigint NOT NULL DEFAULT 0, succession bigint NOT NULL DEFAULT 0,
  seq        bigint NOT NULL DEFAULT 0, feed_start bigint NOT NULL DEFAULT 0,
  completed  bigint NOT NULL DEFAULT 0, errored    bigint NOT NULL DEFAULT 0, retractions bigint NOT NULL DEFAULT 0,
  epoch      bigint NOT NULL DEFAULT 0,
  recent     bigint[] NOT NULL DEFAULT '{}'
) PARTITION BY HASH (ws);

-- Each opening that wrote something: a random number, and the last entry of the feed before it.
CREATE TABLE epochs (
  ws    bigint NOT NULL,
  num   bigint NOT NULL,
  epoch bigint NOT NULL,
  seq   bigint NOT NULL,
  PRIMARY KEY (ws, num)
) PARTITION BY HASH (ws);

CREATE TABLE vals (
  ws        bigint NOT NULL,
  name_hash bytea  NOT NULL,
  crc       bigint NOT NULL,
  data      bytea  NOT NULL,
  PRIMARY KEY (ws, name_hash)
) PARTITION BY HASH (ws);

-- items counts newest versions, chunks the chunks of all indexed ones.
CREATE TABLE parts (
  ws       bigint NOT NULL,
  id       bigint NOT NULL,
  class    smallint NOT NULL,
  sub      bytea NOT NULL,
  sub_hash bytea NOT NULL,
  items    bigint NOT NULL DEFAULT 0,
  chunks   bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (ws, id)
) PARTITION BY HASH (ws);
CREATE UNIQUE INDEX parts_name ON parts (ws, sub_hash, class);

-- A row is a version. due: 0 when it can be claimed at any time, else from when on. The chunks of a version have
-- consecutive numbers from first_chunk on; dense tells that their ordinals are 0, 1, 2 in that order. older is the
-- indexed version that stays visible meanwhile. seq_*: where the feed has the version. lane is where Index or Place put
-- the vectors, lanes has a bit for each lane that is filled. compared is the generation of deciders that the version was compared under.
CREATE TABLE sources (
  ws            bigint NOT NULL,
  num           bigint NOT NULL,
  rev           bigint NOT NULL DEFAULT 0,
  part          bigint NOT NULL,
  id_hash       bytea NOT NULL,
  id            bytea NOT NULL,
  newest        boolean NOT NULL DEFAULT true,
  indexed       boolean NOT NULL DEFAULT false,
  graph         boolean NOT NULL DEFAULT false,
  dense         boolean NOT NULL DEFAULT false,
  infer         boolean NOT NULL,
  state         smallint NOT NULL,
  lane          smallint NOT NULL DEFAULT 0,
  lanes         smallint NOT NULL DEFAULT 1,
  attempts      bigint NOT NULL DEFAULT 0,
  due           bigint NOT NULL DEFAULT 0,
  not_before    bigint,
  lease         bigint,
  older         bigint NOT NULL DEFAULT 0,
  first_chunk   bigint NOT NULL DEFAULT 0,
  chunks        bigint NOT NULL DEFAULT 0,
  seq_chunks    bigint NOT NULL DEFAULT 0,
  seq_tags      bigint NOT NULL DEFAULT 0,
  seq_graph     bigint NOT NULL DEFAULT 0,
  seq_lane_1    bigint NOT NULL DEFAULT 0,
  seq_lane_2    bigint NOT NULL DEFAULT 0,
  seq_lane_3    bigint NOT NULL DEFAULT 0,
  compared      bigint NOT NULL DEFAULT 0,
  created       bigint,
  updated       bigint,
  time          bigint,
  expires       bigint,
  size          bigint NOT NULL,
  token         bytea NOT NULL DEFAULT '',
  title         bytea NOT NULL,
  kind          bytea NOT NULL,
  filename      bytea NOT NULL,
  media         bytea NOT NULL,
  session       bytea NOT NULL,
  error_code    bytea NOT NULL DEFAULT '',
  error_message bytea NOT NULL DEFAULT '',
  tags          bigint[],
  metadata      bytea,
  additional    bytea,
  doc           bytea,
  PRIMARY KEY (ws, num)
) PARTITION BY HASH (ws);
CREATE UNIQUE INDEX sources_item ON sources (ws, part, id_hash) WHERE newest;
CREATE INDEX sources_everywhere ON sources (ws, id_hash) WHERE newest;
CREATE INDEX sources_ready ON sources (ws, num) WHERE newest AND state < 4 AND due = 0;
CREATE INDEX sources_pending ON sources (ws, due) WHERE newest AND state < 4;
CREATE INDEX sources_list ON sources (ws, part, coalesce(updated, -9223372036854775808)) WHERE newest;
CREATE INDEX sources_errored ON sources (ws, part, coalesce(updated, -9223372036854775808)) WHERE newest AND state = 5;
CREATE INDEX sources_expires ON sources (ws, expires) WHERE expires IS NOT NULL;
CREATE INDEX sources_session ON sources (ws, part, substring(session, 1, 200), coalesce(time, -9223372036854775808), num)
  WHERE newest AND session <> '';

-- Of newest versions.
CREATE TABLE tags (
  ws     bigint NOT NULL,
  part   bigint NOT NULL,
  tag    bigint NOT NULL,
  source bigint NOT NULL,
  PRIMARY KEY (ws, part, tag, source)
) PARTITION BY HASH (ws);

-- Content of more than 256 KiB stands in blob_parts, in pieces of 1 MiB; pieces says how many there are.
CREATE TABLE blobs (
  ws     bigint NOT NULL,
  source bigint NOT NULL,
  kind   smallint NOT NULL,
  pieces bigint NOT NULL,
  crc    bigint NOT NULL,
  data   bytea NOT NULL,
  PRIMARY KEY (ws, source, kind)
) PARTITION BY HASH (ws);
CREATE TABLE blob_parts (
  ws     bigint NOT NULL,
  source bigint NOT NULL,
  kind   smallint NOT NULL,
  piece  bigint NOT NULL,
  data   bytea NOT NULL,
  PRIMARY KEY (ws, source, kind, piece)
) PARTITION BY HASH (ws);

CREATE TABLE chunks (
  ws       bigint NOT NULL,
  num      bigint NOT NULL,
  source   bigint NOT NULL,
  ordinal  bigint NOT NULL,
  key_hash bytea NOT NULL,
  crc      bigint NOT NULL,
  key      bytea NOT NULL,
  text     bytea NOT NULL,
  heading  bytea NOT NULL,
  layout   bytea,
  extra    bytea,
  PRIMARY KEY (ws, num)
) PARTITION BY HASH (ws);
-- key_hash is of the partition and the key.
CREATE UNIQUE INDEX chunks_key ON chunks (ws, key_hash);

-- Little-endian float32.
CREATE TABLE vectors (
  ws    bigint NOT NULL,
  chunk bigint NOT NULL,
  lane  smallint NOT NULL,
  crc   bigint NOT NULL,
  data  bytea NOT NULL,
  PRIMARY KEY (ws, chunk, lane)
) PARTITION BY HASH (ws);

-- All mentions of a version in one row, and which entities they are: the type that the first has, and how many there are.
CREATE TABLE mentions (
  ws     bigint NOT NULL,
  source bigint NOT NULL,
  crc    bigint NOT NULL,
  data   bytea NOT NULL,
  PRIMARY KEY (ws, source)
) PARTITION BY HASH (ws);
CREATE TABLE entity_sources (
  ws     bigint NOT NULL,
  entity bigint NOT NULL,
  source bigint NOT NULL,
  count  bigint NOT NULL,
  type   bytea NOT NULL,
  PRIMARY KEY (ws, entity, source)
) PARTITION BY HASH (ws);
CREATE INDEX entity_sources_source ON entity_sources (ws, source);

-- One row per key that something uses. root is the entity that the key stands for (itself, unless it was folded into
-- another). mentions and uses count those of the key and of the keys folded into it; a row without uses is removed.
-- named: name and type come from a mention.
CREATE TABLE entities (
  ws       bigint NOT NULL,
  num      bigint NOT NULL,
  part     bigint NOT NULL,
  root     bigint NOT NULL,
  mentions bigint NOT NULL,
  uses     bigint NOT NULL,
  named    boolean NOT NULL,
  key_hash bytea NOT NULL,
  key      bytea NOT NULL,
  name     bytea NOT NULL,
  type     bytea NOT NULL,
  PRIMARY KEY (ws, num)
) PARTITION BY HASH (ws);
CREATE UNIQUE INDEX entities_key ON entities (ws, part, key_hash);
CREATE INDEX entities_order ON entities (ws, part, substring(key, 1, 200));
CREATE INDEX entities_root ON entities (ws, root) WHERE root <> num;

CREATE TABLE aliases (
  ws       bigint NOT NULL,
  part     bigint NOT NULL,
  key_hash bytea NOT NULL,
  key      bytea NOT NULL,
  into_key bytea NOT NULL,
  PRIMARY KEY (ws, part, key_hash)
) PARTITION BY HASH (ws);

-- undone: 1 by the caller, 2 since no source says so any more. stated is the key that sources name, in a merge that follows from it;
-- asked_*: the keys that the call named.
CREATE TABLE merges (
  ws        bigint NOT NULL,
  num       bigint NOT NULL,
  part      bigint NOT NULL,
  at        bigint,
  undone    smallint NOT NULL DEFAULT 0,
  from_hash bytea NOT NULL,
  from_key  bytea NOT NULL,
  into_key  bytea NOT NULL,
  reason    bytea NOT NULL,
  stated    bytea NOT NULL DEFAULT '',
  asked_from bytea NOT NULL,
  asked_into bytea NOT NULL,
  PRIMARY KEY (ws, num)
) PARTITION BY HASH (ws);
CREATE INDEX merges_part ON merges (ws, part, num);
CREATE INDEX merges_from ON merges (ws, part, from_hash);

-- What sources say that keys stand for.
CREATE TABLE stated_aliases (
  ws        bigint NOT NULL,
  part      bigint NOT NULL,
  source    bigint NOT NULL,
  at        bigint,
  likely    boolean NOT NULL,
  from_hash bytea NOT NULL,
  into_hash bytea NOT NULL,
  from_key  bytea NOT NULL,
  into_key  bytea NOT NULL,
  reason    bytea NOT NULL,
  PRIMARY KEY (ws, part, from_hash, likely, into_hash, source)
) PARTITION BY HASH (ws);
CREATE INDEX stated_aliases_source ON stated_aliases (ws, source);

-- from_id and to_id are the entities of the keys themselves. ord is the moment that a relation speaks of, with the least
-- integer for "none". flags: 1 functional, 2 retracts.
CREATE TABLE relations (
  ws             bigint NOT NULL,
  num            bigint NOT NULL,
  part           bigint NOT NULL,
  source         bigint NOT NULL,
  chunk          bigint NOT NULL,
  from_id        bigint NOT NULL,
  to_id          bigint NOT NULL,
  ord            bigint NOT NULL,
  flags          smallint NOT NULL,
  superseded_by  bigint NOT NULL DEFAULT 0,
  valid_from     bigint,
  valid_to       bigint,
  known_from     bigint,
  known_to       bigint,
  confidence     real NOT NULL,
  predicate_hash bytea NOT NULL,
  predicate      bytea NOT NULL,
  from_key       bytea NOT NULL,
  to_key         bytea NOT NULL,
  raw            bytea NOT NULL,
  context        bytea NOT NULL,
  temporal       bytea NOT NULL,
  origin         bytea NOT NULL,
  kind           bytea NOT NULL,
  object         bytea NOT NULL,
  precision      bytea NOT NULL,
  PRIMARY KEY (ws, num)
) PARTITION BY HASH (ws);
CREATE INDEX relations_part ON relations (ws, part, num);
CREATE INDEX relations_predicate ON relations (ws, part, predicate_hash, num);
CREATE INDEX relations_source ON relations (ws, source);
CREATE INDEX relations_from ON relations (ws, from_id, predicate_hash, ord, source, num);
CREATE INDEX relations_functional ON relations (ws, from_id, predicate_hash, ord, source, num) WHERE flags = 1;
CREATE INDEX relations_retracting ON relations (ws, from_id, predicate_hash, to_id, ord, source, num) WHERE flags > 1;
CREATE INDEX relations_to ON relations (ws, to_id) WHERE to_id <> 0;
CREATE INDEX relations_retired ON relations (ws, superseded_by) WHERE superseded_by <> 0;

CREATE TABLE events (
  ws            bigint NOT NULL,
  seq           bigint NOT NULL,
  class         smallint NOT NULL,
  status        smallint NOT NULL,
  source        bigint NOT NULL,
  at            bigint,
  epoch         bigint NOT NULL,
  sub           bytea NOT NULL,
  item          bytea NOT NULL,
  error_code    bytea NOT NULL,
  error_message bytea NOT NULL,
  PRIMARY KEY (ws, seq)
) PARTITION BY HASH (ws);

-- Puts name their version; tombstones say what it was. The kind of an entry has the lane times 16 added; the tombstone of a
-- lane has it in class.
CREATE TABLE changes (
  ws     bigint NOT NULL,
  seq    bigint NOT NULL,
  kind   smallint NOT NULL,
  source bigint NOT NULL,
  class  smallint,
  sub    bytea,
  id     bytea,
  PRIMARY KEY (ws, seq)
) PARTITION BY HASH (ws);
CREATE INDEX changes_gone ON changes (ws, seq) WHERE sub IS NOT NULL;

-- Which version took the place of which. compared is the version whose comparison found it, 0 for a caller.
CREATE TABLE successions (
  ws            bigint NOT NULL,
  num           bigint NOT NULL,
  part          bigint NOT NULL,
  later         bigint NOT NULL,
  earlier       bigint NOT NULL,
  later_chunk   bigint NOT NULL,
  earlier_chunk bigint NOT NULL,
  compared      bigint NOT NULL,
  retracts      boolean NOT NULL,
  confidence    double precision NOT NULL,
  created       bigint,
  undone        bigint,
  matter        bytea NOT NULL,
  evidence      bytea NOT NULL,
  decider       bytea NOT NULL,
  extra         bytea,
  PRIMARY KEY (ws, num)
) PARTITION BY HASH (ws);
CREATE UNIQUE INDEX successions_earlier ON successions (ws, earlier, later);
CREATE INDEX successions_later ON successions (ws, later);
CREATE INDEX successions_part ON successions (ws, part, num);

-- The registry. Its tables hold a row for each tenant, record and delivery of the deployment.
CREATE TABLE tenants (
  uid      text PRIMARY KEY,
  org_hash bytea NOT NULL,
  id_hash  bytea NOT NULL,
  org      bytea NOT NULL,
  id       bytea NOT NULL,
  state    text NOT NULL,
  error    bytea NOT NULL,
  created  bigint,
  data     bytea,
  rev      bigint NOT NULL,
  wake     bigint
);
CREATE UNIQUE INDEX tenants_name ON tenants (org_hash, id_hash) WHERE state <> 'deleting';
CREATE INDEX tenants_order ON tenants (org_hash, substring(id, 1, 200)) WHERE state <> 'deleting';
CREATE INDEX tenants_deleting ON tenants (uid) WHERE state = 'deleting';
CREATE INDEX tenants_wake ON tenants (wake, uid) WHERE wake IS NOT NULL AND state <> 'deleting';

CREATE TABLE records (
  kind_hash bytea NOT NULL,
  org_hash  bytea NOT NULL,
  id_hash   bytea NOT NULL,
  kind      bytea NOT NULL,
  org       bytea NOT NULL,
  id        bytea NOT NULL,
  rev       bigint NOT NULL,
  data      bytea,
  PRIMARY KEY (kind_hash, org_hash, id_hash)
);
CREATE INDEX records_order ON records (kind_hash, org_hash, substring(id, 1, 200));
CREATE INDEX records_all ON records (kind_hash, substring(org, 1, 200), substring(id, 1, 200));

-- due is next_attempt or lease, whichever counts; live rows alone have it.
CREATE TABLE deliveries (
  num             bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  id_hash         bytea NOT NULL,
  org_hash        bytea NOT NULL,
  url_hash        bytea NOT NULL,
  status          text NOT NULL,
  tenant_uid      bytea NOT NULL,
  id              bytea NOT NULL,
  org             bytea NOT NULL,
  url             bytea NOT NULL,
  event           bytea NOT NULL,
  item            bytea NOT NULL,
  database        bytea NOT NULL,
  collection      bytea NOT NULL,
  indexing_status bytea NOT NULL,
  attempts        bigint NOT NULL,
  error_code      bytea NOT NULL,
  error_message   bytea NOT NULL,
  last_error      bytea NOT NULL,
  last_status     bigint NOT NULL,
  payload         bytea,
  created         bigint,
  updated         bigint,
  next_attempt    bigint,
  lease           bigint,
  token           bytea NOT NULL,
  due             bigint
);
CREATE UNIQUE INDEX deliveries_id ON deliveries (id_hash);
CREATE INDEX deliveries_page ON deliveries (org_hash, status, num);
CREATE INDEX deliveries_org ON deliveries (org_hash, num);
CREATE INDEX deliveries_due ON deliveries (due, num) WHERE due IS NOT NULL;
CREATE INDEX deliveries_url ON deliveries (url_hash, due, num) WHERE due IS NOT NULL;
CREATE INDEX deliveries_sweeping ON deliveries (due) WHERE status = 'sweeping';
CREATE INDEX deliveries_done ON deliveries (updated) WHERE due IS NULL;
CREATE INDEX deliveries_item ON deliveries (tenant_uid);

CREATE TABLE tenants (
  uid     TEXT PRIMARY KEY,
  org     TEXT NOT NULL,
  id      TEXT NOT NULL,
  state   TEXT NOT NULL,
  error   TEXT NOT NULL,
  created INTEGER,
  data    BLOB,
  rev     INTEGER NOT NULL,
  wake    INTEGER
);
CREATE UNIQUE INDEX tenants_name ON tenants (org, id) WHERE state <> 'deleting';
CREATE INDEX tenants_deleting ON tenants (uid) WHERE state = 'deleting';
CREATE INDEX tenants_wake ON tenants (wake, uid) WHERE wake IS NOT NULL AND state <> 'deleting';

CREATE TABLE records (
  kind TEXT NOT NULL,
  org  TEXT NOT NULL,
  id   TEXT NOT NULL,
  rev  INTEGER NOT NULL,
  data BLOB,
  PRIMARY KEY (kind, org, id)
) WITHOUT ROWID;

-- due is next_attempt or lease, whichever counts; live rows alone have it.
CREATE TABLE deliveries (
  num             INTEGER PRIMARY KEY AUTOINCREMENT,
  id              TEXT NOT NULL UNIQUE,
  org             TEXT NOT NULL,
  url             TEXT NOT NULL,
  event           TEXT NOT NULL,
  item            TEXT NOT NULL,
  database        TEXT NOT NULL,
  tenant_uid      TEXT NOT NULL,
  collection      TEXT NOT NULL,
  indexing_status TEXT NOT NULL,
  status          TEXT NOT NULL,
  attempts        INTEGER NOT NULL,
  error_code      TEXT NOT NULL,
  error_message   TEXT NOT NULL,
  last_error      TEXT NOT NULL,
  last_status     INTEGER NOT NULL,
  payload         BLOB,
  created         INTEGER,
  updated         INTEGER,
  next_attempt    INTEGER,
  lease           INTEGER,
  token           TEXT NOT NULL,
  due             INTEGER
);
CREATE INDEX deliveries_page ON deliveries (org, status, num);
CREATE INDEX deliveries_org ON deliveries (org, num);
CREATE INDEX deliveries_due ON deliveries (due, num) WHERE due IS NOT NULL;
CREATE INDEX deliveries_url ON deliveries (url, due, num) WHERE due IS NOT NULL;
CREATE INDEX deliveries_sweeping ON deliveries (url, due) WHERE status = 'sweeping';
CREATE INDEX deliveries_done ON deliveries (updated) WHERE due IS NULL;

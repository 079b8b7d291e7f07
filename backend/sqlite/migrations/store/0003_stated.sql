-- What sources say that keys stand for. A merge that follows from it has the key that they name in stated.
-- undone: 1 by the caller, 2 since no source says so any more.
CREATE TABLE stated_aliases (
  part     INTEGER NOT NULL,
  from_key TEXT NOT NULL,
  likely   INTEGER NOT NULL,
  into_key TEXT NOT NULL,
  source   INTEGER NOT NULL,
  reason   TEXT NOT NULL,
  at       INTEGER,
  PRIMARY KEY (part, from_key, likely, into_key, source)
) WITHOUT ROWID;
CREATE INDEX stated_aliases_source ON stated_aliases (source);
ALTER TABLE merges ADD COLUMN stated TEXT NOT NULL DEFAULT '';
CREATE INDEX merges_from ON merges (part, from_key);

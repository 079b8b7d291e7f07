-- compared is the generation of deciders that a version was compared under, 0: none.
ALTER TABLE sources ADD COLUMN compared INTEGER NOT NULL DEFAULT 0;

-- Which version took the place of which. compared is the version whose comparison found it, 0 for a caller.
CREATE TABLE successions (
  num           INTEGER PRIMARY KEY AUTOINCREMENT,
  part          INTEGER NOT NULL,
  later         INTEGER NOT NULL,
  earlier       INTEGER NOT NULL,
  later_chunk   INTEGER NOT NULL,
  earlier_chunk INTEGER NOT NULL,
  compared      INTEGER NOT NULL,
  retracts      INTEGER NOT NULL,
  confidence    REAL NOT NULL,
  matter        TEXT NOT NULL,
  evidence      TEXT NOT NULL,
  decider       TEXT NOT NULL,
  extra         BLOB,
  created       INTEGER,
  undone        INTEGER
);
CREATE UNIQUE INDEX successions_earlier ON successions (earlier, later);
CREATE INDEX successions_later ON successions (later);
CREATE INDEX successions_part ON successions (part, num);

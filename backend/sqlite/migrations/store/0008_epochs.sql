-- Each opening of the store that wrote something: a random number, and the last entry of the feed before it.
-- After an older copy of the file was put back numbers are given out again, in another epoch.
CREATE TABLE epochs (
  num   INTEGER PRIMARY KEY,
  epoch INTEGER NOT NULL,
  seq   INTEGER NOT NULL
);
ALTER TABLE events ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;

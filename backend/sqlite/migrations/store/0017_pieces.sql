-- Large content in pieces: SQLite has a value in memory as a whole, more than once. The row of blobs says how many there are.
CREATE TABLE pieces (
  id   INTEGER PRIMARY KEY,
  crc  INTEGER NOT NULL,
  data BLOB NOT NULL
);

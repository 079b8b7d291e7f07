-- lane is where Index or Place put the vectors of a version, lanes has a bit for each lane that is
-- filled, and seq_lane_* is where the feed has lanes that were filled later. In changes the kind of
-- such an entry has the lane times 16 added; the tombstone of a lane has it in class.
ALTER TABLE sources ADD COLUMN lane INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sources ADD COLUMN lanes INTEGER NOT NULL DEFAULT 1;
ALTER TABLE sources ADD COLUMN seq_lane_1 INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sources ADD COLUMN seq_lane_2 INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sources ADD COLUMN seq_lane_3 INTEGER NOT NULL DEFAULT 0;

-- Vectors of the lanes above 0, little-endian float32; id is the chunk's number times four plus the lane.
CREATE TABLE lane_vectors (
  id   INTEGER PRIMARY KEY,
  crc  INTEGER NOT NULL,
  data BLOB NOT NULL
);

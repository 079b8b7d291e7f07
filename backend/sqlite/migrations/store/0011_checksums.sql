-- Checksums of rows; NULL in rows of earlier releases, until they are computed in the background.
ALTER TABLE sources ADD COLUMN crc INTEGER;
ALTER TABLE relations ADD COLUMN crc INTEGER;
ALTER TABLE entities ADD COLUMN crc INTEGER;
CREATE INDEX sources_unsealed ON sources (num) WHERE crc IS NULL;
CREATE INDEX relations_unsealed ON relations (num) WHERE crc IS NULL;
CREATE INDEX entities_unsealed ON entities (num) WHERE crc IS NULL;

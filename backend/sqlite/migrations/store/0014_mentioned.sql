-- What a source says of an entity: the type, and how often it is mentioned. Rows of before
-- say nothing of the type.
ALTER TABLE entity_sources ADD COLUMN type TEXT NOT NULL DEFAULT '';
ALTER TABLE entity_sources ADD COLUMN count INTEGER NOT NULL DEFAULT 1;

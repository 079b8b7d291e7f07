-- How often a version was changed in place.
ALTER TABLE sources ADD COLUMN rev INTEGER NOT NULL DEFAULT 0;

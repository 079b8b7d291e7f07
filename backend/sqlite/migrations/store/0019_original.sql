-- original: the content as it came is the text of the version's one chunk, and stands in blobs no more. Earlier releases can't find it.
ALTER TABLE sources ADD COLUMN original INTEGER NOT NULL DEFAULT 0;

-- limited: not everybody may read the source, or it was replaced, or it is not known.
ALTER TABLE stated_aliases ADD COLUMN limited INTEGER NOT NULL DEFAULT 1;
CREATE INDEX stated_aliases_limited ON stated_aliases (part) WHERE limited = 1;
-- The keys that the call named; empty: those of before kept only what they stood for.
ALTER TABLE merges ADD COLUMN asked_from TEXT NOT NULL DEFAULT '';
ALTER TABLE merges ADD COLUMN asked_into TEXT NOT NULL DEFAULT '';

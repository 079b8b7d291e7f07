-- ord becomes the moment that a relation speaks of, and known_from has when it was learnt;
-- rivals of one moment follow one another by source, then num.
ALTER TABLE relations ADD COLUMN known_from INTEGER;
UPDATE relations SET known_from = ord WHERE ord <> -9223372036854775808;
DROP INDEX relations_from;
DROP INDEX relations_functional;
DROP INDEX relations_retracting;
CREATE INDEX relations_from ON relations (from_id, predicate, ord, source);
CREATE INDEX relations_functional ON relations (from_id, predicate, ord, source) WHERE flags = 1;
CREATE INDEX relations_retracting ON relations (from_id, predicate, ord, source) WHERE flags > 1;

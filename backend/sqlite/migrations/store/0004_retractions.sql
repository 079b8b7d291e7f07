-- The retractions of a statement are found without reading those of others by the same entity.
DROP INDEX relations_retracting;
CREATE INDEX relations_retracting ON relations (from_id, predicate, to_id, ord, source) WHERE flags > 1;

-- What is said under a predicate of anybody.
CREATE INDEX relations_predicate ON relations (part, predicate);

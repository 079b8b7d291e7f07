-- Items that ended in an error are listed by themselves.
CREATE INDEX sources_errored ON sources (part, updated) WHERE newest = 1 AND state = 5;

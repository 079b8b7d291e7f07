-- The newest versions of a named session in their order.
CREATE INDEX sources_session ON sources (part, session, coalesce(time, -9223372036854775808), num) WHERE newest = 1 AND session <> '';

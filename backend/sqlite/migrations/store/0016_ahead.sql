-- Sources with a time of their own that lies behind their acceptance, of which there are few.
CREATE INDEX sources_ahead ON sources (part, time) WHERE time > created;

-- A value can be moved to a storage that knows it by its name; NULL in rows of before.
ALTER TABLE vals ADD COLUMN name bytea;

-- moving: '' in use, or filling or moved, from or to peer. id names the deployment for all time.
ALTER TABLE contextmem_schema ADD COLUMN id text NOT NULL DEFAULT gen_random_uuid()::text;
ALTER TABLE contextmem_schema ADD COLUMN moving text NOT NULL DEFAULT '';
ALTER TABLE contextmem_schema ADD COLUMN peer text NOT NULL DEFAULT '';

CREATE FUNCTION contextmem_moved() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'the deployment was moved' USING ERRCODE = 'CM001'; END $$;

#!/usr/bin/env bash
# Makes the role and the database of contextmem at the first start of the image postgres. The role is no superuser: row-level security binds it.
set -euo pipefail
psql -v ON_ERROR_STOP=1 -v password="$CONTEXTMEM_DB_PASSWORD" --username "$POSTGRES_USER" --dbname postgres <<'SQL'
CREATE ROLE contextmem LOGIN PASSWORD :'password';
CREATE DATABASE contextmem OWNER contextmem;
SQL

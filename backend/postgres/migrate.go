package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/contextmem/contextmem/backend"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrationLock is the advisory lock that processes hold while they create or migrate the tables.
const migrationLock = 0x636d656d // "cmem"

// migrate brings the tables to the schema version of this release. Each step is a transaction.
func migrate(ctx context.Context, c *pgx.Conn, partitions int) error {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	for {
		done, err := migrateStep(ctx, c, files, partitions)
		if done || err != nil {
			return err
		}
	}
}

func migrateStep(ctx context.Context, c *pgx.Conn, files []string, partitions int) (done bool, err error) {
	version, err := schemaVersion(ctx, c)
	if err != nil || version == len(files) {
		return true, err
	}
	tx, err := c.Begin(ctx)
	if err != nil {
		return false, translate(err)
	}
	defer func() { _ = tx.Rollback(ctx) }()
	if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(migrationLock)); err != nil {
		return false, translate(err)
	}
	if version, err = schemaVersion(ctx, c); err != nil || version == len(files) {
		return true, err
	}
	if version > len(files) {
		return true, fmt.Errorf("the tables are at version %d, this release knows %d: %w", version, len(files), backend.ErrNewerSchema)
	}
	script, err := migrations.ReadFile(files[version])
	if err != nil {
		return false, err
	}
	if version == 0 {
		if _, err := tx.Exec(ctx, "CREATE TABLE IF NOT EXISTS contextmem_schema (version bigint NOT NULL, partitions bigint NOT NULL)"); err != nil {
			return false, translate(err)
		}
		if _, err := tx.Exec(ctx, "INSERT INTO contextmem_schema VALUES (0, $1)", int64(partitions)); err != nil {
			return false, translate(err)
		}
	}
	// A script has many statements, which only the simple protocol can run in one message.
	if _, err := tx.Conn().PgConn().Exec(ctx, string(script)).ReadAll(); err != nil {
		return false, translateScript(err)
	}
	if err := furnish(ctx, tx); err != nil {
		return false, err
	}
	if _, err := tx.Exec(ctx, "UPDATE contextmem_schema SET version = $1", int64(version+1)); err != nil {
		return false, translate(err)
	}
	return false, translate(tx.Commit(ctx))
}

func translateScript(err error) error {
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return fmt.Errorf("postgres: make tables: %s: %s", pe.Code, pe.Message)
	}
	return translate(err)
}

// schemaVersion returns the number of completed migration steps, or 0 if there are no tables.
func schemaVersion(ctx context.Context, c *pgx.Conn) (version int, err error) {
	var there bool
	if err := c.QueryRow(ctx, "SELECT to_regclass('contextmem_schema') IS NOT NULL").Scan(&there); err != nil || !there {
		return 0, translate(err)
	}
	err = c.QueryRow(ctx, "SELECT version FROM contextmem_schema").Scan(&version)
	return version, translate(err)
}

// walls are the row-level security policies of tables outside workspaces. They show the rows of one organisation, or all rows to calls
// that concern all organisations.
const orgWall = "encode(org_hash, 'hex') = current_setting('contextmem.org', true) OR current_setting('contextmem.org', true) = '*'"

// wsWall is the row-level security policy of workspace tables.
const wsWall = "ws = nullif(current_setting('contextmem.ws', true), '')::bigint"

// ledgerWall also shows ledgers, which contain no content, to queries for the progress of many workspaces.
const ledgerWall = wsWall + " OR current_setting('contextmem.org', true) = '*'"

// furnish creates missing partitions and missing row-level security policies. The policies also apply to the owner of the tables.
func furnish(ctx context.Context, tx pgx.Tx) error {
	var partitions int64
	if err := tx.QueryRow(ctx, "SELECT partitions FROM contextmem_schema").Scan(&partitions); err != nil {
		return translate(err)
	}
	rows, err := tx.Query(ctx, `SELECT c.relname, c.relkind = 'p' FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace AND NOT c.relrowsecurity
		AND (c.relkind = 'p' OR c.relkind = 'r' AND c.relname IN ('tenants', 'records', 'deliveries')) ORDER BY 1`)
	if err != nil {
		return translate(err)
	}
	var sql strings.Builder
	for rows.Next() {
		var table string
		var partitioned bool
		if err := rows.Scan(&table, &partitioned); err != nil {
			return translate(err)
		}
		wall := orgWall
		if partitioned {
			wall = wsWall
			if table == "ledgers" {
				wall = ledgerWall
			}
			for i := range partitions {
				part := fmt.Sprintf("%s_%02d", table, i)
				fmt.Fprintf(&sql, "CREATE TABLE %s PARTITION OF %s FOR VALUES WITH (MODULUS %d, REMAINDER %d);\n", part, table, partitions, i)
				guard(&sql, part, wall)
				if table == "vectors" || table == "blob_parts" {
					fmt.Fprintf(&sql, "ALTER TABLE %s ALTER COLUMN data SET STORAGE EXTERNAL;\n", part) // the data does not compress further
				}
			}
		}
		guard(&sql, table, wall)
	}
	if err := rows.Err(); err != nil {
		return translate(err)
	}
	if _, err := tx.Conn().PgConn().Exec(ctx, sql.String()).ReadAll(); err != nil {
		return translateScript(err)
	}
	return nil
}

func guard(sql *strings.Builder, table, wall string) {
	fmt.Fprintf(sql, "ALTER TABLE %s ENABLE ROW LEVEL SECURITY;\nALTER TABLE %s FORCE ROW LEVEL SECURITY;\nCREATE POLICY own ON %s USING (%s) WITH CHECK (%s);\n",
		table, table, table, wall, wall)
}

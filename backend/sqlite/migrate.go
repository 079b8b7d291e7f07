package sqlite

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/contextmem/contextmem/backend"
)

//go:embed migrations
var migrations embed.FS

// schema holds the migrations of one kind of file, in order. The file's user_version is the
// number of applied migrations.
type schema []string

var (
	deploymentSchema = mustSchema("deployment")
	storeSchema      = mustSchema("store")
)

// mustSchema reads the embedded NNNN_name.sql, which are numbered from 1 without gaps.
func mustSchema(kind string) schema {
	dir := "migrations/" + kind
	entries, err := fs.ReadDir(migrations, dir)
	if err != nil {
		panic(err)
	}
	var s schema
	for i, e := range entries {
		number, _, _ := strings.Cut(e.Name(), "_")
		if n, err := strconv.Atoi(number); err != nil || n != i+1 {
			panic("sqlite: migration out of order: " + e.Name())
		}
		sql, err := fs.ReadFile(migrations, dir+"/"+e.Name())
		if err != nil {
			panic(err)
		}
		s = append(s, string(sql))
	}
	return s
}

// migrate migrates a file to the newest schema, with one transaction for each step. If the file has
// steps that this release does not know, it returns [backend.ErrNewerSchema].
func (s schema) migrate(ctx context.Context, c *conn, what string) error {
	var version int
	_, err := c.one(ctx, "PRAGMA user_version", func(r *row) error {
		version = int(r.int(0))
		return nil
	})
	if err != nil {
		return fmt.Errorf("schema of %s: %w", what, err)
	}
	if version > len(s) {
		return fmt.Errorf("%s has schema %d, this release knows schemas up to %d: %w",
			what, version, len(s), backend.ErrNewerSchema)
	}
	for ; version < len(s); version++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.step(c, version); err != nil {
			return fmt.Errorf("migrate %s to schema %d: %w", what, version+1, err)
		}
	}
	return nil
}

func (s schema) step(c *conn, version int) error {
	if err := c.script("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := c.script(s[version])
	if err == nil {
		err = c.script(fmt.Sprintf("PRAGMA user_version = %d", version+1))
	}
	if err == nil {
		err = c.script("COMMIT")
	}
	if err != nil && inTransaction(c.dc) {
		if rerr := c.script("ROLLBACK"); rerr != nil {
			return fmt.Errorf("%w (and rolling back: %v)", err, rerr)
		}
	}
	return err
}

package bench

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unsafe"

	_ "github.com/mattn/go-sqlite3" // the driver
)

// ErrNotBuilt is returned for a contender that this build leaves out; see the
// package's build tags.
var ErrNotBuilt = errors.New("not built in")

// openSQLite opens a database of one connection, durable like contextmem's own store: a
// transaction is on disk when it returns.
func openSQLite(ctx context.Context, path string) (*sql.DB, error) {
	db, err := sql.Open("sqlite3", "file:"+path+"?_journal_mode=WAL&_synchronous=FULL")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, "PRAGMA cache_size=-262144"); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// insertAll runs a statement n times in transactions of 10,000.
func insertAll(ctx context.Context, db *sql.DB, statement string, n int, args func(i int) []any) error {
	const each = 10_000
	for at := 0; at < n; at += each {
		err := func() error {
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				return err
			}
			defer func() { _ = tx.Rollback() }() // does nothing after Commit
			insert, err := tx.PrepareContext(ctx, statement)
			if err != nil {
				return err
			}
			for i := at; i < min(at+each, n); i++ {
				if _, err := insert.ExecContext(ctx, args(i)...); err != nil {
					return fmt.Errorf("row %d: %w", i, err)
				}
			}
			return tx.Commit()
		}()
		if err != nil {
			return err
		}
	}
	return nil
}

// scanRows reads the only column of a result.
func scanRows(rows *sql.Rows, err error) ([]int, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []int
	for rows.Next() {
		var r int
		if err := rows.Scan(&r); err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, rows.Err()
}

// bytesOf returns the memory of v as bytes, without a copy.
func bytesOf(v []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), 4*len(v))
}

// FTS5 is a full-text table of SQLite.
type FTS5 struct {
	db     *sql.DB
	search *sql.Stmt
}

// NewFTS5 returns an optimised table in dir with docs, stemmed. The table does not store their texts.
// Without the build tag sqlite_fts5 it returns ErrNotBuilt.
func NewFTS5(ctx context.Context, dir string, docs []string) (*FTS5, error) {
	db, err := openSQLite(ctx, filepath.Join(dir, "fts5.db"))
	if err != nil {
		return nil, err
	}
	if _, err := db.ExecContext(ctx, "CREATE VIRTUAL TABLE docs USING fts5(text, content='', tokenize='porter unicode61')"); err != nil {
		if strings.Contains(err.Error(), "no such module") {
			err = ErrNotBuilt
		}
		return nil, errors.Join(err, db.Close())
	}
	err = insertAll(ctx, db, "INSERT INTO docs(rowid, text) VALUES(?, ?)", len(docs), func(i int) []any { return []any{i, docs[i]} })
	if err == nil {
		_, err = db.ExecContext(ctx, "INSERT INTO docs(docs) VALUES('optimize')")
	}
	if err != nil {
		return nil, fmt.Errorf("fts5: %w", errors.Join(err, db.Close()))
	}
	search, err := db.PrepareContext(ctx, "SELECT rowid FROM docs WHERE docs MATCH ? ORDER BY rank LIMIT ?")
	if err != nil {
		return nil, fmt.Errorf("fts5: %w", errors.Join(err, db.Close()))
	}
	return &FTS5{db, search}, nil
}

// Search returns the numbers of documents that contain any of the words.
func (f *FTS5) Search(ctx context.Context, words []string) ([]int, error) {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteString(" OR ")
		}
		b.WriteString(`"` + w + `"`)
	}
	return scanRows(f.search.QueryContext(ctx, b.String(), TopK))
}

// Close closes the table.
func (f *FTS5) Close() error { return errors.Join(f.search.Close(), f.db.Close()) }

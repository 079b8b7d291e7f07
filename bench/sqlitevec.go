//go:build sqlitevec

package bench

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"

	vec "github.com/asg017/sqlite-vec-go-bindings/cgo"
)

func init() { vec.Auto() }

// SQLiteVec is a table of sqlite-vec.
type SQLiteVec struct {
	db     *sql.DB
	search *sql.Stmt
}

// NewSQLiteVec returns a table in dir with the rows of v.
func NewSQLiteVec(ctx context.Context, dir string, v *Vectors) (*SQLiteVec, error) {
	db, err := openSQLite(ctx, filepath.Join(dir, "vec.db"))
	if err != nil {
		return nil, err
	}
	create := fmt.Sprintf("CREATE VIRTUAL TABLE rows USING vec0(v float[%d] distance_metric=cosine)", v.Dim)
	if _, err := db.ExecContext(ctx, create); err != nil {
		return nil, fmt.Errorf("sqlite-vec: %w", err)
	}
	err = insertAll(ctx, db, "INSERT INTO rows(rowid, v) VALUES(?, ?)", v.N, func(i int) []any {
		return []any{i, bytesOf(v.Row(i))}
	})
	if err != nil {
		return nil, fmt.Errorf("sqlite-vec: %w", err)
	}
	search, err := db.PrepareContext(ctx, "SELECT rowid FROM rows WHERE v MATCH ? AND k = ? ORDER BY distance")
	if err != nil {
		return nil, fmt.Errorf("sqlite-vec: %w", err)
	}
	return &SQLiteVec{db, search}, nil
}

// Search returns the numbers of the rows nearest to q.
func (s *SQLiteVec) Search(ctx context.Context, q []float32) ([]int, error) {
	return scanRows(s.search.QueryContext(ctx, bytesOf(q), TopK))
}

// Close closes the table.
func (s *SQLiteVec) Close() error { return s.db.Close() }

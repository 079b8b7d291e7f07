package postgres

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend/backendtest"
)

// TestNewConnectionsMakeNoPlansOfAllPartitions checks that a statement that a new connection runs again and again is planned for the
// partition of its workspace alone. A plan of all partitions locks them until the end of the transaction.
func TestNewConnectionsMakeNoPlansOfAllPartitions(t *testing.T) {
	name := onceName(t)
	url := database(t, name) + "&pool_max_conns=1"
	ctx := t.Context()
	for _, test := range []struct {
		name string
		run  func(d *DB, s scope, f func(c *conn) error) error
	}{
		{"read", func(d *DB, s scope, f func(c *conn) error) error { return d.read(ctx, s, f) }},
		{"read by keys", func(d *DB, s scope, f func(c *conn) error) error { return d.readKeys(ctx, s, f) }},
		{"write", func(d *DB, s scope, f func(c *conn) error) error { return d.write(ctx, s, f) }},
		{"write of a workspace", func(d *DB, s scope, f func(c *conn) error) error {
			return d.writeAsking(ctx, s, func(*conn) (bool, error) { return false, nil }, f)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			d, err := Open(ctx, url, &Options{Poll: time.Hour})
			require.NoError(t, err)
			defer d.Close()
			opened, err := d.OpenStore(ctx, backendtest.UID(name))
			require.NoError(t, err)
			var locked []string
			require.NoError(t, test.run(d, opened.(*store).scope, func(c *conn) error {
				const compared = 6 // times that the server runs a statement before it compares plans, and one more
				for num := range int64(compared) {
					if _, err := c.one(ctx, "SELECT id FROM sources WHERE ws = $1 AND num = $2", func(*row) error { return nil }, num); err != nil {
						return err
					}
				}
				c.scope, locked = nil, nil
				return c.each(ctx, "SELECT relation::regclass::text FROM pg_locks WHERE pid = pg_backend_pid() AND relation::regclass::text ~ '^sources_[0-9]+$'", func(r *row) error {
					locked = append(locked, r.str(0))
					return nil
				})
			}))
			assert.LessOrEqual(t, len(locked), 1, "%q", locked)
		})
	}
}

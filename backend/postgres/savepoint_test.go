package postgres

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend/backendtest"
)

// TestCallThatFailsAtOnce lets calls share a transaction of which some fail before they have sent a statement. The others have their effect,
// and only these.
func TestCallThatFailsAtOnce(t *testing.T) {
	d := openTest(t, t.Name(), nil)
	defer d.Close()
	opened, err := d.OpenStore(t.Context(), backendtest.UID("savepoints"))
	require.NoError(t, err)
	defer opened.Close()
	s := opened.(*store)
	failed := errors.New("failed")
	var jobs []*job
	add := func(name string, err error) {
		jobs = append(jobs, &job{done: make(chan struct{}), run: func(tx *tx) error {
			if name != "" {
				if err := tx.c.do("INSERT INTO vals (ws, name_hash, crc, data, name) VALUES ($1, $2, 0, '', $3)", hashOf(name), name); err != nil {
					return err
				}
			}
			return err
		}})
	}
	add("", failed)
	add("first", nil)
	add("", failed)
	add("queued and failed", failed)
	add("second", nil)
	add("", failed)
	<-s.w.turn
	s.w.group(jobs)
	s.w.turn <- struct{}{}
	for i, want := range []error{failed, nil, failed, failed, nil, failed} {
		require.ErrorIs(t, jobs[i].err, want, "call %d", i)
	}
	var names []string
	require.NoError(t, s.query(t.Context(), func(c *conn) error {
		names = nil
		return c.each(t.Context(), "SELECT name FROM vals WHERE ws = $1 ORDER BY name", func(r *row) error {
			names = append(names, r.str(0))
			return nil
		})
	}))
	require.Equal(t, []string{"first", "second"}, names)
}

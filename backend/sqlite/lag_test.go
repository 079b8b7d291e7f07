package sqlite

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// writtenCounters returns the last version that the counters in the file include.
func writtenCounters(t *testing.T, s *store) (num int64) {
	t.Helper()
	require.NoError(t, s.read(t.Context(), func(c *conn) error {
		_, err := c.one(bg, "SELECT source FROM counters WHERE id = 0", func(r *row) error { num = r.int(0); return nil })
		return err
	}))
	return num
}

func placedItem(part backend.Partition, id string) backend.Placed {
	return backend.Placed{
		Incoming: backend.Incoming{Source: backend.Source{Part: part, ID: id, CreatedAt: testTime, UpdatedAt: testTime}, IfAbsent: true},
		Chunks:   []backend.Chunk{{Key: id + "/0", Vector: []float32{1, 2}}, {Key: id + "/1", Ordinal: 1, Vector: []float32{2, 1}}},
	}
}

// TestCountersBehind checks that placements alone leave the counters in the file behind, up to a bound, and that every
// other commit writes them. Reads return the current counters, before and after a restart.
func TestCountersBehind(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	parts := []backend.Partition{{Class: backend.Raw, Sub: "a"}, {Class: backend.Raw, Sub: "b"}}
	for name, other := range map[string]struct {
		do      func(s *store) error
		written bool
		items   int // by which the change makes the partition a larger
	}{
		"nothing": {func(s *store) error { return nil }, false, 0},
		"a value": {func(s *store) error { return s.Set(ctx, "k", nil, []byte("v")) }, false, 0},
		"metadata": {func(s *store) error {
			_, err := s.UpdateMetadata(ctx, parts[0], "a1", newestOf(t, s, parts[0], "a1"), nil, nil, nil, nil, testTime)
			return err
		}, true, 0},
		"accept": {func(s *store) error { _, err := s.Accept(ctx, item("x")); return err }, true, 0},
		"delete": {func(s *store) error {
			_, err := s.Delete(ctx, parts[0], []string{"a1"}, backend.DeleteOptions{})
			return err
		}, true, -1},
		"delete sub": {func(s *store) error { _, err := s.DeleteSub(ctx, "a", 100); return err }, true, -4},
		"event": {func(s *store) error {
			in := placedItem(parts[0], "loud")
			in.Event = true
			_, err := s.Place(ctx, []backend.Placed{in})
			return err
		}, true, 1},
		"replacement": {func(s *store) error {
			in := placedItem(parts[0], "a1")
			in.IfAbsent = false
			_, err := s.Place(ctx, []backend.Placed{in})
			return err
		}, true, 0},
		"refused placement": {func(s *store) error {
			_, err := s.Place(ctx, []backend.Placed{placedItem(parts[0], "fine"), placedItem(parts[0], "a1")})
			if !errors.Is(err, backend.ErrExists) {
				return fmt.Errorf("it was not refused: %w", err)
			}
			return nil
		}, false, 0},
		"many": {func(s *store) error {
			var in []backend.Placed
			for i := range maxLag {
				in = append(in, placedItem(parts[0], fmt.Sprint("more", i)))
			}
			_, err := s.Place(ctx, in)
			return err
		}, true, maxLag},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			d, opened := openOnce(t, dir)
			s := opened.(*store)
			defer func() { require.NoError(t, d.Close()) }()
			for i, part := range parts { // the first of a partition writes its counters
				_, err := s.Place(ctx, []backend.Placed{placedItem(part, fmt.Sprint(part.Sub, 0))})
				require.NoError(t, err)
				require.EqualValues(t, i+1, writtenCounters(t, s))
			}
			for i := 1; i <= 3; i++ {
				for _, part := range parts {
					_, err := s.Place(ctx, []backend.Placed{placedItem(part, fmt.Sprint(part.Sub, i))})
					require.NoError(t, err)
				}
			}
			require.EqualValues(t, len(parts), writtenCounters(t, s), "the counters are behind")
			require.NoError(t, other.do(s))
			if other.written {
				assert.EqualValues(t, s.tx.led.Source, writtenCounters(t, s))
			} else {
				assert.EqualValues(t, len(parts), writtenCounters(t, s))
			}
			for range 2 {
				check(t, s)
				led := s.tx.led
				counts, _, err := s.Backlog(ctx)
				require.NoError(t, err)
				assert.Equal(t, 8+other.items, counts[backend.Completed])
				st, err := s.Stats(ctx, backend.Raw)
				require.NoError(t, err)
				assert.Equal(t, backend.Stats{Sources: 8 + other.items, Chunks: 2 * (8 + other.items)}, st)
				subs, err := s.Subs(ctx)
				require.NoError(t, err)
				got := map[string]int{}
				for _, sub := range subs {
					got[sub.Sub] = sub.Raw
				}
				assert.Equal(t, 4+other.items, got["a"])
				assert.Equal(t, 4, got["b"])
				_, at, err := replay(t, s, 0, 1000)
				require.NoError(t, err)
				assert.Equal(t, s.LastSeq(), at)
				require.NoError(t, d.Close())
				d, opened = openOnce(t, dir)
				s = opened.(*store)
				assert.Equal(t, led, s.tx.led, "after a restart")
			}
			p, err := s.Place(ctx, []backend.Placed{placedItem(parts[1], "after")})
			require.NoError(t, err)
			assert.Greater(t, p.Changes[0].Seq, p.After)
			check(t, s)
		})
	}
}

// TestCountersBehindInGroups checks that after calls that share a transaction, some of which fail, the file and the
// writer have the same counters.
func TestCountersBehindInGroups(t *testing.T) {
	t.Parallel()
	_, s := openTest(t)
	part := backend.Partition{Class: backend.Raw, Sub: "a"}
	const callers, each = 8, 30
	done := make(chan error, callers)
	for c := range callers {
		go func() {
			var errs []error
			for i := range each {
				_, err := s.Place(t.Context(), []backend.Placed{placedItem(part, fmt.Sprint(c, "-", i)), placedItem(part, fmt.Sprint("shared", i/3))})
				if err != nil && !errors.Is(err, backend.ErrExists) {
					errs = append(errs, err)
				}
				if i%10 == 9 {
					_, err := s.Delete(t.Context(), part, []string{fmt.Sprint("shared", i/3)}, backend.DeleteOptions{})
					errs = append(errs, err)
				}
			}
			done <- errors.Join(errs...)
		}()
	}
	for range callers {
		require.NoError(t, <-done)
	}
	check(t, s)
	require.NoError(t, s.read(t.Context(), func(c *conn) error {
		l, err := readLedger(c)
		assert.Equal(t, s.tx.led, l)
		return err
	}))
	_, _, err := s.Expire(t.Context(), time.Now(), 1)
	require.NoError(t, err)
	check(t, s)
}

// TestCountersBehindAfterAbort checks that a transaction that fails to commit has no effect, both with
// placements alone and with written counters.
func TestCountersBehindAfterAbort(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	_, s := openTest(t)
	part := backend.Partition{Class: backend.Raw, Sub: "a"}
	for i := range 3 {
		_, err := s.Place(ctx, []backend.Placed{placedItem(part, fmt.Sprint("a", i))})
		require.NoError(t, err)
	}
	require.NoError(t, s.change(ctx, func(t *tx) error {
		return t.c.script("CREATE TABLE broken (part INTEGER REFERENCES parts (id) DEFERRABLE INITIALLY DEFERRED)")
	}))
	led := s.tx.led
	for i, event := range []bool{false, true} {
		t.Run(fmt.Sprint(event), func(t *testing.T) {
			err := s.change(ctx, func(t *tx) error {
				in := placedItem(part, fmt.Sprint("lost", i))
				in.Event = event
				if _, err := t.Tx.Place([]backend.Placed{in}); err != nil {
					return err
				}
				return t.c.do("INSERT INTO broken VALUES (999)")
			})
			require.ErrorIs(t, err, errConstraint)
			assert.Equal(t, led, s.tx.led)
			check(t, s)
		})
	}
	for _, event := range []bool{false, true} {
		in := placedItem(part, fmt.Sprint("kept", event))
		in.Event = event
		_, err := s.Place(ctx, []backend.Placed{in})
		require.NoError(t, err)
		check(t, s)
	}
	st, err := s.Stats(ctx, backend.Raw)
	require.NoError(t, err)
	assert.Equal(t, backend.Stats{Sources: 5, Chunks: 10}, st)
}

package postgres

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/storerules"
)

// lockWaiters returns the number of sessions of a database that wait for a lock.
func lockWaiters(t *testing.T, d *DB) (n int64) {
	t.Helper()
	require.NoError(t, d.query(t.Context(), everything, func(c *conn) error {
		_, err := c.one(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'", func(r *row) error {
			n = r.int(0)
			return nil
		})
		return err
	}))
	return n
}

// TestFeedWaitsForEarlierNumbers checks that an uncommitted transaction with numbers of the feed keeps others from
// taking later ones, so that no reader sees a later entry and misses an earlier one.
func TestFeedWaitsForEarlierNumbers(t *testing.T) {
	stores := openProcesses(t, t.Name(), 3, nil)
	ctx := t.Context()
	a, b, reader := stores[0].(*store), stores[1].(*store), stores[2].(*store)
	_, err := a.Place(ctx, []backend.Placed{placedMemory("first")})
	require.NoError(t, err)
	at := a.LastSeq()
	taken, commit, done := make(chan struct{}), make(chan struct{}), make(chan error, 2)
	go func() {
		done <- a.change(ctx, func(tx *tx) error {
			_, err := tx.Place([]backend.Placed{placedMemory("early")})
			if err == nil {
				err = tx.c.flush(bg)
			}
			close(taken)
			<-commit
			return err
		})
	}()
	<-taken
	go func() {
		_, err := b.Place(ctx, []backend.Placed{placedMemory("late")})
		done <- err
	}()
	require.Eventually(t, func() bool { return lockWaiters(t, reader.db) > 0 }, time.Minute, time.Millisecond, "the later writer waits")
	for range 3 {
		changes, err := reader.Changes(ctx, at, 100)
		require.NoError(t, err)
		require.Empty(t, changes, "neither is there")
		require.Equal(t, at, reader.LastSeq(), "and nobody says so")
	}
	close(commit)
	require.NoError(t, <-done)
	require.NoError(t, <-done)
	changes, err := reader.Changes(ctx, at, 100)
	require.NoError(t, err)
	require.Len(t, changes, 2)
	assert.Equal(t, []string{"early", "late"}, []string{changes[0].SourceID, changes[1].SourceID})
	assert.Equal(t, []uint64{at + 1<<storerules.SeqShift, at + 2<<storerules.SeqShift}, []uint64{changes[0].Seq, changes[1].Seq})
}

// TestLostCommitsAreNotSkipped checks that a process moves back if it knows of commits that the server has lost. An
// index that skipped to their end would miss new commits with their numbers.
func TestLostCommitsAreNotSkipped(t *testing.T) {
	stores := openProcesses(t, t.Name(), 2, nil)
	ctx := t.Context()
	writer, s := stores[0].(*store), stores[1].(*store)
	_, err := writer.Place(ctx, []backend.Placed{placedMemory("kept")})
	require.NoError(t, err)
	last := writer.LastSeq()
	s.learn(last + 3<<storerules.SeqShift) // what was told before the server was replaced by one without it
	_, err = s.Changes(ctx, last, 100)
	require.ErrorIs(t, err, backend.ErrUnavailable, "not: nothing is left")
	assert.Equal(t, last, s.LastSeq())
	changes, err := s.Changes(ctx, last, 100)
	require.NoError(t, err)
	assert.Empty(t, changes)

	s.learn(last + 3<<storerules.SeqShift)
	_, err = s.Changes(ctx, last+3<<storerules.SeqShift, 100)
	require.ErrorIs(t, err, backend.ErrFeedGone, "an index that has applied some starts again")
	_, err = writer.Place(ctx, []backend.Placed{placedMemory("next")})
	require.NoError(t, err)
	changes, err = s.Changes(ctx, last, 100)
	require.NoError(t, err)
	require.Len(t, changes, 1)
	assert.Equal(t, "next", changes[0].SourceID)
}

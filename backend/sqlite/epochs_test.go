package sqlite

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// placeOne puts one item with a chunk into a store and returns the feed position after it.
func placeOne(t *testing.T, s *store, id string) uint64 {
	t.Helper()
	_, err := s.Place(t.Context(), []backend.Placed{{
		Incoming: backend.Incoming{Source: backend.Source{Part: testPart, ID: id}},
		Chunks:   []backend.Chunk{{Key: id + "0", Vector: []float32{1, 0}}}, Event: true,
	}})
	require.NoError(t, err)
	return s.LastSeq()
}

func TestEpochs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var at, epochs []uint64
	for i := range 4 {
		d, err := Open(t.Context(), dir, nil)
		require.NoError(t, err)
		opened, err := d.OpenStore(t.Context(), testUID)
		require.NoError(t, err)
		s := opened.(*store)
		for k, seq := range at {
			assert.Equal(t, epochs[k], s.EpochOf(seq), "after a restart")
		}
		if i == 2 { // an opening that writes nothing is none
			require.Len(t, *s.epochs.Load(), 2)
		} else {
			failed := s.change(t.Context(), func(*tx) error { return errors.New("no") })
			require.Error(t, failed)
			require.Len(t, *s.epochs.Load(), len(epochs)/2, "nothing was written")
			at = append(at, placeOne(t, s, string(rune('a'+2*i))), placeOne(t, s, string(rune('b'+2*i))))
			e := s.EpochOf(at[len(at)-1])
			require.NotZero(t, e)
			assert.NotContains(t, epochs, e)
			epochs = append(epochs, e, e)
			assert.Equal(t, e, s.EpochOf(at[len(at)-2]), "one epoch an opening")
		}
		events, err := s.Events(t.Context(), 10)
		require.NoError(t, err)
		var of []uint64
		for _, ev := range events {
			of = append(of, ev.Epoch)
		}
		assert.Equal(t, epochs, of)
		assert.Zero(t, s.EpochOf(0))
		check(t, s)
		require.NoError(t, d.Close())
	}
}

// Checks that a store keeps only the latest epochs.
func TestEpochsAreBounded(t *testing.T) {
	t.Parallel()
	_, s := openTest(t)
	seq := placeOne(t, s, "a")
	require.NoError(t, s.change(t.Context(), func(tx *tx) error {
		for i := range 2 * maxEpochs {
			tx.epochs.now, tx.epochs.stored = newEpoch(), false
			if err := tx.epochs.write(tx.c, tx.led.Seq+int64(i)); err != nil {
				return err
			}
		}
		return nil
	}))
	assert.Len(t, *s.epochs.Load(), maxEpochs)
	assert.Zero(t, s.EpochOf(seq), "forgotten")
	require.NoError(t, s.read(t.Context(), func(c *conn) error {
		return c.each(bg, "SELECT count(*) FROM epochs WHERE num > 0", func(r *row) error {
			assert.EqualValues(t, maxEpochs, r.int(0))
			return nil
		})
	}))
}

// Checks that any number of openings without a change to the feed leaves indexes valid.
func TestEpochsOfIdleOpenings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d, err := Open(t.Context(), dir, nil)
	require.NoError(t, err)
	opened, err := d.OpenStore(t.Context(), testUID)
	require.NoError(t, err)
	s := opened.(*store)
	seq := placeOne(t, s, "a")
	e := s.EpochOf(seq)
	require.NoError(t, s.change(t.Context(), func(tx *tx) error {
		for range 2 * maxEpochs {
			tx.epochs.now, tx.epochs.stored = newEpoch(), false
			if err := tx.epochs.write(tx.c, tx.led.Seq); err != nil {
				return err
			}
		}
		return nil
	}))
	last := s.epochs.Load()
	assert.Len(t, *last, 2)
	assert.Equal(t, e, s.EpochOf(seq))
	assert.Equal(t, (*last)[1].id, s.EpochOf(seq+1<<8), "the next entry is the last opening's")
	require.NoError(t, d.Close())
	d, err = Open(t.Context(), dir, nil)
	require.NoError(t, err)
	defer d.Close()
	opened, err = d.OpenStore(t.Context(), testUID)
	require.NoError(t, err)
	s = opened.(*store)
	assert.Equal(t, *last, *s.epochs.Load(), "as it stands in the file")
	assert.Equal(t, e, s.EpochOf(seq))
}

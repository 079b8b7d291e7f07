package sqlite

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

func TestPool(t *testing.T) {
	t.Parallel()
	_, s := openTest(t)
	boom := errors.New("boom")
	for range 3 * DefaultReaders { // an error, and a panic, cost no connection
		require.ErrorIs(t, s.read(t.Context(), func(*conn) error { return boom }), boom)
		assert.PanicsWithValue(t, "boom", func() {
			_ = s.read(t.Context(), func(*conn) error { panic("boom") })
		})
	}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			for range 20 {
				_, _, err := s.List(context.Background(), backend.ListQuery{Part: testPart, Limit: 5})
				assert.NoError(t, err)
			}
		})
	}
	wg.Wait()
	// All connections are in use: a waiting caller can give up.
	ctx, cancel := context.WithCancel(t.Context())
	var held []*conn
	for range DefaultReaders {
		c, err := s.readers.get(ctx, false)
		require.NoError(t, err)
		held = append(held, c)
	}
	cancel()
	_, err := s.readers.get(ctx, false)
	require.Equal(t, context.Canceled, err)
	for _, c := range held {
		s.readers.put(c)
	}
}

func TestPoolOpensAgain(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "later")
	p := newPool(filepath.Join(dir, "x.db"), 1, connOptions{})
	for range 3 {
		_, err := p.get(t.Context(), false)
		require.ErrorIs(t, err, backend.ErrUnavailable, "no such directory")
	}
	require.NoError(t, os.Mkdir(dir, 0o700))
	c, err := p.get(t.Context(), false)
	require.NoError(t, err)
	p.put(c)
	require.NoError(t, p.close())
}

// Checks that each read call sees one committed state, never part of a transaction or two states.
func TestReadersSeeOneState(t *testing.T) {
	t.Parallel()
	_, s := openTest(t)
	in := append(item("a"), item("b")...)
	done := make(chan error, 1)
	stop := make(chan struct{})
	go func() {
		for {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			if _, err := s.Accept(context.Background(), in); err != nil {
				done <- err
				return
			}
			if _, err := s.Delete(context.Background(), testPart, []string{"b", "a"}, backend.DeleteOptions{}); err != nil {
				done <- err
				return
			}
		}
	}()
	for range 500 {
		srcs, err := s.Sources(t.Context(), testPart, []string{"a", "b"})
		require.NoError(t, err)
		require.Equal(t, srcs[0] == nil, srcs[1] == nil, "half a transaction")
	}
	close(stop)
	require.NoError(t, <-done)
}

// Checks that a single query does not wait for long reads, and that its connection is released.
func TestPoolLendsOneMore(t *testing.T) {
	t.Parallel()
	_, s := openTest(t)
	ingest(t, s, rand.New(rand.NewPCG(1, 2)), 0, 2)
	p := s.readers
	for range 3 {
		var held []*conn
		for range DefaultReaders {
			c, err := p.get(t.Context(), false)
			require.NoError(t, err)
			held = append(held, c)
		}
		for range 3 {
			hs, err := s.readChunks(t.Context(), []int64{1, 2}, testTime)
			require.NoError(t, err)
			require.Len(t, hs, 2)
			src, err := backend.Peek(s).SourcesByNum(t.Context(), []int64{1})
			require.NoError(t, err)
			require.Len(t, src, 1)
		}
		more, err := p.get(t.Context(), true)
		require.NoError(t, err)
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = p.get(gone, true)
		require.ErrorIs(t, err, context.Canceled, "one more, not two")
		for _, c := range append(held, more) {
			p.put(c)
		}
		require.Len(t, p.free, DefaultReaders)
		require.False(t, p.extra)
	}
}

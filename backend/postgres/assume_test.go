package postgres

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
	"github.com/contextmem/contextmem/internal/storerules"
)

// onceName returns a name for the database of one run of a test.
func onceName(t *testing.T) string { return fmt.Sprint(t.Name(), time.Now().UnixNano()) }

// TestWritesInOneMessage checks that a process that has a workspace to itself sends a new item to the server in one message.
func TestWritesInOneMessage(t *testing.T) {
	var w wire
	name := onceName(t)
	d, err := Open(t.Context(), w.connect(t, database(t, name))+"&pool_max_conns=1", &Options{Poll: time.Hour, ListenURL: database(t, name)})
	require.NoError(t, err)
	defer d.Close()
	opened, err := d.OpenStore(t.Context(), backendtest.UID(name))
	require.NoError(t, err)
	ctx, s := t.Context(), opened.(*store)
	d.watch.stop() // its messages would be counted too
	i := 0
	for name, write := range map[string]func(in backend.Placed) error{
		"Accept": func(in backend.Placed) error { _, err := s.Accept(ctx, []backend.Incoming{in.Incoming}); return err },
		"Place":  func(in backend.Placed) error { _, err := s.Place(ctx, []backend.Placed{in}); return err },
	} {
		t.Run(name, func(t *testing.T) {
			for n := range 13 {
				i++
				in := placedMemory(fmt.Sprint(i))
				in.Blobs = []backend.Blob{{Kind: backend.Original, Data: make([]byte, 200)}}
				in.Tags = []uint64{uint64(i), backend.Everybody}
				w.asked.Store(0)
				require.NoError(t, write(in))
				if n >= 3 { // before, the process does not know that it is alone, or prepares statements
					assert.EqualValues(t, 1, w.asked.Load())
				}
			}
		})
	}
	stats, err := s.Stats(ctx, backend.Memory)
	require.NoError(t, err)
	assert.Equal(t, 26, stats.Sources)
}

// TestAnswerToOneMessageIsLost checks that a write is done once if the connection ends after the server has committed it, and goes on
// from the right numbers.
func TestAnswerToOneMessageIsLost(t *testing.T) {
	var w wire
	name := onceName(t)
	d, err := Open(t.Context(), w.connect(t, database(t, name)), &Options{Poll: time.Hour, ListenURL: database(t, name)})
	require.NoError(t, err)
	defer d.Close()
	opened, err := d.OpenStore(t.Context(), backendtest.UID(name))
	require.NoError(t, err)
	s := opened.(*store)
	d.watch.stop() // its answers would be lost instead
	writeAlone(t, s, "before")
	for i := range 3 {
		in := placedMemory(fmt.Sprint("lost", i))
		in.IfAbsent = true // a second time would fail
		w.mute.Store(true)
		_, err = s.Place(t.Context(), []backend.Placed{in})
		require.NoError(t, err)
		require.False(t, w.mute.Load(), "an answer was lost")
		checkFeed(t, s, 4+i)
	}
	writeAlone(t, s, "after")
	checkFeed(t, s, 9)
}

// writeAlone makes a process assume that nobody else writes and that items are new.
func writeAlone(t *testing.T, s *store, name string) {
	t.Helper()
	for i := range 3 {
		_, err := s.Place(t.Context(), []backend.Placed{placedMemory(fmt.Sprint(name, i))})
		require.NoError(t, err)
	}
	require.True(t, s.w.tx.alone && s.w.tx.news && s.w.tx.base != 0)
}

// TestWrongAssumptions checks that a write has the right result if another process has written meanwhile, and if its item exists.
func TestWrongAssumptions(t *testing.T) {
	var processes []*DB
	for range 2 {
		d := openTest(t, t.Name(), nil)
		defer d.Close()
		processes = append(processes, d)
	}
	one := func(id string) backend.Placed { return placedMemory(id) }
	place := func(in backend.Placed) func(context.Context, *store) error {
		return func(ctx context.Context, s *store) error { _, err := s.Place(ctx, []backend.Placed{in}); return err }
	}
	absent := one("x")
	absent.IfAbsent = true
	expecting := one("x")
	expecting.Expect = backend.Version{Num: 1 << 40}
	other := one("y")
	other.Chunks[0].Key = "x"
	for _, c := range []struct {
		name    string
		foreign bool // another process writes the first item
		write   func(ctx context.Context, s *store) error
		want    error
		items   int
	}{
		{"another item", true, place(one("y")), nil, 2},
		{"the same item of another", true, place(one("x")), nil, 1},
		{"the same item again", false, place(one("x")), nil, 1},
		{"an item that another has", true, place(absent), backend.ErrExists, 1},
		{"an item that exists", false, place(absent), backend.ErrExists, 1},
		{"a version of another", true, place(expecting), backend.ErrConflict, 1},
		{"a version that is gone", false, place(expecting), backend.ErrConflict, 1},
		{"a key that another has", true, place(other), backend.ErrExists, 1},
		{"a key that is taken", false, place(other), backend.ErrExists, 1},
		{"accepted if absent", false, func(ctx context.Context, s *store) error {
			out, err := s.Accept(ctx, []backend.Incoming{absent.Incoming})
			require.NoError(t, err)
			assert.True(t, out[0].Exists)
			return nil
		}, nil, 1},
		{"accepted if expected", true, func(ctx context.Context, s *store) error {
			out, err := s.Accept(ctx, []backend.Incoming{expecting.Incoming})
			require.NoError(t, err)
			assert.True(t, out[0].Conflict)
			return nil
		}, nil, 1},
		{"twice in one call", false, func(ctx context.Context, s *store) error {
			_, err := s.Place(ctx, []backend.Placed{one("z"), one("z")})
			return err
		}, nil, 2},
		{"deleted by another", true, func(ctx context.Context, s *store) error {
			_, err := s.Delete(ctx, backend.Partition{Class: backend.Memory, Sub: "s"}, []string{"x"}, backend.DeleteOptions{})
			return err
		}, nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, uid := t.Context(), backendtest.UID(onceName(t))
			var stores []backend.Store
			for _, d := range processes {
				s, err := d.OpenStore(ctx, uid)
				require.NoError(t, err)
				stores = append(stores, s)
			}
			s, first := stores[0].(*store), stores[0]
			if c.foreign {
				first = stores[1]
			}
			writeAlone(t, s, "before")
			_, err := first.Place(ctx, []backend.Placed{one("x")})
			require.NoError(t, err)
			require.NotZero(t, s.w.tx.base)
			require.ErrorIs(t, c.write(ctx, s), c.want)
			checkFeed(t, stores[1], 3+c.items)
			writeAlone(t, s, "after")
			checkFeed(t, stores[1], 6+c.items)
		})
	}
}

// checkFeed checks that a workspace has the given number of items, that its feed puts each once with rising numbers, and that its ledger is right.
func checkFeed(t *testing.T, s backend.Store, items int) {
	t.Helper()
	ctx := t.Context()
	stats, err := s.Stats(ctx, backend.Memory)
	require.NoError(t, err)
	require.Equal(t, items, stats.Sources)
	changes, err := s.Changes(ctx, 0, 1000)
	require.NoError(t, err)
	at, puts := uint64(0), make(map[string]bool)
	for _, c := range changes {
		require.Greater(t, c.Seq, at)
		at = c.Seq
		if c.Kind == backend.PutChunks {
			require.False(t, puts[c.SourceID], c.SourceID)
			puts[c.SourceID] = true
		}
	}
	require.Len(t, puts, stats.Chunks)
	require.Equal(t, at, s.LastSeq(), "the last number given out is that of the last entry")
	rows, err := s.(backend.Verifier).Verify(ctx, func(f backend.Finding) { t.Errorf("%+v", f) })
	require.NoError(t, err)
	require.Positive(t, rows)
}

// TestAssumedLedgerOfOlderCopy replaces the ledger by one with an equal revision and other numbers, as if the database was replaced by a copy in
// which other transactions took place. A process that wrote before must not go on with its own numbers.
func TestAssumedLedgerOfOlderCopy(t *testing.T) {
	name := onceName(t)
	s := openProcesses(t, name, 1, nil)[0].(*store)
	writeAlone(t, s, "before")
	_, err := server.pg.SQL(databaseName(name), "UPDATE ledgers SET source = source + 100, chunk = chunk + 100, seq = seq + 100, recent = 7::bigint || recent")
	require.NoError(t, err)
	last := s.LastSeq()
	out, err := s.Place(t.Context(), []backend.Placed{placedMemory("next")})
	require.NoError(t, err)
	assert.EqualValues(t, 104, out.Nums[0])
	assert.Equal(t, last+101<<storerules.SeqShift, s.LastSeq())
}

// TestAssumedLedgerIsGone checks that a process does not write to a workspace that another has removed.
func TestAssumedLedgerIsGone(t *testing.T) {
	name := onceName(t)
	stores := openProcesses(t, name, 2, nil)
	s, other := stores[0].(*store), stores[1].(*store)
	writeAlone(t, s, "before")
	require.NoError(t, other.Close())
	require.NoError(t, other.db.RemoveStore(t.Context(), backendtest.UID(name)))
	_, err := s.Place(t.Context(), []backend.Placed{placedMemory("late")})
	require.ErrorIs(t, err, backend.ErrClosed)
	left, err := server.pg.SQL(databaseName(name), "SELECT count(*) FROM sources")
	require.NoError(t, err)
	assert.Equal(t, "0", left)
}

package postgres

import (
	"bytes"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
	"github.com/contextmem/contextmem/internal/move"
)

// wire is a proxy between a process and the server. It counts what they send, and may close a connection.
type wire struct {
	asked atomic.Int64 // messages of the process
	sent  atomic.Int64 // by the server, in bytes
	mute  atomic.Bool  // the next answer of the server is lost with its connection
	cut   atomic.Int64 // after how many more messages of the process a connection ends, once; below 0: never
}

// connect returns the URL of a database through the wire.
func (w *wire) connect(t *testing.T, raw string) string {
	t.Helper()
	w.cut.Store(-1)
	u, err := url.Parse(raw)
	require.NoError(t, err)
	dir, err := os.MkdirTemp("/tmp", "pgwire") // the name of a socket is short
	require.NoError(t, err)
	server := filepath.Join(u.Query().Get("host"), ".s.PGSQL.5432")
	l, err := net.Listen("unix", filepath.Join(dir, ".s.PGSQL.5432"))
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = l.Close()
		_ = os.RemoveAll(dir)
	})
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s, err := net.Dial("unix", server)
			if err != nil {
				_ = c.Close()
				continue
			}
			go w.forward(s, c, func(int) bool { w.asked.Add(1); return w.cut.Load() >= 0 && w.cut.Add(-1) == -1 })
			go w.forward(c, s, func(n int) bool { w.sent.Add(int64(n)); return w.mute.Swap(false) })
		}
	}()
	u.RawQuery = url.Values{"host": {dir}}.Encode()
	return u.String()
}

// forward forwards what from sends until one side closes the connection, or end returns true.
func (w *wire) forward(to, from net.Conn, end func(n int) bool) {
	defer func() { _, _ = to.Close(), from.Close() }()
	b := make([]byte, 1<<16)
	for {
		n, err := from.Read(b)
		if n > 0 && end(n) {
			return
		}
		if n > 0 {
			if _, err := to.Write(b[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// TestReadsThatRunAgain checks that a read whose connection ends runs again, and that the answer is that of one run
// wherever the connection ended.
func TestReadsThatRunAgain(t *testing.T) {
	var w wire
	d, err := Open(t.Context(), w.connect(t, database(t, t.Name())), &Options{Poll: time.Hour, ListenURL: database(t, t.Name())})
	require.NoError(t, err)
	defer d.Close()
	opened, err := d.OpenStore(t.Context(), backendtest.UID(t.Name()))
	require.NoError(t, err)
	ctx, s := t.Context(), opened.(*store)
	part := backend.Partition{Class: backend.Memory, Sub: "s"}
	nums := acceptItems(t, s, 6)
	require.Len(t, claimItems(t, s, "mine", 4), 4)
	var indexed []backend.Indexed
	var finished []backend.Finished
	for i, n := range nums[:4] {
		indexed = append(indexed, backend.Indexed{Num: n, Token: "mine", Chunks: []backend.Chunk{{Key: fmt.Sprint(n), Text: "Ann met Bob.", Vector: []float32{1, 0}}}})
		finished = append(finished, backend.Finished{Num: n, Token: "mine", State: backend.Completed, Event: true,
			Mentions: []backend.Mention{{Key: fmt.Sprint("from", i), Name: "A"}, {Key: fmt.Sprint("into", i), Name: "B"}},
			Aliases:  []backend.Alias{{From: fmt.Sprint("from", i), Into: fmt.Sprint("into", i), Reason: "the same"}}})
	}
	_, err = s.Index(ctx, indexed)
	require.NoError(t, err)
	_, err = s.Finish(ctx, finished)
	require.NoError(t, err)
	for name, read := range map[string]func() (any, int, error){
		"Events":         func() (any, int, error) { l, err := s.Events(ctx, 10); return l, len(l), err },
		"Merges":         func() (any, int, error) { l, err := s.Merges(ctx, part, 0, 10); return l, len(l), err },
		"MissingVectors": func() (any, int, error) { l, err := s.MissingVectors(ctx, 1, 0, 10); return l, len(l), err },
		"Uncompared":     func() (any, int, error) { l, err := s.Uncompared(ctx, 1, 0, 10); return l, len(l), err },
		"List": func() (any, int, error) {
			l, n, err := s.List(ctx, backend.ListQuery{Part: part, Limit: 10})
			return l, n, err
		},
		"Backlog": func() (any, int, error) { m, next, err := s.Backlog(ctx); return []any{m, next}, len(m), err },
	} {
		t.Run(name, func(t *testing.T) {
			want, n, err := read()
			require.NoError(t, err)
			require.Greater(t, n, 1)
			cuts := 0
			for at := int64(0); ; at++ {
				d.pool.Reset() // statements are prepared anew
				w.cut.Store(at)
				got, _, err := read()
				require.NoError(t, err)
				require.Equal(t, want, got, "after %d messages", at)
				if w.cut.Swap(-1) >= 0 {
					break // the read was over before
				}
				cuts++
			}
			assert.Greater(t, cuts, 2)
		})
	}
}

// TestLargeContent checks that content of 20 MB is stored and read back, and is not read to list items.
func TestLargeContent(t *testing.T) {
	var w wire
	d, err := Open(t.Context(), w.connect(t, database(t, t.Name())), &Options{Poll: time.Hour, ListenURL: database(t, t.Name())})
	require.NoError(t, err)
	defer d.Close()
	s, err := d.OpenStore(t.Context(), backendtest.UID(t.Name()))
	require.NoError(t, err)
	ctx := t.Context()
	part := backend.Partition{Class: backend.Knowledge, Sub: "s"}
	const size = 20 << 20
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(i * i >> 7)
	}
	in := []backend.Incoming{{Source: backend.Source{Part: part, ID: "large", CreatedAt: time.Unix(1, 0), SizeBytes: size}, Blobs: []backend.Blob{{Kind: backend.Original, Data: data}}}}
	for i := range 50 {
		in = append(in, backend.Incoming{Source: backend.Source{Part: part, ID: fmt.Sprint("small", i), CreatedAt: time.Unix(1, 0), SizeBytes: 5}, Blobs: []backend.Blob{{Kind: backend.Original, Data: []byte("small")}}})
	}
	acc, err := s.Accept(ctx, in)
	require.NoError(t, err)

	w.sent.Store(0)
	page, total, err := s.List(ctx, backend.ListQuery{Part: part, Limit: 100})
	require.NoError(t, err)
	assert.Len(t, page, 51)
	assert.Equal(t, 51, total)
	_, err = s.Sources(ctx, part, []string{"large", "small1"})
	require.NoError(t, err)
	_, err = s.Changes(ctx, 0, 100)
	require.NoError(t, err)
	assert.Less(t, w.sent.Load(), int64(64<<10), "bytes that the server sent")

	got, err := s.Content(ctx, acc[0].Num, backend.Original)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(data, got))
	assert.Greater(t, w.sent.Load(), int64(size))
	largest, err := server.pg.SQL(databaseName(t.Name()), "SELECT max(length(data)) FROM (SELECT data FROM blobs UNION ALL SELECT data FROM blob_parts) x")
	require.NoError(t, err)
	assert.Equal(t, fmt.Sprint(blobPiece), largest, "no row is larger than a piece")

	claims, err := s.Claim(ctx, "mine", time.Now(), time.Now().Add(time.Hour), 1, 0)
	require.NoError(t, err)
	require.Len(t, claims, 1)
	require.Len(t, claims[0].Blobs, 1)
	assert.True(t, bytes.Equal(data, claims[0].Blobs[0].Data), "whoever works on it gets it whole")
	_, err = s.Delete(ctx, part, []string{"large"}, backend.DeleteOptions{})
	require.NoError(t, err)
	left, err := server.pg.SQL(databaseName(t.Name()), "SELECT count(*) FROM blob_parts")
	require.NoError(t, err)
	assert.Equal(t, "0", left)
}

// TestVectorsOf16BitsMove checks that vectors that a directory stores in 16 bits are unchanged after a move to the
// database.
func TestVectorsOf16BitsMove(t *testing.T) {
	ctx, dir, uid := t.Context(), t.TempDir(), backendtest.UID(t.Name())
	exact, other := []float32{.5, -.25, 0, 1}, []float32{.1, .2, .3, .4} // only the first can be kept in 16 bits
	from := openDir(t, dir, false)
	require.NoError(t, from.Registry().CreateTenant(ctx, backend.Tenant{UID: uid, Org: "o", ID: "acme", State: "ready", CreatedAt: time.Unix(1, 0)}, 0))
	s, err := from.OpenStore(ctx, uid)
	require.NoError(t, err)
	nums := acceptItems(t, s, 2)
	require.Len(t, claimItems(t, s, "mine", 2), 2)
	_, err = s.Index(ctx, []backend.Indexed{
		{Num: nums[0], Token: "mine", Chunks: []backend.Chunk{{Key: "a", Text: "a", Vector: exact}}},
		{Num: nums[1], Token: "mine", Chunks: []backend.Chunk{{Key: "b", Text: "b", Vector: other}}},
	})
	require.NoError(t, err)
	srcs, err := s.SourcesByNum(ctx, nums[:1])
	require.NoError(t, err)
	_, err = s.PutVectors(ctx, 1, []backend.LaneVectors{{Source: backend.Version{Num: nums[0], Rev: srcs[0].Rev}, Vectors: [][]float32{exact[:2]}}})
	require.NoError(t, err)
	read := func(s backend.Store) (out [][]float32) {
		changes, err := s.Changes(ctx, 0, 100)
		require.NoError(t, err)
		for _, c := range changes {
			for _, r := range c.Rows {
				out = append(out, r.Vector)
			}
		}
		return out
	}
	want := read(s)
	require.Contains(t, want, exact)
	require.Contains(t, want, other)
	require.NoError(t, s.Close())
	pg, side := openMoving(t, t.Name())
	_, err = move.Run(ctx, move.Config{From: from.Side(), To: side})
	require.NoError(t, err)
	require.NoError(t, from.Close())
	require.NoError(t, pg.Close())
	halves, err := server.pg.SQL(databaseName(t.Name()), "SELECT count(*) FROM vectors WHERE length(data) % 2 = 1")
	require.NoError(t, err)
	require.NotEqual(t, "0", halves, "some stand in 16 bits there too")
	pg = openTest(t, t.Name(), nil)
	defer pg.Close()
	moved, err := pg.OpenStore(ctx, uid)
	require.NoError(t, err)
	assert.Equal(t, want, read(moved))
	claims, err := moved.Claim(ctx, "next", time.Now().Add(2*time.Hour), time.Now().Add(3*time.Hour), 10, 0)
	require.NoError(t, err)
	require.Len(t, claims, 2)
	assert.Equal(t, exact, claims[0].Chunks[0].Vector)
	assert.Equal(t, other, claims[1].Chunks[0].Vector)
}

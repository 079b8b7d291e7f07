package postgres

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
	"github.com/contextmem/contextmem/internal/testtool"
)

// BenchmarkAcknowledged measures a durable write of one item, alternately with an insert of one row into a table of the
// same server. It reports the p50 of each, also for an item that exists and for two processes that write to a workspace in turns.
func BenchmarkAcknowledged(b *testing.B) {
	sharedServer(b)
	pg, err := testtool.StartPostgres(true)
	require.NoError(b, err)
	b.Cleanup(pg.Stop)
	require.NoError(b, pg.CreateDatabase("bench", ""))
	d, err := Open(b.Context(), pg.URL("bench"), nil)
	require.NoError(b, err)
	defer d.Close()
	ctx := b.Context()
	s, err := d.OpenStore(ctx, backendtest.UID("bench"))
	require.NoError(b, err)
	_, err = d.pool.Exec(ctx, "CREATE TABLE plain (id bytea PRIMARY KEY, body bytea NOT NULL)")
	require.NoError(b, err)
	other, err := Open(ctx, pg.URL("bench"), nil)
	require.NoError(b, err)
	defer other.Close()
	again, err := d.OpenStore(ctx, backendtest.UID("again"))
	require.NoError(b, err)
	var turns []backend.Store
	for _, d := range []*DB{d, other} {
		s, err := d.OpenStore(ctx, backendtest.UID("turns"))
		require.NoError(b, err)
		turns = append(turns, s)
	}
	body := make([]byte, 200)
	var plain, accept, place, replace, taken []time.Duration
	i := 0
	for b.Loop() {
		i++
		id := fmt.Sprint(i)
		in := placedMemory(id)
		in.Blobs = []backend.Blob{{Kind: backend.Original, Data: body}}
		in.Tags = []uint64{uint64(i), 2, backend.Everybody}
		for _, x := range []struct {
			took *[]time.Duration
			f    func() error
		}{
			{&plain, func() error {
				_, err := d.pool.Exec(ctx, "INSERT INTO plain VALUES ($1, $2)", []byte(id), body)
				return err
			}},
			{&accept, func() error {
				other := in.Incoming
				other.ID = "a" + id
				_, err := s.Accept(ctx, []backend.Incoming{other})
				return err
			}},
			{&place, func() error {
				_, err := s.Place(ctx, []backend.Placed{in})
				return err
			}},
			{&replace, func() error {
				same := in
				same.ID = "same"
				_, err := again.Place(ctx, []backend.Placed{same})
				return err
			}},
			{&taken, func() error {
				_, err := turns[i%2].Place(ctx, []backend.Placed{in})
				return err
			}},
		} {
			start := time.Now()
			require.NoError(b, x.f())
			*x.took = append(*x.took, time.Since(start))
		}
	}
	p50 := func(took []time.Duration) float64 {
		slices.Sort(took)
		return float64(took[len(took)/2].Microseconds())
	}
	b.ReportMetric(p50(plain), "plain-p50-us")
	b.ReportMetric(p50(accept), "accept-p50-us")
	b.ReportMetric(p50(accept)/p50(plain), "accept/plain")
	b.ReportMetric(p50(place)/p50(plain), "place/plain")
	b.ReportMetric(p50(replace)/p50(plain), "replace/plain")
	b.ReportMetric(p50(taken)/p50(plain), "in-turns/plain")
}

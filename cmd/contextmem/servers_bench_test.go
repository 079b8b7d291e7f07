package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/client"
	"github.com/contextmem/contextmem/internal/testtool"
)

// BenchmarkServers lets 1, 2 and 4 servers over one database and one node of Weaviate ingest memories of 16 tenants and answer recalls of
// 16 clients, in one run. It reports the rates, and the processor time of the servers per completed item and per recall, without that of the
// database and the node. For 2 and 4 servers it also reports each as a multiple of that of one server.
func BenchmarkServers(b *testing.B) {
	pg := postgresServer(b)
	bin, err := testtool.BuildWeaviate(b.Context())
	if errors.Is(err, testtool.ErrNoWeaviate) {
		testtool.Missing(b, err.Error())
	}
	require.NoError(b, err)
	var single map[string]float64
	for _, n := range []int{1, 2, 4} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			node, err := testtool.StartWeaviate(bin, b.TempDir(), 1, nil)
			require.NoError(b, err)
			b.Cleanup(node.Stop)
			name := fmt.Sprint("servers", n)
			require.NoError(b, pg.CreateDatabase(name, ""))
			dir := b.TempDir()
			var seats []*seat
			for range n {
				seats = append(seats, seatOn(b, dir, "--store", pg.URL(name), "--index", node.URL(0), "--embedder", "static", "--judge", "none", "--lease", "1m"))
			}
			rates := benchServers(b, seats)
			if n == 1 {
				single = rates
			}
			for unit, rate := range rates {
				b.ReportMetric(rate, unit)
				if of := single[unit]; n > 1 && of > 0 {
					b.ReportMetric(rate/of, unit+"/one")
				}
			}
		})
	}
}

const benchTenants = 16

// benchServers returns the rates by their units. With -short it does a part of the work.
func benchServers(b *testing.B, seats []*seat) map[string]float64 {
	ctx, rates := b.Context(), make(map[string]float64)
	clients := make([]*client.Client, len(seats))
	for i, s := range seats {
		clients[i] = s.client(b)
	}
	sub := func(k int) client.Sub { return clients[k%len(clients)].Tenant(fmt.Sprint("t", k)).Sub("a") }
	for k := range benchTenants {
		require.NoError(b, clients[0].CreateTenant(ctx, contextmem.TenantSpec{ID: fmt.Sprint("t", k)}))
	}
	for k := range benchTenants {
		require.NoError(b, clients[k%len(clients)].Tenant(fmt.Sprint("t", k)).WaitReady(ctx))
	}
	all := func(f func(k int)) time.Duration {
		began := time.Now()
		var wg sync.WaitGroup
		for k := range benchTenants {
			wg.Go(func() { f(k) })
		}
		wg.Wait()
		return time.Since(began)
	}
	batches, recalls := 5, 15
	if testing.Short() {
		batches, recalls = 1, 2
	}
	const each = 10
	var failed atomic.Int64
	for b.Loop() {
		before := processorTime(b, seats)
		took := all(func(k int) {
			var ids []string
			for i := range batches {
				var ms []contextmem.Memory
				for j := range each {
					id := fmt.Sprintf("m%d-%d", i, j)
					ids = append(ids, id)
					ms = append(ms, contextmem.Memory{ID: id, Text: fmt.Sprintf("Client %d keeps the parcel number %d in box %d, near the river.", k, i, j)})
				}
				if _, err := sub(k).AddMemories(ctx, contextmem.MemoryBatch{Memories: ms}); err != nil {
					failed.Add(1)
				}
			}
			for len(ids) > 0 {
				some := min(50, len(ids))
				if _, err := sub(k).Wait(ctx, ids[:some]...); err != nil {
					failed.Add(1)
				}
				ids = ids[some:]
			}
		})
		after := processorTime(b, seats)
		items := float64(benchTenants * batches * each)
		rates["items/s"] = items / took.Seconds()
		rates["cpu-ms/item"] = (after - before).Seconds() * 1000 / items
		took = all(func(k int) {
			for i := range recalls {
				if _, err := sub(k).Recall(ctx, contextmem.Recall{Class: contextmem.ClassMemory, Query: fmt.Sprintf("Which box has the parcel number %d?", i)}); err != nil {
					failed.Add(1)
				}
			}
		})
		asked := float64(benchTenants * recalls)
		rates["recalls/s"] = asked / took.Seconds()
		rates["cpu-ms/recall"] = (processorTime(b, seats) - after).Seconds() * 1000 / asked
	}
	require.Zero(b, failed.Load())
	return rates
}

// processorTime returns the processor time that the servers have used so far, in steps of 10 ms.
func processorTime(b *testing.B, seats []*seat) (sum time.Duration) {
	for _, s := range seats {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
		require.NoError(b, err)
		var user, system int64
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])) // from the third on
		_, err = fmt.Sscan(fields[11]+" "+fields[12], &user, &system)
		require.NoError(b, err)
		sum += time.Duration(user+system) * 10 * time.Millisecond
	}
	return sum
}

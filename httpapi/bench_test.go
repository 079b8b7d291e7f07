package httpapi

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
)

const benchClients = 32

// Words of the items of the benchmark. The lengths of the lists share no factor, so that
// 200 items are 200 different texts.
var (
	benchWho   = []string{"Maria", "Tom", "Aisha", "Jonas", "Priya", "Liam", "Elena", "Omar", "Grace", "Hugo", "Nadia"}
	benchDid   = []string{"repaired", "inspected", "painted", "ordered", "measured", "replaced", "tested"}
	benchWhat  = []string{"bilge pump", "anchor chain", "radar mast", "fuel valve", "cargo hatch", "fire hose", "life raft", "winch motor", "mooring rope"}
	benchWhere = []string{"the north pier", "dry dock two", "the ferry terminal", "the fish market", "the old lighthouse"}
)

func benchText(i int) string {
	return fmt.Sprintf("On day %d %s %s the %s at %s and noted %d hours in the log.", i, pick(benchWho, i), pick(benchDid, i), pick(benchWhat, i), pick(benchWhere, i), i%9+1)
}

// benchQueries is the number of different questions asked in turn, which is more than any cache holds.
const benchQueries = 1000

// benchQuery returns the i-th question about words of the items.
func benchQuery(i int) string {
	switch i % 4 {
	case 0:
		return fmt.Sprintf("who %s the %s on day %d?", pick(benchDid, i), pick(benchWhat, i), i)
	case 1:
		return fmt.Sprintf("what did %s do at %s on day %d?", pick(benchWho, i), pick(benchWhere, i), i)
	case 2:
		return fmt.Sprintf("hours that %s logged for the %s on day %d", pick(benchWho, i), pick(benchWhat, i), i)
	}
	return fmt.Sprintf("when was the %s %s at %s, on day %d?", pick(benchWhat, i), pick(benchDid, i), pick(benchWhere, i), i)
}

func pick(list []string, i int) string { return list[i%len(list)] }

// BenchmarkRecall serves recalls over a small tenant, of 50 and of 200 memories and as many documents, to 32 clients
// that keep their connections, each time with another question. Each case is followed by "bare", a handler that only
// reads the same bodies and writes one of the mean size of the answers, which is the bound set by net/http. cpu-µs/req
// is the processor time of client and server together, which depends least on other load on the machine.
func BenchmarkRecall(b *testing.B) {
	for _, n := range []int{50, 200} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { benchRecall(b, n) })
	}
}

func benchRecall(b *testing.B, n int) {
	b.Helper()
	h := benchHandler(b, n)
	for _, bc := range []struct{ name, path, body string }{
		{"v1-memory", "/recall/recall_preferences", `{"tenant_id":"acme","query":%q}`},
		{"v1-memory-graph", "/recall/recall_preferences", `{"tenant_id":"acme","query":%q,"graph_context":true}`},
		{"v1-knowledge", "/recall/full_recall", `{"tenant_id":"acme","query":%q}`},
		{"v1-knowledge-graph", "/recall/full_recall", `{"tenant_id":"acme","query":%q,"graph_context":true}`},
		{"v2-memory", "/query", `{"database":"acme","type":"memory","query":%q,"mode":"fast","graph_context":false}`},
		{"v2-memory-graph", "/query", `{"database":"acme","type":"memory","query":%q,"mode":"fast"}`},
		{"v2-knowledge", "/query", `{"database":"acme","query":%q,"mode":"fast","graph_context":false}`},
		{"v2-knowledge-graph", "/query", `{"database":"acme","query":%q,"mode":"fast"}`},
	} {
		bodies, size := make([]string, benchQueries), 0
		for i := range bodies {
			bodies[i] = fmt.Sprintf(bc.body, benchQuery(i))
			r := httptest.NewRequestWithContext(b.Context(), "POST", bc.path, bytes.NewBufferString(bodies[i]))
			r.Header.Set("Authorization", "Bearer "+fullKey)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			require.Equal(b, http.StatusOK, w.Code, w.Body.String())
			size += w.Body.Len()
		}
		answer := bytes.Repeat([]byte("x"), size/benchQueries)
		b.Run(bc.name, func(b *testing.B) { serveBench(b, h, bc.path, bodies) })
		b.Run(bc.name+"/bare", func(b *testing.B) {
			serveBench(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write(answer)
			}), bc.path, bodies)
		})
	}
}

// BenchmarkAnswer encodes the answers to twenty questions to a tenant of 50 memories and as many documents.
func BenchmarkAnswer(b *testing.B) {
	s := benchService(b, 50).Tenant("acme").Sub("")
	for _, bc := range []struct {
		name string
		f    family
		q    contextmem.Recall
	}{
		{"v1-memory", gen1, contextmem.Recall{Class: contextmem.ClassMemory}},
		{"v2-knowledge", gen2, contextmem.Recall{Class: contextmem.ClassKnowledge, Temporal: &contextmem.Temporal{}}},
		{"v2-memory-graph", gen2, contextmem.Recall{Class: contextmem.ClassMemory, Temporal: &contextmem.Temporal{}, GraphContext: true}},
	} {
		b.Run(bc.name, func(b *testing.B) {
			var answers []recallAnswer
			for i := range 20 {
				bc.q.Query, bc.q.Mode = benchQuery(i), contextmem.ModeFast
				res, err := s.Recall(b.Context(), bc.q)
				require.NoError(b, err)
				answers = append(answers, recallAnswer{res, bc.f})
			}
			buf := newBuffer()
			size := 0
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				buf.b = buf.b[:0]
				_ = buf.encode(answers[i%len(answers)])
				size += len(buf.b)
			}
			b.ReportMetric(float64(size)/float64(b.N), "bytes/op")
		})
	}
}

// benchHandler returns a handler over a tenant with n memories and as many documents.
func benchHandler(b *testing.B, n int) http.Handler {
	b.Helper()
	h, err := New(benchService(b, n), Options{Keys: map[string]string{fullKey: contextmem.DefaultOrg}})
	require.NoError(b, err)
	return h
}

func benchService(b *testing.B, n int) *contextmem.Service {
	b.Helper()
	svc, err := contextmem.Open(b.Context(), b.TempDir(), nil)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, svc.Close()) })
	_, err = svc.CreateTenant(b.Context(), contextmem.TenantSpec{ID: "acme"})
	require.NoError(b, err)
	require.NoError(b, svc.Tenant("acme").WaitReady(b.Context()))
	s := svc.Tenant("acme").Sub("")
	var memories []contextmem.Memory
	var docs []contextmem.File
	for i := range n {
		memories = append(memories, contextmem.Memory{ID: fmt.Sprint("m", i), Text: benchText(i)})
		docs = append(docs, contextmem.File{ID: fmt.Sprint("k", i), Name: fmt.Sprint("report", i, ".txt"), Data: []byte(benchText(i))})
	}
	for some := range slices.Chunk(memories, 200) {
		_, err = s.AddMemories(b.Context(), contextmem.MemoryBatch{Memories: some})
		require.NoError(b, err)
	}
	for some := range slices.Chunk(docs, 100) {
		_, err = s.AddKnowledge(b.Context(), contextmem.KnowledgeBatch{Files: some})
		require.NoError(b, err)
	}
	require.NoError(b, svc.Drain(b.Context()))
	return svc
}

// BenchmarkLatency asks one question after the other, on one connection, of a tenant with 5,000 memories and 5,000
// documents, with graph context, which is the default of /query, and without. The first 200 questions are not counted.
func BenchmarkLatency(b *testing.B) {
	srv := httptest.NewServer(benchHandler(b, 5000))
	defer srv.Close()
	client := srv.Client()
	for _, class := range []string{"memory", "knowledge"} {
		for _, mode := range []string{`"fast","graph_context":false`, `"fast"`, `"thinking","graph_context":false`, `"thinking"`} {
			name := strings.ReplaceAll(strings.ReplaceAll(mode, `"`, ""), ",graph_context:false", "-plain")
			b.Run(class+"/"+name, func(b *testing.B) {
				ask := func(i int) time.Duration {
					body := fmt.Sprintf(`{"database":"acme","type":%q,"query":%q,"mode":%s}`, class, benchQuery(i%benchQueries), mode)
					r, err := http.NewRequestWithContext(b.Context(), "POST", srv.URL+"/query", bytes.NewBufferString(body))
					require.NoError(b, err)
					r.Header.Set("Authorization", "Bearer "+fullKey)
					start := time.Now()
					res, err := client.Do(r)
					require.NoError(b, err)
					_, _ = io.Copy(io.Discard, res.Body)
					took := time.Since(start)
					require.NoError(b, res.Body.Close())
					require.Equal(b, http.StatusOK, res.StatusCode)
					return took
				}
				for i := range 200 {
					ask(i)
				}
				all := make([]time.Duration, 0, b.N)
				b.ResetTimer()
				for i := range b.N {
					all = append(all, ask(i))
				}
				slices.Sort(all)
				b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "p50-ms")
				b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, "p99-ms")
			})
		}
	}
}

func serveBench(b *testing.B, h http.Handler, path string, bodies []string) {
	b.Helper()
	srv := httptest.NewServer(h)
	defer srv.Close()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: benchClients}}
	defer client.CloseIdleConnections()
	jobs := make(chan int, benchClients)
	var wg sync.WaitGroup
	b.ReportAllocs()
	b.ResetTimer()
	start, cpu := time.Now(), cpuTime()
	for range benchClients {
		wg.Go(func() {
			for i := range jobs {
				r, err := http.NewRequestWithContext(b.Context(), "POST", srv.URL+path, bytes.NewBufferString(bodies[i%len(bodies)]))
				if err != nil {
					b.Error(err)
					continue
				}
				r.Header.Set("Authorization", "Bearer "+fullKey)
				res, err := client.Do(r)
				if err != nil {
					b.Error(err)
					continue
				}
				_, _ = io.Copy(io.Discard, res.Body)
				if res.Body.Close(); res.StatusCode != http.StatusOK {
					b.Error(res.Status)
				}
			}
		})
	}
	for i := range b.N {
		jobs <- i
	}
	close(jobs)
	wg.Wait()
	b.ReportMetric(float64(b.N)/time.Since(start).Seconds(), "req/s")
	if used := cpuTime() - cpu; used > 0 {
		b.ReportMetric(float64(used.Nanoseconds())/1000/float64(b.N), "cpu-µs/req")
	}
}

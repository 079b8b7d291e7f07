package httpapi

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
)

const benchClients = 32

// BenchmarkRecall serves recalls over a small tenant to 32 clients that keep their
// connections; the case "bare" is a handler that only reads and writes bodies of the
// same sizes, which is the bound that net/http sets.
func BenchmarkRecall(b *testing.B) {
	svc, err := contextmem.Open(b.Context(), b.TempDir(), nil)
	require.NoError(b, err)
	defer func() { require.NoError(b, svc.Close()) }()
	_, err = svc.CreateTenant(b.Context(), contextmem.TenantSpec{ID: "acme"})
	require.NoError(b, err)
	require.NoError(b, svc.Tenant("acme").WaitReady(b.Context()))
	s := svc.Tenant("acme").Sub("")
	var batch contextmem.MemoryBatch
	for i := range 200 {
		batch.Memories = append(batch.Memories, contextmem.Memory{ID: fmt.Sprint("m", i), Text: fmt.Sprintf("On day %d the harbour crew number %d repaired pump %d and noted the tide.", i, i%7, i*3)})
	}
	_, err = s.AddMemories(b.Context(), batch)
	require.NoError(b, err)
	require.NoError(b, svc.Drain(b.Context()))
	h, err := New(svc, Options{Keys: map[string]string{fullKey: contextmem.DefaultOrg}})
	require.NoError(b, err)
	body := `{"tenant_id":"acme","query":"which crew repaired the pump?","max_results":10}`
	r := httptest.NewRequestWithContext(b.Context(), "POST", "/recall/recall_preferences", bytes.NewBufferString(body))
	r.Header.Set("Authorization", "Bearer "+fullKey)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	require.Equal(b, http.StatusOK, w.Code)
	answer := w.Body.Bytes()

	b.Run("bare", func(b *testing.B) {
		serveBench(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(answer)
		}), body)
	})
	b.Run("recall", func(b *testing.B) { serveBench(b, h, body) })
}

func serveBench(b *testing.B, h http.Handler, body string) {
	b.Helper()
	srv := httptest.NewServer(h)
	defer srv.Close()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: benchClients}}
	defer client.CloseIdleConnections()
	jobs := make(chan struct{}, benchClients)
	var wg sync.WaitGroup
	b.ResetTimer()
	start := time.Now()
	for range benchClients {
		wg.Go(func() {
			for range jobs {
				r, err := http.NewRequestWithContext(b.Context(), "POST", srv.URL+"/recall/recall_preferences", bytes.NewBufferString(body))
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
	for range b.N {
		jobs <- struct{}{}
	}
	close(jobs)
	wg.Wait()
	b.ReportMetric(float64(b.N)/time.Since(start).Seconds(), "req/s")
}

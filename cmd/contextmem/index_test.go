package main

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/client"
	"github.com/contextmem/contextmem/internal/testtool"
)

// TestServeIndex checks that two servers over one database and one cluster serve the same memories and documents, with
// the cluster's indexes.
func TestServeIndex(t *testing.T) {
	t.Parallel()
	pg, err := testtool.StartPostgres(false)
	if errors.Is(err, testtool.ErrNoPostgres) {
		testtool.Missing(t, err.Error())
	}
	require.NoError(t, err)
	t.Cleanup(pg.Stop)
	require.NoError(t, pg.CreateDatabase("memory", ""))
	for _, args := range [][]string{{"--index", "http://127.0.0.1:1"}, {"--index-offload-after", "1h"}, {"--store", pg.URL("memory"), "--index-offload-after", "1h"}, {"--store", pg.URL("memory"), "--index", "weaviate://secret@x"}} {
		c := inProcess(t, t.TempDir(), "", append([]string{"serve", "--api-keys", "k", "--addr", "127.0.0.1:0"}, args...)...)
		require.NotZero(t, c.code)
		require.NotContains(t, c.err, "secret@")
	}
	var sent atomic.Value
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent.Store(r.Header.Get("Authorization"))
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer refusing.Close()
	c := inProcess(t, t.TempDir(), "", "serve", "--api-keys", "k", "--addr", "127.0.0.1:0", "--store", pg.URL("memory"), "--index", refusing.URL, "--index-key", "opensesame")
	require.NotZero(t, c.code)
	require.NotContains(t, c.err, "opensesame")
	require.Equal(t, "Bearer opensesame", sent.Load())

	bin, err := testtool.BuildWeaviate(t.Context())
	if errors.Is(err, testtool.ErrNoWeaviate) {
		testtool.Missing(t, err.Error())
	}
	require.NoError(t, err)
	w, err := testtool.StartWeaviate(bin, t.TempDir(), 1, nil)
	require.NoError(t, err)
	t.Cleanup(w.Stop)
	c = inProcess(t, t.TempDir(), "", "serve", "--api-keys", "k", "--addr", "127.0.0.1:0", "--store", pg.URL("memory"), "--index", w.URL(0), "--index-offload-after", "1h")
	require.NotZero(t, c.code)
	require.Contains(t, c.err, "--index-offload-after")
	var subs []client.Sub
	for range 2 {
		address, _ := serving(t, t.TempDir(), "--api-keys", "secret", "--store", pg.URL("memory"), "--index", w.URL(0))
		c, err := client.New(address, "secret", nil)
		require.NoError(t, err)
		if len(subs) == 0 {
			require.NoError(t, c.CreateTenant(t.Context(), contextmem.TenantSpec{ID: "acme"}))
		}
		require.NoError(t, c.Tenant("acme").WaitReady(t.Context()))
		subs = append(subs, c.Tenant("acme").Sub("alice"))
	}
	_, err = subs[0].AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "m", Text: "Alice takes her coffee black."}}})
	require.NoError(t, err)
	_, err = subs[0].AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Files: []contextmem.File{{ID: "f", Name: "beans.txt", ContentType: "text/plain", Data: []byte("The beans come from Quito.")}}})
	require.NoError(t, err)
	for i, sub := range subs {
		for class, question := range map[contextmem.Class]string{contextmem.ClassMemory: "how does Alice drink coffee?", contextmem.ClassKnowledge: "where do beans come from?"} {
			require.Eventually(t, func() bool {
				r, err := sub.Recall(t.Context(), contextmem.Recall{Class: class, Query: question})
				return err == nil && len(r.Chunks) == 1
			}, time.Minute, 20*time.Millisecond, "server %d, %v", i, class)
		}
	}
	resp, err := http.Get(w.URL(0) + "/v1/schema/ContextmemChunk/tenants")
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Equal(t, 1, strings.Count(string(body), `"name"`), "the tenant is one of the cluster")
}

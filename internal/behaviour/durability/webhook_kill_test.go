package durability_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// childHook is set for a child process that ingests items whose events go to a webhook, until it is killed.
const childHook = "CONTEXTMEM_TEST_CHILD_HOOK"

func sendUntilKilled(dir, prefix string) error {
	ctx := context.Background()
	svc, err := contextmem.Open(ctx, dir, &contextmem.Options{AllowLocalWebhooks: true})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	for n := 0; ; n++ {
		id := fmt.Sprintf("%s-%d", prefix, n)
		if _, err := svc.Tenant("acme").AddMemories(ctx, contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: id, Text: "Note " + id + " is about the kettle."}}}); err != nil {
			return err
		}
		fmt.Println("ack", id)
	}
}

// TestKillMidDelivery kills a process that sends events, again and again. Each acknowledged item must be announced at
// least once, always with the same delivery id and a signature.
func TestKillMidDelivery(t *testing.T) {
	t.Parallel()
	rounds := 50
	if testing.Short() {
		rounds = 10
	}
	const secret = "0123456789abcdef0123"
	var mu sync.Mutex
	ids := map[string]map[string]bool{} // item -> delivery ids
	var faults []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var p contextmem.WebhookPayload
		err := json.Unmarshal(body, &p)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err != nil || contextmem.VerifyWebhook(body, r.Header.Get(contextmem.HeaderSignature), secret) != nil:
			faults = append(faults, "a delivery that is not genuine")
		case p.DeliveryID != r.Header.Get(contextmem.HeaderDeliveryID) || p.Status != contextmem.StatusCompleted:
			faults = append(faults, "a delivery with a wrong header or state")
		}
		if ids[p.ID] == nil {
			ids[p.ID] = map[string]bool{}
		}
		ids[p.ID][p.DeliveryID] = true
	}))
	t.Cleanup(srv.Close)
	dir := t.TempDir()
	opts := &contextmem.Options{AllowLocalWebhooks: true}
	svc, err := contextmem.Open(t.Context(), dir, opts)
	require.NoError(t, err)
	_, err = svc.SetWebhook(t.Context(), contextmem.WebhookSpec{URL: srv.URL, Secret: secret})
	require.NoError(t, err)
	servicetest.Tenant(t, svc, contextmem.TenantSpec{ID: "acme"})
	require.NoError(t, svc.Close())
	exe, err := os.Executable()
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(3, 5))
	acked := map[string]bool{}
	for round := range rounds {
		cmd := exec.CommandContext(t.Context(), exe)
		cmd.Env = append(os.Environ(), childDir+"="+dir, fmt.Sprintf("%s=r%d", childHook, round))
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		sc := bufio.NewScanner(out)
		require.True(t, sc.Scan(), "the child did not start")
		var timer *time.Timer // from the first item on, however busy the machine is
		for sc.Scan() {
			if id, ok := strings.CutPrefix(sc.Text(), "ack "); ok {
				acked[id] = true
			}
			if timer == nil {
				timer = time.AfterFunc(time.Duration(rng.IntN(40))*time.Millisecond, func() { _ = cmd.Process.Kill() })
			}
		}
		_ = cmd.Wait() // killed
	}
	require.GreaterOrEqual(t, len(acked), rounds)
	svc, err = contextmem.Open(t.Context(), dir, opts)
	require.NoError(t, err)
	defer func() { require.NoError(t, svc.Close()) }()
	require.NoError(t, svc.Drain(t.Context()))
	missing := func() (n int) {
		mu.Lock()
		defer mu.Unlock()
		for id := range acked {
			if ids[id] == nil {
				n++
			}
		}
		return n
	}
	// What was being sent at a kill is sent again at once: nobody waits out its lease of 30 s. However busy the
	// machine is, some are announced in less.
	least, since, stuck := missing(), time.Now(), false
	require.Eventually(t, func() bool {
		n := missing()
		if n < least {
			least, since = n, time.Now()
		}
		stuck = n > 0 && time.Since(since) > 25*time.Second
		return n == 0 || stuck
	}, 5*time.Minute, 20*time.Millisecond)
	require.False(t, stuck, "%d items were never announced", missing())
	mu.Lock()
	defer mu.Unlock()
	require.Empty(t, faults)
	for id, ds := range ids {
		require.Len(t, ds, 1, "item %s has several delivery ids", id)
	}
}

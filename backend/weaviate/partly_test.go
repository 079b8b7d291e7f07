package weaviate

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// partTransport is an HTTP transport to a node that fails to store one object of a batch, and takes it for unchanged when it gets it again.
type partTransport struct {
	mu     sync.Mutex
	words  string // what the object has
	failed int    // how often the node has got the object
}

func (p *partTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodPost || !strings.HasPrefix(r.URL.Path, "/v1/batch/objects") {
		return http.DefaultTransport.RoundTrip(r)
	}
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var batch struct {
		Objects []map[string]any `json:"objects"`
	}
	if err := json.Unmarshal(data, &batch); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var rest, answer []map[string]any
	for _, o := range batch.Objects {
		text, _ := json.Marshal(o)
		if p.failed > 1 || !strings.Contains(string(text), p.words) {
			rest = append(rest, o)
			continue
		}
		o["result"] = map[string]any{"status": "SUCCESS"}
		if p.failed++; p.failed == 1 {
			o["result"] = map[string]any{"status": "FAILED", "errors": map[string]any{"error": []any{map[string]any{"message": "index"}}}}
		}
		answer = append(answer, o)
	}
	if len(rest) > 0 {
		batch.Objects = rest
		body, _ := json.Marshal(batch)
		r = r.Clone(r.Context())
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		got, err := http.DefaultTransport.RoundTrip(r)
		if err != nil || got.StatusCode != http.StatusOK {
			return got, err
		}
		var stored []map[string]any
		err = json.NewDecoder(got.Body).Decode(&stored)
		_ = got.Body.Close()
		if err != nil {
			return nil, err
		}
		answer = append(answer, stored...)
	}
	body, _ := json.Marshal(answer)
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body)), Request: r}, nil
}

// TestPartOfBatchFails checks that a batch is compared with the node once a part of it has failed, even if the next attempt succeeded: what
// the node lacks is stored.
func TestPartOfBatchFails(t *testing.T) {
	t.Parallel()
	feed := testFeed(12)
	p := &partTransport{words: "number5"}
	_, set := openSet(t, prefixOf(t.Name()), []string{sharedServer(t).URL(0)}, Options{Client: &http.Client{Transport: p}})
	ix := set.Indexes()[0].(*index)
	require.NoError(t, ix.Lead(t.Context(), alwaysLeads(true)))
	stayUnconfirmed(ix)
	require.NoError(t, ix.Apply(t.Context(), feed))
	require.Equal(t, 2, p.failed)
	require.False(t, ix.pending.allConfirmed())
	confirmNow(ix)
	requireConfirmed(t, ix)
	requireMatchesFeed(t, set, feed, "after the comparison")
}

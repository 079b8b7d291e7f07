package main

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestReaders checks that a server configured for it reads a scan with tesseract and a recording with a transcriber.
func TestReaders(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"tesseract", "pdftoppm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program + " is not installed")
		}
	}
	heard := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"text":"Rake the north bed."}`))
	}))
	t.Cleanup(heard.Close)
	env := map[string]string{"CONTEXTMEM_ADDR": "127.0.0.1:0", "CONTEXTMEM_DATA": t.TempDir(), "CONTEXTMEM_API_KEYS": "key-one",
		"CONTEXTMEM_OCR": "1", "CONTEXTMEM_TRANSCRIBER_URL": heard.URL, "CONTEXTMEM_PARSE_TIMEOUT": "5m"}
	ready, ended := make(chan net.Addr, 1), make(chan error, 1)
	go func() {
		ended <- run(t.Context(), func(k string) string { return env[k] }, slog.New(slog.DiscardHandler), ready)
	}()
	t.Cleanup(func() { <-ended })
	var base string
	select {
	case a := <-ready:
		base = "http://" + a.String()
	case err := <-ended:
		require.NoError(t, err)
	}
	require.Equal(t, http.StatusOK, ask(t, "POST", base+"/tenants/create", "key-one", `{"tenant_id":"acme"}`, nil))
	scan, err := os.ReadFile("../../internal/parse/testdata/corpus/files/scan-only.pdf")
	require.NoError(t, err)
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	require.NoError(t, w.WriteField("tenant_id", "acme"))
	for name, data := range map[string][]byte{"scan.pdf": scan, "note.mp3": []byte("ID3\x03\x00\x00\x00\x00\x00\x00\xff\xfb\x90\x00")} {
		p, err := w.CreateFormFile("files", name)
		require.NoError(t, err)
		_, err = p.Write(data)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	var answer struct {
		Results []struct {
			ID string `json:"source_id"`
		} `json:"results"`
	}
	require.Eventually(t, func() bool {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/ingestion/upload_knowledge", bytes.NewReader(body.Bytes()))
		require.NoError(t, err)
		r.Header.Set("Content-Type", w.FormDataContentType())
		r.Header.Set("Authorization", "Bearer key-one")
		resp, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		defer resp.Body.Close()
		return resp.StatusCode == http.StatusOK && json.NewDecoder(resp.Body).Decode(&answer) == nil
	}, time.Minute, 50*time.Millisecond, "the tenant is made")
	require.Len(t, answer.Results, 2)
	for _, item := range answer.Results {
		var status struct {
			Statuses []struct {
				Status  string `json:"indexing_status"`
				Message string `json:"error_code"`
			} `json:"statuses"`
		}
		require.Eventually(t, func() bool {
			ask(t, "POST", base+"/ingestion/verify_processing?tenant_id=acme&file_ids="+item.ID, "key-one", "", &status)
			return len(status.Statuses) == 1 && (status.Statuses[0].Status == "completed" || status.Statuses[0].Status == "errored")
		}, 2*time.Minute, 100*time.Millisecond)
		require.Equal(t, "completed", status.Statuses[0].Status, status.Statuses[0].Message)
	}
}

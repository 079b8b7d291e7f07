package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/httpapi"
)

// TestEveryOptionHasAFlag lists the options of the library and of the REST API that no flag sets, with the reason.
func TestEveryOptionHasAFlag(t *testing.T) {
	t.Parallel()
	without := map[string]string{
		"Parsers": "code", "Slots": "code", "WebhookTransport": "code", "Logger": "code", "Observer": "code", "Authenticator": "the keyring", "StoredKeys": "the keyring has them always",
	}
	flags := map[string]string{
		"Embedder": "embedder", "FastEmbedder": "fast-embedder", "PreviousEmbedders": "previous-embedders", "Extractor": "extractor", "Reranker": "reranker", "Judge": "judge", "OCR": "ocr", "Transcriber": "transcriber-url",
		"PDFTool": "pdftotext", "Providers": "connectors", "ChunkOverlapBytes": "chunk-overlap-bytes", "AllowLocalWebhooks": "allow-local-webhooks", "Keys": "api-keys",
		"MaxJSONDepth": "max-json-depth", "Console": "no-console", "Audit": "audit-log", "RateLimit": "requests-per-second", "PublicURL": "public-url",
	}
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(engineFlags).add(f)
	serve := (&app{}).serveCmd().Flags()
	for _, o := range []any{contextmem.Options{}, httpapi.Options{}} {
		for i := range reflect.TypeOf(o).NumField() {
			field := reflect.TypeOf(o).Field(i)
			if !field.IsExported() || without[field.Name] != "" {
				continue
			}
			name := flags[field.Name]
			if name == "" {
				var b strings.Builder
				for i, r := range field.Name {
					if i > 0 && r >= 'A' && r <= 'Z' {
						b.WriteByte('-')
					}
					b.WriteRune(r)
				}
				name = strings.ToLower(b.String())
			}
			require.True(t, f.Lookup(name) != nil || serve.Lookup(name) != nil, "%T.%s has no flag --%s", o, field.Name, name)
		}
	}
}

// TestFilesOfDeployment checks that the container, its composition and the unit use existing commands, flags and
// variables.
func TestFilesOfDeployment(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	root := newRoot(&app{streams: streams{env: func(string) string { return "" }}})
	names := map[string]bool{}
	note := func(f *pflag.Flag) { known[envName(f.Name)], names["--"+f.Name] = true, true }
	root.PersistentFlags().VisitAll(note)
	serve, _, err := root.Find([]string{"serve"})
	require.NoError(t, err)
	serve.Flags().VisitAll(note)
	dir := filepath.Join("..", "..", "deploy")
	for _, file := range []string{"Dockerfile", "compose.yaml", "contextmem.service", "contextmem.env"} {
		t.Run(file, func(t *testing.T) {
			b, err := os.ReadFile(filepath.Join(dir, file))
			require.NoError(t, err)
			found := 0
			for _, w := range strings.FieldsFunc(string(b), func(r rune) bool { return !(r == '_' || r >= 'A' && r <= 'Z') }) {
				if strings.HasPrefix(w, "CONTEXTMEM_") {
					require.True(t, known[w], "%s: %s", file, w)
					found++
				}
			}
			require.Positive(t, found, file)
		})
	}
}

// TestSlackOverREST sets a connector up through REST alone, and finds the workspace's messages.
func TestSlackOverREST(t *testing.T) {
	t.Parallel()
	const token = "xoxb-secret"
	at := func(age time.Duration) string {
		n := time.Now().Add(-age)
		return fmt.Sprintf("%010d.%06d", n.Unix(), n.Nanosecond()/1000)
	}
	messages := []map[string]any{
		{"type": "message", "ts": at(time.Hour), "user": "U1", "text": "The espresso machine is repaired on Thursday."},
		{"type": "message", "ts": at(2 * time.Hour), "user": "U2", "text": "Lunch is at noon in the garden."},
	}
	slack := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			_, _ = io.WriteString(w, `{"ok":false,"error":"invalid_auth"}`)
			return
		}
		switch r.URL.Path {
		case "/auth.test":
			_, _ = io.WriteString(w, `{"ok":true,"url":"https://acme.slack.example/","team":"Acme"}`)
		case "/conversations.list":
			_, _ = io.WriteString(w, `{"ok":true,"channels":[{"id":"C1","name":"general"}],"response_metadata":{"next_cursor":""}}`)
		case "/conversations.info":
			_, _ = io.WriteString(w, `{"ok":true,"channel":{"id":"C1","name":"general"}}`)
		case "/users.info":
			fmt.Fprintf(w, `{"ok":true,"user":{"name":"u","profile":{"display_name":"Person %s"}}}`, r.FormValue("user"))
		case "/conversations.history":
			var out []map[string]any
			for _, m := range messages {
				ts := m["ts"].(string)
				if ts > r.FormValue("oldest") && (r.FormValue("latest") == "" || ts < r.FormValue("latest")) {
					out = append(out, m)
				}
			}
			_ = json.NewEncoder(w).Encode(map[string]any{"ok": true, "messages": out, "has_more": false})
		default:
			_, _ = io.WriteString(w, `{"ok":false,"error":"unknown_method"}`)
		}
	}))
	t.Cleanup(slack.Close)
	address, _ := serving(t, t.TempDir(), "--api-keys", "secret", "--slack-url", slack.URL)
	rest := func(method, path, body string, status int) map[string]any {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, address+path, strings.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer secret")
		if body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		res, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.Equal(t, status, res.StatusCode, "%s %s: %s", method, path, b)
		var out map[string]any
		require.NoError(t, json.Unmarshal(b, &out), "%s", b)
		if d, ok := out["data"].(map[string]any); ok {
			return d
		}
		return out
	}
	rest("POST", "/ext/databases", `{"database":"acme"}`, 200)
	providers := fmt.Sprint(rest("GET", "/connectors/providers", "", 200))
	for _, name := range providerNames {
		require.Contains(t, providers, "provider:"+name)
	}
	require.NotContains(t, providers, "provider:filesystem", "no folder is allowed")
	rest("POST", "/connectors", `{"provider":"slack","database":"acme","credentials":{"token":"wrong"}}`, 400)
	made := rest("POST", "/connectors", `{"provider":"slack","name":"Ours","database":"acme","collection":"team","credentials":{"token":"`+token+`"}}`, 201)
	id, _ := made["connector_id"].(string)
	require.NotEmpty(t, id, "%v", made)
	require.Contains(t, fmt.Sprint(rest("GET", "/connectors/"+id+"/discover", "", 200)), "C1")
	rest("POST", "/connectors/"+id+"/resources", `{"resource_id":"C1","resource_type":"channel","name":"general"}`, 201)
	require.Eventually(t, func() bool {
		found := rest("POST", "/query", `{"database":"acme","collection":"team","query":"When is the espresso machine repaired?","type":"knowledge","query_apps":true}`, 200)
		return strings.Contains(fmt.Sprint(found["chunks"]), "Thursday")
	}, time.Minute, 20*time.Millisecond)
	rest("GET", "/connectors/"+id+"/status", "", 200)
	require.NotContains(t, fmt.Sprint(rest("GET", "/connectors/"+id, "", 200)), token, "credentials are never returned")
}

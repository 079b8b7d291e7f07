package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/internal/testtool"
	"github.com/contextmem/contextmem/judge"
	"github.com/contextmem/contextmem/transcribe"
)

// engineEffects has, for each option of the engine, the part of contextmem.Options that it sets. TestServersOfModels
// checks what a server behind an option is asked.
var engineEffects = map[string]struct {
	set  string // flags with =; the option itself comes with "it"
	it   string // its value
	read func(o *contextmem.Options) any
	want any
}{
	"embedder":           {it: "static", read: func(o *contextmem.Options) any { return o.Embedder.Model() }, want: "static-en-128/1"},
	"previous-embedders": {it: "static,e5", read: func(o *contextmem.Options) any { return len(o.PreviousEmbedders) }, want: 2},
	"reranker":           {it: "none", read: func(o *contextmem.Options) any { return o.Reranker == contextmem.NoReranker }, want: true},
	"fast-embedder": {it: "none", read: func(o *contextmem.Options) any {
		return o.FastEmbedder != nil && o.FastEmbedder.Model() == o.Embedder.Model()
	}, want: true},
	"judge":                  {it: "none", read: func(o *contextmem.Options) any { return o.Judge == judge.None }, want: true},
	"ocr":                    {it: "true", read: func(o *contextmem.Options) any { return o.OCR }, want: document.Tesseract{Languages: "eng"}},
	"ocr-languages":          {set: "ocr=true", it: "deu+fra", read: func(o *contextmem.Options) any { return o.OCR }, want: document.Tesseract{Languages: "deu+fra"}},
	"pdftotext":              {it: "true", read: func(o *contextmem.Options) any { return o.PDFTool }, want: document.PDFToText{}},
	"transcriber-url":        {it: "http://127.0.0.1:1", read: func(o *contextmem.Options) any { _, ok := o.Transcriber.(*transcribe.Client); return ok }, want: true},
	"connectors":             {it: "slack,feed", read: providersOf, want: "feed slack"},
	"connector-roots":        {set: "connectors=none", it: os.TempDir(), read: providersOf, want: "filesystem"},
	"allow-local-webhooks":   {it: "true", read: func(o *contextmem.Options) any { return o.AllowLocalWebhooks }, want: true},
	"webhook-networks":       {it: "10.0.0.0/8", read: func(o *contextmem.Options) any { return o.WebhookNetworks }, want: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}},
	"webhook-secret-overlap": {it: "3h", read: func(o *contextmem.Options) any { return o.WebhookSecretOverlap }, want: 3 * time.Hour},
	"webhook-vendor-headers": {it: "true", read: func(o *contextmem.Options) any { return o.WebhookVendorHeaders }, want: true},
	"public-url":             {it: "https://m.example", read: func(o *contextmem.Options) any { return o.PublicURL }, want: "https://m.example"},
	"secret-key":             {it: strings.Repeat("ab", 32), read: func(o *contextmem.Options) any { return o.SecretKey[31] }, want: byte(0xab)},
	"encryption-key":         {it: strings.Repeat("cd", 32), read: func(o *contextmem.Options) any { return o.EncryptionKey[31] }, want: byte(0xcd)},
	"forgetting":             {it: "true", read: func(o *contextmem.Options) any { return o.Forgetting }, want: true},
	"feedback-boosts":        {it: "true", read: func(o *contextmem.Options) any { return o.FeedbackBoosts }, want: true},
	"workers":                {it: "3", read: func(o *contextmem.Options) any { return o.Workers }, want: 3},
	"batch-items":            {it: "4", read: func(o *contextmem.Options) any { return o.BatchItems }, want: 4},
	"max-attempts":           {it: "5", read: func(o *contextmem.Options) any { return o.MaxAttempts }, want: 5},
	"max-open-tenants":       {it: "6", read: func(o *contextmem.Options) any { return o.MaxOpenTenants }, want: 6},
	"max-tenants":            {it: "7", read: func(o *contextmem.Options) any { return o.MaxTenants }, want: 7},
	"chunk-bytes":            {it: "800", read: func(o *contextmem.Options) any { return o.ChunkBytes }, want: 800},
	"chunk-max-bytes":        {it: "900", read: func(o *contextmem.Options) any { return o.ChunkMaxBytes }, want: 900},
	"chunk-overlap-bytes":    {it: "10", read: func(o *contextmem.Options) any { return o.ChunkOverlapBytes }, want: 10},
	"max-file-bytes":         {it: "11", read: func(o *contextmem.Options) any { return o.MaxFileBytes }, want: int64(11)},
	"cache-bytes":            {it: "12", read: func(o *contextmem.Options) any { return o.CacheBytes }, want: int64(12)},
	"max-items":              {it: "13", read: func(o *contextmem.Options) any { return o.MaxItems }, want: 13},
	"max-memories":           {it: "14", read: func(o *contextmem.Options) any { return o.MaxMemories }, want: 14},
	"max-memory-bytes":       {it: "15", read: func(o *contextmem.Options) any { return o.MaxMemoryBytes }, want: 15},
	"max-additional-bytes":   {it: "16", read: func(o *contextmem.Options) any { return o.MaxAdditionalBytes }, want: 16},
	"versions":               {it: "3", read: func(o *contextmem.Options) any { return o.Versions }, want: 3},
	"retry-for":              {it: "17s", read: func(o *contextmem.Options) any { return o.RetryFor }, want: 17 * time.Second},
	"retry-pause":            {it: "18s", read: func(o *contextmem.Options) any { return o.RetryPause }, want: 18 * time.Second},
	"lease":                  {it: "19s", read: func(o *contextmem.Options) any { return o.Lease }, want: 19 * time.Second},
	"parse-timeout":          {it: "20s", read: func(o *contextmem.Options) any { return o.ParseTimeout }, want: 20 * time.Second},
	"recall-budget":          {it: "21s", read: func(o *contextmem.Options) any { return o.RecallBudget }, want: 21 * time.Second},
	"vector-recall":          {it: "0.97", read: func(o *contextmem.Options) any { return o.VectorRecall }, want: 0.97},
	"log-level":              {it: "debug", read: func(o *contextmem.Options) any { return o.Logger.Enabled(context.Background(), slog.LevelDebug) }, want: true},
}

// elsewhere are options whose effect other tests check.
var elsewhere = map[string]string{
	"embedder-url": "TestServersOfModels", "embedder-key": "TestServersOfModels", "embedder-model": "TestServersOfModels", "embedder-dimensions": "TestServersOfModels",
	"reranker-url": "TestServersOfModels", "reranker-key": "TestServersOfModels", "reranker-model": "TestServersOfModels",
	"extractor": "TestServersOfModels", "extractor-url": "TestServersOfModels", "extractor-key": "TestServersOfModels", "extractor-model": "TestServersOfModels",
	"transcriber-key": "TestServersOfModels", "transcriber-model": "TestServersOfModels",
	"judge-url": "TestJudgeServer", "judge-key": "TestJudgeServer", "judge-model": "TestJudgeServer",
	"summarizer": "TestSummarizerServer", "summarizer-url": "TestSummarizerServer", "summarizer-key": "TestSummarizerServer", "summarizer-model": "TestSummarizerServer",
	"slack-url": "TestSlackOverREST", "github-url": "TestServeSwitches", "notion-url": "TestServeSwitches", "allow-local-connectors": "TestServeSwitches",
	"model-cache": "TestModelCache",
}

func providersOf(o *contextmem.Options) any {
	var names []string
	for _, p := range o.Providers {
		names = append(names, p.Describe().Name)
	}
	return strings.Join(names, " ")
}

// TestEngineOptions checks that each option of the engine changes the options of the library, and that the default
// differs.
func TestEngineOptions(t *testing.T) {
	t.Parallel()
	made := func(args ...string) *contextmem.Options {
		t.Helper()
		var e engineFlags
		f := pflag.NewFlagSet("", pflag.ContinueOnError)
		e.add(f)
		require.NoError(t, f.Parse(args))
		o, err := e.options(io.Discard)
		require.NoError(t, err)
		return o
	}
	var e engineFlags
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	e.add(f)
	f.VisitAll(func(flag *pflag.Flag) {
		x, ok := engineEffects[flag.Name]
		require.NotEqual(t, ok, elsewhere[flag.Name] != "", "--%s: its effect is to be shown once", flag.Name)
		if !ok {
			return
		}
		var args []string
		for _, s := range strings.Fields(x.set) {
			args = append(args, "--"+s)
		}
		before := func() (v any) {
			defer func() {
				if recover() != nil { // what is not there by default has no field to read
					v = nil
				}
			}()
			return x.read(made(args...))
		}()
		require.NotEqual(t, x.want, before, "--%s: the default", flag.Name)
		require.Equal(t, x.want, x.read(made(append(args, "--"+flag.Name+"="+x.it)...)), "--%s", flag.Name)
	})
	require.Equal(t, len(engineEffects)+len(elsewhere), func() (n int) { f.VisitAll(func(*pflag.Flag) { n++ }); return n }())
}

// modelRequests records the requests to a server of models.
type modelRequests struct {
	mu   sync.Mutex
	keys map[string]string // by path
	body map[string]string
}

func (a *modelRequests) note(r *http.Request) string {
	b, _ := io.ReadAll(r.Body)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.keys[r.URL.Path], a.body[r.URL.Path] = r.Header.Get("Authorization"), string(b)
	return string(b)
}

// TestServersOfModels checks that the embedder, reranker, extractor and transcriber of a server are called at the
// address, with the key and for the model in the options.
func TestServersOfModels(t *testing.T) {
	t.Parallel()
	a := &modelRequests{keys: map[string]string{}, body: map[string]string{}}
	models := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := a.note(r)
		switch r.URL.Path {
		case "/v1/embeddings":
			var in struct{ Input []string }
			_ = json.Unmarshal([]byte(body), &in)
			var rows []string
			for i, text := range in.Input {
				v := []float32{1, 0, 0, 0, 0, 0, 0, 0}
				if strings.Contains(text, "cello") {
					v = []float32{0, 1, 0, 0, 0, 0, 0, 0}
				}
				b, _ := json.Marshal(v)
				rows = append(rows, fmt.Sprintf(`{"index":%d,"embedding":%s}`, i, b))
			}
			fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(rows, ","))
		case "/rerank":
			var in struct{ Documents []string }
			_ = json.Unmarshal([]byte(body), &in)
			var rows []string
			for i, d := range in.Documents {
				score := 0.1
				if strings.Contains(d, "tram") {
					score = 0.9
				}
				rows = append(rows, fmt.Sprintf(`{"index":%d,"relevance_score":%g}`, i, score))
			}
			fmt.Fprintf(w, `{"id":"1","results":[%s]}`, strings.Join(rows, ","))
		case "/v1/audio/transcriptions":
			_, _ = io.WriteString(w, `{"text":"The night train to Vienna leaves from platform nine.","segments":[{"start":0,"end":2,"text":"The night train to Vienna leaves from platform nine."}]}`)
		default: // the chat model is away: the rules answer
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(models.Close)
	dir := t.TempDir()
	sound := filepath.Join(dir, "call.wav")
	require.NoError(t, os.WriteFile(sound, append([]byte("RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data\x00\x00\x00\x00"), make([]byte, 64)...), 0o600))
	options := []string{
		"--embedder", "openai", "--embedder-url", models.URL + "/v1", "--embedder-key", "k1", "--embedder-model", "m1", "--embedder-dimensions", "8", "--fast-embedder", "none",
		"--reranker", "cohere", "--reranker-url", models.URL, "--reranker-key", "k2", "--reranker-model", "m2",
		"--extractor", "openai", "--extractor-url", models.URL + "/v1", "--extractor-key", "k3", "--extractor-model", "m3",
		"--transcriber-url", models.URL + "/v1", "--transcriber-key", "k4", "--transcriber-model", "m4",
	}
	do := func(args ...string) call {
		t.Helper()
		c := inProcess(t, filepath.Join(dir, "data"), "", append(args, options...)...)
		require.Zero(t, c.code, "%v: %s%s", args, c.out, c.err)
		return c
	}
	do("add", "--infer", "Alice plays the cello.")
	do("add", "Bob takes the tram.")
	do("ingest", sound)
	require.Contains(t, strings.Split(do("recall", "--mode", "thinking", "what does she play, or how does he travel?").out, "\n")[0], "tram", "by the scores of the reranker")
	require.Contains(t, do("recall", "--class", "knowledge", "where does the train to Vienna leave?").out, "platform nine")
	a.mu.Lock()
	defer a.mu.Unlock()
	for path, want := range map[string][2]string{"/v1/embeddings": {"Bearer k1", "m1"}, "/rerank": {"Bearer k2", "m2"}, "/v1/chat/completions": {"Bearer k3", "m3"}, "/v1/audio/transcriptions": {"Bearer k4", "m4"}} {
		t.Run(path, func(t *testing.T) {
			assert.Equal(t, want[0], a.keys[path], path)
			assert.Contains(t, a.body[path], want[1], path)
		})
	}
	assert.Contains(t, a.body["/v1/embeddings"], `"dimensions":8`)
}

// TestJudgeServer checks that a chat model decides which statement replaces which, with the key and under the name in
// the options.
func TestJudgeServer(t *testing.T) {
	t.Parallel()
	a := &modelRequests{keys: map[string]string{}, body: map[string]string{}}
	models := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.note(r)
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"{\"scenes\":[{\"index\":0,\"replaced\":[{\"earlier\":0,\"confidence\":0.9}]}]}"}}]}`)
	}))
	t.Cleanup(models.Close)
	e := &engineFlags{embedder: "static", fast: "static", extractor: "rules", reranker: "none", logLevel: "error", judge: "openai", judgeURL: models.URL + "/v1", judgeKey: "k5", judgeModel: "m5"}
	o, err := e.options(io.Discard)
	require.NoError(t, err)
	p, err := o.Judge.Replaces(t.Context(), []judge.Pair{{Earlier: judge.Statement{Text: "we live in Porto"}, Later: judge.Statement{Text: "first night in Braga"}}})
	require.NoError(t, err)
	assert.Equal(t, []float64{.9}, p)
	a.mu.Lock()
	defer a.mu.Unlock()
	assert.Equal(t, "Bearer k5", a.keys["/v1/chat/completions"])
	assert.Contains(t, a.body["/v1/chat/completions"], `"m5"`)
}

// TestSummarizerServer checks that a chat model writes the summaries of profiles, with the key and under the name in
// the options.
func TestSummarizerServer(t *testing.T) {
	t.Parallel()
	a := &modelRequests{keys: map[string]string{}, body: map[string]string{}}
	models := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.note(r)
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"{\"sentences\":[{\"text\":\"Ana lives in Braga.\",\"from\":[0]}]}"}}]}`)
	}))
	t.Cleanup(models.Close)
	e := &engineFlags{embedder: "static", fast: "static", extractor: "rules", reranker: "none", judge: "none", logLevel: "error", summarizer: "openai", summarizerURL: models.URL + "/v1", summarizerKey: "k6", summarizerModel: "m6"}
	o, err := e.options(io.Discard)
	require.NoError(t, err)
	text, err := o.Summarizer.Summarize(t.Context(), facts.SummaryRequest{Subject: "Ana", Statements: []string{"Ana moved to Braga."}, MaxTokens: 50})
	require.NoError(t, err)
	assert.Equal(t, "Ana lives in Braga.", text)
	a.mu.Lock()
	defer a.mu.Unlock()
	assert.Equal(t, "Bearer k6", a.keys["/v1/chat/completions"])
	assert.Contains(t, a.body["/v1/chat/completions"], `"m6"`)
	e.summarizer = "zorble"
	_, err = e.options(io.Discard)
	require.ErrorContains(t, err, "summarizer")
}

// sign is a PDF page with a line of text.
const sign = "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n" +
	"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 400 100]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj\n" +
	"4 0 obj<</Length 57>>stream\nBT /F 24 Tf 20 40 Td (The gate closes at seven.) Tj ET      \nendstream endobj\n" +
	"5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\ntrailer<</Root 1 0 R/Size 6>>\n"

// TestOCRAndPDFTool checks that --ocr reads a picture with tesseract, in the languages of --ocr-languages, and that
// --pdftotext reads PDF with Poppler.
func TestOCRAndPDFTool(t *testing.T) {
	t.Parallel()
	for _, p := range []string{"tesseract", "pdftoppm", "pdftotext"} {
		if _, err := exec.LookPath(p); err != nil {
			leaveOut(t, p+" is not installed")
		}
	}
	dir := t.TempDir()
	page := filepath.Join(dir, "sign.pdf")
	require.NoError(t, os.WriteFile(page, []byte(sign), 0o600))
	picture, err := exec.CommandContext(t.Context(), "pdftoppm", "-r", "150", "-png", page).Output()
	require.NoError(t, err)
	file := filepath.Join(dir, "gate.png")
	require.NoError(t, os.WriteFile(file, picture, 0o600))
	for name, x := range map[string]struct {
		args []string
		code int
		says string
	}{
		"without":          {nil, 0, "1 unsupported"},
		"with":             {[]string{"--ocr"}, 0, "1 added"},
		"unknown language": {[]string{"--ocr", "--ocr-languages", "xyz"}, exitPartial, "1 failed"},
	} {
		t.Run(name, func(t *testing.T) {
			data := filepath.Join(dir, name)
			c := inProcess(t, data, "", append([]string{"ingest", file}, x.args...)...)
			require.Equal(t, x.code, c.code, "%s: %s%s", name, c.out, c.err)
			require.Contains(t, c.out, x.says, name)
			if x.says == "1 added" {
				require.Contains(t, inProcess(t, data, "", "recall", "when does the gate close?").out, "closes at seven")
			}
		})
	}

	bin, called := filepath.Join(dir, "bin"), filepath.Join(dir, "called")
	require.NoError(t, os.Mkdir(bin, 0o700))
	poppler, err := exec.LookPath("pdftotext")
	require.NoError(t, err)
	testtool.Script(t, filepath.Join(bin, "pdftotext"), ": > '"+called+"'\nexec '"+poppler+"' \"$@\"\n")
	for _, args := range [][]string{nil, {"--pdftotext"}} {
		data := filepath.Join(dir, fmt.Sprint("pdf", len(args)))
		cmd := program(t.Context(), t, data, append([]string{"ingest", page}, args...)...)
		cmd.Env = append(cmd.Env, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		_, err = os.Stat(called)
		require.Equal(t, len(args) == 0, err != nil, "pdftotext is called when it is switched on")
		require.Contains(t, inProcess(t, data, "", "recall", "when does the gate close?").out, "closes at seven")
	}
}

// leaveOut skips the test. In CI the test fails instead.
func leaveOut(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(why + ": it must run in CI")
	}
	t.Skip(why)
}

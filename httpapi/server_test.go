package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
)

// serveTest serves h as NewServer does and returns its address.
func serveTest(t testing.TB, h http.Handler) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	srv := NewServer(h)
	var wg sync.WaitGroup
	wg.Go(func() { _ = srv.Serve(l) })
	t.Cleanup(func() {
		_ = srv.Close()
		wg.Wait()
	})
	return l.Addr().String()
}

func dial(t testing.TB, addr string) net.Conn {
	t.Helper()
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestSlowBody checks that a body that does not arrive ends with an error of the documented shape and a closed
// connection, and that a slow body within the limit is read.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	addr := serveTest(t, newFixture(t, Options{BodyTimeout: 200 * time.Millisecond}).Handler)
	for path, body := range map[string]string{"/recall/full_recall": `{"tenant_id": "acme"`, "/context/ingest": filePartHead} {
		t.Run(path, func(t *testing.T) {
			kind := "application/json"
			if path == "/context/ingest" {
				kind = "multipart/form-data; boundary=cut"
			}
			c := dial(t, addr)
			_, err := fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: %s\r\nContent-Length: 1000\r\n\r\n%s", path, fullKey, kind, body)
			require.NoError(t, err)
			res, err := http.ReadResponse(bufio.NewReader(c), nil)
			require.NoError(t, err)
			require.Equal(t, http.StatusRequestTimeout, res.StatusCode)
			b, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			require.Equal(t, "REQUEST_TIMEOUT", errorCode(t, decodeAny(t, b)))
			_, err = io.Copy(io.Discard, c)
			require.NoError(t, err, "the server ends the connection")
		})
	}
	c := dial(t, addr)
	r := bufio.NewReader(c)
	for range 2 { // on one connection
		_, err := fmt.Fprintf(c, "GET /databases HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", fullKey)
		require.NoError(t, err)
		res, err := http.ReadResponse(r, nil)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, res.StatusCode)
		_, err = io.Copy(io.Discard, res.Body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
	}
}

// TestManySmallFilesGoToDisk checks that many small files do not add up in memory.
func TestManySmallFilesGoToDisk(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{MaxBodyBytes: -1})
	var form bytes.Buffer
	for i := range 20 {
		fmt.Fprintf(&form, "--cut\r\nContent-Disposition: form-data; name=\"documents\"; filename=\"%d.txt\"\r\n\r\n", i)
		form.Write(bytes.Repeat([]byte("x"), spoolAbove-1))
		form.WriteString("\r\n")
	}
	form.WriteString("--cut--\r\n")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "/context/ingest", &form)
	require.NoError(t, err)
	r.Header.Set("Content-Type", "multipart/form-data; boundary=cut")
	c := &call{api: &api{svc: f.svc, o: Options{BodyTimeout: -1}, held: &held{limit: -1}}, r: r, ctx: t.Context(), rt: &route{family: gen2, body: bodyMultipart}}
	defer func() { c.cleanup() }()
	err = c.decodeForm()
	require.ErrorIs(t, err, contextmem.ErrTooLarge, "the fixture's files are small")
	require.LessOrEqual(t, c.in.held, spoolTotal)
}

// TestHeldBytes checks that while one request's body uses the memory for bodies, other large requests are deferred and
// small ones are answered. All memory is released, however a request ends.
func TestHeldBytes(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{MaxHeldBytes: 1 << 20, MaxBodyBytes: 4 << 20})
	post := func(path string, body io.Reader) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, body)
		r.Header.Set("Authorization", "Bearer "+fullKey)
		w := httptest.NewRecorder()
		f.ServeHTTP(w, r)
		return w
	}
	send := func(body io.Reader) *httptest.ResponseRecorder { return post("/recall/full_recall", body) }
	query := func(pad int) string {
		return `{"tenant_id": "acme", "query": "pricing"` + strings.Repeat(" ", pad) + "}"
	}
	for _, end := range []error{io.EOF, io.ErrUnexpectedEOF} {
		body, feed := io.Pipe()
		first := make(chan int, 1)
		go func() {
			first <- send(body).Code
			_ = body.Close() // or a refusal would leave the writer waiting
		}()
		_, err := io.WriteString(feed, query(900<<10))
		require.NoError(t, err)
		w := send(strings.NewReader(query(300 << 10)))
		require.Equal(t, http.StatusServiceUnavailable, w.Code, w.Body.String())
		require.Equal(t, "1", w.Header().Get("Retry-After"))
		require.Equal(t, http.StatusOK, send(strings.NewReader(query(0))).Code)
		require.NoError(t, feed.CloseWithError(end))
		require.Equal(t, map[error]int{io.EOF: http.StatusOK, io.ErrUnexpectedEOF: http.StatusBadRequest}[end], <-first)
		require.Equal(t, http.StatusOK, send(strings.NewReader(query(300<<10))).Code)
	}
	require.Equal(t, http.StatusServiceUnavailable, post("/memories/add_memory", strings.NewReader(query(2<<20))).Code)
	require.Equal(t, http.StatusOK, send(strings.NewReader(query(900<<10))).Code)
}

// TestHeldForms checks that when the memory for bodies is used up, files of a form go to disk and its fields are
// deferred.
func TestHeldForms(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	full := &held{limit: 1}
	decode := func(part string) (*call, error) {
		body := "--cut\r\nContent-Disposition: form-data; " + part + "\r\n\r\n" + strings.Repeat("x", 2<<10) + "\r\n--cut--\r\n"
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "/context/ingest", strings.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "multipart/form-data; boundary=cut")
		c := &call{api: &api{svc: f.svc, o: Options{BodyTimeout: -1}, held: full}, r: r, ctx: t.Context(), rt: &route{family: gen2, body: bodyMultipart}}
		c.in.held = freeBody
		return c, c.decodeForm()
	}
	c, err := decode(`name="documents"; filename="a.txt"`)
	require.NoError(t, err)
	require.NotNil(t, c.in.files[0].spool)
	c.cleanup()
	require.ErrorIs(t, c.in.files[0].spool.Close(), os.ErrClosed)
	c, err = decode(`name="memories"`)
	require.ErrorIs(t, err, contextmem.ErrUnavailable)
	c.cleanup()
	require.Zero(t, full.used.Load())
}

// drip keeps a connection busy by sending single bytes of a header or a body until ctx ends.
func drip(ctx context.Context, addr string, body bool) error {
	c, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	head := "POST /recall/full_recall HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + fullKey + "\r\n"
	if body {
		head += "Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n"
	} else {
		head += "X-Slow: "
	}
	if _, err := io.WriteString(c, head); err != nil {
		return err
	}
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			if _, err := c.Write([]byte(" ")); err != nil { // the server gave it up: the next one
				return drip(ctx, addr, body)
			}
		}
	}
}

// BenchmarkSlowConnections reports the p99 of recalls from 8 clients alone, and beside 500 connections that send a byte
// every 250 ms, alternately in one run.
func BenchmarkSlowConnections(b *testing.B) {
	const clients, slow, rounds = 8, 500, 4
	f := newFixture(b, Options{})
	addr := serveTest(b, f.Handler)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	defer client.CloseIdleConnections()
	ask := func() (time.Duration, error) {
		start := time.Now()
		r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, "http://"+addr+"/recall/full_recall", bytes.NewBufferString(`{"tenant_id":"acme","query":"who manages pricing?"}`))
		if err != nil {
			return 0, err
		}
		r.Header.Set("Authorization", "Bearer "+fullKey)
		res, err := client.Do(r)
		if err != nil {
			return 0, err
		}
		_, err = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		if err == nil && res.StatusCode != http.StatusOK {
			err = fmt.Errorf("status %d", res.StatusCode)
		}
		return time.Since(start), err
	}
	round := func(n int) []time.Duration {
		var mu sync.Mutex
		var all []time.Duration
		var wg sync.WaitGroup
		for range clients {
			wg.Go(func() {
				for range n/clients + 1 {
					d, err := ask()
					if err != nil {
						b.Error(err)
						return
					}
					mu.Lock()
					all = append(all, d)
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		return all
	}
	p99 := func(ds []time.Duration) float64 {
		slices.Sort(ds)
		return float64(ds[len(ds)*99/100].Microseconds()) / 1000
	}
	round(200) // warm
	var alone, beside []time.Duration
	b.ResetTimer()
	for range rounds {
		alone = append(alone, round(b.N/rounds)...)
		ctx, cancel := context.WithCancel(b.Context())
		var wg sync.WaitGroup
		for i := range slow {
			wg.Go(func() {
				if err := drip(ctx, addr, i%2 == 0); err != nil && ctx.Err() == nil {
					b.Error(err)
				}
			})
		}
		beside = append(beside, round(b.N/rounds)...)
		cancel()
		wg.Wait()
	}
	if !b.Failed() {
		b.ReportMetric(p99(alone), "p99-alone-ms")
		b.ReportMetric(p99(beside), "p99-slow-ms")
		b.ReportMetric(p99(beside)/p99(alone), "ratio")
	}
}

package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/internal/modelhttp"
)

// answered is an error of a client library that knows the status of an answer.
type answered struct{ code int }

func (e *answered) Error() string   { return "a text with sk-secret in it" }
func (e *answered) StatusCode() int { return e.code }

func TestCauses(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"error":{"message":"wrong key sk-secret","code":"invalid_api_key"}}`))
	}))
	t.Cleanup(srv.Close)
	down := httptest.NewServer(nil)
	down.Close()
	post := func(address string, h *http.Client) error {
		c := modelhttp.Client{Name: "openai", Endpoint: address, APIKey: "sk-secret", HTTP: h, MaxRetries: -1, FirstPause: time.Second, MaxPause: time.Second}
		return c.Post(t.Context(), "the text", 100, func([]byte) error { return nil })
	}
	secure := httptest.NewTLSServer(nil)
	t.Cleanup(secure.Close)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"ours":         {errDim, "the embedder answered with vectors of another length"},
		"down":         {errDown, "the embedder is down"},
		"key":          {post(srv.URL, srv.Client()), "openai: status 401 invalid_api_key"},
		"nobody":       {post(down.URL, http.DefaultClient), "the server of the embedder refuses connections"},
		"certificate":  {post(secure.URL, http.DefaultClient), "the certificate of the server of the embedder is not trusted"},
		"refused":      {fmt.Errorf("sk-secret: %w", &url.Error{Op: "Post", URL: "http://sk-secret", Err: refused}), "the server of the embedder refuses connections"},
		"host":         {&url.Error{Op: "Post", URL: "http://sk-secret", Err: &net.DNSError{Name: "sk-secret", IsNotFound: true}}, "the host of the server of the embedder is unknown"},
		"time":         {fmt.Errorf("sk-secret: %w", context.DeadlineExceeded), "the embedder did not answer in time"},
		"status":       {fmt.Errorf("sk-secret: %w", &answered{429}), "the server of the embedder answered with status 429"},
		"type":         {fmt.Errorf("sk-secret: %w", &fs.PathError{Op: "open", Path: "sk-secret", Err: errors.New("sk-secret")}), "the embedder returned an error of type *fs.PathError, whose text is in the log"},
		"text":         {fmt.Errorf("sk-secret: %w", errors.New("sk-secret")), "the embedder returned an error, whose text is in the log"},
		"several":      {errors.Join(errors.New("sk-secret"), context.Canceled), "the embedder cancelled the call"},
		"disconnected": {&net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}, "the connection to the server of the embedder failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Error(t, c.err)
			got := causeOf("the embedder", c.err)
			require.Equal(t, c.want, got)
			require.NotContains(t, got, "sk-secret")
		})
	}
}

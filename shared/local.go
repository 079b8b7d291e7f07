package shared

import (
	"bytes"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/httpapi"
)

// handedOverLine ends the response to a watch when the owner hands the directory over.
const handedOverLine = "handed over"

// guests authenticates callers by the key in the file OWNER.
type guests struct{ key string }

// Authenticate implements httpapi.Authenticator.
func (g guests) Authenticate(r *http.Request) (httpapi.Principal, error) {
	given, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if subtle.ConstantTimeCompare([]byte(given), []byte(g.key)) != 1 {
		return httpapi.Principal{}, &fault.Error{Kind: fault.KindUnauthorized, Err: errors.New("only processes that can read the directory may ask")}
	}
	return httpapi.Principal{ID: "guest", Org: contextmem.DefaultOrg, Key: contextmem.Key{Org: contextmem.DefaultOrg}}, nil
}

// lazily returns handler, built when the first guest connects. Most owners have no guests.
func (s *seat) lazily() http.Handler {
	handler := sync.OnceValues(s.handler)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, err := handler()
		if err != nil {
			fail(w, err)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// handler serves REST and the calls that REST lacks.
func (s *seat) handler() (http.Handler, error) {
	rest, err := httpapi.New(s.svc, httpapi.Options{Authenticator: guests{s.key}})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/", rest)
	handle := func(pattern string, do func(http.ResponseWriter, *http.Request) (any, error)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if _, err := (guests{s.key}).Authenticate(r); err != nil {
				fail(w, err)
				return
			}
			v, err := do(w, r)
			switch {
			case err != nil:
				fail(w, err)
			case v != nil:
				w.Header().Set("Content-Type", "application/json")
				_ = json.NewEncoder(w).Encode(v) // a guest that has disconnected reads nothing
			}
		})
	}
	tenant := func(r *http.Request) contextmem.Tenant { return s.svc.Tenant(r.URL.Query().Get("tenant")) }
	handle("GET /_local/hello", func(http.ResponseWriter, *http.Request) (any, error) { return struct{}{}, nil })
	handle("POST /_local/yield", func(http.ResponseWriter, *http.Request) (any, error) {
		s.ask.Do(func() { close(s.asked) })
		return struct{}{}, nil
	})
	handle("GET /_local/watch", func(w http.ResponseWriter, r *http.Request) (any, error) {
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
		case <-s.ending:
			if s.handed {
				_, _ = io.WriteString(w, handedOverLine+"\n")
			}
		}
		return nil, nil
	})
	handle("GET /_local/keys", func(_ http.ResponseWriter, r *http.Request) (any, error) { return s.svc.Keys(r.Context()) })
	handle("POST /_local/keys", func(_ http.ResponseWriter, r *http.Request) (any, error) {
		var spec contextmem.KeySpec
		if err := json.NewDecoder(r.Body).Decode(&spec); err != nil {
			return nil, err
		}
		k, text, err := s.svc.CreateKey(r.Context(), spec)
		return madeKey{k, text}, err
	})
	handle("DELETE /_local/keys", func(_ http.ResponseWriter, r *http.Request) (any, error) {
		return struct{}{}, s.svc.RevokeKey(r.Context(), r.URL.Query().Get("id"))
	})
	handle("GET /_local/tenant", func(_ http.ResponseWriter, r *http.Request) (any, error) { return tenant(r).Info(r.Context()) })
	handle("POST /_local/reembed", func(_ http.ResponseWriter, r *http.Request) (any, error) { return tenant(r).Reembed(r.Context()) })
	handle("POST /_local/backup", func(_ http.ResponseWriter, r *http.Request) (any, error) {
		return s.svc.Backup(r.Context(), r.URL.Query().Get("dir"))
	})
	handle("POST /_local/verify", func(_ http.ResponseWriter, r *http.Request) (any, error) { return s.svc.Verify(r.Context()) })
	handle("POST /_local/import", func(_ http.ResponseWriter, r *http.Request) (any, error) {
		return s.svc.ImportTenant(r.Context(), r.URL.Query().Get("tenant"), r.Body)
	})
	handle("POST /_local/do", func(w http.ResponseWriter, r *http.Request) (any, error) {
		f := s.handlerOf(r.URL.Query().Get("what"))
		if f == nil {
			return nil, &fault.Error{Op: "shared", Kind: fault.KindConflict, Err: errors.New("the process that owns the directory can't do that")}
		}
		body, err := io.ReadAll(io.LimitReader(r.Body, maxAsked))
		if err != nil {
			return nil, err
		}
		w.Header().Set("Trailer", failureTrailer)
		if f(r.Context(), body, flushing{w}) != nil { // f has written the error
			w.Header().Set(failureTrailer, "1")
		}
		return nil, nil
	})
	handle("GET /_local/export", func(w http.ResponseWriter, r *http.Request) (any, error) {
		w.Header().Set("Trailer", failureTrailer)
		out := &begun{Writer: w}
		err := tenant(r).Export(r.Context(), out)
		if err != nil && out.yes { // the status is already sent, so a trailer marks the file as incomplete
			w.Header().Set(failureTrailer, "1")
			return nil, nil
		}
		return nil, err
	})
	return mux, nil
}

// failureTrailer is the trailer of an export that is incomplete.
const failureTrailer = "X-Contextmem-Failed"

// maxAsked bounds the request body of [Deployment.Call], in bytes.
const maxAsked = 1 << 20

// flushing is a response writer that flushes after each write.
type flushing struct{ http.ResponseWriter }

// Write implements io.Writer.
func (f flushing) Write(p []byte) (int, error) {
	n, err := f.ResponseWriter.Write(p)
	_ = http.NewResponseController(f.ResponseWriter).Flush()
	return n, err
}

// begun is a writer that records whether anything was written.
type begun struct {
	io.Writer
	yes bool
}

// Write implements io.Writer.
func (b *begun) Write(p []byte) (int, error) {
	b.yes = true
	return b.Writer.Write(p)
}

// madeKey is a new key with its text.
type madeKey struct {
	Key  contextmem.Key
	Text string
}

// failure is an error as sent between processes.
type failure struct {
	Op, ID, Field, Message string
	Kind                   fault.Kind
	Resource               fault.Resource
}

func fail(w http.ResponseWriter, err error) {
	f := failure{Kind: fault.KindInternal, Message: err.Error()}
	var fe *fault.Error
	if errors.As(err, &fe) {
		f = failure{Op: fe.Op, ID: fe.ID, Field: fe.Field, Message: fe.Err.Error(), Kind: fe.Kind, Resource: fe.Resource}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusConflict)
	_ = json.NewEncoder(w).Encode(f) // a guest that has disconnected reads nothing
}

// errGone means that the owner ended during a call.
var errGone = errors.New("the process that owns the directory ended during the call")

// call sends the owner a call that REST lacks. It decodes the answer into to, or copies it if to is an io.Writer.
func (s *seat) call(ctx context.Context, method, path string, query url.Values, body, to any) error {
	var r io.Reader
	switch b := body.(type) {
	case nil:
	case io.Reader:
		r = b
	default:
		j, err := json.Marshal(b)
		if err != nil {
			return err
		}
		r = bytes.NewReader(j)
	}
	req, err := http.NewRequestWithContext(ctx, method, localAddress+path+"?"+query.Encode(), r)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+s.key)
	cut := func() error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &fault.Error{Op: "shared", Kind: fault.KindUnavailable, Err: errGone}
	}
	res, err := s.local.Do(req)
	if err != nil {
		return cut()
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		var f failure
		if err := json.NewDecoder(res.Body).Decode(&f); err != nil {
			return cut()
		}
		return &fault.Error{Op: f.Op, ID: f.ID, Field: f.Field, Kind: f.Kind, Resource: f.Resource, Err: errors.New(f.Message)}
	}
	switch w := to.(type) {
	case nil:
	case io.Writer:
		if _, err := io.Copy(w, res.Body); err != nil || res.Trailer.Get(failureTrailer) != "" {
			return cut()
		}
	default:
		if json.NewDecoder(res.Body).Decode(to) != nil {
			return cut()
		}
	}
	return nil
}

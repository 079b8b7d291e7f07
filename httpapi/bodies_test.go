package httpapi

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// deadlineWriter records the read deadlines set on it, as durations from its start.
type deadlineWriter struct {
	http.ResponseWriter
	begun time.Time

	mu  sync.Mutex
	set []time.Duration
}

func (w *deadlineWriter) SetReadDeadline(t time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.set = append(w.set, t.Sub(w.begun))
	return nil
}

func (w *deadlineWriter) deadlines() []time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.set)
}

// requireUnwatched checks that no body is watched. If off is set, it also checks that the timer is off.
func requireUnwatched(t *testing.T, a *api, off bool) {
	t.Helper()
	a.bodies.mu.Lock()
	defer a.bodies.mu.Unlock()
	require.Nil(t, a.bodies.first)
	require.True(t, !off || a.bodies.next.IsZero())
}

// readingCall returns a call with a body of the given length, on a server with a ReadTimeout.
func readingCall(t *testing.T, a *api, length int64, timeout time.Duration) (*call, *deadlineWriter) {
	t.Helper()
	r := httptest.NewRequestWithContext(context.WithValue(t.Context(), http.ServerContextKey, &http.Server{ReadTimeout: timeout}), http.MethodPost, "/query", strings.NewReader(""))
	r.ContentLength = length
	w := &deadlineWriter{begun: time.Now()}
	return a.call(w, r, &route{family: gen2, body: bodyJSON}, "id"), w
}

// Checks that bodies that arrive in time set no deadline, that late bodies are ended at their limit in any order, and that
// no body is watched afterwards.
func TestBodyWatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &api{o: Options{BodyTimeout: time.Minute}}
		quick := func() {
			c, w := readingCall(t, a, 100, 0)
			require.NoError(t, c.inTime(func() error { time.Sleep(59 * time.Second); return nil }, true))
			require.Empty(t, w.deadlines())
		}
		type slow struct {
			w     *deadlineWriter
			after time.Duration
			done  chan error
			end   chan error
		}
		var all []slow
		for _, size := range []int64{600 * slowestBody, 100, 60 * slowestBody, 10 * slowestBody, 300 * slowestBody} {
			c, w := readingCall(t, a, size, readTimeout)
			s := slow{w, time.Minute + time.Duration(size/slowestBody)*time.Second, make(chan error), make(chan error)}
			go func() { s.done <- c.inTime(func() error { return <-s.end }, true) }()
			all = append(all, s)
			synctest.Wait()
			time.Sleep(time.Second)
		}
		quick()
		begun := all[0].w.begun
		for at := time.Minute; at < 12*time.Minute; at += 500 * time.Millisecond {
			time.Sleep(time.Until(begun.Add(at)))
			synctest.Wait()
			for _, s := range all {
				if time.Since(s.w.begun) < s.after {
					require.Empty(t, s.w.deadlines())
				} else {
					require.Equal(t, []time.Duration{s.after}, s.w.deadlines())
				}
			}
			if at == 2*time.Minute {
				quick()
			}
		}
		all[0].end <- errors.New("timed out")
		require.Error(t, <-all[0].done)
		require.Equal(t, []time.Duration{all[0].after, all[0].after}, all[0].w.deadlines(), "what follows is not waited for")
		all[1].end <- nil // its last byte came with the deadline
		require.NoError(t, <-all[1].done)
		require.Equal(t, time.Since(all[1].w.begun)+afterBody, all[1].w.deadlines()[1], "the answer has its time")
		for _, s := range all[2:] {
			s.end <- nil
			<-s.done
		}
		requireUnwatched(t, a, true)

		c, w := readingCall(t, a, 100, 0)
		require.PanicsWithValue(t, "x", func() { _ = c.inTime(func() error { panic("x") }, true) })
		requireUnwatched(t, a, false)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		require.Empty(t, w.deadlines())
		requireUnwatched(t, a, true)
	})
}

// TestBodyDeadlines checks that a deadline applies to what follows a body that was not read to its end, and to
// everything if the server's limit for requests is shorter than the handler's for bodies.
func TestBodyDeadlines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &api{o: Options{BodyTimeout: time.Minute}}
		read := func() error { time.Sleep(time.Second); return nil }
		fail := func() error { _ = read(); return errors.New("damaged") }
		for _, x := range []struct {
			length  int64
			timeout time.Duration
			read    func() error
			last    bool
			want    []time.Duration
		}{
			{100, 0, read, true, nil},
			{100, readTimeout, read, true, nil},
			{100, 0, read, false, []time.Duration{time.Second + afterBody}},
			{100, 0, fail, true, []time.Duration{time.Minute}},
			{0, 0, fail, false, nil},
			{100, time.Second, read, true, []time.Duration{time.Minute, time.Second + afterBody}},
			{100, time.Minute + afterBody, read, true, nil},
			{slowestBody, time.Minute + afterBody, fail, true, []time.Duration{61 * time.Second, 61 * time.Second}},
		} {
			c, w := readingCall(t, a, x.length, x.timeout)
			_ = c.inTime(x.read, x.last)
			require.Equal(t, x.want, w.deadlines(), "%d %s", x.length, x.timeout)
			requireUnwatched(t, a, false)
		}
		time.Sleep(2 * time.Minute) // the timer goes off for the last time
		synctest.Wait()
		requireUnwatched(t, a, true)
	})
}

// TestCompressedBodies checks that a compressed body is refused by its header in each family, and that identity is no compression.
func TestCompressedBodies(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	for path, body := range map[string]string{"/query": `{"database":"acme","query":"x"}`, "/recall/full_recall": `{"tenant_id":"acme","query":"x"}`} {
		for header, want := range map[string]int{"gzip": http.StatusUnsupportedMediaType, "identity, br": http.StatusUnsupportedMediaType, "identity": http.StatusOK, "": http.StatusOK} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
			r.Header.Set("Authorization", "Bearer "+fullKey)
			r.Header.Set("Content-Encoding", header)
			w := httptest.NewRecorder()
			f.ServeHTTP(w, r)
			require.Equal(t, want, w.Code, "%s %q: %s", path, header, w.Body)
			if want != http.StatusOK {
				require.Contains(t, w.Body.String(), "UNSUPPORTED_MEDIA_TYPE")
				require.Contains(t, w.Body.String(), "Content-Encoding")
			}
		}
	}
}

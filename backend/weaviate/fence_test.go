package weaviate

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
)

// suspended is a transport that holds a request, as if the process were suspended.
type suspended struct {
	mu      sync.Mutex
	choose  func(r *http.Request) bool // the request to hold; nil: none
	sent    bool                       // whether it is held after the last check of the lead, not before
	held    chan struct{}
	release chan struct{}
}

func (s *suspended) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	hold := s.choose != nil && s.choose(r)
	if hold {
		s.choose = nil
	}
	s.mu.Unlock()
	if hold {
		if s.sent {
			data, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			r = r.Clone(context.WithoutCancel(r.Context())) // the node has it
			r.Body = io.NopCloser(bytes.NewReader(data))
		}
		close(s.held)
		<-s.release
	}
	return http.DefaultTransport.RoundTrip(r)
}

// nth returns a choice of the nth request with a method that writes objects.
func nth(n int, method string) func(r *http.Request) bool {
	return func(r *http.Request) bool {
		if r.Method != method || !strings.HasPrefix(r.URL.Path, "/v1/batch/objects") {
			return false
		}
		n--
		return n == 0
	}
}

// TestSuspendedLeader checks a leader that is suspended during a request that writes. Another process takes over, and
// completes that request's changes and later ones. Then the first process continues. It must not send what it has not sent. A
// request that was on its way is carried out and undoes later changes, which the new leader repairs without being asked.
func TestSuspendedLeader(t *testing.T) {
	t.Parallel()
	other := backend.Change{Kind: backend.PutVectors, Source: 21}
	for _, c := range []struct {
		name        string
		nth         int // number of the request that is held
		method      string
		deleteFirst bool             // whether objects are deleted before they are stored
		later       []backend.Change // later changes
		harmed      func(t *testing.T, set backend.IndexSet, want int) bool
	}{
		{"put", 3, http.MethodPost, false, []backend.Change{{Kind: backend.Drop, Source: 21}, {Kind: backend.Drop, Source: 22}},
			func(t *testing.T, set backend.IndexSet, want int) bool { return countDocs(t, set) > want }},
		{"vector", 2, http.MethodPost, false, []backend.Change{other},
			func(t *testing.T, set backend.IndexSet, _ int) bool {
				hits, err := set.Vectors().SearchVectors(t.Context(), backend.VectorQuery{Part: testPart, Vector: backendtest.Vector("something else", testDim), K: 1})
				require.NoError(t, err)
				return hits[0].Score < .999
			}},
		{"delete", 1, http.MethodDelete, true, []backend.Change{{Kind: backend.PutTags, Source: 23, Tags: []uint64{77}}},
			func(t *testing.T, set backend.IndexSet, want int) bool { return countDocs(t, set) < want }},
	} {
		for _, sent := range []bool{false, true} {
			name := c.name + " not yet sent"
			if sent {
				name = c.name + " on its way"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				g := &growing{}
				g.grow(testFeed(30)...)
				feed := g.all()
				for _, l := range c.later {
					if l.Kind == backend.PutVectors {
						at := slices.IndexFunc(feed, func(f backend.Change) bool { return f.Kind == backend.PutChunks && f.Source == l.Source })
						l.Rows = slices.Clone(feed[at].Rows)
						for i := range l.Rows {
							l.Rows[i].Vector = backendtest.Vector("something else", testDim)
						}
					}
					g.grow(l)
				}
				whole := g.all()
				urls, prefix := sharedServer(t).URLs(), prefixOf(t.Name())
				s := &suspended{sent: sent, held: make(chan struct{}), release: make(chan struct{})}
				var leads atomic.Bool
				leads.Store(true)
				_, _, first := openAs(t, prefix, urls, false, Options{Client: &http.Client{Transport: s}})
				require.NoError(t, first.Lead(t.Context(), leads.Load))
				require.NoError(t, first.Apply(t.Context(), feed[:10]))
				if c.deleteFirst {
					first.mu.Lock()
					first.deleteFirstTo = feed[len(feed)-1].Seq
					first.mu.Unlock()
				}
				s.mu.Lock()
				s.choose = nth(c.nth, c.method)
				s.mu.Unlock()
				applied := make(chan error, 1)
				go func() { applied <- first.Apply(t.Context(), feed[10:]) }()
				select {
				case <-s.held:
				case err := <-applied:
					t.Fatal("not suspended", err)
				}

				leads.Store(false)
				_, set, second := openAs(t, prefix, urls, true, Options{})
				require.Equal(t, feed[9].Seq, second.Applied())
				require.NoError(t, second.Apply(t.Context(), whole[10:len(feed)]))
				require.NoError(t, second.Apply(t.Context(), whole[len(feed):]))
				want := countChunks(whole)
				requireConverges(t, set, whole, want)
				require.NotEmpty(t, second.ownState.Completed, "work of the first process")

				close(s.release)
				require.ErrorIs(t, <-applied, backend.ErrUnavailable)
				second.forget()
				require.Equal(t, sent, c.harmed(t, set, want))
				if !sent {
					requireMatchesFeed(t, set, whole, "after an unsent request")
				}
				require.NoError(t, first.Lead(t.Context(), nil))
				last := whole[len(whole)-1].Seq
				require.Eventually(t, func() bool { return second.Applied() < last }, slowly, 20*time.Millisecond, "goes back in the feed")
				slow, _ := second.Trouble()
				assert.True(t, slow, "searches do not wait")
				require.NoError(t, second.Apply(t.Context(), whole[second.Applied():]))
				requireConverges(t, set, whole, want)
				requireRefreshed(t, first, last)
				time.Sleep(testWriteDelay + 2*statePollInterval)
				require.Equal(t, last, second.Applied(), "goes back only once")
			})
		}
	}
}

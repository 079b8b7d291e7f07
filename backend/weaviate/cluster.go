package weaviate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	client "github.com/weaviate/weaviate-go-client/v5/weaviate"
	"github.com/weaviate/weaviate-go-client/v5/weaviate/fault"

	"github.com/contextmem/contextmem/backend"
)

// cluster is the nodes of a Weaviate cluster. Each of them answers for all.
type cluster struct {
	nodes []*node
	retry time.Duration
	log   *slog.Logger
	http  *http.Client
	own   bool         // the cluster made http
	turn  atomic.Int64 // place of the node that is asked first
}

// node is one node of the cluster, as a client sees it.
type node struct {
	*client.Client
	place int
	away  atomic.Bool // its last call could not be made, or it could not answer
}

const (
	dialTimeout    = 2 * time.Second
	attemptTimeout = 30 * time.Second // one node's answer
	firstPause     = 20 * time.Millisecond
	longestPause   = time.Second
)

func newCluster(urls []string, o *Options) (*cluster, error) {
	c := &cluster{retry: o.Retry, log: o.Logger, http: o.Client}
	if c.http == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.DialContext = (&net.Dialer{Timeout: dialTimeout}).DialContext
		t.MaxIdleConnsPerHost = 64
		t.Proxy = nil
		c.http, c.own = &http.Client{Transport: t}, true
	}
	if len(urls) == 0 {
		return nil, errors.New("weaviate: no address of a node was given")
	}
	for i, text := range urls {
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.User != nil || u.RawQuery != "" {
			return nil, fmt.Errorf("weaviate: address %d: must be like http://host:8080", i+1)
		}
		headers := map[string]string{}
		if o.APIKey != "" {
			headers["Authorization"] = "Bearer " + o.APIKey
		}
		n, err := client.NewClient(client.Config{Scheme: u.Scheme, Host: u.Host, ConnectionClient: c.http, Headers: headers})
		if err != nil {
			return nil, fmt.Errorf("weaviate: address %d cannot be used", i+1)
		}
		c.nodes = append(c.nodes, &node{Client: n, place: i})
	}
	return c, nil
}

// close lets connections go.
func (c *cluster) close() error {
	if c.own {
		c.http.CloseIdleConnections()
	}
	return nil
}

// refusal is an answer that trying again does not change.
type refusal struct{ status int }

func (e *refusal) Error() string {
	return fmt.Sprintf("Weaviate refused the call with status %d", e.status)
}

// errAgain says that a call may succeed later, or on another node.
var errAgain = errors.New("the node cannot answer now")

// statusOf returns the status that an error of the client tells of, 0 for none.
func statusOf(err error) int {
	var e *fault.WeaviateClientError
	if errors.As(err, &e) && e.IsUnexpectedStatusCode {
		return e.StatusCode
	}
	return 0
}

// judge turns an error of the client into a refusal where it is one. The messages of the client may hold content.
func judge(err error) error {
	switch s := statusOf(err); s {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusRequestEntityTooLarge:
		return &refusal{s}
	}
	return err
}

// call makes a call on one node after the other until one answers, from the one that answered last. only is the one node
// that may be asked; nil: any.
func (c *cluster) call(ctx context.Context, what string, only *node, f func(ctx context.Context, n *node) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	deadline, pause := time.Now().Add(c.retry), firstPause
	for {
		first := int(c.turn.Load())
		for i := range c.nodes {
			n := c.nodes[(first+i)%len(c.nodes)]
			if only != nil {
				if n = only; i > 0 {
					break
				}
			}
			err := c.attempt(ctx, n, f)
			if err == nil {
				if only == nil {
					c.turn.Store(int64(n.place))
				}
				return nil
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			var no *refusal
			if errors.As(err, &no) || errors.Is(err, backend.ErrCorrupt) || errors.Is(err, errShort) {
				return fmt.Errorf("weaviate: %s: %w", what, err)
			}
		}
		if time.Now().Add(pause).After(deadline) {
			return fmt.Errorf("weaviate: %s: no node could answer for %v: %w", what, c.retry, backend.ErrUnavailable)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
		pause = min(2*pause, longestPause)
	}
}

// attempt makes a call on one node.
func (c *cluster) attempt(ctx context.Context, n *node, f func(ctx context.Context, n *node) error) error {
	once, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	err := judge(f(once, n))
	away := err != nil && statusOf(err) == 0 && !errors.Is(err, errAgain) && ctx.Err() == nil
	if was := n.away.Swap(away); was != away {
		c.log.LogAttrs(ctx, slog.LevelWarn, map[bool]string{true: "a node of Weaviate went away", false: "a node of Weaviate came back"}[away], slog.Int("node", n.place+1))
	}
	return err
}

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
	"sync"
	"sync/atomic"
	"time"

	"github.com/weaviate/weaviate-go-client/v5/weaviate/fault"
	pb "github.com/weaviate/weaviate/grpc/generated/protocol/v1"
	"google.golang.org/grpc"

	"github.com/contextmem/contextmem/backend"
)

// cluster is the nodes of a Weaviate cluster. Each node answers for the whole cluster.
type cluster struct {
	nodes []*node
	log   *slog.Logger
	http  *http.Client
	own   bool         // whether newCluster made http
	turn  atomic.Int64 // place of the node to ask first

	retry          atomic.Int64 // Options.Retry, in nanoseconds: tests shorten it when they fail calls
	leastTimeout   atomic.Int64 // minimum timeout of an attempt, in nanoseconds: tests on busy machines set it
	hedges         atomic.Int64 // see hedge
	health         health
	missedMu       sync.Mutex
	missedReplicas bool // whether a write did not reach all replicas, at missedAt
	missedAt       time.Time
}

// node is one node of the cluster, as a client sees it.
type node struct {
	*api
	place    int
	name     string            // host and port of its REST interface
	url      string            // address of its REST interface
	conn     *grpc.ClientConn  // for searches by gRPC; nil: searches use GraphQL
	searcher pb.WeaviateClient // client on conn
	key      string
	liveness liveness
}

const (
	dialTimeout    = 2 * time.Second
	attemptTimeout = 30 * time.Second // default timeout of a call on one node
	firstPause     = 20 * time.Millisecond
	longestPause   = time.Second
)

func newCluster(urls []string, o *Options) (*cluster, error) {
	c := &cluster{log: o.Logger, http: o.Client}
	c.retry.Store(int64(o.Retry))
	c.hedges.Store(hedgeShare * hedgesSaved)
	if c.http == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.DialContext = (&net.Dialer{Timeout: dialTimeout}).DialContext
		t.MaxIdleConnsPerHost = 64
		t.Proxy = nil
		c.http, c.own = &http.Client{Transport: t}, true
	}
	c.http = fencedClient(c.http)
	if len(urls) == 0 {
		return nil, errors.New("weaviate: no address of a node was given")
	}
	for i, text := range urls {
		n, err := newNode(text, i, c.http, o)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("weaviate: address %d: %w", i+1, err), c.close())
		}
		c.nodes = append(c.nodes, n)
	}
	c.watch()
	return c, nil
}

// newNode returns the node at an address. It sends nothing.
func newNode(text string, place int, to *http.Client, o *Options) (*node, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.User != nil {
		return nil, errors.New("must be like http://host:8080 or http://host:8080?grpc=50051")
	}
	at, err := grpcAddress(u)
	if err != nil {
		return nil, err
	}
	headers := map[string]string{}
	if o.APIKey != "" {
		headers["Authorization"] = "Bearer " + o.APIKey
	}
	n := &node{api: newAPI(u.Scheme, u.Host, to, headers), place: place, name: u.Host, url: u.Scheme + "://" + u.Host, key: o.APIKey}
	if at != "" {
		if n.conn, err = dialGRPC(at, u.Scheme == "https", o); err != nil {
			return nil, errors.New("the one for gRPC cannot be used")
		}
		n.searcher = pb.NewWeaviateClient(n.conn)
	}
	return n, nil
}

// close stops the health checks and closes connections.
func (c *cluster) close() (err error) {
	c.unwatch()
	if c.own {
		c.http.CloseIdleConnections()
	}
	for _, n := range c.nodes {
		if n.conn != nil {
			err = errors.Join(err, n.conn.Close())
		}
	}
	return err
}

// refusal is a response that a retry would not change.
type refusal struct{ status int }

func (e *refusal) Error() string {
	return fmt.Sprintf("Weaviate refused the call with status %d", e.status)
}

// errAgain is returned if a call may succeed later, or on another node.
var errAgain = errors.New("the node cannot answer now")

// statusOf returns the HTTP status in an error of the client, or 0 if there is none.
func statusOf(err error) int {
	var e *fault.WeaviateClientError
	if errors.As(err, &e) && e.IsUnexpectedStatusCode {
		return e.StatusCode
	}
	return 0
}

// judge returns a refusal if the error of the client is one, and else err. A refusal drops the client's message, which may
// hold content.
func judge(err error) error {
	switch s := statusOf(err); s {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusRequestEntityTooLarge:
		return &refusal{s}
	}
	return err
}

// route describes which nodes may be asked, and how long a call is retried.
type route struct {
	only     *node         // nil: any node
	patience time.Duration // how long the call is retried; 0: Options.Retry
	timeout  time.Duration // of one attempt; 0: attemptTimeout
	all      bool          // whether the call needs all nodes: it is cancelled when one goes down
	fence    *fence        // of a write; nil: none
}

// patience returns how long a call is retried that says nothing else.
func (c *cluster) patience() time.Duration { return time.Duration(c.retry.Load()) }

// call makes a call on one node after another until one answers. It begins with the node that answered last.
func (c *cluster) call(ctx context.Context, what string, r route, f func(ctx context.Context, n *node) error) error {
	return c.until(ctx, what, r, func() (bool, error) { return c.round(ctx, r, f) })
}

// until repeats round until it succeeds or the patience of r is over. missed reports whether a node said that replicas are
// missing.
func (c *cluster) until(ctx context.Context, what string, r route, round func() (missed bool, err error)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	began, pause := time.Now(), firstPause
	patience := func() time.Duration {
		if r.patience != 0 {
			return r.patience
		}
		return c.patience()
	}
	for {
		missed, err := round()
		if err == nil {
			return nil
		}
		var no *refusal
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, errNotLeader):
			return err
		case errors.As(err, &no) || errors.Is(err, backend.ErrCorrupt):
			return fmt.Errorf("weaviate: %s: %w", what, err)
		case missed && r.all && c.health.allUpContext().Err() != nil: // a node is down, so waiting would not help
			return errShort
		case time.Since(began)+pause < patience():
		case missed:
			return errShort
		default:
			return fmt.Errorf("weaviate: %s: no node could answer for %v: %w", what, patience(), backend.ErrUnavailable)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
		pause = min(2*pause, longestPause)
	}
}

// round asks each node once. missed reports whether a node said that replicas are missing.
func (c *cluster) round(ctx context.Context, r route, f func(ctx context.Context, n *node) error) (missed bool, err error) {
	if r.only != nil {
		err = c.attempt(ctx, r.only, r, f)
		return errors.Is(err, errShort), err
	}
	began := time.Now()
	for _, n := range c.order() {
		if err = c.attempt(ctx, n, r, f); err == nil {
			c.turn.Store(int64(n.place))
			return false, nil
		}
		var no *refusal
		if ctx.Err() != nil || errors.As(err, &no) || errors.Is(err, backend.ErrCorrupt) || errors.Is(err, errNotLeader) {
			return false, err
		}
		if missed = missed || errors.Is(err, errShort); missed && (time.Since(began) > allPatience || c.health.allUpContext().Err() != nil) {
			break // other nodes would wait for the same replica
		}
	}
	return missed, err
}

// attempt makes a call on one node.
func (c *cluster) attempt(ctx context.Context, n *node, r route, f func(ctx context.Context, n *node) error) error {
	timeout := r.timeout
	if timeout == 0 {
		timeout = attemptTimeout
	}
	once, cancel := context.WithTimeout(ctx, max(timeout, time.Duration(c.leastTimeout.Load())))
	defer cancel()
	if r.all {
		up := c.health.allUpContext()
		if up.Err() != nil {
			return errShort
		}
		defer context.AfterFunc(up, cancel)()
	} else if up, ok := n.alive(); ok { // a node that counts as down is asked too, and its own answer decides
		defer context.AfterFunc(up, cancel)()
	}
	fenced, err := r.fence.begin(once)
	if err != nil {
		return err
	}
	defer r.fence.end()
	return judge(f(fenced, n))
}

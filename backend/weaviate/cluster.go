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

	client "github.com/weaviate/weaviate-go-client/v5/weaviate"
	"github.com/weaviate/weaviate-go-client/v5/weaviate/fault"
	pb "github.com/weaviate/weaviate/grpc/generated/protocol/v1"
	"google.golang.org/grpc"

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

	hedges  atomic.Int64 // see hedge
	health  health
	lackMu  sync.Mutex
	lacking bool // a write did not reach all replicas
	lacked  time.Time
}

// node is one node of the cluster, as a client sees it.
type node struct {
	*client.Client
	place    int
	name     string            // its address
	conn     *grpc.ClientConn  // for searches by gRPC; nil: they go by GraphQL
	searcher pb.WeaviateClient // of conn
	key      string
	life     life
}

const (
	dialTimeout    = 2 * time.Second
	attemptTimeout = 30 * time.Second // one node's answer
	firstPause     = 20 * time.Millisecond
	longestPause   = time.Second
)

func newCluster(urls []string, o *Options) (*cluster, error) {
	c := &cluster{retry: o.Retry, log: o.Logger, http: o.Client}
	c.hedges.Store(hedgeShare * hedgesSaved)
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
		n, err := newNode(text, i, c.http, o)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("weaviate: address %d: %w", i+1, err), c.close())
		}
		c.nodes = append(c.nodes, n)
	}
	c.watch()
	return c, nil
}

// newNode prepares calls of the node at an address.
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
	n := &node{place: place, name: u.Host, key: o.APIKey}
	if n.Client, err = client.NewClient(client.Config{Scheme: u.Scheme, Host: u.Host, ConnectionClient: to, Headers: headers}); err != nil {
		return nil, errors.New("cannot be used")
	}
	if at != "" {
		if n.conn, err = dialGRPC(at, u.Scheme == "https", o); err != nil {
			return nil, errors.New("the one for gRPC cannot be used")
		}
		n.searcher = pb.NewWeaviateClient(n.conn)
	}
	return n, nil
}

// close lets connections go.
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

// route says which nodes may be asked, and for how long a call is tried again.
type route struct {
	only     *node         // nil: any
	patience time.Duration // 0: that of the options
	timeout  time.Duration // of a try; 0: attemptTimeout
	all      bool          // it needs all nodes: it ends when one goes down
}

// call makes a call on one node after the other until one answers, from the one that answered last.
func (c *cluster) call(ctx context.Context, what string, r route, f func(ctx context.Context, n *node) error) error {
	return c.until(ctx, what, r, func() (bool, error) { return c.round(ctx, r, f) })
}

// until makes rounds until one succeeds. What a round returns beside the error is whether a node said that replicas are missing.
func (c *cluster) until(ctx context.Context, what string, r route, round func() (missed bool, err error)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.patience == 0 {
		r.patience = c.retry
	}
	deadline, pause := time.Now().Add(r.patience), firstPause
	for {
		missed, err := round()
		if err == nil {
			return nil
		}
		var no *refusal
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &no) || errors.Is(err, backend.ErrCorrupt):
			return fmt.Errorf("weaviate: %s: %w", what, err)
		case missed && r.all && c.health.up().Err() != nil: // waiting changes nothing
			return errShort
		case time.Now().Add(pause).Before(deadline):
		case missed:
			return errShort
		default:
			return fmt.Errorf("weaviate: %s: no node could answer for %v: %w", what, r.patience, backend.ErrUnavailable)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
		pause = min(2*pause, longestPause)
	}
}

// round asks each node once. missed reports whether one said that replicas are missing.
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
		if ctx.Err() != nil || errors.As(err, &no) || errors.Is(err, backend.ErrCorrupt) {
			return false, err
		}
		if missed = missed || errors.Is(err, errShort); missed && (time.Since(began) > allPatience || c.health.up().Err() != nil) {
			break // the others wait for the same replica
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
	once, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if r.all {
		up := c.health.up()
		if up.Err() != nil {
			return errShort
		}
		defer context.AfterFunc(up, cancel)()
	} else if up, ok := n.alive(); ok { // where it is said to be down, what it says itself counts
		defer context.AfterFunc(up, cancel)()
	}
	return judge(f(once, n))
}

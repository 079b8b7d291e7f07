// Package weaviate keeps the dense and the keyword index of workspaces in a Weaviate cluster, which owns sharding and
// replicas. Any number of processes may use one cluster.
//
// Chunks are objects of multi-tenant collections: a workspace is a tenant, active while a process has it open. One
// collection has the terms of all chunks, as the analyser of this module made them, and one for each length of vector has
// vectors. Neither texts nor ids that users choose go there. Weaviate finds candidates; BM25 is computed here, of the
// frequencies that stand with a chunk and of exact statistics of its partition, so that scores mean what they mean in
// package local. Dense scores are Weaviate's inner products.
//
// What needs the order of chunks in time, sessions and the graph of entities, stays with other [backend.Indexers], such
// as those of package local, which get no vectors, and texts of memories alone.
package weaviate

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/openset"
)

// Options changes how a cluster is used. Nil is the zero value.
type Options struct {
	// Prefix begins the names of collections, so that several deployments can share a cluster: a capital letter, then letters
	// and digits, at most 60. Default: "Contextmem".
	Prefix string
	// Replicas is the replication factor of collections that are made; those that are there keep theirs. 0: as many as the
	// cluster has nodes, but at most 3.
	Replicas int
	// APIKey is sent with every request. Default: none.
	APIKey string
	// Retry is for how long a call is tried again, on each node in turn, while nodes are away or overloaded; then it fails
	// with [backend.ErrUnavailable]. Default: 15 s.
	Retry time.Duration
	// BatchBytes bounds the size of a request that stores objects, about. A node that cannot keep up gets smaller ones.
	// Default: 1 MiB.
	BatchBytes int
	// Requests bounds the requests that store or delete and are under way at once, over all workspaces. Default: 4.
	Requests int
	// Process is a name that this process has and no other one that runs, the same after a restart where that can be. What the
	// process says of itself stands in the cluster under it. Default: a random one.
	Process string
	// Client makes the requests. Default: one with connections of its own.
	Client *http.Client
	// Logger gets what an operator should know: nodes that went away and came back. It never gets content. Nil is silent.
	Logger *slog.Logger
}

const (
	defaultPrefix     = "Contextmem"
	defaultRetry      = 15 * time.Second
	defaultBatchBytes = 1 << 20
	defaultRequests   = 4
	maxReplicas       = 3
)

var prefixes = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,59}$`)

// Indexers keeps the indexes of a deployment. It is safe for concurrent use.
type Indexers struct {
	rest     backend.Indexers
	cluster  *cluster
	schema   *collections
	batches  *batches
	shelf    *shelf
	process  string        // tells this opening from those of other processes
	late     time.Duration // for how long a write that nobody answered is in doubt
	taking   time.Duration // see takeAfter
	electing time.Duration // see electWait
	open     openset.Set[*set]
}

var _ backend.Indexers = (*Indexers)(nil)

// Open uses the cluster whose nodes answer at urls, such as http://node-1:8080?grpc=50051: all of them, or those that are to be
// asked. The parameter grpc is the port, or host and port, of the node's gRPC, which searches then go by; without it they go by GraphQL,
// which costs client and node more. rest keeps what the cluster does not, and belongs to the Indexers: Close closes it. Collections are made when
// they are absent.
func Open(ctx context.Context, urls []string, rest backend.Indexers, o *Options) (*Indexers, error) {
	var opts Options
	if o != nil {
		opts = *o
	}
	if err := opts.check(); err != nil {
		return nil, err
	}
	c, err := newCluster(urls, &opts)
	if err != nil {
		return nil, err
	}
	schema, err := openCollections(ctx, c, &opts)
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	return &Indexers{
		rest: rest, cluster: c, schema: schema, batches: newBatches(c, &opts), shelf: newShelf(), process: "p-" + opts.Process, late: lateWrites, taking: takeAfter, electing: electWait,
	}, nil
}

// check fills in defaults and reports what is wrong.
func (o *Options) check() error {
	if o.Prefix == "" {
		o.Prefix = defaultPrefix
	}
	if !prefixes.MatchString(o.Prefix) {
		return errors.New("weaviate: Prefix: want a capital letter, then at most 59 letters and digits")
	}
	if o.Replicas < 0 {
		return errors.New("weaviate: Replicas: must not be negative")
	}
	if o.Retry < 0 {
		return errors.New("weaviate: Retry: must not be negative")
	}
	if o.BatchBytes < 0 {
		return errors.New("weaviate: BatchBytes: must not be negative")
	}
	if o.Requests < 0 {
		return errors.New("weaviate: Requests: must not be negative")
	}
	if o.Retry == 0 {
		o.Retry = defaultRetry
	}
	if o.BatchBytes == 0 {
		o.BatchBytes = defaultBatchBytes
	}
	if o.Requests == 0 {
		o.Requests = defaultRequests
	}
	if o.Process == "" {
		o.Process = rand.Text()
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return nil
}

// OpenIndexes opens the indexes of the workspace uid. [backend.ErrConflict] when they are open.
func (x *Indexers) OpenIndexes(ctx context.Context, uid string) (backend.IndexSet, error) {
	s, err := x.open.Open(ctx, uid, func() (*set, error) { return x.openSet(ctx, uid) })
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (x *Indexers) openSet(ctx context.Context, uid string) (*set, error) {
	rest, err := x.rest.OpenIndexes(ctx, uid)
	if err != nil {
		return nil, err
	}
	ix, err := x.openIndex(ctx, uid)
	if err != nil {
		return nil, errors.Join(err, rest.Close())
	}
	return newSet(ix, rest, func() { x.open.Release(uid) }), nil
}

// RemoveIndexes deletes the tenants of the workspace uid in all collections. [backend.ErrConflict] when it is open.
func (x *Indexers) RemoveIndexes(ctx context.Context, uid string) error {
	return x.open.Remove(ctx, uid, func() error {
		if err := x.rest.RemoveIndexes(ctx, uid); err != nil {
			return err
		}
		if err := x.schema.dropTenant(ctx, uid); err != nil {
			return fmt.Errorf("remove indexes of %s: %w", uid, err)
		}
		return nil
	})
}

// Close closes the workspaces still open. It waits for calls that are under way. Closing again does nothing.
func (x *Indexers) Close() error {
	first, err := x.open.Close()
	if !first {
		return err
	}
	return errors.Join(err, x.cluster.close(), x.rest.Close())
}

// Measure implements [backend.Measurer], of what this process holds, where the other Indexers do; else LimitBytes is negative.
func (x *Indexers) Measure() backend.IndexMeasures {
	if m, ok := x.rest.(backend.Measurer); ok {
		return m.Measure()
	}
	return backend.IndexMeasures{LimitBytes: -1}
}

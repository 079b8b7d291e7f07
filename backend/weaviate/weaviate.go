// Package weaviate keeps the dense and the keyword index of workspaces in a Weaviate cluster. The cluster does the
// sharding and replication. Any number of processes may use one cluster.
//
// Chunks are objects of multi-tenant collections. Each workspace is a tenant, which is active while a process has it open.
// One collection holds the terms of all chunks, as this module's analyser produced them. There is one further collection
// of vectors for each vector length. Neither texts nor ids that users choose are stored in the cluster. Weaviate finds the
// candidates of a keyword search. This package computes their BM25 scores from the term frequencies stored with each chunk
// and from exact statistics of its partition, so scores are the same as in package local. Dense scores are Weaviate's
// inner products. A process computes both itself for the partitions that it keeps in memory.
//
// The time index, the sessions and the entity graph stay in other [backend.Indexers], such as those of package local.
// Those receive no vectors, and texts of memories only. They also answer keyword searches of memories.
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

// Options configures the use of a cluster. A nil pointer means the zero value.
type Options struct {
	// Prefix begins the names of collections, so that several deployments can share a cluster. It is a capital letter followed
	// by at most 59 letters and digits. Default: "Contextmem".
	Prefix string
	// Replicas is the replication factor of new collections. Existing collections keep theirs. 0: the number of nodes, at most
	// 3.
	Replicas int
	// APIKey is sent with every request. Default: none.
	APIKey string
	// Retry is how long a call is retried, on each node in turn, while nodes are away or overloaded. After that the call fails
	// with [backend.ErrUnavailable]. Default: 15 s.
	Retry time.Duration
	// BatchBytes is the approximate maximum size of a request that stores objects, in bytes. A node that cannot keep up gets smaller requests. Default:
	// 1 MiB.
	BatchBytes int
	// Requests is the maximum number of concurrent requests that store or delete, over all workspaces. Default: 4.
	Requests int
	// CacheBytes is the approximate maximum size of the terms and vectors of partitions that this process keeps in memory, over
	// all workspaces. One partition may use half of it for its terms, and half for its vectors. Searches of partitions that are not kept use
	// the cluster. Default: 256 MiB.
	CacheBytes int
	// OffloadAfter is about how long no process may have used a workspace before its tenant is moved from the nodes to an object store.
	// It comes back when the workspace is used. The nodes need Weaviate's module offload-s3; Open returns [ErrNoOffload] if one
	// lacks it. The time should be hours or days, and far above the differences between clocks. Start one process with it before any that may use the
	// cluster without it. A workspace that was not opened since then is not offloaded. 0: no tenant is offloaded; those that
	// are come back when they are used.
	OffloadAfter time.Duration
	// Process names this process in the cluster, where it stores how far it has applied changes. No other running process may have the same name. The
	// name should stay the same after a restart if possible. Default: a random name.
	Process string
	// Client makes the requests. Default: a client with connections of its own.
	Client *http.Client
	// Logger receives messages for operators, such as nodes that went away or came back, but never content. Nil: nothing is
	// logged.
	Logger *slog.Logger
}

const (
	defaultPrefix     = "Contextmem"
	defaultRetry      = 15 * time.Second
	defaultBatchBytes = 1 << 20
	defaultRequests   = 4
	defaultCacheBytes = 256 << 20
	maxReplicas       = 3
)

var prefixes = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,59}$`)

// Indexers keeps the indexes of a deployment. It is safe for concurrent use.
type Indexers struct {
	rest           backend.Indexers
	cluster        *cluster
	schema         *collections
	batches        *batches
	partitions     *partitionCache
	offloading     *offloading
	process        string        // name under which this process stores its state
	unconfirmedFor time.Duration // how long a write without a response stays unconfirmed
	takeoverAfter  time.Duration // see the constant takeoverAfter
	electWait      time.Duration // see the constant electWait
	wordsHere      bool          // whether words of memories are searched in rest; see index.wordsHere
	open           openset.Set[*set]
}

var _ backend.Indexers = (*Indexers)(nil)

// Open uses the cluster whose nodes answer at urls, such as http://node-1:8080?grpc=50051. urls may name all nodes, or
// only those to send requests to. The parameter grpc is the port, or host and port, of the node's gRPC interface, which
// then serves searches. Without it searches use GraphQL, which costs client and node more. rest keeps the indexes that the
// cluster does not; Close closes it. Open creates missing collections.
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
	x := &Indexers{
		rest: rest, cluster: c, schema: schema, batches: newBatches(c, &opts), partitions: newPartitionCache(opts.CacheBytes), process: "p-" + opts.Process, unconfirmedFor: maxWriteDelay, takeoverAfter: takeoverAfter, electWait: electWait, wordsHere: true,
	}
	if x.offloading, err = openOffloading(ctx, x, opts.OffloadAfter); err != nil {
		return nil, errors.Join(err, c.close())
	}
	x.offloading.start()
	return x, nil
}

// check fills in defaults. It returns an error if an option is invalid.
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
	if o.OffloadAfter < 0 {
		return errors.New("weaviate: OffloadAfter: must not be negative")
	}
	if o.CacheBytes < 0 {
		return errors.New("weaviate: CacheBytes: must not be negative")
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
	if o.CacheBytes == 0 {
		o.CacheBytes = defaultCacheBytes
	}
	if o.Process == "" {
		o.Process = rand.Text()
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return nil
}

// OpenIndexes opens the indexes of the workspace uid. It returns [backend.ErrConflict] if they are already open.
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

// RemoveIndexes deletes the tenants of the workspace uid in all collections. It returns [backend.ErrConflict] if the
// workspace is open.
func (x *Indexers) RemoveIndexes(ctx context.Context, uid string) error {
	return x.open.Remove(ctx, uid, func() error {
		if err := x.rest.RemoveIndexes(ctx, uid); err != nil {
			return err
		}
		if err := x.offloading.remove(ctx, uid); err != nil {
			return fmt.Errorf("remove indexes of %s: %w", uid, err)
		}
		return nil
	})
}

// Close closes all open workspaces. It waits for running calls. Further calls do nothing.
func (x *Indexers) Close() error {
	first, err := x.open.Close()
	if !first {
		return err
	}
	x.offloading.stop()
	return errors.Join(err, x.cluster.close(), x.rest.Close())
}

// Measure implements [backend.Measurer]: it reports the memory that the other Indexers hold in this process, and that of the terms,
// counts and vectors that this process keeps. LimitBytes is negative if the other Indexers do not implement [backend.Measurer].
func (x *Indexers) Measure() backend.IndexMeasures {
	out := backend.IndexMeasures{LimitBytes: -1}
	m, ok := x.rest.(backend.Measurer)
	if !ok {
		return out
	}
	out = m.Measure()
	out.MemoryBytes += int64(x.partitions.kept())
	if out.LimitBytes > 0 {
		out.LimitBytes += int64(x.partitions.most)
	}
	return out
}

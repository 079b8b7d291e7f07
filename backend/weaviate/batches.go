package weaviate

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/go-openapi/strfmt"
	"github.com/weaviate/weaviate/entities/models"
)

// batches stores and deletes objects in requests of adaptive size. A request that is slow, too large, or rejected because
// the cluster is too busy makes the next ones smaller. The size grows again while requests succeed quickly.
type batches struct {
	cluster *cluster
	slots   chan struct{} // bounds concurrent requests
	limit   int           // maximum size of a request, in bytes
	bytes   atomic.Int64  // current size of a request, in bytes
}

// minBatchBytes is the minimum to which the size of requests shrinks, in bytes.
const minBatchBytes = 16 << 10

func newBatches(c *cluster, o *Options) *batches {
	b := &batches{cluster: c, slots: make(chan struct{}, o.Requests), limit: o.BatchBytes}
	b.bytes.Store(int64(o.BatchBytes))
	return b
}

// errShort is returned if fewer replicas confirmed a write than its consistency level requires.
var errShort = errors.New("not all replicas could be reached")

// acquire waits until fewer requests than Options.Requests are running.
func (b *batches) acquire(ctx context.Context) error {
	select {
	case b.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// stored is an object to store, with its approximate size in a request, in bytes.
type stored struct {
	*models.Object
	size int
}

// put stores objects. They replace objects with the same ids.
func (b *batches) put(ctx context.Context, to target, objects []stored) error {
	for len(objects) > 0 {
		n, size := 0, 0
		for n < len(objects) && (n == 0 || size+objects[n].size <= int(b.bytes.Load())) {
			size += objects[n].size
			n++
		}
		began := time.Now()
		err := b.send(ctx, to, objects[:n])
		var no *refusal
		if errors.As(err, &no) && no.status == http.StatusRequestEntityTooLarge && n > 1 {
			b.shrink()
			continue
		}
		if err != nil {
			return err
		}
		if took := time.Since(began); took > slowBatch {
			b.shrink()
		} else if grown := b.bytes.Load() * 5 / 4; grown <= int64(b.limit) {
			b.bytes.Store(grown)
		}
		objects = objects[n:]
	}
	return nil
}

// slowBatch is the duration of a request beyond which the next ones are made smaller.
const slowBatch = time.Second

func (b *batches) shrink() { b.bytes.Store(max(b.bytes.Load()/2, minBatchBytes)) }

func (b *batches) send(ctx context.Context, to target, objects []stored) error {
	if err := b.acquire(ctx); err != nil {
		return err
	}
	defer func() { <-b.slots }()
	plain := make([]*models.Object, len(objects))
	for i, o := range objects {
		plain[i] = o.Object
	}
	return b.cluster.call(ctx, "store objects", to.route, func(ctx context.Context, n *node) error {
		answer, err := n.Batch().ObjectsBatcher().WithObjects(plain...).WithConsistencyLevel(to.level).Do(ctx)
		if s := statusOf(err); s == http.StatusTooManyRequests || s == http.StatusServiceUnavailable || ctx.Err() != nil {
			b.shrink()
		}
		if err = to.report(err); err != nil {
			return to.missed(ctx, err)
		}
		for _, a := range answer {
			if a.Result != nil && a.Result.Errors != nil && len(a.Result.Errors.Error) > 0 {
				return to.partly(ctx)
			}
		}
		if len(answer) != len(plain) {
			return to.partly(ctx)
		}
		return nil
	})
}

// remove deletes the objects of a collection that match a filter.
func (b *batches) remove(ctx context.Context, to target, collection, tenant string, w where) error {
	if err := b.acquire(ctx); err != nil {
		return err
	}
	defer func() { <-b.slots }()
	for {
		more := false
		err := b.cluster.call(ctx, "delete objects", to.route, func(ctx context.Context, n *node) error {
			answer, err := n.Batch().ObjectsBatchDeleter().WithClassName(collection).WithTenant(tenant).WithWhere(w.builder()).WithConsistencyLevel(to.level).Do(ctx)
			if err = to.report(err); err != nil {
				return to.missed(ctx, err)
			}
			r := answer.Results
			if r == nil || r.Failed > 0 {
				return to.partly(ctx)
			}
			more = r.Matches > 0 && r.Matches >= r.Limit
			return nil
		})
		if err != nil || !more {
			return err
		}
	}
}

// removeOne deletes an object by its id. It succeeds if there is no such object.
func (b *batches) removeOne(ctx context.Context, to target, collection, tenant string, id strfmt.UUID) error {
	if err := b.acquire(ctx); err != nil {
		return err
	}
	defer func() { <-b.slots }()
	return b.cluster.call(ctx, "delete an object", to.route, func(ctx context.Context, n *node) error {
		err := n.Data().Deleter().WithClassName(collection).WithTenant(tenant).WithID(string(id)).WithConsistencyLevel(to.level).Do(ctx)
		if statusOf(err) == http.StatusNotFound {
			return nil
		}
		if err = to.report(err); err != nil {
			return to.missed(ctx, err)
		}
		return nil
	})
}

// Consistency levels of Weaviate.
const (
	levelAll    = "ALL"
	levelQuorum = "QUORUM"
	levelOne    = "ONE"
)

// target describes where and how to write.
type target struct {
	route
	level       string
	from        *node // the only node that has all changes, from which to read; nil: all nodes have them
	deleteFirst bool  // whether stored objects may lack index entries; see index.execute
	again       bool  // whether earlier changes are stored again, which other processes may have seen

	onUnconfirmed func() // called if the write, or a part of it, may be carried out later
	onNoResponse  func() // called if there was no response that tells whether the write succeeded, or a part of it failed
}

// report calls onNoResponse and onUnconfirmed as the result of a write requires. It returns err unchanged.
func (t *target) report(err error) error {
	status := statusOf(err)
	switch {
	case err != nil && !refused(err) && (status == 0 || status >= http.StatusInternalServerError):
		t.doubt()
	case err == nil && t.level != levelAll && t.onUnconfirmed != nil: // replicas beyond the majority may get the write later
		t.onUnconfirmed()
	}
	return err
}

// doubt records that nobody knows what of a write was carried out, or will be.
func (t *target) doubt() {
	if t.onNoResponse != nil {
		t.onNoResponse()
	}
	if t.onUnconfirmed != nil {
		t.onUnconfirmed()
	}
}

// partly returns the error of a write of which a node says that a part failed. The node may have stored an object and not its entries in the
// indexes, and takes the object for unchanged when it gets it again. So the write is in doubt even if the next attempt succeeds.
func (t *target) partly(ctx context.Context) error {
	t.doubt()
	return t.missed(ctx, errAgain)
}

// missed returns errShort if a failed write on all replicas shows that a replica is missing: a server error, a partial failure or a timeout. It
// returns other errors unchanged, such as a refused connection.
func (t target) missed(ctx context.Context, err error) error {
	if t.level == levelAll && (statusOf(err) >= http.StatusInternalServerError || statusOf(err) == http.StatusUnprocessableEntity ||
		errors.Is(err, errAgain) || ctx.Err() != nil) {
		return errShort
	}
	return err
}

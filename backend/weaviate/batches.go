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

// batches stores and deletes objects in requests of a size that the cluster bears: one that fails for want of time or
// memory, or because the cluster is too busy, is made again in smaller ones, and those grow again while all goes well.
type batches struct {
	cluster *cluster
	slots   chan struct{} // requests under way
	limit   int           // of bytes
	bytes   atomic.Int64  // that a request may have now
}

// leastBatchBytes is the size below which requests do not shrink.
const leastBatchBytes = 16 << 10

func newBatches(c *cluster, o *Options) *batches {
	b := &batches{cluster: c, slots: make(chan struct{}, o.Requests), limit: o.BatchBytes}
	b.bytes.Store(int64(o.BatchBytes))
	return b
}

// errShort says that fewer replicas took a write than were asked for.
var errShort = errors.New("not all replicas could be reached")

// acquire waits until a request may be made.
func (b *batches) acquire(ctx context.Context) error {
	select {
	case b.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// stored is an object to store, and about how many bytes it takes in a request.
type stored struct {
	*models.Object
	size int
}

// put stores objects, in place of those with their ids.
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

// slowBatch is how long a request may take before the next ones are smaller.
const slowBatch = time.Second

func (b *batches) shrink() { b.bytes.Store(max(b.bytes.Load()/2, leastBatchBytes)) }

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
		if err = to.judge(err); err != nil {
			return to.missed(ctx, err)
		}
		for _, a := range answer {
			if a.Result != nil && a.Result.Errors != nil && len(a.Result.Errors.Error) > 0 {
				return to.missed(ctx, errAgain)
			}
		}
		if len(answer) != len(plain) {
			return to.missed(ctx, errAgain)
		}
		return nil
	})
}

// remove deletes what a filter matches in a collection.
func (b *batches) remove(ctx context.Context, to target, collection, tenant string, w where) error {
	if err := b.acquire(ctx); err != nil {
		return err
	}
	defer func() { <-b.slots }()
	for {
		more := false
		err := b.cluster.call(ctx, "delete objects", to.route, func(ctx context.Context, n *node) error {
			answer, err := n.Batch().ObjectsBatchDeleter().WithClassName(collection).WithTenant(tenant).WithWhere(w.builder()).WithConsistencyLevel(to.level).Do(ctx)
			if err = to.judge(err); err != nil {
				return to.missed(ctx, err)
			}
			r := answer.Results
			if r == nil || r.Failed > 0 {
				return to.missed(ctx, errAgain)
			}
			more = r.Matches > 0 && r.Matches >= r.Limit
			return nil
		})
		if err != nil || !more {
			return err
		}
	}
}

// removeOne deletes an object by its id, if it is there.
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
		if err = to.judge(err); err != nil {
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

// target is where writes go.
type target struct {
	route
	level string
	from  *node // that has all that was stored, and is read; nil: all have
	anew  bool  // what is stored may not be indexed, see carryOut

	doubt      func() // called where the write, or a part of it, may be carried out later
	unanswered func() // called where nobody has said what came of it
}

// judge notes what a node said of a write, or that it said nothing.
func (t *target) judge(err error) error {
	status := statusOf(err)
	sent := err != nil && !refused(err) && (status == 0 || status >= http.StatusInternalServerError)
	if sent && t.unanswered != nil {
		t.unanswered()
	}
	if (sent || err == nil && t.level != levelAll) && t.doubt != nil { // replicas beyond the majority get it when they can
		t.doubt()
	}
	return err
}

// missed turns what a node said of a write on all replicas into errShort. A node that says nothing is another matter.
func (t target) missed(ctx context.Context, err error) error {
	if t.level == levelAll && (statusOf(err) >= http.StatusInternalServerError || statusOf(err) == http.StatusUnprocessableEntity ||
		errors.Is(err, errAgain) || ctx.Err() != nil) {
		return errShort
	}
	return err
}

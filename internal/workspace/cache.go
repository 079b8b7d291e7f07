package workspace

import (
	"container/list"
	"context"
	"errors"
	"sync"
)

// errCacheClosed is returned by Acquire after Close.
var errCacheClosed = errors.New("closed")

// Cache is an LRU cache of open workspaces of type T, by name. The first user of a workspace
// opens it, and further users share it. Workspaces in use are never closed. Of the idle ones
// a bounded number stays open. A workspace is never opened twice at once. A Cache is safe
// for concurrent use.
type Cache[T any] struct {
	open  func(ctx context.Context, name string) (T, error)
	close func(T) error
	max   int

	mu      sync.Mutex
	entries map[string]*entry[T]
	idle    int        // number of entries without users that are not closing
	left    *list.List // of *entry[T], by the time at which their last user released them; some are in use again
	closed  bool
}

type entry[T any] struct {
	name  string
	ready chan struct{} // closed when value or err is set
	value T
	err   error
	refs  int
	spot  *list.Element // element in left; nil: none
	gone  chan struct{} // set while closing; closed when done
}

// NewCache returns a cache that keeps at most max idle workspaces open.
func NewCache[T any](max int, open func(ctx context.Context, name string) (T, error), close func(T) error) *Cache[T] {
	return &Cache[T]{open: open, close: close, max: max, entries: map[string]*entry[T]{}, left: list.New()}
}

// Acquire returns the workspace, and opens it if necessary. After a success the caller must
// call Release once. Callers that wait while another one opens the workspace get the same
// result. If opening failed because the other's ctx ended, they try themselves.
func (c *Cache[T]) Acquire(ctx context.Context, name string) (T, error) {
	var zero T
	for {
		c.mu.Lock()
		if c.closed {
			c.mu.Unlock()
			return zero, errCacheClosed
		}
		e := c.entries[name]
		if e == nil {
			e = &entry[T]{name: name, ready: make(chan struct{}), refs: 1}
			c.entries[name] = e
			c.mu.Unlock()
			return c.fill(ctx, e)
		}
		if e.gone != nil {
			gone := e.gone
			c.mu.Unlock()
			select {
			case <-gone:
				continue
			case <-ctx.Done():
				return zero, ctx.Err()
			}
		}
		if e.refs++; e.refs == 1 {
			c.idle--
		}
		c.mu.Unlock()
		select {
		case <-e.ready:
		default:
			select {
			case <-e.ready:
			case <-ctx.Done():
				c.release(name, e)
				return zero, ctx.Err()
			}
		}
		if e.err == nil {
			return e.value, nil
		}
		if ctx.Err() != nil {
			return zero, ctx.Err()
		}
		if errors.Is(e.err, context.Canceled) || errors.Is(e.err, context.DeadlineExceeded) {
			continue
		}
		return zero, e.err
	}
}

// AcquireOpen is Acquire if the workspace is open. ok reports whether it is.
func (c *Cache[T]) AcquireOpen(name string) (v T, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[name]
	if c.closed || e == nil || e.gone != nil {
		return v, false
	}
	select {
	case <-e.ready:
	default:
		return v, false
	}
	if e.err != nil {
		return v, false
	}
	if e.refs++; e.refs == 1 {
		c.idle--
	}
	return e.value, true
}

func (c *Cache[T]) fill(ctx context.Context, e *entry[T]) (T, error) {
	v, err := c.open(ctx, e.name)
	c.mu.Lock()
	e.value, e.err = v, err
	if err != nil {
		delete(c.entries, e.name)
	}
	c.mu.Unlock()
	close(e.ready)
	return v, err
}

// Release ends a use that Acquire or AcquireOpen began.
func (c *Cache[T]) Release(name string) {
	c.release(name, nil)
}

// release is Release if the entry of the name is of, or if of is nil.
func (c *Cache[T]) release(name string, of *entry[T]) {
	c.mu.Lock()
	var victims []*entry[T]
	if e := c.entries[name]; e != nil && (of == nil || of == e) {
		victims = c.leave(e)
	}
	c.mu.Unlock()
	for _, v := range victims {
		_ = c.finish(v)
	}
}

// leave ends a use of an entry, and returns the idle entries to close because there are now too many. The caller holds c.mu.
func (c *Cache[T]) leave(e *entry[T]) (victims []*entry[T]) {
	e.refs--
	if e.refs > 0 || e.gone != nil {
		return nil
	}
	c.idle++
	if e.spot == nil {
		e.spot = c.left.PushBack(e)
	} else {
		c.left.MoveToBack(e.spot)
	}
	for c.idle > c.max {
		oldest := c.left.Front().Value.(*entry[T])
		if oldest.refs > 0 { // it comes back when its last user leaves
			c.unlist(oldest)
			continue
		}
		c.take(oldest)
		victims = append(victims, oldest)
	}
	return victims
}

// take marks an idle entry as closing. The caller holds c.mu.
func (c *Cache[T]) take(e *entry[T]) {
	c.idle--
	c.unlist(e)
	e.gone = make(chan struct{})
}

// unlist removes an entry from left.
func (c *Cache[T]) unlist(e *entry[T]) {
	if e.spot != nil {
		c.left.Remove(e.spot)
		e.spot = nil
	}
}

// AwaitClosing waits until the workspaces that are closing now are closed.
func (c *Cache[T]) AwaitClosing(ctx context.Context) error {
	c.mu.Lock()
	var closing []chan struct{}
	for _, e := range c.entries {
		if e.gone != nil {
			closing = append(closing, e.gone)
		}
	}
	c.mu.Unlock()
	for _, gone := range closing {
		select {
		case <-gone:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (c *Cache[T]) finish(e *entry[T]) error {
	err := c.close(e.value)
	c.mu.Lock()
	delete(c.entries, e.name)
	c.mu.Unlock()
	close(e.gone)
	return err
}

// EvictIdle closes up to n idle workspaces, least recently used first, and returns the number closed.
func (c *Cache[T]) EvictIdle(n int) int {
	c.mu.Lock()
	var victims []*entry[T]
	for len(victims) < n && c.idle > 0 {
		oldest := c.left.Front().Value.(*entry[T])
		if oldest.refs > 0 { // it comes back when its last user leaves
			c.unlist(oldest)
			continue
		}
		c.take(oldest)
		victims = append(victims, oldest)
	}
	c.mu.Unlock()
	for _, v := range victims {
		_ = c.finish(v)
	}
	return len(victims)
}

// Evict closes a workspace unless it is in use, and reports whether it is closed now. That includes a workspace that was not
// open.
func (c *Cache[T]) Evict(name string) bool {
	c.mu.Lock()
	e := c.entries[name]
	if e == nil {
		c.mu.Unlock()
		return true
	}
	if e.refs > 0 || e.gone != nil {
		gone := e.gone
		c.mu.Unlock()
		if gone == nil {
			return false
		}
		<-gone
		return true
	}
	c.take(e)
	c.mu.Unlock()
	_ = c.finish(e)
	return true
}

// Each calls f for every open workspace.
func (c *Cache[T]) Each(f func(name string, v T)) {
	c.mu.Lock()
	var open []*entry[T]
	for _, e := range c.entries {
		select {
		case <-e.ready:
			if e.err == nil && e.gone == nil {
				open = append(open, e)
			}
		default:
		}
	}
	c.mu.Unlock()
	for _, e := range open {
		f(e.name, e.value)
	}
}

// Close makes further calls of Acquire fail, and closes all workspaces, including those in use. The
// caller must have waited for the users. Close returns all errors joined.
func (c *Cache[T]) Close() error {
	c.mu.Lock()
	c.closed = true
	var all []*entry[T]
	for _, e := range c.entries {
		all = append(all, e)
	}
	c.mu.Unlock()
	var errs []error
	for _, e := range all {
		<-e.ready
		c.mu.Lock()
		gone, failed := e.gone, e.err != nil
		if !failed && gone == nil {
			if e.refs == 0 {
				c.idle--
			}
			c.unlist(e)
			e.gone = make(chan struct{})
		}
		c.mu.Unlock()
		switch {
		case failed:
		case gone != nil:
			<-gone
		default:
			errs = append(errs, c.finish(e))
		}
	}
	return errors.Join(errs...)
}

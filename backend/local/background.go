package local

import (
	"context"
	"sync"
)

// background runs functions of a workspace that no call waits for. It runs one at a time,
// in a goroutine that ends when the queue is empty. The zero value is ready to use.
type background struct {
	mu      sync.Mutex
	queue   []func(ctx context.Context)
	running bool
	stopped bool
	cancel  context.CancelFunc
	wg      sync.WaitGroup
}

// maxQueue bounds the number of waiting functions. start refuses further ones; code that
// needs a refused function starts it again later.
const maxQueue = 64

// start queues f and reports whether f will run. f should return early when its ctx ends.
func (b *background) start(f func(ctx context.Context)) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stopped || len(b.queue) >= maxQueue {
		return false
	}
	b.queue = append(b.queue, f)
	if b.running {
		return true
	}
	b.running = true
	ctx, cancel := context.WithCancel(context.Background())
	b.cancel = cancel
	b.wg.Go(func() {
		defer cancel()
		for f := b.next(); f != nil; f = b.next() {
			f(ctx)
		}
	})
	return true
}

// next removes and returns the first function of the queue; nil ends the goroutine.
// After stop the queued functions still run, with a ctx that has ended.
func (b *background) next() func(ctx context.Context) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 {
		b.running = false
		return nil
	}
	f := b.queue[0]
	b.queue = b.queue[1:]
	return f
}

// stop cancels the running function and waits until the queue is empty. Afterwards start refuses functions.
func (b *background) stop() {
	b.mu.Lock()
	b.stopped = true
	if b.cancel != nil {
		b.cancel()
	}
	b.mu.Unlock()
	b.wg.Wait()
}

// busy reports whether a function runs or waits.
func (b *background) busy() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.running
}

// wait returns when no function runs or waits.
func (b *background) wait() { b.wg.Wait() }

package local

import (
	"context"
	"sync"
)

// background runs work of a workspace that no call waits for, one piece at a
// time, in a goroutine that ends when there is none. The zero value is ready.
type background struct {
	mu      sync.Mutex
	queue   []func(ctx context.Context)
	running bool
	stopped bool
	cancel  context.CancelFunc
	wg      sync.WaitGroup
}

// maxQueue bounds the pieces of work that wait. More are dropped; the code that needs
// them asks again.
const maxQueue = 64

// start queues f, and reports whether f will run. f returns early when its ctx ends.
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

// next takes a piece of work; nil ends the goroutine. After stop every piece still
// runs, under a ctx that has ended.
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

// stop ends the work and waits for it. Nothing starts afterwards.
func (b *background) stop() {
	b.mu.Lock()
	b.stopped = true
	if b.cancel != nil {
		b.cancel()
	}
	b.mu.Unlock()
	b.wg.Wait()
}

// busy reports whether work is under way.
func (b *background) busy() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.running
}

// wait returns when nothing is left to do.
func (b *background) wait() { b.wg.Wait() }

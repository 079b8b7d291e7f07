package weaviate

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"syscall"
	"time"
)

const (
	// lookAfter is how often a node is asked whether it is ready.
	lookAfter = 250 * time.Millisecond
	// readyTimeout is how long a node may take to say that it is ready.
	readyTimeout = 2 * time.Second
	// missedLooks is how often in a row a node may say nothing before it counts as down: a busy one may take long. One that refuses
	// connections is down at once.
	missedLooks = 3
	// readyLooks is how often in a row a node that was down may say that it is not ready before it counts as up: a busy one says so too.
	readyLooks = 20
)

// health is what a cluster knows of its nodes. Each node is asked again and again whether it is ready, so that no call waits for one that
// has gone away: calls that are under way at a node end when it does, and writes on all replicas when any node does.
type health struct {
	mu    sync.Mutex
	down  int                // nodes that are
	all   context.Context    // ends when a node goes down; done while one is
	lost  context.CancelFunc // of all
	since time.Time          // when a node last went down or came up
	fell  time.Time          // when one last went down

	end     context.CancelFunc
	looking sync.WaitGroup
}

// life is from when a node came up until it goes down.
type life struct {
	mu   sync.Mutex
	ctx  context.Context
	end  context.CancelFunc // nil: the node is down
	came time.Time          // when it last came up; zero: it has never been down
	mute bool               // it has said nothing when it was last asked
}

// isDown reports whether a node is down.
func (n *node) isDown() bool {
	n.life.mu.Lock()
	defer n.life.mu.Unlock()
	return n.life.end == nil
}

// cameBack is when a node came up again that had been down, as far as this process has seen; zero: it has not been.
func (n *node) cameBack() time.Time {
	n.life.mu.Lock()
	defer n.life.mu.Unlock()
	return n.life.came
}

// says notes whether a node has said something when it was asked.
func (n *node) says(something bool) {
	n.life.mu.Lock()
	defer n.life.mu.Unlock()
	n.life.mute = !something
}

// isMute reports whether a node has said nothing when it was last asked.
func (n *node) isMute() bool {
	n.life.mu.Lock()
	defer n.life.mu.Unlock()
	return n.life.mute
}

// alive returns a context that ends when the node goes down; ok is false where it is down already.
func (n *node) alive() (ctx context.Context, ok bool) {
	n.life.mu.Lock()
	defer n.life.mu.Unlock()
	return n.life.ctx, n.life.end != nil
}

// watch begins to look at the nodes.
func (c *cluster) watch() {
	ctx, end := context.WithCancel(context.Background())
	c.health.end = end
	c.health.all, c.health.lost = context.WithCancel(context.Background())
	for _, n := range c.nodes {
		n.life.ctx, n.life.end = context.WithCancel(context.Background())
		c.health.looking.Go(func() { c.look(ctx, n) })
	}
}

// unwatch ends that.
func (c *cluster) unwatch() {
	if c.health.end == nil {
		return
	}
	c.health.end()
	c.health.looking.Wait()
	c.health.lost()
	for _, n := range c.nodes {
		if n.life.end != nil {
			n.life.end()
		}
	}
}

// look asks a node until ctx ends.
func (c *cluster) look(ctx context.Context, n *node) {
	tick := time.NewTicker(lookAfter)
	defer tick.Stop()
	missed, not := 0, 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		ok, err := c.ready(ctx, n)
		switch {
		case ctx.Err() != nil:
			return
		case ok:
			missed, not = 0, 0
			n.says(true)
			c.turned(n, false)
		case err == nil || statusOf(err) != 0:
			missed = 0
			n.says(true)
			if not++; not >= readyLooks {
				c.turned(n, false)
			}
		default:
			not = 0
			n.says(false)
			if missed++; refused(err) || missed >= missedLooks {
				c.turned(n, true)
			}
		}
	}
}

// refused reports whether nobody took a connection: nothing was sent.
func refused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

// ready reports whether a node says that it is ready.
func (c *cluster) ready(ctx context.Context, n *node) (bool, error) {
	once, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	return n.Misc().ReadyChecker().Do(once)
}

// turned notes that a node is down, or up.
func (c *cluster) turned(n *node, down bool) {
	h := &c.health
	h.mu.Lock()
	defer h.mu.Unlock()
	n.life.mu.Lock()
	defer n.life.mu.Unlock()
	if down == (n.life.end == nil) {
		return
	}
	h.since = time.Now()
	what := "a node of Weaviate came back"
	if down {
		what = "a node of Weaviate went away"
		n.life.end()
		n.life.end = nil
		h.lost()
		h.down++
		h.fell = h.since
	} else {
		n.life.ctx, n.life.end = context.WithCancel(context.Background())
		n.life.came = time.Now()
		if h.down--; h.down == 0 {
			h.all, h.lost = context.WithCancel(context.Background())
		}
	}
	c.log.LogAttrs(context.Background(), slog.LevelWarn, what, slog.Int("node", n.place+1))
}

// up returns a context that ends when any node goes down; done: one is.
func (h *health) up() context.Context {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.all
}

// order lists the nodes, those that are up first, from the one that answered last.
func (c *cluster) order() []*node {
	out, down := make([]*node, 0, len(c.nodes)), []*node(nil)
	first := int(c.turn.Load())
	for i := range c.nodes {
		n := c.nodes[(first+i)%len(c.nodes)]
		if n.isDown() {
			down = append(down, n)
		} else {
			out = append(out, n)
		}
	}
	return append(out, down...)
}

// whole reports whether all nodes answer, and a write on all replicas that failed was not a moment ago.
func (c *cluster) whole() bool {
	if c.health.up().Err() != nil {
		return false
	}
	c.lackMu.Lock()
	defer c.lackMu.Unlock()
	if c.lacking && time.Since(c.lacked) < allPatience {
		return false
	}
	c.lacking = false
	return true
}

// troubled reports whether a node is down or says nothing, or a write has not reached all replicas a moment ago. It does no I/O.
func (c *cluster) troubled() bool {
	for _, n := range c.nodes {
		if n.isDown() || n.isMute() {
			return true
		}
	}
	c.lackMu.Lock()
	defer c.lackMu.Unlock()
	return c.lacking && time.Since(c.lacked) < allTimeout
}

// fell is when a node was last seen to go down.
func (c *cluster) fell() time.Time {
	c.health.mu.Lock()
	defer c.health.mu.Unlock()
	return c.health.fell
}

// wholeFor reports whether all nodes have answered for a while.
func (c *cluster) wholeFor(d time.Duration) bool {
	c.health.mu.Lock()
	defer c.health.mu.Unlock()
	return c.health.down == 0 && time.Since(c.health.since) >= d
}

// lacks notes that not all replicas can be reached.
func (c *cluster) lacks(ctx context.Context) {
	c.lackMu.Lock()
	defer c.lackMu.Unlock()
	if !c.lacking {
		c.log.LogAttrs(ctx, slog.LevelWarn, "not all replicas of Weaviate can be reached: a majority has to do")
	}
	c.lacking, c.lacked = true, time.Now()
}

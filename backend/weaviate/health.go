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
	// lookAfter is the interval at which a node is asked whether it is ready.
	lookAfter = 250 * time.Millisecond
	// readyTimeout is how long a node may take to answer.
	readyTimeout = 2 * time.Second
	// missedLooks is the number of consecutive requests without an answer after which a node counts as down. It allows for
	// busy nodes. A node that refuses connections counts as down at once.
	missedLooks = 3
	// readyLooks is the number of consecutive "not ready" answers after which a node that was down counts as up. A busy node
	// gives that answer too.
	readyLooks = 20
)

// health is what a cluster knows of the health of its nodes. Each node is asked regularly whether it is ready, so that no
// call waits for a node that has gone away. Calls to a node are cancelled when it goes down. Writes on all replicas are
// cancelled when any node goes down.
type health struct {
	mu    sync.Mutex
	down  int                // number of nodes that are down
	all   context.Context    // cancelled when a node goes down; stays cancelled while any node is down
	lost  context.CancelFunc // cancels all
	since time.Time          // when a node last went down or came up
	fell  time.Time          // when a node last went down

	end     context.CancelFunc
	looking sync.WaitGroup
}

// life is the state of a node. Its context lives from when the node came up until it goes down.
type life struct {
	mu   sync.Mutex
	ctx  context.Context
	end  context.CancelFunc // nil: the node is down
	came time.Time          // when it last came up; zero: it has never been down
	mute bool               // whether the node did not answer the last request
}

// isDown reports whether the node is down.
func (n *node) isDown() bool {
	n.life.mu.Lock()
	defer n.life.mu.Unlock()
	return n.life.end == nil
}

// cameBack returns when the node last came up after it had been down. It is zero if this process has not seen the node
// down.
func (n *node) cameBack() time.Time {
	n.life.mu.Lock()
	defer n.life.mu.Unlock()
	return n.life.came
}

// says records whether the node answered.
func (n *node) says(something bool) {
	n.life.mu.Lock()
	defer n.life.mu.Unlock()
	n.life.mute = !something
}

// isMute reports whether the node did not answer the last request.
func (n *node) isMute() bool {
	n.life.mu.Lock()
	defer n.life.mu.Unlock()
	return n.life.mute
}

// alive returns a context that is cancelled when the node goes down. ok is false if the node is down.
func (n *node) alive() (ctx context.Context, ok bool) {
	n.life.mu.Lock()
	defer n.life.mu.Unlock()
	return n.life.ctx, n.life.end != nil
}

// watch starts the health checks of all nodes.
func (c *cluster) watch() {
	ctx, end := context.WithCancel(context.Background())
	c.health.end = end
	c.health.all, c.health.lost = context.WithCancel(context.Background())
	for _, n := range c.nodes {
		n.life.ctx, n.life.end = context.WithCancel(context.Background())
		c.health.looking.Go(func() { c.look(ctx, n) })
	}
}

// unwatch stops the health checks and waits for them.
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

// look checks a node at intervals until ctx ends.
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

// refused reports whether the connection was refused, so that nothing was sent.
func refused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

// ready reports whether a node says that it is ready.
func (c *cluster) ready(ctx context.Context, n *node) (bool, error) {
	once, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	return n.Misc().ReadyChecker().Do(once)
}

// turned records that a node is down, or up.
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

// up returns a context that is cancelled when any node goes down. It is cancelled already while a node is down.
func (h *health) up() context.Context {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.all
}

// order returns all nodes: first those that are up, beginning with the one that answered last, then those that are down.
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

// whole reports whether all nodes are up and no write on all replicas has failed within allPatience.
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

// troubled reports whether a node is down or does not answer, or a write failed to reach all replicas within the last
// allTimeout. It does no I/O.
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

// fell returns when a node last went down, as far as this process has seen.
func (c *cluster) fell() time.Time {
	c.health.mu.Lock()
	defer c.health.mu.Unlock()
	return c.health.fell
}

// wholeFor reports whether all nodes have been up for d.
func (c *cluster) wholeFor(d time.Duration) bool {
	c.health.mu.Lock()
	defer c.health.mu.Unlock()
	return c.health.down == 0 && time.Since(c.health.since) >= d
}

// lacks records that a write did not reach all replicas.
func (c *cluster) lacks(ctx context.Context) {
	c.lackMu.Lock()
	defer c.lackMu.Unlock()
	if !c.lacking {
		c.log.LogAttrs(ctx, slog.LevelWarn, "not all replicas of Weaviate can be reached: a majority has to do")
	}
	c.lacking, c.lacked = true, time.Now()
}

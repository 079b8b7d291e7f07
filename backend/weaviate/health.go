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
	// healthInterval is the interval at which a node is asked whether it is ready.
	healthInterval = 250 * time.Millisecond
	// readyTimeout is how long a node may take to answer.
	readyTimeout = 2 * time.Second
	// maxMissedChecks is the number of consecutive requests without an answer after which a node counts as down. It allows for
	// busy nodes. A node that refuses connections counts as down at once.
	maxMissedChecks = 3
	// maxNotReadyChecks is the number of consecutive "not ready" answers after which a node that was down counts as up. A busy node
	// gives that answer too.
	maxNotReadyChecks = 20
)

// health is what a cluster knows of the health of its nodes. Each node is asked regularly whether it is ready, so that no
// call waits for a node that has gone away. Calls to a node are cancelled when it goes down. Writes on all replicas are
// cancelled when any node goes down.
type health struct {
	mu          sync.Mutex
	down        int                // number of nodes that are down
	allUp       context.Context    // cancelled when a node goes down; stays cancelled while any node is down
	cancelAllUp context.CancelFunc // cancels allUp
	changedAt   time.Time          // when a node last went down or came up
	lastDown    time.Time          // when a node last went down

	end    context.CancelFunc
	checks sync.WaitGroup
}

// liveness is the state of a node. Its context lives from when the node came up until it goes down.
type liveness struct {
	mu           sync.Mutex
	ctx          context.Context
	end          context.CancelFunc // nil: the node is down
	lastUp       time.Time          // when it last came up; zero: it has never been down
	unresponsive bool               // whether the node did not answer the last request
}

// isDown reports whether the node is down.
func (n *node) isDown() bool {
	n.liveness.mu.Lock()
	defer n.liveness.mu.Unlock()
	return n.liveness.end == nil
}

// lastUp returns when the node last came up after it had been down. It is zero if this process has not seen the node
// down.
func (n *node) lastUp() time.Time {
	n.liveness.mu.Lock()
	defer n.liveness.mu.Unlock()
	return n.liveness.lastUp
}

// setResponsive records whether the node answered.
func (n *node) setResponsive(responsive bool) {
	n.liveness.mu.Lock()
	defer n.liveness.mu.Unlock()
	n.liveness.unresponsive = !responsive
}

// isUnresponsive reports whether the node did not answer the last request.
func (n *node) isUnresponsive() bool {
	n.liveness.mu.Lock()
	defer n.liveness.mu.Unlock()
	return n.liveness.unresponsive
}

// alive returns a context that is cancelled when the node goes down. ok is false if the node is down.
func (n *node) alive() (ctx context.Context, ok bool) {
	n.liveness.mu.Lock()
	defer n.liveness.mu.Unlock()
	return n.liveness.ctx, n.liveness.end != nil
}

// watch starts the health checks of all nodes.
func (c *cluster) watch() {
	ctx, end := context.WithCancel(context.Background())
	c.health.end = end
	c.health.allUp, c.health.cancelAllUp = context.WithCancel(context.Background())
	for _, n := range c.nodes {
		n.liveness.ctx, n.liveness.end = context.WithCancel(context.Background())
		c.health.checks.Go(func() { c.checkHealth(ctx, n) })
	}
}

// unwatch stops the health checks and waits for them.
func (c *cluster) unwatch() {
	if c.health.end == nil {
		return
	}
	c.health.end()
	c.health.checks.Wait()
	c.health.cancelAllUp()
	for _, n := range c.nodes {
		if n.liveness.end != nil {
			n.liveness.end()
		}
	}
}

// checkHealth checks a node at intervals until ctx ends.
func (c *cluster) checkHealth(ctx context.Context, n *node) {
	tick := time.NewTicker(healthInterval)
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
			n.setResponsive(true)
			c.setDown(n, false)
		case err == nil || statusOf(err) != 0:
			missed = 0
			n.setResponsive(true)
			if not++; not >= maxNotReadyChecks {
				c.setDown(n, false)
			}
		default:
			not = 0
			n.setResponsive(false)
			if missed++; refused(err) || missed >= maxMissedChecks {
				c.setDown(n, true)
			}
		}
	}
}

// refused reports whether the connection was refused, so that nothing was sent.
func refused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

// ready reports whether a node says that it is ready.
func (c *cluster) ready(ctx context.Context, n *node) (bool, error) {
	once, cancel := context.WithTimeout(ctx, max(readyTimeout, time.Duration(c.leastTimeout.Load())))
	defer cancel()
	return n.Misc().ReadyChecker().Do(once)
}

// setDown records that a node is down, or up.
func (c *cluster) setDown(n *node, down bool) {
	h := &c.health
	h.mu.Lock()
	defer h.mu.Unlock()
	n.liveness.mu.Lock()
	defer n.liveness.mu.Unlock()
	if down == (n.liveness.end == nil) {
		return
	}
	h.changedAt = time.Now()
	what := "a node of Weaviate came back"
	if down {
		what = "a node of Weaviate went away"
		n.liveness.end()
		n.liveness.end = nil
		h.cancelAllUp()
		h.down++
		h.lastDown = h.changedAt
	} else {
		n.liveness.ctx, n.liveness.end = context.WithCancel(context.Background())
		n.liveness.lastUp = time.Now()
		if h.down--; h.down == 0 {
			h.allUp, h.cancelAllUp = context.WithCancel(context.Background())
		}
	}
	c.log.LogAttrs(context.Background(), slog.LevelWarn, what, slog.Int("node", n.place+1))
}

// allUpContext returns a context that is cancelled when any node goes down. It is cancelled already while a node is down.
func (h *health) allUpContext() context.Context {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.allUp
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

// allReachable reports whether all nodes are up and no write on all replicas has failed within allPatience.
func (c *cluster) allReachable() bool {
	if c.health.allUpContext().Err() != nil {
		return false
	}
	c.missedMu.Lock()
	defer c.missedMu.Unlock()
	if c.missedReplicas && time.Since(c.missedAt) < allPatience {
		return false
	}
	c.missedReplicas = false
	return true
}

// degraded reports whether a node is down or does not answer, or a write failed to reach all replicas within the last
// allTimeout. It does no I/O.
func (c *cluster) degraded() bool {
	for _, n := range c.nodes {
		if n.isDown() || n.isUnresponsive() {
			return true
		}
	}
	c.missedMu.Lock()
	defer c.missedMu.Unlock()
	return c.missedReplicas && time.Since(c.missedAt) < allTimeout
}

// lastDown returns when a node last went down, as far as this process has seen.
func (c *cluster) lastDown() time.Time {
	c.health.mu.Lock()
	defer c.health.mu.Unlock()
	return c.health.lastDown
}

// lastUp returns when a node last came up after it had been down, as far as this process has seen.
func (c *cluster) lastUp() (last time.Time) {
	for _, n := range c.nodes {
		if up := n.lastUp(); up.After(last) {
			last = up
		}
	}
	return last
}

// allUpFor reports whether all nodes have been up for d.
func (c *cluster) allUpFor(d time.Duration) bool {
	c.health.mu.Lock()
	defer c.health.mu.Unlock()
	return c.health.down == 0 && time.Since(c.health.changedAt) >= d
}

// noteMissedReplicas records that a write did not reach all replicas.
func (c *cluster) noteMissedReplicas(ctx context.Context) {
	c.missedMu.Lock()
	defer c.missedMu.Unlock()
	if !c.missedReplicas {
		c.log.LogAttrs(ctx, slog.LevelWarn, "not all replicas of Weaviate can be reached: a majority has to do")
	}
	c.missedReplicas, c.missedAt = true, time.Now()
}

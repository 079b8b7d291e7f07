package weaviate

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/contextmem/contextmem/backend"
)

const (
	// hedgeAfter is how long a search waits for a node before it also asks another.
	hedgeAfter = 300 * time.Millisecond
	// hedgeShare is the long-run number of searches per hedged search, that is, per search sent to a second node. hedgesSaved
	// is how many may be hedged in a row. Without a limit, hedging would slow down nodes that are all slow already.
	hedgeShare, hedgesSaved = 10, 20
)

// hedge reports whether a search may be sent to another node too. If so, it consumes the allowance for that.
func (c *cluster) hedge() bool {
	for {
		left := c.hedges.Load()
		if left < hedgeShare {
			return false
		}
		if c.hedges.CompareAndSwap(left, left-hedgeShare) {
			return true
		}
	}
}

// earn counts a search towards the allowance of hedged searches.
func (c *cluster) earn() {
	if left := c.hedges.Load(); left < hedgeShare*hedgesSaved {
		c.hedges.CompareAndSwap(left, left+1)
	}
}

// read makes a read call on the nodes that r allows, until one answers.
func read[T any](ctx context.Context, c *cluster, what string, r route, f func(ctx context.Context, n *node) (T, error)) (out T, err error) {
	if r.timeout == 0 {
		r.timeout = searchTimeout
	}
	err = c.until(ctx, what, r, func() (bool, error) {
		answers, err := askNodes(ctx, c, r, 1, f)
		if err == nil {
			out = answers[0]
		}
		return false, err
	})
	return out, err
}

// askNodes sends a call to need nodes at once. It asks a further node whenever one fails, or has not answered for hedgeAfter and the allowance
// permits it. It returns need answers, each from a different node.
func askNodes[T any](ctx context.Context, c *cluster, r route, need int, f func(ctx context.Context, n *node) (T, error)) ([]T, error) {
	c.earn()
	nodes := c.order()
	if r.only != nil {
		nodes = []*node{r.only}
	}
	ctx, cancel := context.WithCancel(ctx)
	var asked sync.WaitGroup
	defer asked.Wait()
	defer cancel()
	type answer struct {
		of  *node
		out T
		err error
	}
	answers := make(chan answer, len(nodes))
	waiting := 0
	ask := func() {
		n := nodes[0]
		nodes = nodes[1:]
		waiting++
		asked.Go(func() {
			a := answer{of: n}
			a.err = c.attempt(ctx, n, r, func(ctx context.Context, n *node) (err error) {
				a.out, err = f(ctx, n)
				return err
			})
			answers <- a
		})
	}
	if need > len(nodes) {
		return nil, errAgain
	}
	for range need {
		ask()
	}
	var out []T
	var failed error
	slow := time.NewTicker(hedgeAfter)
	defer slow.Stop()
	for {
		select {
		case a := <-answers:
			waiting--
			var no *refusal
			switch {
			case a.err == nil:
				if out = append(out, a.out); len(out) == need {
					if need == 1 {
						c.turn.Store(int64(a.of.place))
					}
					return out, nil
				}
			case errors.As(a.err, &no) || errors.Is(a.err, backend.ErrCorrupt):
				return nil, a.err
			default:
				failed = a.err
				if len(nodes) > 0 {
					ask()
				}
			}
			if waiting == 0 {
				return nil, failed
			}
		case <-slow.C:
			if len(nodes) > 0 && c.hedge() {
				ask()
			}
		}
	}
}

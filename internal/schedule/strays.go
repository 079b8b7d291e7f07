package schedule

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/lease"
	"github.com/contextmem/contextmem/internal/workspace"
)

// A stray claim is one whose step has ended without giving it back: its process has died, or the store did not answer. Its items would wait until its
// lease ends. The token of a claim begins with the process that made it.

// begin returns the token of a new step in a workspace. The caller calls ended when the step has ended.
func (c *Scheduler) begin(uid string) (token string) {
	token = c.Leases.Process() + "/w" + strconv.FormatInt(c.tokens.Add(1), 36) + "-" + uid[:8] + strconv.FormatInt(time.Now().UnixNano(), 36)
	c.mu.Lock()
	c.steps[token] = true
	c.mu.Unlock()
	return token
}

// ended notes that a step has ended. After an error it may have left claims.
func (c *Scheduler) ended(uid, token string, err error) {
	c.mu.Lock()
	delete(c.steps, token)
	c.mu.Unlock()
	if err != nil {
		c.astray(uid)
	}
}

// astray notes that a workspace may have stray claims.
func (c *Scheduler) astray(uid string) {
	c.mu.Lock()
	c.attention(uid).strays = true
	c.mu.Unlock()
}

// takenOver calls astray if another process may have held the lease of a workspace since before, the term of this process.
func (c *Scheduler) takenOver(uid string, before uint64) {
	if c.Leases.Term(lease.OfWorkspace(uid)) != before {
		c.astray(uid)
	}
}

// endStrays ends the stray claims of a workspace.
func (c *Scheduler) endStrays(ctx context.Context, sp *workspace.Space) error {
	c.mu.Lock()
	a := c.attention(sp.UID)
	astray := a.strays
	a.strays = false
	c.mu.Unlock()
	st, ends := sp.Store.(backend.ClaimEnder)
	if !astray || !ends {
		return nil
	}
	tokens, err := st.Claimants(ctx)
	n, unsure := 0, false
	if err == nil && len(tokens) > 0 {
		tokens, unsure = c.stray(tokens)
		n, err = st.EndClaims(ctx, tokens, c.Pipeline.MaxAttempts)
	}
	if n > 0 {
		c.Logger.Info("claims of steps that were cut off were ended", "uid", sp.UID, "items", n)
	}
	if errors.Is(err, backend.ErrCorrupt) { // the others end with their leases
		c.Logger.Warn("claims of steps that were cut off can't be ended", "uid", sp.UID, "err", err)
		return nil
	}
	if err != nil || unsure {
		c.astray(sp.UID)
	}
	return err
}

// stray returns those of the tokens of claims whose steps have ended. unsure reports whether others may be added soon.
func (c *Scheduler) stray(tokens []string) (out []string, unsure bool) {
	own := c.Leases.Process()
	for _, token := range tokens {
		process, _, _ := strings.Cut(token, "/")
		if process != own {
			lives, known := c.Leases.Lives(process)
			unsure = unsure || !known
			if !lives && known {
				out = append(out, token)
			}
			continue
		}
		c.mu.Lock() // a step is noted before it claims
		if !c.steps[token] {
			out = append(out, token)
		}
		c.mu.Unlock()
	}
	return out, unsure
}

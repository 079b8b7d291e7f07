package lease

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/contextmem/contextmem/backend"
)

const (
	// heartbeatInterval is the interval at which a process that holds leases writes a heartbeat, and at which every process
	// reads those of others.
	heartbeatInterval = 500 * time.Millisecond
	// deadAfter is how long a process must be seen without a new heartbeat to count as dead. aliveFor is how long after its
	// last heartbeat a process can be sure that others do not count it as dead.
	deadAfter, aliveFor = 2 * time.Second, 1500 * time.Millisecond
	// maxReadGap is the longest interval between two reads. After a longer one, the silence of all processes is counted from
	// 0 again: no process can write a heartbeat while the database does not answer. Of a shorter one at most
	// heartbeatInterval counts: a slow database delays heartbeats as much as reads.
	maxReadGap = deadAfter
	// clearAfter is how long a process must be silent before its record is deleted.
	clearAfter = time.Minute
	// maxHeartbeats is the maximum number of processes whose heartbeats are read.
	maxHeartbeats = 1000
)

// alivePrefix is the prefix of the names of heartbeat records. They sort after those of
// leases.
const alivePrefix = "~alive/"

// heartbeats has the heartbeats that a process knows of. It is guarded by Keeper.mu.
type heartbeats struct {
	running   bool      // whether Run is running
	writtenAt time.Time // when this process last began a write of a heartbeat that succeeded
	readAt    time.Time // when it last read the heartbeats of others
	others    map[string]*otherProcess
}

// otherProcess is the last known heartbeat of another process.
type otherProcess struct {
	rev    int64         // revision of its last heartbeat
	silent time.Duration // how long no new heartbeat has been seen
}

// surelyAlive reports whether no other process can count this one as dead.
func (h *heartbeats) surelyAlive(now time.Time) bool { return now.Sub(h.writtenAt) < aliveFor }

// heartbeat returns the write of a heartbeat.
func (k *Keeper) heartbeat() backend.RecordWrite {
	return backend.RecordWrite{Record: backend.Record{Kind: kind, ID: alivePrefix + k.token, Data: []byte("{}")}, IfRev: -1}
}

// deleteHeartbeat deletes the heartbeat of this process, which holds no leases any more.
func (k *Keeper) deleteHeartbeat(ctx context.Context) error {
	k.mu.Lock()
	given := !k.heartbeats.writtenAt.IsZero()
	k.mu.Unlock()
	if !given {
		return nil
	}
	w := k.heartbeat()
	w.Delete = true
	err := k.reg.WriteRecords(ctx, []backend.RecordWrite{w})
	if errors.Is(err, backend.ErrNotFound) {
		return nil
	}
	return err
}

// Run writes heartbeats while this process holds leases, and reads those of other processes, until ctx ends. A process
// without heartbeats loses the leases that it took outside a call of Hold or HoldSoon. Run calls lost when it finds that
// another process is dead.
func (k *Keeper) Run(ctx context.Context, lost func()) {
	if k == nil {
		return
	}
	k.mu.Lock()
	k.heartbeats.running = true
	k.mu.Unlock()
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { // so that slow reads do not delay heartbeats
		each(ctx, func() { _ = k.writeHeartbeat(ctx) }) // if that keeps failing, the leases are lost
	})
	each(ctx, func() {
		if dead, err := k.readHeartbeats(ctx); err == nil && dead {
			lost()
		}
	})
}

// each calls f every heartbeatInterval until ctx ends.
func each(ctx context.Context, f func()) {
	t := time.NewTicker(heartbeatInterval)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		if ctx.Err() == nil { // both may have been ready
			f()
		}
	}
}

// writeHeartbeat writes a heartbeat if this process holds a lease, or keeps one that it may have lost: its work goes on.
func (k *Keeper) writeHeartbeat(ctx context.Context) error {
	now, holds := time.Now(), false
	k.mu.Lock()
	holds = k.keeping > 0
	for _, h := range k.held {
		holds = holds || h.alive && h.until.After(now)
	}
	k.mu.Unlock()
	if !holds {
		return nil
	}
	once, cancel := context.WithTimeout(ctx, deadAfter)
	defer cancel()
	if err := k.reg.WriteRecords(once, []backend.RecordWrite{k.heartbeat()}); err != nil {
		return err
	}
	k.mu.Lock()
	k.heartbeats.writtenAt = now
	k.mu.Unlock()
	return nil
}

// readHeartbeats reads the heartbeats of other processes. dead reports whether one of them has newly been silent for
// deadAfter. It deletes the records of processes that died long ago.
func (k *Keeper) readHeartbeats(ctx context.Context) (dead bool, err error) {
	once, cancel := context.WithTimeout(ctx, deadAfter)
	defer cancel()
	recs, err := k.reg.Records(once, kind, "", alivePrefix, maxHeartbeats)
	if err != nil {
		return false, err
	}
	now := time.Now()
	var old []backend.RecordWrite
	k.mu.Lock()
	passed := now.Sub(k.heartbeats.readAt)
	k.heartbeats.readAt = now
	before := k.heartbeats.others
	k.heartbeats.others = make(map[string]*otherProcess, len(recs))
	for _, r := range recs {
		token, ok := strings.CutPrefix(r.ID, alivePrefix)
		if !ok || token == k.token {
			continue
		}
		o := before[token]
		if o == nil || o.rev != r.Rev || passed > maxReadGap {
			k.heartbeats.others[token] = &otherProcess{rev: r.Rev}
			continue
		}
		k.heartbeats.others[token] = o
		was := o.silent
		o.silent += min(passed, heartbeatInterval)
		dead = dead || was < deadAfter && o.silent >= deadAfter
		if o.silent >= clearAfter {
			old = append(old, backend.RecordWrite{Record: r, Delete: true, IfRev: r.Rev})
		}
	}
	k.mu.Unlock()
	for _, w := range old {
		_ = k.reg.WriteRecords(once, []backend.RecordWrite{w}) // the next read tries again, or another process has deleted it
	}
	return dead, nil
}

// Alone reports whether no other process is known to live. It does no I/O. A process without leases is not known.
func (k *Keeper) Alone() bool {
	if k == nil {
		return true
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, o := range k.heartbeats.others {
		if o.silent < deadAfter {
			return false
		}
	}
	return true
}

// Process returns what tells this process from others: the token of its leases.
func (k *Keeper) Process() string {
	if k == nil {
		return ""
	}
	return k.token
}

// Lives reports whether another process has been heard of within deadAfter. A process without leases is not heard of, except while it keeps one that it has
// lost. known is false while this process has not listened long enough. Lives does no I/O.
func (k *Keeper) Lives(process string) (lives, known bool) {
	if k == nil {
		return false, true
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	o := k.heartbeats.others[process]
	return o != nil && o.silent < deadAfter, !k.heartbeats.readAt.IsZero()
}

// isDead reports whether the process with a token counts as dead.
func (k *Keeper) isDead(ctx context.Context, token string) (bool, error) {
	k.mu.Lock()
	o := k.heartbeats.others[token]
	silent := o != nil && o.silent >= deadAfter
	var rev int64
	if silent {
		rev = o.rev
	}
	k.mu.Unlock()
	if !silent {
		return false, nil
	}
	r, err := k.reg.Record(ctx, kind, "", alivePrefix+token) // the process may have written a heartbeat since the last read
	if errors.Is(err, backend.ErrNotFound) {
		return true, nil
	}
	return err == nil && r.Rev == rev, err
}

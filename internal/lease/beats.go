package lease

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/contextmem/contextmem/backend"
)

const (
	// beatEvery is the interval at which a process that holds leases gives a sign of life, and at which every process reads
	// those of others.
	beatEvery = 500 * time.Millisecond
	// silentFor is how long a process must be seen silent to count as gone. sureFor is how long after its last sign of life a
	// process can be sure that others do not count it as gone.
	silentFor, sureFor = 2 * time.Second, 1500 * time.Millisecond
	// longestLook is the longest interval between two reads that counts as silence. After a longer one, the silence of all
	// processes is counted from 0 again: nobody can give a sign of life while the database does not answer.
	longestLook = 2 * beatEvery
	// clearAfter is how long a process must be silent before its record is deleted.
	clearAfter = time.Minute
	// mostBeats is the maximum number of processes whose signs of life are read.
	mostBeats = 1000
)

// alivePrefix is the prefix of the names of records by which processes give signs of life. They sort after those of
// leases.
const alivePrefix = "~alive/"

// beats is what a process knows of signs of life. It is guarded by Keeper.mu.
type beats struct {
	running bool      // whether Run is running
	told    time.Time // when this process last began a write of a sign of life that succeeded
	looked  time.Time // when it last read the signs of others
	others  map[string]*other
}

// other is what is known of another process.
type other struct {
	rev    int64         // revision of its last sign of life
	silent time.Duration // how long it has been seen to give no new sign
}

// sure reports whether no other process can count this one as gone.
func (b *beats) sure(now time.Time) bool { return now.Sub(b.told) < sureFor }

// beat returns the write of a sign of life.
func (k *Keeper) beat() backend.RecordWrite {
	return backend.RecordWrite{Record: backend.Record{Kind: kind, ID: alivePrefix + k.token, Data: []byte("{}")}, IfRev: -1}
}

// still deletes the sign of life of this process, which holds no leases any more.
func (k *Keeper) still(ctx context.Context) error {
	k.mu.Lock()
	given := !k.beats.told.IsZero()
	k.mu.Unlock()
	if !given {
		return nil
	}
	w := k.beat()
	w.Delete = true
	err := k.reg.WriteRecords(ctx, []backend.RecordWrite{w})
	if errors.Is(err, backend.ErrNotFound) {
		return nil
	}
	return err
}

// Run gives signs of life while this process holds leases, and reads those of other processes, until ctx ends. A process
// without signs of life loses the leases that it took outside a call of Hold or HoldSoon. Run calls lost when it finds
// that another process is gone.
func (k *Keeper) Run(ctx context.Context, lost func()) {
	if k == nil {
		return
	}
	k.mu.Lock()
	k.beats.running = true
	k.mu.Unlock()
	t := time.NewTicker(beatEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		_ = k.show(ctx) // if that keeps failing, the leases are lost
		if gone, err := k.look(ctx); err == nil && gone {
			lost()
		}
	}
}

// show gives a sign of life if this process holds a lease.
func (k *Keeper) show(ctx context.Context) error {
	now, holds := time.Now(), false
	k.mu.Lock()
	for _, h := range k.held {
		holds = holds || h.alive && h.until.After(now)
	}
	k.mu.Unlock()
	if !holds {
		return nil
	}
	once, cancel := context.WithTimeout(ctx, silentFor)
	defer cancel()
	if err := k.reg.WriteRecords(once, []backend.RecordWrite{k.beat()}); err != nil {
		return err
	}
	k.mu.Lock()
	k.beats.told = now
	k.mu.Unlock()
	return nil
}

// look reads the signs of life of other processes. It reports whether one of them has newly been silent for silentFor. It
// deletes the records of processes that are gone.
func (k *Keeper) look(ctx context.Context) (gone bool, err error) {
	once, cancel := context.WithTimeout(ctx, silentFor)
	defer cancel()
	recs, err := k.reg.Records(once, kind, "", alivePrefix, mostBeats)
	if err != nil {
		return false, err
	}
	now := time.Now()
	var old []backend.RecordWrite
	k.mu.Lock()
	passed := now.Sub(k.beats.looked)
	k.beats.looked = now
	before := k.beats.others
	k.beats.others = make(map[string]*other, len(recs))
	for _, r := range recs {
		token, ok := strings.CutPrefix(r.ID, alivePrefix)
		if !ok || token == k.token {
			continue
		}
		o := before[token]
		if o == nil || o.rev != r.Rev || passed > longestLook {
			k.beats.others[token] = &other{rev: r.Rev}
			continue
		}
		k.beats.others[token] = o
		was := o.silent
		o.silent += passed
		gone = gone || was < silentFor && o.silent >= silentFor
		if o.silent >= clearAfter {
			old = append(old, backend.RecordWrite{Record: r, Delete: true, IfRev: r.Rev})
		}
	}
	k.mu.Unlock()
	for _, w := range old {
		_ = k.reg.WriteRecords(once, []backend.RecordWrite{w}) // the next look tries again, or another process has deleted it
	}
	return gone, nil
}

// gone reports whether the process with a token counts as gone.
func (k *Keeper) gone(ctx context.Context, token string) (bool, error) {
	k.mu.Lock()
	o := k.beats.others[token]
	silent := o != nil && o.silent >= silentFor
	var rev int64
	if silent {
		rev = o.rev
	}
	k.mu.Unlock()
	if !silent {
		return false, nil
	}
	r, err := k.reg.Record(ctx, kind, "", alivePrefix+token) // the process may have given a sign of life since the last look
	if errors.Is(err, backend.ErrNotFound) {
		return true, nil
	}
	return err == nil && r.Rev == rev, err
}

package lease

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/contextmem/contextmem/backend"
)

const (
	// beatEvery is how often a process that holds leases gives a sign of life, and looks for those of others.
	beatEvery = 500 * time.Millisecond
	// silentFor is for how long a process has to be seen silent to count as gone, and sureFor for how long after its last sign it takes itself
	// for one that is not.
	silentFor, sureFor = 2 * time.Second, 1500 * time.Millisecond
	// longestLook is the longest time between two looks that counts as silence. After a longer one the silence of all is counted anew: while the
	// database does not answer nobody can give a sign.
	longestLook = 2 * beatEvery
	// clearAfter is how long the record of one that is gone stays.
	clearAfter = time.Minute
	// mostBeats is how many processes are looked for.
	mostBeats = 1000
)

// alivePrefix begins the names of records by which processes show that they live. They come after those of leases.
const alivePrefix = "~alive/"

// beats is what is known of the signs of life of processes. It belongs to the mutex of the Keeper.
type beats struct {
	running bool      // Run is
	told    time.Time // when this process last began to give a sign that was stored
	looked  time.Time // when it last looked for others
	others  map[string]*other
}

// other is another process.
type other struct {
	rev    int64         // of its last sign
	silent time.Duration // for how long it was seen to give no other
}

// sure reports whether no other process can take this one for gone.
func (b *beats) sure(now time.Time) bool { return now.Sub(b.told) < sureFor }

// beat is the write of a sign of life.
func (k *Keeper) beat() backend.RecordWrite {
	return backend.RecordWrite{Record: backend.Record{Kind: kind, ID: alivePrefix + k.token, Data: []byte("{}")}, IfRev: -1}
}

// still takes back the sign of life of this process, which holds nothing any more.
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

// Run gives signs of life while this process holds leases, and looks for those of others, until ctx ends: leases that were only taken, and are not
// held in a call, are lost by who gives none. lost is called when another process was found to be gone.
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
		_ = k.show(ctx) // else it is lost
		if gone, err := k.look(ctx); err == nil && gone {
			lost()
		}
	}
}

// show gives a sign of life where this process holds a lease.
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

// look looks for the signs of life of others, and reports whether one has been silent for long enough by now.
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
		_ = k.reg.WriteRecords(once, []backend.RecordWrite{w}) // the next look does it, or another process has
	}
	return gone, nil
}

// gone reports whether the process with a token gives no signs of life.
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
	r, err := k.reg.Record(ctx, kind, "", alivePrefix+token) // it may have begun to hold something since
	if errors.Is(err, backend.ErrNotFound) {
		return true, nil
	}
	return err == nil && r.Rev == rev, err
}

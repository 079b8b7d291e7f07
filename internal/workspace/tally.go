package workspace

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/item"
)

// Tally holds the number of a tenant's items by state, and of errored items by error code. It leaves out zero counts.
type Tally struct {
	States map[string]int `json:"s,omitempty"`
	Errors map[string]int `json:"e,omitempty"`
}

func (t *Tally) same(o *Tally) bool {
	return sameCounts(t.States, o.States) && sameCounts(t.Errors, o.Errors)
}

func sameCounts(a, b map[string]int) bool {
	if len(a) != len(b) {
		return false
	}
	for k, n := range a {
		if b[k] != n {
			return false
		}
	}
	return true
}

const (
	kindTally    = "tally"     // kind of records with a Tally; their id is the uid of the workspace
	talliesEvery = time.Minute // interval at which tallies are stored
	tallyPage    = 1000        // records read or written in one call
)

// tallies holds the last tally of each workspace, since metrics include closed tenants.
type tallies struct {
	mu    sync.Mutex
	read  time.Time // time of the last load; other processes store tallies too
	by    map[string]Tally
	dirty map[string]bool // uids whose tally is to be stored or deleted
}

func newTallies() *tallies { return &tallies{by: map[string]Tally{}, dirty: map[string]bool{}} }

// load reads the stored tallies, at most once a minute. It does not replace tallies that are not stored yet.
func (x *tallies) load(ctx context.Context, reg backend.Registry) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.read.IsZero() && time.Since(x.read) < talliesEvery {
		return nil
	}
	by := map[string]Tally{}
	for after := ""; ; {
		page, err := reg.AllRecords(ctx, kindTally, "", after, tallyPage)
		if err != nil {
			return err
		}
		for _, r := range page {
			var t Tally
			if json.Unmarshal(r.Data, &t) == nil { // a damaged one is replaced when its tenant is opened
				by[r.ID] = t
			}
			after = r.ID
		}
		if len(page) < tallyPage {
			break
		}
	}
	for uid := range x.dirty {
		if t, ok := x.by[uid]; ok {
			by[uid] = t
		} else {
			delete(by, uid)
		}
	}
	x.by, x.read = by, time.Now()
	return nil
}

func (x *tallies) set(uid string, t Tally) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if old, ok := x.by[uid]; !ok || !old.same(&t) {
		x.by[uid], x.dirty[uid] = t, true
	}
}

// drop removes the tally of a workspace.
func (x *tallies) drop(uid string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.by, uid)
	x.dirty[uid] = true
}

// store writes changed tallies. If it fails, the next call tries again.
func (x *tallies) store(ctx context.Context, reg backend.Registry) error {
	for {
		var writes []backend.RecordWrite
		x.mu.Lock()
		for uid := range x.dirty {
			if len(writes) == tallyPage {
				break
			}
			w := backend.RecordWrite{Record: backend.Record{Kind: kindTally, ID: uid}, IfRev: -1}
			if t, ok := x.by[uid]; !ok {
				w.Delete = true
			} else if b, err := json.Marshal(t); err == nil {
				w.Data = b
			}
			writes = append(writes, w)
			delete(x.dirty, uid)
		}
		x.mu.Unlock()
		if len(writes) == 0 {
			return nil
		}
		if err := reg.WriteRecords(ctx, writes); err != nil {
			x.mu.Lock()
			for _, w := range writes {
				x.dirty[w.ID] = true
			}
			x.mu.Unlock()
			return err
		}
	}
}

// each calls f with the tally of each workspace.
func (x *tallies) each(f func(uid string, t Tally)) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for uid, t := range x.by {
		f(uid, t)
	}
}

// count counts the items of an open workspace.
func (sp *Space) count(ctx context.Context) (t Tally, err error) {
	counts, _, err := sp.Store.Backlog(ctx)
	if err != nil {
		return t, err
	}
	t.States = map[string]int{}
	for state, n := range counts {
		if n != 0 {
			t.States[string(item.StatusOf(state))] += n
		}
	}
	if k, ok := sp.Store.(backend.ErrorCounter); ok && counts[backend.Errored] > 0 {
		t.Errors, err = k.ErrorCodes(ctx)
	}
	return t, err
}

// recount counts the items of open workspaces. It waits for those that are closing, which count theirs.
func (s *Set) recount(ctx context.Context) error {
	var open []string
	s.spaces.Each(func(uid string, _ *Space) { open = append(open, uid) })
	for _, uid := range open {
		sp, ok := s.AcquireOpen(uid)
		if !ok {
			continue
		}
		s.keepUses(ctx, sp)
		t, err := sp.count(ctx)
		s.ReleaseUID(uid)
		if err != nil {
			return err
		}
		if _, gone := s.doomed.Load(uid); !gone {
			s.tallies.set(uid, t)
		}
	}
	return s.spaces.AwaitClosing(ctx)
}

// keepUses stores the uses of a workspace that are not stored yet.
func (s *Set) keepUses(ctx context.Context, sp *Space) {
	if _, gone := s.doomed.Load(sp.UID); gone {
		return
	}
	if err := sp.uses.Flush(ctx); err != nil && ctx.Err() == nil {
		s.Logger.Warn("how much memories were used could not be stored yet", "uid", sp.UID, "err", err)
	}
}

// KeepTallies stores the item counts and the uses of tenants every minute, until ctx ends.
func (s *Set) KeepTallies(ctx context.Context) {
	t := time.NewTicker(talliesEvery)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			if s.recount(ctx) == nil {
				_ = s.tallies.store(ctx, s.registry) // the next call tries again
			}
		case <-ctx.Done():
			return
		}
	}
}

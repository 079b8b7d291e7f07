package workspace

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/item"
)

// Tally is how many items a tenant holds, by state, and of those errored by the code of the error. Zero counts are left out.
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
	kindTally    = "tally"     // of records: a Tally, by the uid of the workspace
	talliesEvery = time.Minute // how old a count may be that is not stored
	tallyPage    = 1000        // records read or written at once
)

// tallies are those of all workspaces, as they were when each was counted last: metrics are of tenants that are closed too.
type tallies struct {
	mu    sync.Mutex
	read  time.Time // when what is stored was read; other processes may share it
	by    map[string]Tally
	dirty map[string]bool // not stored, or to be deleted
}

func newTallies() *tallies { return &tallies{by: map[string]Tally{}, dirty: map[string]bool{}} }

// load reads what is stored, once a minute at most. What is not stored yet stays as it is.
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
			if json.Unmarshal(r.Data, &t) == nil { // one that is damaged is counted when its tenant is opened
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

// drop forgets a workspace.
func (x *tallies) drop(uid string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.by, uid)
	x.dirty[uid] = true
}

// store writes what changed. What can't be written is tried again with the next.
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

// each calls f with what is known of each workspace.
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

// recount counts what open workspaces hold.
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
	return nil
}

// keepUses stores how much a workspace was used since that was stored last.
func (s *Set) keepUses(ctx context.Context, sp *Space) {
	if _, gone := s.doomed.Load(sp.UID); gone {
		return
	}
	if err := sp.uses.Flush(ctx); err != nil && ctx.Err() == nil {
		s.Logger.Warn("how much memories were used could not be stored yet", "uid", sp.UID, "err", err)
	}
}

// KeepTallies stores every minute, until ctx ends, how many items the tenants hold, and how much they were used.
func (s *Set) KeepTallies(ctx context.Context) {
	t := time.NewTicker(talliesEvery)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			if s.recount(ctx) == nil {
				_ = s.tallies.store(ctx, s.registry) // tried again with the next ones
			}
		case <-ctx.Done():
			return
		}
	}
}

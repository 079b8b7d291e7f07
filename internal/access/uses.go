package access

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/cas"
)

// kindKeyUse is the kind of records that hold when and how often a key was used.
const kindKeyUse = "keyuse"

// storeUsesAfter is the maximum age of a use that is not stored yet.
const storeUsesAfter = time.Minute

// use says when a key was last used and how often.
type use struct {
	Last  time.Time
	Count int64
}

// uses holds the uses since the last store, by key.
type uses struct {
	mu  sync.Mutex
	by  map[string]*use
	org map[string]string
}

func newUses() *uses { return &uses{by: map[string]*use{}, org: map[string]string{}} }

func (u *uses) note(k *Key) {
	now := time.Now().UTC()
	u.mu.Lock()
	defer u.mu.Unlock()
	x := u.by[k.ID]
	if x == nil {
		x = new(use)
		u.by[k.ID], u.org[k.ID] = x, k.Org
	}
	x.Last = now
	x.Count++
}

func (u *uses) of(id string) use {
	u.mu.Lock()
	defer u.mu.Unlock()
	if x := u.by[id]; x != nil {
		return *x
	}
	return use{}
}

// take returns the collected uses and starts an empty collection.
func (u *uses) take() (by map[string]*use, org map[string]string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	by, org = u.by, u.org
	u.by, u.org = map[string]*use{}, map[string]string{}
	return by, org
}

// back adds uses that could not be stored.
func (u *uses) back(by map[string]*use, org map[string]string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for id, old := range by {
		if x := u.by[id]; x != nil {
			x.Count += old.Count
			continue
		}
		u.by[id], u.org[id] = old, org[id]
	}
}

// Run stores uses every minute until ctx ends, and the remaining uses then.
func (k *Keys) Run(ctx context.Context) {
	t := time.NewTicker(storeUsesAfter)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			_ = k.storeUses(ctx) // the next call tries again
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
			_ = k.storeUses(last)
			cancel()
			return
		}
	}
}

// storeUses adds the collected uses to the stored ones. If a record changes meanwhile, for example because its key is revoked, the next call tries again.
func (k *Keys) storeUses(ctx context.Context) error {
	by, org := k.uses.take()
	if len(by) == 0 {
		return nil
	}
	var writes []backend.RecordWrite
	for id, x := range by {
		if _, err := k.reg.Record(ctx, kindOrgKey, org[id], id); errors.Is(err, backend.ErrNotFound) {
			continue // the key was revoked meanwhile
		}
		old, rev, err := k.storedUse(ctx, org[id], id)
		if err != nil {
			k.uses.back(by, org)
			return err
		}
		old.Count += x.Count
		old.Last = x.Last
		b, err := json.Marshal(old)
		if err != nil {
			return err
		}
		writes = append(writes, backend.RecordWrite{Record: backend.Record{Kind: kindKeyUse, Org: org[id], ID: id, Data: b}, IfRev: rev})
	}
	if len(writes) == 0 {
		return nil
	}
	err := k.reg.WriteRecords(ctx, writes)
	if err != nil {
		k.uses.back(by, org)
	}
	return err
}

func (k *Keys) storedUse(ctx context.Context, org, id string) (x use, rev int64, err error) {
	r, err := k.reg.Record(ctx, kindKeyUse, org, id)
	if errors.Is(err, backend.ErrNotFound) {
		return x, 0, nil
	}
	if err == nil && json.Unmarshal(r.Data, &x) != nil {
		err = backend.ErrCorrupt
	}
	return x, r.Rev, err
}

// addUse fills in the uses of a key.
func (k *Keys) addUse(ctx context.Context, key *Key) error {
	x, _, err := k.storedUse(ctx, key.Org, key.ID)
	if err != nil {
		return err
	}
	now := k.uses.of(key.ID)
	key.Uses, key.LastUsedAt = x.Count+now.Count, x.Last
	if now.Last.After(key.LastUsedAt) {
		key.LastUsedAt = now.Last
	}
	return nil
}

// Expire sets when a key expires; the zero time means never. It returns fault.ErrNotFound if the organisation has no key with the id.
func (k *Keys) Expire(ctx context.Context, op, org, id string, at time.Time) (key Key, err error) {
	err = cas.Retry(ctx, func() error {
		listed, err := k.reg.Record(ctx, kindOrgKey, org, id)
		if err != nil {
			return err
		}
		own, err := k.reg.Record(ctx, kindKey, "", id)
		if err != nil {
			return err
		}
		s, err := decodeKey(own)
		if err != nil {
			return err
		}
		s.ExpiresAt = at
		if own.Data, err = json.Marshal(s); err != nil {
			return err
		}
		listed.Data = own.Data
		key = s.Key
		err = k.reg.WriteRecords(ctx, []backend.RecordWrite{{Record: own, IfRev: own.Rev}, {Record: listed, IfRev: listed.Rev}})
		k.cache.Drop(id)
		return err
	})
	if err == nil {
		err = k.addUse(ctx, &key)
	}
	return key, fault.Wrap(op, fault.Key, id, err)
}

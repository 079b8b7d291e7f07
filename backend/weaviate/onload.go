package weaviate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/weaviate/weaviate/entities/models"

	"github.com/contextmem/contextmem/backend"
)

// openAway stores that this process uses the workspace. away reports whether the tenant is, or may be, offloaded. The index then
// has the position that it had when it was offloaded, and background maintenance brings the tenant back.
func (x *index) openAway(ctx context.Context) (away bool, err error) {
	o := x.x.offloading
	if !o.marks {
		return false, nil
	}
	records, err := x.renewUse(ctx)
	if err != nil {
		return false, err
	}
	_, away, err = o.present(ctx, x.uid)
	if err != nil || !away && len(records) == 0 {
		return false, err
	}
	if !away && onlyLeftovers(records) {
		return false, nil
	}
	var last offloadRecord
	for _, r := range records {
		if !r.Claim && r.Number > last.Number {
			last = r
		}
	}
	x.statesAtOpen = last.States
	x.resumeFrom(processStates{all: last.States, generation: last.Generation})
	x.presence.leave()
	return true, nil
}

// onlyLeftovers reports whether no record is of a tenant that may be offloaded.
func onlyLeftovers(records map[string]offloadRecord) bool {
	for _, r := range records {
		if !r.Leftover {
			return false
		}
	}
	return true
}

// bringBack brings the tenant back, until it is back or ctx ends. A tenant that does not come back, or not completely, is built anew.
func (x *index) bringBack(ctx context.Context) {
	began, o := time.Now(), x.x.offloading
	log := func(level slog.Level, text string, err error) {
		o.x.cluster.log.LogAttrs(ctx, level, text, slog.String("uid", x.uid), slog.Duration("after", time.Since(began)), slog.Any("err", err))
	}
	r := returning{o: o, uid: x.uid, since: began, told: x.presence.told.Load(), begun: map[uint64]time.Time{}}
	for pause := firstPause; ctx.Err() == nil; pause = min(2*pause, longestPause) {
		done, err := r.step(ctx)
		if err == nil && done {
			err = x.resumeBack(ctx)
			if err == nil {
				log(slog.LevelInfo, "an offloaded tenant is back", nil)
				return
			}
		}
		if errors.Is(err, errIncomplete) || time.Since(r.since) > o.giveUp {
			log(slog.LevelWarn, "an offloaded tenant did not come back as it was: its index is built anew", err)
			if err = x.buildAnew(ctx, r.records); err == nil {
				return
			}
			r.since = time.Now()
		}
		if err != nil {
			log(slog.LevelDebug, "an offloaded tenant cannot be brought back now", err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}

// returning is a tenant on its way back.
type returning struct {
	o       *offloading
	uid     string
	records map[string]offloadRecord // as last read
	was     string                   // statuses of the tenant, as last read
	since   time.Time                // when they last changed
	told    bool                     // whether there have been records
	away    bool                     // whether the tenant was seen off the nodes
	begun   map[uint64]time.Time     // by number: when a record of a tenant that is not offloaded yet was first seen
}

// errIncomplete is returned if a tenant has other objects than when it was offloaded.
var errIncomplete = errors.New("weaviate: the tenant has other objects than when it was offloaded")

// step is one step of bringing a tenant back. done reports whether it is back.
func (r *returning) step(ctx context.Context) (done bool, err error) {
	o := r.o
	if r.records, err = o.records(ctx, r.uid); err != nil {
		return false, err
	}
	maps.DeleteFunc(r.records, func(_ string, rec offloadRecord) bool { return rec.Leftover })
	r.told = r.told || len(r.records) > 0
	expected := r.expected()
	collections, away, err := o.present(ctx, r.uid)
	if err != nil {
		return false, err
	}
	r.away = r.away || away
	for c := range expected {
		if !slices.Contains(collections, c) {
			return false, errIncomplete
		}
	}
	ready, was := true, ""
	for _, c := range collections {
		s, err := o.x.schema.status(ctx, c, r.uid)
		if err != nil {
			return false, err
		}
		was += s + " "
		switch s {
		case models.TenantActivityStatusHOT:
		case models.TenantActivityStatusCOLD, models.TenantActivityStatusFROZEN:
			ready = false
			if err := o.set(ctx, c, r.uid, models.TenantActivityStatusACTIVE, time.Time{}); err != nil {
				return false, err
			}
		default: // on its way. A tenant that is activated while it is being offloaded loses its content.
			ready = false
		}
	}
	if was != r.was {
		r.was, r.since = was, time.Now()
	}
	if !ready || r.mayBeOffloadedYet() {
		return false, nil
	}
	if len(r.records) == 0 {
		if !r.told { // nobody knows what it had
			return false, errIncomplete
		}
		return true, nil // another process has checked it, or has given up before it offloaded it
	}
	if expected == nil { // there are only claims
		if r.away {
			return false, errIncomplete
		}
		return true, o.dropRecords(ctx, r.uid, r.records)
	}
	return r.check(ctx, collections, expected)
}

// checkFor is how long after a tenant is back its nodes may report different numbers of objects.
const checkFor = 5 * time.Second

// check compares the content of a tenant that is back with what it was, and deletes the records if it is the same.
func (r *returning) check(ctx context.Context, collections []string, expected map[string]int) (done bool, err error) {
	got, err := r.o.counts(ctx, r.uid, collections)
	if errors.Is(err, errNotAlike) || errors.Is(err, errNotIndexed) || err == nil && !maps.Equal(got, expected) {
		if time.Since(r.since) < checkFor {
			return false, nil
		}
		if err == nil {
			err = fmt.Errorf("weaviate: %v instead of %v", got, expected)
		}
		return false, fmt.Errorf("%w: %w", errIncomplete, err)
	}
	if err != nil {
		return false, err
	}
	return true, r.o.dropRecords(ctx, r.uid, r.records)
}

// expected returns the number of objects in each collection, by the newest record. It returns nil if there is none but claims.
func (r *returning) expected() map[string]int {
	var last offloadRecord
	for _, rec := range r.records {
		if !rec.Claim && rec.Number > last.Number {
			last = rec
		}
	}
	return last.Counts
}

// mayBeOffloadedYet reports whether the request of a process that was about to offload the tenant may still arrive.
func (r *returning) mayBeOffloadedYet() bool {
	for _, rec := range r.records {
		if rec.Done {
			continue
		}
		if r.begun[rec.Number].IsZero() {
			r.begun[rec.Number] = time.Now()
		}
		if time.Since(r.begun[rec.Number]) < r.o.grace {
			return true
		}
	}
	return false
}

// resumeBack continues with a tenant that is back.
func (x *index) resumeBack(ctx context.Context) error {
	if err := x.x.schema.tenant(ctx, x.x.schema.chunks(), x.uid); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	found, err := x.states(ctx)
	if err != nil {
		return err
	}
	_ = x.checkGeneration(found) // an error means that the position was reset to 0
	x.resumeFrom(found)
	x.stats.clear()
	x.presence.come()
	return nil
}

// buildAnew replaces the tenant by an empty one, so that all changes are applied again. If another process has done so already, or has
// found the tenant complete, nothing is replaced.
func (x *index) buildAnew(ctx context.Context, known map[string]offloadRecord) error {
	o := x.x.offloading
	if len(known) > 0 {
		records, err := o.records(ctx, x.uid)
		if err != nil {
			return err
		}
		if onlyLeftovers(records) {
			return x.resumeBack(ctx)
		}
		known = records
	}
	left := o.purge(ctx, x.uid)
	if err := x.x.schema.dropTenant(ctx, x.uid); err != nil {
		return err
	}
	if err := x.x.schema.tenant(ctx, x.x.schema.chunks(), x.uid); err != nil {
		return err
	}
	x.mu.Lock()
	mark := state{Process: generation, Epoch: rand.Uint64(), Version: x.generation.Version + 1}
	err := x.x.batches.put(ctx, o.majority(), []stored{mark.object(x.x.schema.chunks(), x.uid, 0)}) // tells others that the content is gone
	x.mu.Unlock()
	if err != nil {
		return err
	}
	if left != nil {
		o.x.cluster.log.LogAttrs(ctx, slog.LevelWarn, "the object store may keep files of a tenant that was built anew: it is not offloaded any more", slog.String("uid", x.uid), slog.Any("err", left))
		if err := o.putRecord(ctx, x.uid, &offloadRecord{Process: x.x.process, Number: uint64(time.Now().UnixNano()), Leftover: true}); err != nil {
			return err
		}
		delete(known, x.x.process)
	}
	if err := o.dropRecords(ctx, x.uid, known); err != nil {
		return err
	}
	return x.resumeBack(ctx)
}

// purge deletes the files of a workspace's tenants from the object store. Weaviate deletes them with the tenant only if that is offloaded
// then, and does not say whether it could.
func (o *offloading) purge(ctx context.Context, uid string) error {
	ctx, cancel := context.WithTimeout(ctx, min(o.giveUp, purgeTimeout))
	defer cancel()
	if len(o.x.cluster.nodes) > o.x.schema.replicas {
		return fmt.Errorf("weaviate: nodes without a replica may have had one: %w", backend.ErrUnavailable)
	}
	collections, _, err := o.present(ctx, uid)
	if err != nil {
		return err
	}
	for _, c := range collections {
		for pause := firstPause; ; pause = min(2*pause, longestPause) {
			s, err := o.x.schema.status(ctx, c, uid)
			if err == nil && s == models.TenantActivityStatusFROZEN {
				break
			}
			switch {
			case err != nil:
			case s == models.TenantActivityStatusCOLD || s == unfreezing: // for the latter this does nothing while nodes copy the files
				err = o.set(ctx, c, uid, models.TenantActivityStatusACTIVE, time.Time{})
			case s == models.TenantActivityStatusHOT:
				err = o.set(ctx, c, uid, models.TenantActivityStatusOFFLOADED, time.Time{})
			}
			if err != nil {
				return err
			}
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return nil
}

// freezing and unfreezing are the statuses of a tenant whose files are being copied to the object store, or back.
const freezing, unfreezing = "FREEZING", "UNFREEZING"

// purgeTimeout is the time limit of purge.
const purgeTimeout = 30 * time.Second

// remove deletes the tenants of a workspace, on the nodes and in the object store.
func (o *offloading) remove(ctx context.Context, uid string) error {
	if !o.marks {
		return o.x.schema.dropTenant(ctx, uid)
	}
	if err := o.markUsed(ctx, uid); err != nil { // no process begins to offload it
		return err
	}
	_, away, err := o.present(ctx, uid)
	if err != nil {
		return err
	}
	records, err := o.records(ctx, uid)
	if err != nil {
		return err
	}
	if away || len(records) > 0 {
		if err := o.purge(ctx, uid); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			o.x.cluster.log.LogAttrs(ctx, slog.LevelWarn, "the object store may keep files of a deleted tenant", slog.String("uid", uid), slog.Any("err", err))
		}
	}
	if err := o.x.schema.dropTenant(ctx, uid); err != nil {
		return err
	}
	return o.forget(ctx, uid)
}

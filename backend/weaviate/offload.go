package weaviate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/weaviate/weaviate/entities/models"

	"github.com/contextmem/contextmem/backend"
)

// offloading moves the tenants of workspaces that no process uses from the nodes to an object store. Weaviate's module
// offload-s3 copies the files of each replica there.
//
// A cluster has no locks, and a tenant that is used while it is being offloaded loses its content. So a process that opens a
// workspace first stores that it uses it, and then reads whether any process offloads it. A process that offloads a workspace
// first stores that it does, and then reads whether it was used. Both are written to and read from a majority, so at least one
// of the two sees the other: the one that offloads gives up, the one that opens waits; see index.bringBack.
//
// Of two processes that are about to offload the same workspace one gives up, by the same means; see claim.
//
// What a process stores before it offloads a tenant also says how many objects every replica has. A tenant that comes back with
// other numbers is built anew from the Store.
type offloading struct {
	x      *Indexers
	after  time.Duration // 0: this process offloads nothing
	marks  bool          // whether uses are stored: a process of this deployment offloads, or has offloaded
	giveUp time.Duration // see the constant giveUpOffload
	grace  time.Duration // see the constant offloadGrace

	end      context.CancelFunc
	sweeping sync.WaitGroup
}

// ErrNoOffload is returned by Open if Options.OffloadAfter is set and a node of the cluster lacks the module offload-s3.
var ErrNoOffload = errors.New("needs Weaviate's module offload-s3 on every node: ENABLE_MODULES=offload-s3, with OFFLOAD_S3_BUCKET and the access to it")

const (
	// offloadSendWithin is how long after a process has stored that it offloads a tenant it may send the request. offloadGrace
	// is how long a process that opens the workspace waits for such a request. The difference allows for slow connections.
	offloadSendWithin, offloadGrace = 5 * time.Second, 30 * time.Second
	// claimWait is how long a process waits for another one to give up. A claim that is older than claimOld is of a process
	// that has ended.
	claimWait, claimOld = 3 * time.Second, 10 * time.Minute
	// giveUpOffload is how long a tenant may take to be offloaded, or to come back without any progress. After that it is
	// built anew. It is more than the default of Weaviate's OFFLOAD_TIMEOUT.
	giveUpOffload = 3 * time.Minute
	// offloadBatch is the maximum number of tenants that are looked at in one sweep.
	offloadBatch = 100
	// longestSweep is the maximum interval of sweeps, longestRenewal that at which open workspaces are marked as used.
	longestSweep, longestRenewal = time.Minute, 10 * time.Minute
)

// Kinds of objects in the collection of uses, by propSpace.
const (
	kindUsed      = "used"    // when a workspace was last used
	kindOffloaded = "away"    // same, of a workspace that is offloaded
	kindOffload   = "offload" // an offloadRecord
)

// usesTenant is the only tenant of the collection of uses.
const usesTenant = "all"

// offloadRecord is what a process stores before it offloads the tenant of a workspace.
type offloadRecord struct {
	Process    string         `json:"p"`
	Number     uint64         `json:"n"`           // differs between attempts
	Claim      bool           `json:"k,omitempty"` // whether the process has not asked for anything yet; Counts is nil then
	Done       bool           `json:"d"`           // whether no request of the process can arrive any more
	Leftover   bool           `json:"l,omitempty"` // whether the object store may hold files of an attempt that failed: the tenant is not offloaded again
	States     []state        `json:"s,omitempty"` // of all processes
	Generation state          `json:"g"`
	Counts     map[string]int `json:"c,omitempty"` // by collection: number of objects of each replica
}

// openOffloading checks the option and prepares the collection of uses.
func openOffloading(ctx context.Context, x *Indexers, after time.Duration) (*offloading, error) {
	o := &offloading{x: x, after: after, giveUp: giveUpOffload, grace: offloadGrace}
	if after > 0 {
		if err := x.schema.tenant(ctx, x.schema.uses(), usesTenant); err != nil {
			return nil, err
		}
		for _, n := range x.cluster.nodes {
			if err := o.checkModule(ctx, n); err != nil {
				return nil, fmt.Errorf("weaviate: OffloadAfter: node %s: %w", n.name, err)
			}
		}
	}
	o.marks = x.schema.has(x.schema.uses())
	return o, nil
}

// checkModule checks that a node has the module and can use its bucket. Nodes do not list the module. So it asks for a tenant that does
// not exist to be offloaded, which a node refuses after it has checked both.
func (o *offloading) checkModule(ctx context.Context, n *node) error {
	var answer string
	t := models.Tenant{Name: "none", ActivityStatus: models.TenantActivityStatusOFFLOADED}
	err := o.x.cluster.call(ctx, "look for the module offload-s3", route{only: n}, func(ctx context.Context, n *node) error {
		err := n.Schema().TenantsUpdater().WithClassName(o.x.schema.uses()).WithTenants(t).Do(ctx)
		if statusOf(err) >= http.StatusUnprocessableEntity {
			answer = err.Error()
			return nil
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case strings.Contains(answer, "module is not enabled"):
		return ErrNoOffload
	case !strings.Contains(answer, "not found"):
		return errors.New("its module offload-s3 cannot use the bucket")
	}
	return nil
}

// start starts to offload tenants at intervals.
func (o *offloading) start() {
	ctx, end := context.WithCancel(context.Background())
	o.end = end
	if o.after == 0 {
		return
	}
	o.sweeping.Go(func() {
		tick := time.NewTicker(min(o.after/4+1, longestSweep))
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if err := o.sweep(ctx); err != nil && ctx.Err() == nil {
				o.x.cluster.log.LogAttrs(ctx, slog.LevelWarn, "tenants of Weaviate cannot be offloaded now", slog.Any("err", err))
			}
		}
	})
}

// stop stops what start has started and waits for it.
func (o *offloading) stop() {
	o.end()
	o.sweeping.Wait()
}

// renewal is the least interval at which open workspaces are marked as used; see maintenanceInterval.
func (o *offloading) renewal() time.Duration {
	if o.after == 0 {
		return time.Minute // others offload
	}
	return min(o.after/4, longestRenewal)
}

// majority is the target of writes to the collection of uses.
func (o *offloading) majority() target { return target{level: levelQuorum} }

// use is what the collection of uses says about the last use of a workspace.
type use struct {
	uid, kind, at string // at: the time in milliseconds, with leading zeros
}

func useTime(t time.Time) string { return fmt.Sprintf("%020d", t.UnixMilli()) }

// mark stores a use. Later marks of the same workspace replace it.
func (o *offloading) mark(ctx context.Context, u use) error {
	obj := newObject(o.x.schema.uses(), usesTenant, kindUsed, u.uid)
	obj.Properties = map[string]any{propSpace: u.kind, propSub: u.uid, propChunk: u.at}
	return o.x.batches.put(ctx, o.majority(), []stored{{obj, objectBytes}})
}

// markUsed stores that this process uses a workspace now.
func (o *offloading) markUsed(ctx context.Context, uid string) error {
	return o.mark(ctx, use{uid, kindUsed, useTime(time.Now())})
}

// read reads objects of the collection of uses from so many nodes that one has every write of a majority.
func (o *offloading) read(ctx context.Context, w where, limit int) (out []object, err error) {
	a := searchRequest{collection: o.x.schema.uses(), tenant: usesTenant, where: w, limit: limit, fields: propSpace + " " + propSub + " " + propChunk + " " + propBag}
	var answers [][]object
	c, at := o.x.cluster, a.onNode()
	err = c.until(ctx, "read uses", route{}, func() (bool, error) {
		answers, err = askNodes(ctx, c, route{timeout: searchTimeout}, o.x.schema.readQuorum(), at)
		return false, err
	})
	return slices.Concat(answers...), err
}

// lastUse returns the latest use of a workspace. Its uid is empty if there is none.
func (o *offloading) lastUse(ctx context.Context, uid string) (out use, err error) {
	found, err := o.read(ctx, allOf(equal(propSub, uid), anyOf(propSpace, []string{kindUsed, kindOffloaded})), maxResults)
	for _, f := range found {
		if u := f.use(); u.at > out.at {
			out = u
		}
	}
	return out, err
}

func (o object) use() use { return use{o.text(propSub), o.text(propSpace), o.text(propChunk)} }

// records returns the records of all processes about a workspace, by process.
func (o *offloading) records(ctx context.Context, uid string) (map[string]offloadRecord, error) {
	found, err := o.read(ctx, allOf(equal(propSub, uid), equal(propSpace, kindOffload)), maxResults)
	if err != nil {
		return nil, err
	}
	out := map[string]offloadRecord{}
	for _, f := range found {
		var r offloadRecord
		if json.Unmarshal([]byte(f.text(propBag)), &r) != nil {
			return nil, fmt.Errorf("weaviate: a record of offloading cannot be read: %w", backend.ErrCorrupt)
		}
		if old, ok := out[r.Process]; !ok || r.Number > old.Number || r.Number == old.Number && (r.Done || old.Claim) {
			out[r.Process] = r
		}
	}
	return out, nil
}

// putRecord stores a record of this process about a workspace.
func (o *offloading) putRecord(ctx context.Context, uid string, r *offloadRecord) error {
	text, _ := json.Marshal(r) // never fails
	obj := newObject(o.x.schema.uses(), usesTenant, kindOffload, uid+"/"+r.Process)
	obj.Properties = map[string]any{propSpace: kindOffload, propSub: uid, propBag: string(text)}
	return o.x.batches.put(ctx, o.majority(), []stored{{obj, len(text) + objectBytes}})
}

// dropRecords deletes records about a workspace.
func (o *offloading) dropRecords(ctx context.Context, uid string, all map[string]offloadRecord) error {
	for _, process := range slices.Sorted(maps.Keys(all)) {
		if err := o.x.batches.removeOne(ctx, o.majority(), o.x.schema.uses(), usesTenant, uuidOf(kindOffload, uid+"/"+process)); err != nil {
			return err
		}
	}
	return nil
}

// forget deletes what is stored about the uses of a workspace.
func (o *offloading) forget(ctx context.Context, uid string) error {
	records, err := o.records(ctx, uid)
	if err != nil {
		return err
	}
	if err := o.dropRecords(ctx, uid, records); err != nil {
		return err
	}
	return o.x.batches.removeOne(ctx, o.majority(), o.x.schema.uses(), usesTenant, uuidOf(kindUsed, uid))
}

package move

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/contextmem/contextmem/backend"
)

// Config configures a move.
type Config struct {
	From, To Side
	DryRun   bool
	Workers  int                         // workspaces copied at once; 0: 4
	Progress func(Progress)              // nil: no reports; calls do not overlap
	Carry    func(context.Context) error // copies the data kept outside the stores while writes are frozen; nil: there is none
}

// Progress reports the progress of a move.
type Progress struct {
	Pass        int // from 1
	Frozen      bool
	Tenants, Of int // of this pass
	Rows, Bytes int64
}

// Report is the result of a move.
type Report struct {
	Tenants int           `json:"tenants"`
	Rows    int64         `json:"rows"`  // written, in all passes
	Bytes   int64         `json:"bytes"` // of the written rows
	Passes  int           `json:"passes"`
	Stopped time.Duration `json:"stopped"` // how long writes were frozen
	Tables  []Count       `json:"tables"`
	Already bool          `json:"already,omitempty"` // an earlier run had completed the move
}

// Count is the number of rows of a table, equal on both sides.
type Count struct {
	Table    string `json:"table"`
	Rows     int64  `json:"rows"`
	Checksum string `json:"checksum"` // of all rows, independent of their order
}

// Errors of Run.
var (
	ErrTaken = errors.New("the target is not empty")
	ErrOther = errors.New("a move between other deployments has begun")
)

const (
	// Passes repeat without freezing writes until one is short, or is not at least a quarter shorter than the one before. The last
	// pass freezes writes.
	short     = 500 * time.Millisecond
	maxPasses = 12
)

// Run copies the deployment and switches to the target. An interrupted run can be repeated.
func Run(ctx context.Context, c Config) (*Report, error) {
	r, err := newMover(c).run(ctx)
	if err != nil {
		return nil, fmt.Errorf("move from %s to %s: %w", c.From.Name(), c.To.Name(), err)
	}
	return r, nil
}

// Copy copies the content of From to To, which must be empty, and sets the state of neither. During the copy From must not
// change, and nothing else may write to To.
func Copy(ctx context.Context, c Config) (*Report, error) {
	m := newMover(c)
	err := m.empty(ctx)
	if err == nil {
		_, err = m.pass(ctx)
	}
	if err == nil {
		err = m.wake(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("copy %s to %s: %w", c.From.Name(), c.To.Name(), err)
	}
	return m.report(), nil
}

func newMover(c Config) *mover {
	m := &mover{Config: c, stamps: make(map[string]int64), totals: make(map[string]map[string]sums), pending: make(map[string]bool)}
	if m.Workers == 0 {
		m.Workers = 4
	}
	return m
}

type mover struct {
	Config
	mu       sync.Mutex
	progress Progress
	stamps   map[string]int64           // of the copied workspaces, taken before they were read
	totals   map[string]map[string]sums // by workspace and table
	pending  map[string]bool            // workspaces with unfinished work
	resumed  bool
}

func (m *mover) run(ctx context.Context) (*Report, error) {
	from, err := m.From.State(ctx)
	if err != nil {
		return nil, err
	}
	to, err := m.To.State(ctx)
	if err != nil {
		return nil, err
	}
	switch {
	case from.Name == Filling:
		return nil, fmt.Errorf("what is to be moved is the target of a move that has not ended: %w", ErrOther)
	case from.Name == Moved && from.Peer != m.To.Name(), to.Name == Filling && to.Peer != m.From.Name(), to.Name == Moved && to.Peer != m.From.Name():
		return nil, ErrOther
	case from.Name == Moved && to.Name == Open:
		return &Report{Already: true}, nil
	case to.Name == Open:
		if err := m.empty(ctx); err != nil {
			return nil, err
		}
	}
	m.resumed = to.Name == Filling
	if m.DryRun {
		return m.dry(ctx)
	}
	if err := m.To.SetState(ctx, State{Filling, m.From.Name()}); err != nil {
		return nil, err
	}
	for last := time.Duration(math.MaxInt64); ; {
		began := time.Now()
		n, err := m.pass(ctx)
		if err != nil {
			return nil, err
		}
		took := time.Since(began)
		if n == 0 || took < short || took > last/4*3 || m.progress.Pass >= maxPasses {
			break
		}
		last = took
	}
	start := time.Now()
	thaw, err := m.From.Freeze(ctx)
	if err != nil {
		return nil, err
	}
	defer thaw()
	m.progress.Frozen = true
	if err := m.finish(ctx, from); err != nil {
		return nil, err
	}
	r := m.report()
	r.Stopped = time.Since(start)
	return r, nil
}

// finish copies the remaining changes and switches. The source is marked before the target. If the process ends between the two
// marks, neither side is in use, and another run completes the move.
func (m *mover) finish(ctx context.Context, from State) error {
	if _, err := m.pass(ctx); err != nil {
		return err
	}
	if err := m.removeOthers(ctx); err != nil {
		return err
	}
	if err := m.wake(ctx); err != nil {
		return err
	}
	if m.Carry != nil {
		if err := m.Carry(ctx); err != nil {
			return err
		}
	}
	if from.Name != Moved {
		if err := m.From.SetState(ctx, State{Moved, m.To.Name()}); err != nil {
			return err
		}
	}
	return m.To.SetState(context.WithoutCancel(ctx), State{})
}

// empty ensures that the move overwrites no data of another deployment.
func (m *mover) empty(ctx context.Context) error {
	uids, err := m.To.Workspaces(ctx)
	if err != nil {
		return err
	}
	if len(uids) > 0 {
		return ErrTaken
	}
	return m.To.Read(ctx, "", func(v View) error {
		for row, err := range v.Each(ctx, Tenants) {
			if err != nil || row != nil {
				return errors.Join(ErrTaken, err)
			}
		}
		return nil
	})
}

// tenants lists the workspaces of the source that belong to a tenant that is not being removed.
func (m *mover) tenants(ctx context.Context) (uids []string, err error) {
	state := Tenants.At("state")
	err = m.From.Read(ctx, "", func(v View) error {
		uids = nil
		for row, err := range v.Each(ctx, Tenants) {
			if err != nil {
				return err
			}
			if string(row[state].([]byte)) != string(backend.TenantDeleting) {
				uids = append(uids, string(row[0].([]byte)))
			}
		}
		return nil
	})
	return uids, err
}

// pass copies the registry and each workspace changed since its last copy. It returns the number of workspaces that changed
// during the pass.
func (m *mover) pass(ctx context.Context) (changed int, err error) {
	before, err := m.From.Stamps(ctx)
	if err != nil {
		return 0, err
	}
	uids, err := m.tenants(ctx)
	if err != nil {
		return 0, err
	}
	all := len(uids)
	uids = slices.DeleteFunc(uids, func(uid string) bool {
		stamp, copied := m.stamps[uid]
		return copied && stamp == before[uid]
	})
	m.show(func(p *Progress) { p.Pass++; p.Tenants, p.Of = all-len(uids), all })
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(m.Workers)
	for _, uid := range append([]string{""}, uids...) {
		g.Go(func() error {
			if err := m.copy(gctx, uid); err != nil {
				if uid == "" {
					return fmt.Errorf("registry: %w", err)
				}
				return fmt.Errorf("workspace %s: %w", uid, err)
			}
			m.mu.Lock()
			m.stamps[uid] = before[uid]
			m.mu.Unlock()
			if uid != "" {
				m.show(func(p *Progress) { p.Tenants++ })
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return 0, err
	}
	after, err := m.From.Stamps(ctx)
	if err != nil {
		return 0, err
	}
	for uid, stamp := range after {
		if stamp != before[uid] {
			changed++
		}
	}
	return changed, nil
}

func (m *mover) copy(ctx context.Context, uid string) error {
	m.mu.Lock()
	_, again := m.stamps[uid]
	m.mu.Unlock()
	to, err := m.To.Write(ctx, uid)
	if err != nil {
		return err
	}
	var c *copier
	err = m.From.Read(ctx, uid, func(from View) error {
		c = &copier{tables: Workspace, from: from, to: to, check: m.resumed && !again}
		if uid == "" {
			c.tables, c.from, c.to = Registry, unleased{from}, unleasedPlace{to}
		}
		c.done = func(rows, bytes int64) { m.show(func(p *Progress) { p.Rows += rows; p.Bytes += bytes }) }
		return c.run(ctx)
	})
	if err := errors.Join(err, to.Close()); err != nil {
		return err
	}
	m.mu.Lock()
	m.totals[uid], m.pending[uid] = c.total, c.pending
	m.mu.Unlock()
	return nil
}

// removeOthers removes the workspaces of the target that the source no longer has.
func (m *mover) removeOthers(ctx context.Context) error {
	uids, err := m.tenants(ctx)
	if err != nil {
		return err
	}
	there, err := m.To.Workspaces(ctx)
	if err != nil {
		return err
	}
	keep := make(map[string]bool, len(uids))
	for _, uid := range uids {
		keep[uid] = true
	}
	for _, uid := range there {
		if !keep[uid] {
			if err := m.To.Remove(ctx, uid); err != nil {
				return err
			}
		}
	}
	for uid := range m.totals {
		if uid != "" && !keep[uid] {
			delete(m.totals, uid)
		}
	}
	return nil
}

// wake makes the target process workspaces with unfinished work at once: no process holds the source's leases any more.
func (m *mover) wake(ctx context.Context) (err error) {
	to, err := m.To.Write(ctx, "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	var ops []Op
	at := Tenants.At("wake")
	for row, err := range to.Each(ctx, Tenants) {
		if err != nil {
			return err
		}
		if m.pending[string(row[0].([]byte))] {
			awake := slices.Clone(row)
			awake[at] = int64(1)
			ops = append(ops, Op{Table: Tenants, Old: row, New: awake})
		}
	}
	for chunk := range slices.Chunk(ops, batchOps) {
		if err := to.Apply(ctx, chunk); err != nil {
			return err
		}
	}
	return nil
}

func (m *mover) show(f func(*Progress)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f(&m.progress)
	if m.Progress != nil {
		m.Progress(m.progress)
	}
}

// report sums up the compared rows.
func (m *mover) report() *Report {
	r := &Report{Tenants: len(m.totals) - 1, Rows: m.progress.Rows, Bytes: m.progress.Bytes, Passes: m.progress.Pass}
	for _, t := range append(slices.Clone(Registry), Workspace...) {
		var all sums
		for _, by := range m.totals {
			all.rows += by[t.Name].rows
			all.sum += by[t.Name].sum
		}
		r.Tables = append(r.Tables, Count{t.Name, all.rows, fmt.Sprintf("%016x", all.sum)})
	}
	return r
}

// dry counts the rows to copy.
func (m *mover) dry(ctx context.Context) (*Report, error) {
	uids, err := m.tenants(ctx)
	if err != nil {
		return nil, err
	}
	for _, uid := range append([]string{""}, uids...) {
		err := m.From.Read(ctx, uid, func(v View) error {
			tables := Workspace
			if uid == "" {
				tables, v = Registry, unleased{v}
			}
			total := make(map[string]sums)
			for _, t := range tables {
				var s sums
				for row, err := range v.Each(ctx, t) {
					if err != nil {
						return err
					}
					s.add(s.of(row))
				}
				total[t.Name] = s
			}
			m.totals[uid] = total
			return nil
		})
		if err != nil {
			return nil, err
		}
		m.show(func(p *Progress) { p.Tenants, p.Of = p.Tenants+1, len(uids)+1 })
	}
	r := m.report()
	r.Passes = 0
	return r, nil
}

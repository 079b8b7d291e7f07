package console

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/fault"
)

// job is a running backup or check.
type job struct {
	Running bool
	Began   time.Time
	Took    time.Duration
	Error   string
	Backup  *contextmem.BackupReport
	Verify  *contextmem.VerifyReport
}

// jobs runs at most one backup and one check at a time. Its close method ends them.
type jobs struct {
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
	mu     sync.Mutex
	by     map[string]job
	closed bool
}

func newJobs() *jobs {
	j := &jobs{by: map[string]job{}}
	j.ctx, j.cancel = context.WithCancel(context.Background())
	return j
}

func (j *jobs) close() {
	j.mu.Lock()
	j.closed = true
	j.mu.Unlock()
	j.cancel()
	j.wg.Wait()
}

func (j *jobs) state(name string) job {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.by[name]
}

// start runs f unless such a job is already running.
func (j *jobs) start(name string, f func(ctx context.Context, to *job) error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return &contextmem.Error{Kind: fault.KindClosed, Err: errors.New("the console is closed")}
	}
	if j.by[name].Running {
		return refuse(fault.KindConflict, "", "it is under way already")
	}
	now := job{Running: true, Began: time.Now()}
	j.by[name] = now
	j.wg.Go(func() {
		err := fault.Guard(func() error { return f(j.ctx, &now) })
		now.Running, now.Took = false, time.Since(now.Began)
		if err != nil {
			now.Error = strings.TrimPrefix(err.Error(), "contextmem: ")
		}
		j.mu.Lock()
		defer j.mu.Unlock()
		j.by[name] = now
	})
	return nil
}

type systemData struct {
	Backup, Verify job
	Dir            string
	Activity       contextmem.Activity
}

// deployment returns an error unless the key may manage the whole deployment.
func (v *view) deployment() error {
	if !v.Admin {
		return refuse(fault.KindForbidden, "", "this needs a key of the organisation %q with the scope manage that is not restricted to tenants", contextmem.DefaultOrg)
	}
	return nil
}

func systemPage(v *view) (err error) {
	if err := v.deployment(); err != nil {
		return err
	}
	d := systemData{Backup: v.c.jobs.state("backup"), Verify: v.c.jobs.state("verify"), Dir: v.c.o.BackupDir}
	if d.Activity, err = v.c.svc.Activity(v.r.Context()); err != nil {
		return err
	}
	return v.show("system", d)
}

// Running reports whether a job is running, so that the page reloads itself.
func (d systemData) Running() bool { return d.Backup.Running || d.Verify.Running }

func startBackup(v *view) error {
	if err := v.deployment(); err != nil {
		return err
	}
	if v.c.o.BackupDir == "" {
		return refuse(fault.KindInvalid, "", "no directory for backups was named when the server was started")
	}
	err := v.c.jobs.start("backup", func(ctx context.Context, to *job) error {
		r, err := v.c.svc.Backup(ctx, v.c.o.BackupDir)
		to.Backup = &r
		return err
	})
	if err != nil {
		return err
	}
	return v.back("system", nil, "started")
}

func startVerify(v *view) error {
	if err := v.deployment(); err != nil {
		return err
	}
	err := v.c.jobs.start("verify", func(ctx context.Context, to *job) error {
		r, err := v.c.svc.Verify(ctx)
		to.Verify = r
		return err
	})
	if err != nil {
		return err
	}
	return v.back("system", nil, "started")
}

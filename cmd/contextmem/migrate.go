package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/postgres"
	"github.com/contextmem/contextmem/backend/sqlite"
	"github.com/contextmem/contextmem/internal/access"
	"github.com/contextmem/contextmem/internal/atrest"
	"github.com/contextmem/contextmem/internal/move"
	"github.com/contextmem/contextmem/shared"
)

// migrating is the name of the request to the owner of a directory.
const migrating = "migrate"

// migration is the content of the request.
type migration struct {
	To       string `json:"to"`
	DryRun   bool   `json:"dry_run"`
	KeyGiven bool   `json:"key_given"` // the secret key is given, on both sides
}

// moved is a line of the owner's response. Exactly one member is set.
type moved struct {
	Progress *move.Progress `json:"progress,omitempty"`
	Report   *move.Report   `json:"report,omitempty"`
	Error    string         `json:"error,omitempty"`
}

func (a *app) migrateCmd() *cobra.Command {
	var from, to string
	var dry bool
	c := &cobra.Command{Use: "migrate", Short: "Move everything between a directory and PostgreSQL, while it is in use", Args: takes(0, 0),
		Long: `Migrate copies all tenants, keys, webhooks and connectors, row by row, from a directory to PostgreSQL or back. A server that has the directory goes on
meanwhile. When little changes any more writes wait while the rest is copied and compared by counts and checksums; then the source takes
no more writes. A server of the directory that is asked to move serves the database from then on; start it with --store the next time. Servers
of a database that is moved to a directory answer writes with 503 and are to be stopped.

It can be begun again after it was cut off, with the same --from and --to: what is equal is not copied again.
Indexes are not copied: they are built again from the stored vectors.`,
		Example: `  contextmem migrate --to postgres://contextmem:password@db:5432/contextmem --dry-run
  contextmem migrate --from postgres://contextmem:password@db:5432/contextmem --to ~/memory`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.url != "" {
				return usage("--url: migrate works on a directory and a database")
			}
			return a.migrate(cmd.Context(), from, to, dry)
		}}
	c.Flags().StringVar(&from, "from", "", "directory, or address of a database; empty: the directory of --data")
	c.Flags().StringVar(&to, "to", "", "address of a database, or directory")
	c.Flags().BoolVar(&dry, "dry-run", false, "count what there is to move, and look whether the target can take it")
	return c
}

func isDatabase(s string) bool {
	return strings.HasPrefix(s, "postgres://") || strings.HasPrefix(s, "postgresql://")
}

func (a *app) migrate(ctx context.Context, from, to string, dry bool) (err error) {
	if from == "" {
		from = a.data
	}
	switch {
	case to == "":
		return usage("--to: is needed")
	case isDatabase(from) == isDatabase(to):
		return usage("--to: one of --from and --to must be a directory, and the other an address such as postgres://user:password@host:5432/database")
	}
	start := time.Now()
	say := &moveProgress{a: a}
	var r *move.Report
	if isDatabase(to) {
		r, err = a.leaveDirectory(ctx, from, migration{To: to, DryRun: dry, KeyGiven: a.engine.secretKey != ""}, say.show)
	} else {
		r, err = a.leaveDatabase(ctx, from, to, dry, say.show)
	}
	say.end()
	if err != nil {
		return err
	}
	return a.show(r, func(w io.Writer) {
		if r.Already {
			fmt.Fprintln(w, "it was moved before")
			return
		}
		if dry {
			fmt.Fprintf(w, "%d tenants can be moved\n", r.Tenants)
		} else {
			fmt.Fprintf(w, "%d tenants moved in %v: %d rows, %s; writes waited for %v\n", r.Tenants, time.Since(start).Round(time.Millisecond), r.Rows, size(r.Bytes), r.Stopped.Round(time.Millisecond))
		}
		for _, c := range r.Tables {
			fmt.Fprintf(w, "  %-12s %9d rows  checksum %s\n", c.Table, c.Rows, c.Checksum)
		}
	})
}

// openDirectory opens a directory that no process has open. One whose move was begun can be opened as well.
func (a *app) openDirectory(ctx context.Context, dir string, o *engineFlags) (*sqlite.DB, error) {
	opts, err := o.options(a.streams.err)
	if err != nil {
		return nil, err
	}
	key, err := atrest.DirKey(dir, opts.EncryptionKey, func() (bool, error) { return sqlite.Exists(dir) })
	if err != nil {
		return nil, err
	}
	return sqlite.Open(ctx, dir, &sqlite.Options{EncryptionKey: key, Moving: true})
}

// leaveDirectory moves a directory. If another process has it open, leaveDirectory asks that process to move it.
func (a *app) leaveDirectory(ctx context.Context, dir string, m migration, tell func(move.Progress)) (*move.Report, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, usage("--from: there is no such directory")
	}
	d, err := a.openDirectory(ctx, dir, &a.engine)
	if err == nil {
		defer func() { _ = d.Close() }() // all writes to it are durable already
		return moveTo(ctx, d, dir, m, tell)
	}
	if !errors.Is(err, backend.ErrLocked) {
		return nil, err
	}
	o, err := a.engine.options(a.streams.err)
	if err != nil {
		return nil, err
	}
	owner, err := shared.Open(ctx, dir, o)
	if err != nil {
		return nil, err
	}
	defer func() { _ = owner.Close() }()
	owner.Handle(migrating, answerMigrate(dir, nil)) // if the owner ends just now
	asked, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	lines := &answers{tell: tell}
	if err := owner.Call(ctx, migrating, asked, lines); err != nil && lines.err == nil {
		return nil, err
	}
	switch {
	case lines.err != nil:
		return nil, lines.err
	case lines.report == nil:
		return nil, errors.New("the process that owns the directory ended before it had moved it: begin again")
	}
	return lines.report, nil
}

// answers reads the owner's response.
type answers struct {
	tell   func(move.Progress)
	rest   []byte
	report *move.Report
	err    error
}

// Write implements io.Writer.
func (w *answers) Write(p []byte) (int, error) {
	w.rest = append(w.rest, p...)
	for {
		line, rest, whole := bytes.Cut(w.rest, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		var m moved
		if err := json.Unmarshal(line, &m); err != nil {
			return 0, err
		}
		w.rest = rest
		switch {
		case m.Progress != nil:
			w.tell(*m.Progress)
		case m.Report != nil:
			w.report = m.Report
		default:
			w.err = errors.New(m.Error)
		}
	}
}

// answerMigrate handles requests to move the directory that this process owns. After the move it calls then with the address.
func answerMigrate(dir string, then func(to string)) shared.Handler {
	var one sync.Mutex
	return func(ctx context.Context, asked []byte, w io.Writer) error {
		answer := json.NewEncoder(w)
		var m migration
		err := json.Unmarshal(asked, &m)
		var r *move.Report
		switch d := sqlite.Opened(dir); {
		case err != nil:
		case d == nil:
			err = errors.New("the directory is not open")
		case !one.TryLock():
			err = errors.New("another move of the directory is under way")
		default:
			defer one.Unlock()
			r, err = moveTo(ctx, d, dir, m, func(p move.Progress) { _ = answer.Encode(moved{Progress: &p}) }) // an asker that is gone has ended ctx
		}
		if err != nil {
			_ = answer.Encode(moved{Error: err.Error()})
			return err
		}
		_ = answer.Encode(moved{Report: r})
		if then != nil && !m.DryRun {
			then(m.To)
		}
		return nil
	}
}

// moveTo moves an open directory to a database.
func moveTo(ctx context.Context, d *sqlite.DB, dir string, m migration, tell func(move.Progress)) (r *move.Report, err error) {
	pg, err := postgres.Open(ctx, m.To, &postgres.Options{Moving: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, pg.Close()) }()
	to, err := pg.Side(ctx)
	if err != nil {
		return nil, err
	}
	carry := carryKey(access.KeyFile{Dir: dir}, access.RegistryKey{Registry: pg.Registry()})
	if m.KeyGiven {
		carry = nil
	}
	return move.Run(ctx, move.Config{From: d.Side(), To: to, DryRun: m.DryRun, Progress: tell, Carry: carry})
}

// leaveDatabase moves a database to a directory.
func (a *app) leaveDatabase(ctx context.Context, from, dir string, dry bool, tell func(move.Progress)) (r *move.Report, err error) {
	pg, err := postgres.Open(ctx, from, &postgres.Options{Moving: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, pg.Close()) }()
	side, err := pg.Side(ctx)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, usage("--to: the directory can't be made")
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	d, err := a.openDirectory(ctx, dir, &a.engine)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	carry := carryKey(access.RegistryKey{Registry: pg.Registry()}, access.KeyFile{Dir: dir})
	if a.engine.secretKey != "" {
		carry = nil
	}
	return move.Run(ctx, move.Config{From: side, To: d.Side(), DryRun: dry, Progress: tell, Carry: carry})
}

// carryKey copies the key that encrypts secrets, if the source stores one.
func carryKey(from, to access.KeyStore) func(context.Context) error {
	return func(ctx context.Context) error {
		key, err := from.Load(ctx)
		if err != nil || key == nil {
			return err
		}
		return to.Save(ctx, key)
	}
}

// moveProgress shows the progress of a move: on a terminal in one updated line, otherwise as a line every few seconds.
type moveProgress struct {
	a     *app
	shown time.Time
}

func (t *moveProgress) show(p move.Progress) {
	every, before, after := 5*time.Second, "", "\n"
	if t.a.bar {
		every, before, after = 100*time.Millisecond, "\r\033[K", ""
	}
	if t.a.asJSON || time.Since(t.shown) < every {
		return
	}
	t.shown = time.Now()
	what := fmt.Sprintf("pass %d", p.Pass)
	if p.Frozen {
		what = "last pass, writes wait"
	}
	fmt.Fprintf(t.a.streams.err, "%s%s: %d of %d tenants; %d rows, %s so far%s", before, what, p.Tenants, p.Of, p.Rows, size(p.Bytes), after)
}

func (t *moveProgress) end() {
	if t.a.bar && !t.shown.IsZero() {
		fmt.Fprint(t.a.streams.err, "\r\033[K")
	}
}

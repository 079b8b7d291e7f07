package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/client"
	"github.com/contextmem/contextmem/shared"
)

// app is the state shared by all commands.
type app struct {
	streams
	config      string
	data        string
	url, key    string
	tenant, sub string
	asJSON      bool
	timeout     time.Duration
	engine      engineFlags
	begun       bool // the command line was parsed successfully
}

const longHelp = `contextmem is context memory for AI agents: it remembers facts and conversations, reads documents, and finds what answers a question.

Without --url a command works on the directory of --data, together with any other contextmem process that uses it.
With --url it asks a server.

Every flag can also be set by the environment (--data is CONTEXTMEM_DATA, --api-keys is CONTEXTMEM_API_KEYS) and in a YAML file
named by --config (data: /var/lib/contextmem). A flag wins over the environment, which wins over the file.

Exit codes: 1 failure, 2 wrong usage, 3 not found, 4 key missing or not allowed, 5 some items failed, 6 try again later.`

func newRoot(a *app) *cobra.Command {
	s := a.streams
	root := &cobra.Command{Use: "contextmem", Short: "Context memory for AI agents", Long: longHelp, SilenceUsage: true, SilenceErrors: true, Version: version(),
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			err := a.configure(cmd)
			a.begun = err == nil
			return err
		}}
	root.SetUsageFunc(printUsage)
	root.SetFlagErrorFunc(flagError)
	f := root.PersistentFlags()
	f.StringVar(&a.config, "config", "", "YAML file with values of flags")
	f.StringVar(&a.data, "data", defaultData(s.env), "directory of the data")
	f.StringVar(&a.url, "url", "", "address of a server to ask instead of working on a directory")
	f.StringVar(&a.key, "key", "", "API key for --url")
	f.StringVarP(&a.tenant, "tenant", "t", "main", "tenant")
	f.StringVarP(&a.sub, "sub", "s", "", "sub-tenant, such as one user; empty: the default one")
	f.BoolVar(&a.asJSON, "json", false, "write JSON")
	f.DurationVar(&a.timeout, "timeout", 0, "give up after this time; 0: never")
	a.engine.add(f)
	root.SetHelpCommand(helpCmd())
	root.AddCommand(a.addCmd(), a.ingestCmd(), a.recallCmd(), a.lsCmd(), a.showCmd(), a.revertCmd(), a.rmCmd(), a.eraseCmd(), a.tenantsCmd(), a.keysCmd(), a.exportCmd(), a.importCmd(),
		a.factsCmd(), a.backupCmd(), a.restoreCmd(), a.verifyCmd(), a.reembedCmd(), a.migrateCmd(), a.evalCmd(), a.doctorCmd(), a.demoCmd(), a.serveCmd(), a.mcpCmd(), a.proxyCmd(), manCmd(), flagsTopic())
	return root
}

// version returns the version of the module, or the commit from which it was built.
func version() string {
	i, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if i.Main.Version != "" {
		return i.Main.Version
	}
	return "(devel)"
}

// defaultData returns the user's data directory: the XDG data directory, or else a directory in the home directory.
func defaultData(env func(string) string) string {
	if d := env("XDG_DATA_HOME"); d != "" {
		return filepath.Join(d, "contextmem")
	}
	if h, err := os.UserHomeDir(); err == nil {
		return filepath.Join(h, ".local", "share", "contextmem")
	}
	return "contextmem-data"
}

// home is the service that a command uses: in a local directory, or on a server.
type home interface {
	Sub(tenant, sub string) contextmem.Memories
	EnsureTenant(ctx context.Context, id string) error
	CreateTenant(ctx context.Context, spec contextmem.TenantSpec) error
	Tenants(ctx context.Context) ([]contextmem.TenantInfo, error)
	DeleteTenant(ctx context.Context, id string) error
	Subs(ctx context.Context, tenant string) ([]contextmem.SubStats, error)
	DeleteSub(ctx context.Context, tenant, sub string) error
	Erase(ctx context.Context, tenant, sub string, q contextmem.EraseRequest) (contextmem.EraseReceipt, error)
	EraseTenant(ctx context.Context, tenant string, q contextmem.EraseRequest) (contextmem.EraseReceipt, error)
	VerifyReceipt(ctx context.Context, r contextmem.EraseReceipt) error
	Keys(ctx context.Context) ([]contextmem.Key, error)
	CreateKey(ctx context.Context, spec contextmem.KeySpec) (contextmem.Key, string, error)
	RevokeKey(ctx context.Context, id string) error
	Export(ctx context.Context, tenant string, w io.Writer) error
	Import(ctx context.Context, tenant string, r io.Reader) error
	Reembed(ctx context.Context, tenant string) (int, error)
	Settle(ctx context.Context, tenant string) error
	Close() error
}

// settleFor is the time that a command waits after adding items for background work, such as finding superseded memories.
const settleFor = 10 * time.Second

// settle waits up to settleFor for background work on added items. In a directory no other process would do it before the next command.
func (a *app) settle(ctx context.Context, h home) {
	ctx, cancel := context.WithTimeout(ctx, settleFor)
	defer cancel()
	_ = h.Settle(ctx, a.tenant) // a later process does the rest
}

// with runs f with the home selected by the flags.
func (a *app) with(cmd *cobra.Command, f func(ctx context.Context, h home) error) error {
	return a.withHome(cmd.Context(), f)
}

// withHome is like with, for code outside a command.
func (a *app) withHome(ctx context.Context, f func(ctx context.Context, h home) error) (err error) {
	if a.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, a.timeout)
		defer cancel()
	}
	if a.url != "" {
		c, err := client.New(a.url, a.key, nil)
		if err != nil {
			return usage("--url: must be an http or https address without user, query and fragment")
		}
		return f(ctx, server{c})
	}
	o, err := a.engine.options(a.streams.err)
	if err != nil {
		return err
	}
	if err := makeData(a.data); err != nil {
		return err
	}
	d, err := shared.Open(ctx, a.data, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	d.Handle(migrating, answerMigrate(a.data, nil))
	return f(ctx, d)
}

// memories runs f with the partition selected by the flags.
func (a *app) memories(cmd *cobra.Command, f func(ctx context.Context, m contextmem.Memories) error) error {
	return a.with(cmd, func(ctx context.Context, h home) error { return f(ctx, h.Sub(a.tenant, a.sub)) })
}

// server is a home accessed over REST.
type server struct{ *client.Client }

var errLocal = errors.New("a server does not do this over REST: run the command with --data on its machine")

func (s server) Sub(tenant, sub string) contextmem.Memories { return s.Tenant(tenant).Sub(sub) }
func (s server) CreateTenant(ctx context.Context, spec contextmem.TenantSpec) error {
	if err := s.Client.CreateTenant(ctx, spec); err != nil {
		return err
	}
	return s.Tenant(spec.ID).WaitReady(ctx)
}

// Settle does nothing, since the server does the background work.
func (s server) Settle(context.Context, string) error { return nil }

func (s server) EnsureTenant(ctx context.Context, id string) error {
	ok, err := s.Tenant(id).Ready(ctx)
	switch {
	case errors.Is(err, contextmem.ErrNotFound):
		err = s.Client.CreateTenant(ctx, contextmem.TenantSpec{ID: id})
		if errors.Is(err, contextmem.ErrExists) {
			err = nil
		}
	case ok:
		return nil
	}
	if err != nil {
		return err
	}
	return s.Tenant(id).WaitReady(ctx)
}
func (s server) DeleteTenant(ctx context.Context, id string) error { return s.Tenant(id).Delete(ctx) }
func (s server) Subs(ctx context.Context, tenant string) ([]contextmem.SubStats, error) {
	return s.Tenant(tenant).Subs(ctx)
}
func (s server) DeleteSub(ctx context.Context, tenant, sub string) error {
	return s.Tenant(tenant).Sub(sub).Delete(ctx)
}
func (s server) Erase(ctx context.Context, tenant, sub string, q contextmem.EraseRequest) (contextmem.EraseReceipt, error) {
	return s.Tenant(tenant).Sub(sub).Erase(ctx, q)
}
func (s server) EraseTenant(ctx context.Context, tenant string, q contextmem.EraseRequest) (contextmem.EraseReceipt, error) {
	return s.Tenant(tenant).Erase(ctx, q)
}
func (s server) Keys(context.Context) ([]contextmem.Key, error)  { return nil, errLocal }
func (s server) RevokeKey(context.Context, string) error         { return errLocal }
func (s server) Export(context.Context, string, io.Writer) error { return errLocal }
func (s server) Import(context.Context, string, io.Reader) error { return errLocal }
func (s server) Reembed(context.Context, string) (int, error)    { return 0, errLocal }
func (s server) Close() error                                    { return nil }

// show writes v as JSON, or calls human to write it as text.
func (a *app) show(v any, human func(w io.Writer)) error {
	if !a.asJSON {
		human(a.out)
		return nil
	}
	e := json.NewEncoder(a.out)
	e.SetEscapeHTML(false)
	if a.terminal {
		e.SetIndent("", "  ")
	}
	return e.Encode(v)
}

// say prints a message for a user. It does not print into JSON output or output that programs read.
func (a *app) say(format string, args ...any) {
	if !a.asJSON {
		fmt.Fprintf(a.err, format+"\n", args...)
	}
}

// excerpt returns a text as one line of at most n characters.
func excerpt(s string, n int) string {
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return string(r)
}

// when formats a time for display. It returns an empty text for the zero time.
func when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04")
}

// makeData makes the directory of --data, or one above it.
func makeData(dir string) error {
	err := os.MkdirAll(dir, 0o700)
	var reason *fs.PathError
	if errors.As(err, &reason) {
		return fmt.Errorf("--data: %q can't be made: %w", dir, reason.Err)
	}
	return err
}

package testtool

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Postgres is a PostgreSQL server from the distribution's packages, with a data directory of its own. It is reachable only by its Unix socket.
type Postgres struct {
	Dir     string // directory of its socket
	durable bool
	bin     string
	owner   *syscall.Credential // user that runs the server, as it refuses root; nil: the user of this process

	mu     sync.Mutex
	cmd    *exec.Cmd
	exited chan struct{}
	log    bytes.Buffer
}

// ErrNoPostgres is returned when no PostgreSQL server is installed.
var ErrNoPostgres = errors.New("PostgreSQL (Debian: postgresql) is missing")

// PostgresRole is the role that tests connect as: it may create databases, and row-level security binds it.
const PostgresRole = "contextmem"

// StartPostgres creates a server and starts it. A durable server syncs to disk at each commit, so that acknowledged
// commits survive a kill. The caller must call Stop.
func StartPostgres(durable bool) (p *Postgres, err error) {
	p = &Postgres{durable: durable, bin: postgresBin()}
	if p.bin == "" {
		return nil, ErrNoPostgres
	}
	if p.Dir, err = os.MkdirTemp("/tmp", "pgtest"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			p.Stop()
		}
	}()
	if os.Getuid() == 0 {
		if p.owner, err = ownerOf("postgres"); err == nil {
			err = os.Chown(p.Dir, int(p.owner.Uid), int(p.owner.Gid))
		}
		if err != nil {
			return nil, err
		}
	}
	init := p.command("initdb", "-D", p.data(), "-A", "trust", "-E", "UTF8", "--locale=C", "-U", "postgres", "--no-sync", "-k")
	if out, err := init.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	if err := p.Start(); err != nil {
		return nil, err
	}
	_, err = p.SQL("postgres", "CREATE ROLE "+PostgresRole+" LOGIN CREATEDB")
	return p, err
}

// postgresBin returns the directory with the programs of the newest installed server.
func postgresBin() string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if len(found) == 0 {
		if path, err := exec.LookPath("postgres"); err == nil {
			found = []string{path}
		}
	}
	if len(found) == 0 {
		return ""
	}
	slices.Sort(found)
	return filepath.Dir(found[len(found)-1])
}

func ownerOf(name string) (*syscall.Credential, error) {
	u, err := user.Lookup(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoPostgres, err)
	}
	uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(err1, err2)
}

func (p *Postgres) data() string { return filepath.Join(p.Dir, "data") }

func (p *Postgres) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(p.bin, name), args...)
	cmd.Dir = p.Dir
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.owner, Pdeathsig: syscall.SIGKILL}
	return cmd
}

// Start restarts the server after Kill and returns when it answers.
func (p *Postgres) Start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	onOff := map[bool]string{true: "on", false: "off"}[p.durable]
	args := []string{"-D", p.data(), "-k", p.Dir, "-c", "listen_addresses=", "-c", "fsync=" + onOff, "-c", "full_page_writes=" + onOff,
		"-c", "max_connections=300", "-c", "shared_buffers=64MB", "-c", "max_wal_size=256MB", "-c", "jit=off", "-c", "log_min_messages=fatal",
		"-c", "wal_retrieve_retry_interval=100ms"} // with the default of 5 s, a promotion that meets a failing attempt to connect takes as long
	p.log.Reset()
	cmd := p.command("postgres", args...)
	cmd.Stdout, cmd.Stderr = &p.log, &p.log
	exited, err := startChild(cmd)
	if err != nil {
		return err
	}
	p.cmd, p.exited = cmd, exited
	for deadline := time.Now().Add(2 * time.Minute); ; {
		ready := p.command("pg_isready", "-q", "-h", p.Dir)
		if ready.Run() == nil {
			return nil
		}
		select {
		case <-exited:
			return fmt.Errorf("postgres ended: %s", p.log.String())
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return errors.New("postgres does not answer")
		}
	}
}

// Kill ends the server at once with SIGKILL. Unlike in a crash of the machine, writes in the system's page cache survive.
func (p *Postgres) Kill() { p.end(syscall.SIGKILL) }

// Shut ends the server by a fast shutdown, which does not wait for sessions.
func (p *Postgres) Shut() { p.end(syscall.SIGINT) }

func (p *Postgres) end(sig syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return
	}
	if sig == syscall.SIGKILL { // child processes would otherwise run on for a moment
		for _, child := range childrenOf(p.cmd.Process.Pid) {
			_ = syscall.Kill(child, sig)
		}
	}
	_ = p.cmd.Process.Signal(sig)
	<-p.exited
	p.cmd = nil
}

// childrenOf returns the ids of the child processes of pid.
func childrenOf(pid int) (out []int) {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	for field := range strings.FieldsSeq(string(data)) {
		if n, err := strconv.Atoi(field); err == nil {
			out = append(out, n)
		}
	}
	return out
}

// Stop ends the server and removes its directory.
func (p *Postgres) Stop() {
	p.Kill()
	_ = os.RemoveAll(p.Dir)
}

// URL returns the connection URL of a database for PostgresRole.
func (p *Postgres) URL(database string) string {
	u := url.URL{Scheme: "postgres", User: url.User(PostgresRole), Path: "/" + database, RawQuery: url.Values{"host": {p.Dir}}.Encode()}
	return u.String()
}

// SQL runs statements in a database as the superuser and returns their output without headings.
func (p *Postgres) SQL(database, sql string) (string, error) {
	cmd := p.command("psql", "-X", "-q", "-At", "-v", "ON_ERROR_STOP=1", "-h", p.Dir, "-U", "postgres", "-d", database, "-c", sql)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("psql: %w: %s", err, out)
	}
	return strings.TrimSpace(string(out)), nil
}

// CreateDatabase creates a database owned by PostgresRole. If template is not empty, it is a copy of that database.
func (p *Postgres) CreateDatabase(name, template string) error {
	sql := fmt.Sprintf("CREATE DATABASE %s OWNER %s", name, PostgresRole)
	if template != "" {
		sql += " TEMPLATE " + template
	}
	_, err := p.SQL("postgres", sql)
	return err
}

// Pooler starts pgbouncer in front of a database, in transaction mode with three connections. It returns the URL of the
// database through the pooler. bin is the path of pgbouncer. The caller must call stop.
func (p *Postgres) Pooler(bin, database string) (through string, stop func(), err error) {
	dir, err := os.MkdirTemp(p.Dir, "pooler")
	if err != nil {
		return "", nil, err
	}
	config := fmt.Sprintf(`[databases]
%s = host=%s user=%s
[pgbouncer]
listen_addr =
unix_socket_dir = %s
listen_port = 5432
auth_type = any
pool_mode = transaction
default_pool_size = 3
max_client_conn = 200
`, database, p.Dir, PostgresRole, dir)
	file := filepath.Join(dir, "pgbouncer.ini")
	if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
		return "", nil, err
	}
	if p.owner != nil {
		if err := os.Chown(dir, int(p.owner.Uid), int(p.owner.Gid)); err != nil {
			return "", nil, err
		}
	}
	cmd := exec.Command(bin, "-q", file)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.owner}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	for deadline := time.Now().Add(20 * time.Second); p.command("pg_isready", "-q", "-h", dir, "-d", database, "-U", PostgresRole).Run() != nil; {
		if time.Now().After(deadline) {
			stop()
			return "", nil, errors.New("pgbouncer does not answer")
		}
		time.Sleep(20 * time.Millisecond)
	}
	u := url.URL{Scheme: "postgres", User: url.User(PostgresRole), Path: "/" + database, RawQuery: url.Values{"host": {dir}}.Encode()}
	return u.String(), stop, nil
}

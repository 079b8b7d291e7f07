package testtool

import (
	"fmt"
	"net/url"
	"os"
	"time"
)

// Standby makes a copy of the server that follows it, and starts it. From then on a commit of the server waits until the standby has it.
func (p *Postgres) Standby() (_ *Postgres, err error) {
	s := &Postgres{durable: p.durable, bin: p.bin, owner: p.owner}
	if s.Dir, err = os.MkdirTemp("/tmp", "pgtest"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.Stop()
		}
	}()
	if s.owner != nil {
		if err := os.Chown(s.Dir, int(s.owner.Uid), int(s.owner.Gid)); err != nil {
			return nil, err
		}
	}
	return s, p.attach(s)
}

// Rejoin makes a server that was killed anew as the standby of p, which was promoted in its place, at its old address.
func (p *Postgres) Rejoin(killed *Postgres) error {
	if err := os.RemoveAll(killed.data()); err != nil {
		return err
	}
	return p.attach(killed)
}

// attach fills s with a copy of p, and has it follow.
func (p *Postgres) attach(s *Postgres) error {
	out, err := s.command("pg_basebackup", "-h", p.Dir, "-U", "postgres", "-D", s.data(), "-X", "stream", "-R", "-c", "fast", "--no-sync").CombinedOutput()
	if err != nil {
		return fmt.Errorf("pg_basebackup: %w\n%s", err, out)
	}
	if err := s.Start(); err != nil {
		return err
	}
	for _, sql := range []string{"ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()"} {
		if _, err := p.SQL("postgres", sql); err != nil {
			return err
		}
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		state, err := p.SQL("postgres", "SELECT sync_state FROM pg_stat_replication")
		if err == nil && state == "sync" {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the standby does not follow: %q, %w", state, err)
		}
	}
}

// Promote lets a standby take the place of its server, and returns when it takes writes. As a manager of fail-overs does, it has the server go on alone
// until it has a standby again: its commits would wait until that was copied, and reads for these.
func (p *Postgres) Promote() error {
	for _, sql := range []string{"SELECT pg_promote(true, 60)", "ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()"} {
		if _, err := p.SQL("postgres", sql); err != nil {
			return err
		}
	}
	return nil
}

// EitherURL names a database on whichever of two servers takes writes.
func (p *Postgres) EitherURL(other *Postgres, database string) string {
	u := url.URL{Scheme: "postgres", User: url.User(PostgresRole), Path: "/" + database,
		RawQuery: url.Values{"host": {p.Dir + "," + other.Dir}, "target_session_attrs": {"read-write"}}.Encode()}
	return u.String()
}

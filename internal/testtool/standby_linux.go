package testtool

import (
	"fmt"
	"net/url"
	"os"
	"time"
)

// Standby creates and starts a standby that replicates the server. From then on each commit waits until the standby has received it.
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

// Rejoin rebuilds a killed server, at its old address, as a standby of p, which was promoted in its place.
func (p *Postgres) Rejoin(killed *Postgres) error {
	if err := os.RemoveAll(killed.data()); err != nil {
		return err
	}
	return p.attach(killed)
}

// attach fills s with a copy of p and makes s replicate p.
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

// Promote makes a standby the primary and returns when it accepts writes. Like a fail-over manager, it turns synchronous
// replication off until there is a new standby. Otherwise commits would wait until the copy is complete, and reads for the commits.
func (p *Postgres) Promote() error {
	for _, sql := range []string{"SELECT pg_promote(true, 60)", "ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()"} {
		if _, err := p.SQL("postgres", sql); err != nil {
			return err
		}
	}
	return nil
}

// EitherURL returns the URL of a database on whichever of the two servers accepts writes.
func (p *Postgres) EitherURL(other *Postgres, database string) string {
	u := url.URL{Scheme: "postgres", User: url.User(PostgresRole), Path: "/" + database,
		RawQuery: url.Values{"host": {p.Dir + "," + other.Dir}, "target_session_attrs": {"read-write"}}.Encode()}
	return u.String()
}

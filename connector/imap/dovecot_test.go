package imap_test

import (
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/internal/testtool"
)

// newDovecot starts the machine's Dovecot 2.3 with its own mailbox. It skips the test if there is none.
func newDovecot(t *testing.T) *server {
	t.Helper()
	bin, err := exec.LookPath("dovecot")
	if err != nil {
		bin = "/usr/sbin/dovecot"
	}
	version, err := exec.CommandContext(t.Context(), bin, "--version").Output()
	if err != nil || !strings.HasPrefix(string(version), "2.3.") {
		t.Skip("there is no Dovecot 2.3 on this machine")
	}
	dir, err := os.MkdirTemp("", "dovecot") // a short path: sockets are in it
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o755))
	s := &server{host: "127.0.0.1", security: "tls"}
	var certPEM, keyPEM []byte
	s.cert, s.roots, certPEM, keyPEM = newCertificate(t)
	port, err := testtool.Ports(1) // one that no connection takes before Dovecot has it
	require.NoError(t, err)
	s.port = strconv.Itoa(port)

	me, err := user.Current()
	require.NoError(t, err)
	uid, gid, users := me.Uid, me.Gid, ""
	mailDir := filepath.Join(dir, "mail")
	require.NoError(t, os.Mkdir(mailDir, 0o700))
	if uid == "0" { // Dovecot keeps no mails of root
		nobody, err := user.Lookup("nobody")
		require.NoError(t, err)
		uid, gid = nobody.Uid, nobody.Gid
		u, _ := strconv.Atoi(uid)
		g, _ := strconv.Atoi(gid)
		require.NoError(t, os.Chown(mailDir, u, g))
	} else {
		group, err := user.LookupGroupId(gid)
		require.NoError(t, err)
		users = fmt.Sprintf("default_internal_user = %s\ndefault_login_user = %s\ndefault_internal_group = %s\nservice anvil {\n chroot =\n}\nservice imap-login {\n chroot =\n}\n", me.Username, me.Username, group.Name)
	}
	conf := write(t, 0o644, strings.NewReplacer("DIR", dir, "PORT", s.port, "UID", uid, "GID", gid).Replace(`
protocols = imap
listen = 127.0.0.1
base_dir = DIR/run
state_dir = DIR/state
log_path = DIR/log
ssl = required
ssl_cert = <`+write(t, 0o644, string(certPEM), dir, "cert.pem")+`
ssl_key = <`+write(t, 0o600, string(keyPEM), dir, "key.pem")+`
mail_location = maildir:DIR/mail/%u
first_valid_uid = 1
last_valid_uid = 0
auth_failure_delay = 0
auth_mechanisms = plain
passdb {
  driver = passwd-file
  args = scheme=PLAIN `+write(t, 0o644, account+":"+password+"\n", dir, "users")+`
}
userdb {
  driver = static
  args = uid=UID gid=GID home=DIR/mail/%u
}
service imap-login {
  inet_listener imap {
    port = 0
  }
  inet_listener imaps {
    port = PORT
    ssl = yes
  }
}
`)+users, dir, "dovecot.conf")
	cmd := exec.Command(bin, "-F", "-c", conf)
	out := &strings.Builder{}
	cmd.Stdout, cmd.Stderr = out, out
	require.NoError(t, cmd.Start())
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-exited
	})
	deadline := time.After(time.Minute)
	for {
		c, err := tls.Dial("tcp", net.JoinHostPort(s.host, s.port), &tls.Config{RootCAs: s.roots})
		if err == nil {
			_ = c.Close()
			return s
		}
		select {
		case err := <-exited:
			exited <- err
			t.Fatalf("dovecot ended: %v\n%s", err, out)
		case <-deadline:
			logged, _ := os.ReadFile(filepath.Join(dir, "log"))
			t.Fatalf("dovecot does not answer: %v\n%s", err, logged)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

package imap_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	goimap "github.com/emersion/go-imap/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/connector"
	"github.com/contextmem/contextmem/connector/imap"
	"github.com/contextmem/contextmem/content"
)

func plainMail(n int, more string) string {
	return fmt.Sprintf("From: Bo <bo@mail.example>\nTo: %s\nSubject: note %d\nDate: Wed, 8 Apr 2026 07:30:00 +0200\nMessage-ID: <n%d@mail.example>\n%s\nThis is note number %d.\n", account, n, n, more, n)
}

const report = "From: =?utf-8?q?J=C3=B6rg?= <joerg@mail.example>\nTo: Ann <" + account + ">, =?iso-8859-1?q?Ren=E9?= <rene@mail.example>\nCc: cc@mail.example\n" +
	"Subject: =?iso-8859-1?q?M=F6hren?= report\nDate: Thu, 9 Apr 2026 10:00:00 +0000\nMessage-ID: <report@mail.example>\nIn-Reply-To: <n1@mail.example>\n" +
	"References: <n1@mail.example> <n2@mail.example>\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=out\n\n--out\n" +
	"Content-Type: multipart/alternative; boundary=in\n\n--in\nContent-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n\nDie M=F6hren sind =\nreif.\n" +
	"--in\nContent-Type: text/html\n\n<p>as a page</p>\n--in--\n--out\nContent-Type: text/csv; name=beds.csv\nContent-Disposition: attachment; filename*=utf-8''b%C3%A4ds.csv\nContent-Transfer-Encoding: base64\n\nYmVkLHJvd3MKbm9ydGgsNQo=\n" +
	"--out\nContent-Type: application/zip; name=all.zip\nContent-Disposition: attachment; filename=all.zip\nContent-Transfer-Encoding: base64\n\nUEsDBA==\n--out--\n"

// drain syncs until nothing is left, with a fresh provider each time, as after a restart.
func drain(t *testing.T, s *server, r connector.SyncRequest) (got map[string]*contextmem.AppItem, present []string, cursor string) {
	t.Helper()
	got = map[string]*contextmem.AppItem{}
	r.Credentials = s.credentials()
	if r.ResourceID == "" {
		r.ResourceID = "INBOX"
	}
	for range 100 {
		page, err := s.provider().Sync(t.Context(), r)
		require.NoError(t, err)
		for _, o := range page.Objects {
			require.Nil(t, got[o.ExternalID], "nothing comes twice")
			got[o.ExternalID] = o.App
		}
		if page.Complete {
			present = append(make([]string, 0), page.Present...)
		}
		if r.Cursor = page.Cursor; !page.More {
			return got, present, r.Cursor
		}
	}
	t.Fatal("sync does not end")
	return nil, nil, ""
}

func subjects(items map[string]*contextmem.AppItem) []string {
	var out []string
	for _, a := range items {
		out = append(out, a.Fields["subject"].(string))
	}
	return out
}

// mailbox runs the tests that every server must pass.
func mailbox(t *testing.T, s *server) {
	c := s.client(t)
	var uids []goimap.UID
	for i := range 5 {
		uids = append(uids, deliver(t, c, "INBOX", plainMail(i, "")))
	}
	deliver(t, c, "INBOX", report)
	got, present, cursor := drain(t, s, connector.SyncRequest{Limit: 2})
	require.Len(t, got, 6)
	require.Nil(t, present, "nothing is gone")
	var a *contextmem.AppItem
	for _, x := range got {
		if x.ExternalID == "report@mail.example" {
			a = x
		}
	}
	require.NotNil(t, a)
	assert.Equal(t, "Möhren report", a.Title)
	assert.Equal(t, content.AppEmail, a.Kind)
	assert.Equal(t, "n1@mail.example", a.ThreadID)
	assert.Equal(t, "2026-04-09T10:00:00Z", a.Timestamp)
	assert.Equal(t, map[string]any{"kind": "email", "subject": "Möhren report", "body": "Die Möhren sind reif.", "thread_id": "n1@mail.example", "reply_to_id": "n1@mail.example",
		"created_at": "2026-04-09T10:00:00Z", "from": "Jörg <joerg@mail.example>", "to": []any{"Ann <" + account + ">", "René <rene@mail.example>"}, "cc": []any{"cc@mail.example"}}, a.Fields)
	assert.Equal(t, account, a.Additional["account_email"])
	require.Len(t, a.Attachments, 2)
	assert.Equal(t, "bäds.csv", a.Attachments[0]["title"])
	assert.Nil(t, a.Attachments[1]["content"])

	got, present, cursor = drain(t, s, connector.SyncRequest{Cursor: cursor})
	assert.Empty(t, got)
	assert.Nil(t, present)

	expunge(t, c, "INBOX", uids[1], uids[4])
	deliver(t, c, "INBOX", plainMail(7, ""))
	got, present, cursor = drain(t, s, connector.SyncRequest{Cursor: cursor})
	assert.Equal(t, []string{"note 7"}, subjects(got))
	assert.Len(t, present, 5)
	for _, uid := range []goimap.UID{uids[1], uids[4]} {
		for _, id := range present {
			assert.False(t, strings.HasSuffix(id, fmt.Sprint(".", uid)), id)
		}
	}
	expunge(t, c, "INBOX", uids[0])
	got, present, cursor = drain(t, s, connector.SyncRequest{Cursor: cursor})
	assert.Empty(t, got)
	assert.Len(t, present, 4)
	got, present, _ = drain(t, s, connector.SyncRequest{Cursor: cursor})
	assert.Empty(t, got)
	assert.Nil(t, present)

	// A mailbox that is made anew has other numbers, even with the same mails.
	require.NoError(t, c.Create("Pläne Büro", nil).Wait())
	deliver(t, c, "Pläne Büro", plainMail(10, ""))
	_, _, cursor = drain(t, s, connector.SyncRequest{ResourceID: "Pläne Büro"})
	var st struct{ U uint32 }
	require.NoError(t, json.Unmarshal([]byte(cursor), &st))
	other := strings.Replace(cursor, fmt.Sprint(st.U), fmt.Sprint(st.U-1), 1)
	for i := range 3 {
		deliver(t, c, "Pläne Büro", plainMail(11+i, ""))
	}
	got, present, _ = drain(t, s, connector.SyncRequest{ResourceID: "Pläne Büro", Cursor: other, Limit: 2})
	assert.Len(t, got, 4)
	assert.Len(t, present, 4)

	var names []string
	for next, more := "", true; more; more = next != "" {
		var rs []connector.Resource
		var err error
		rs, next, err = s.provider().Discover(t.Context(), s.credentials(), next, 1)
		require.NoError(t, err)
		for _, r := range rs {
			names = append(names, r.ID)
		}
	}
	assert.Subset(t, names, []string{"INBOX", "Pläne Büro"})

	wrong := s.credentials()
	wrong["password"] = "wrong-secret"
	err := s.provider().Check(t.Context(), wrong)
	require.ErrorIs(t, err, connector.ErrReauth)
	assert.NotContains(t, err.Error(), "secret")
	assert.NoError(t, s.provider().Check(t.Context(), s.credentials()))
	_, err = s.provider().Sync(t.Context(), connector.SyncRequest{Credentials: s.credentials(), ResourceID: "nowhere"})
	assert.ErrorContains(t, err, "open mailbox")
}

func TestMailbox(t *testing.T) {
	t.Parallel()
	mailbox(t, &newMemory(t).server)
}

func TestDovecot(t *testing.T) {
	t.Parallel()
	s := newDovecot(t)
	mailbox(t, s)
	service(t, s)
}

func TestSinceBoundsTheFirstSync(t *testing.T) {
	t.Parallel()
	m := newMemory(t)
	put := func(n int, at time.Time) {
		raw := strings.ReplaceAll(plainMail(n, ""), "\n", "\r\n")
		_, err := m.user.Append("INBOX", literal{strings.NewReader(raw)}, &goimap.AppendOptions{Time: at})
		require.NoError(t, err)
	}
	put(1, time.Now().AddDate(0, 0, -30))
	put(2, time.Now())
	got, _, cursor := drain(t, &m.server, connector.SyncRequest{Since: time.Now().AddDate(0, 0, -3)})
	assert.Equal(t, []string{"note 2"}, subjects(got))
	put(3, time.Now().AddDate(0, 0, -30)) // moved here from elsewhere: new to the mailbox
	got, present, _ := drain(t, &m.server, connector.SyncRequest{Cursor: cursor})
	assert.Equal(t, []string{"note 3"}, subjects(got))
	assert.Nil(t, present)
}

type literal struct{ *strings.Reader }

func (l literal) Size() int64 { return l.Reader.Size() }

func TestPauses(t *testing.T) {
	t.Parallel()
	m := newMemory(t)
	c := m.client(t)
	for i := range 3 {
		deliver(t, c, "INBOX", plainMail(i, ""))
	}
	deliver(t, c, "INBOX", plainMail(3, "")+strings.Repeat("word ", 1<<20)) // asked for alone
	r := connector.SyncRequest{Credentials: m.credentials(), ResourceID: "INBOX"}
	no := func(code, text string) error {
		return &goimap.Error{Type: goimap.StatusResponseTypeNo, Code: goimap.ResponseCode(code), Text: text}
	}
	for _, tc := range []struct {
		err  error
		want time.Duration
	}{
		{no("THROTTLED", "later"), 5 * time.Minute}, {no("OVERQUOTA", "Account exceeded command or bandwidth limits."), 5 * time.Minute}, {no("UNAVAILABLE", "x"), 5 * time.Minute},
		{no("LIMIT", "x"), 5 * time.Minute}, {no("", "Request is throttled. Suggested Backoff Time: 92415 milliseconds"), 92415 * time.Millisecond},
		{no("ALERT", "Too many simultaneous connections. (Failure)"), 5 * time.Minute},
		{no("", "Suggested Backoff Time: 999999999 milliseconds"), 24 * time.Hour},
	} {
		for _, at := range []string{"select", "sizes"} {
			m.set(faults{onRead: func(op string) error {
				if op == at {
					return tc.err
				}
				return nil
			}})
			_, err := m.provider().Sync(t.Context(), r)
			var limited *connector.RateLimited
			require.ErrorAs(t, err, &limited, "%v", tc.err)
			assert.Equal(t, tc.want, limited.After)
		}
		m.set(faults{onAuth: func() error { return tc.err }})
		var limited *connector.RateLimited
		require.ErrorAs(t, m.provider().Check(t.Context(), r.Credentials), &limited, "a busy server does not blame the credentials")
	}
	var n atomic.Int32
	m.set(faults{onRead: func(op string) error {
		if op == "bodies" && n.Add(1) == 2 {
			return no("THROTTLED", "later")
		}
		return nil
	}})
	page, err := m.provider().Sync(t.Context(), r)
	require.NoError(t, err)
	assert.Len(t, page.Objects, 3)
	assert.True(t, page.More)
	m.set(faults{})
	got, _, _ := drain(t, &m.server, connector.SyncRequest{Cursor: page.Cursor})
	assert.Equal(t, []string{"note 3"}, subjects(got))
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	m := newMemory(t)
	p := m.provider()
	change := func(kv ...string) connector.Credentials {
		c := m.credentials()
		for i := 0; i < len(kv); i += 2 {
			c[kv[i]] = kv[i+1]
		}
		return c
	}
	for name, c := range map[string]connector.Credentials{
		"no host": change("host", ""), "a path": change("host", "127.0.0.1/x"), "a port": change("port", "0"), "a word": change("port", "imap"), "no user": change("username", ""),
		"no secret": change("password", ""), "two secrets": change("access_token", "x"), "another security": change("security", "ssl"), "a line break": change("password", "a\r\nb"),
		"plain to a name": change("security", "none", "host", "mail.example"), "no client": change("password", "", "refresh_token", "x", "token_url", "https://tokens.example"),
		"no endpoint": change("password", "", "refresh_token", "x", "client_id", "y"), "an open endpoint": change("password", "", "refresh_token", "x", "client_id", "y", "token_url", "http://tokens.example"),
	} {
		t.Run(name, func(t *testing.T) {
			assert.ErrorIs(t, p.Check(t.Context(), c), connector.ErrBadCredentials)
		})
	}
	guarded := imap.New(imap.Config{})
	assert.ErrorIs(t, guarded.Check(t.Context(), change("security", "none")), connector.ErrBadCredentials)
	err := guarded.Check(t.Context(), m.credentials())
	require.Error(t, err, "a server of the own network is not reached")
	assert.ErrorContains(t, err, "not public")

	strange := m.provider(func(c *imap.Config) { c.TLS = nil })
	assert.ErrorContains(t, strange.Check(t.Context(), m.credentials()), "certificate")
	assert.NoError(t, p.Check(t.Context(), change("security", "starttls", "port", m.plain)))
	assert.NoError(t, p.Check(t.Context(), change("security", "none", "port", m.plain)))
	assert.Error(t, p.Check(t.Context(), change("port", m.plain)))

	for _, cursor := range []string{"{", "[]", `{"v":2,"n":1}`, `{"v":1}`} {
		_, err := p.Sync(t.Context(), connector.SyncRequest{Credentials: m.credentials(), ResourceID: "INBOX", Cursor: cursor})
		assert.ErrorContains(t, err, "cursor", cursor)
	}
	m.set(faults{onRead: func(string) error {
		return &goimap.Error{Type: goimap.StatusResponseTypeNo, Code: goimap.ResponseCodeServerBug, Text: "trace with " + password}
	}})
	_, err = p.Sync(t.Context(), connector.SyncRequest{Credentials: m.credentials(), ResourceID: "INBOX"})
	require.Error(t, err)
	assert.NotContains(t, err.Error(), password)

	ctx, cancel := context.WithCancel(t.Context())
	returned := make(chan struct{})
	m.set(faults{onRead: func(string) error { cancel(); <-returned; return nil }})
	_, err = p.Sync(ctx, connector.SyncRequest{Credentials: m.credentials(), ResourceID: "INBOX"})
	close(returned)
	assert.ErrorIs(t, err, context.Canceled)
}

func TestLargeMailIsCut(t *testing.T) {
	t.Parallel()
	m := newMemory(t)
	deliver(t, m.client(t), "INBOX", plainMail(1, "")+strings.Repeat("word ", 200_000))
	got, _, _ := drain(t, &m.server, connector.SyncRequest{MaxBytes: 100_000})
	require.Len(t, got, 1)
	for _, a := range got {
		assert.Equal(t, true, a.Additional["truncated"])
		assert.Less(t, len(a.Fields["body"].(string)), 100_001)
		assert.Contains(t, a.Fields["body"], "This is note number 1.")
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	m := newMemory(t)
	m.set(faults{token: "fresh"})
	var calls atomic.Int32
	var answer atomic.Value
	answer.Store(`{"access_token":"fresh","expires_in":3600}`)
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		if r.FormValue("grant_type") != "refresh_token" || r.FormValue("refresh_token") != "refresh-secret" || r.FormValue("client_id") != "id" || r.FormValue("client_secret") != "client-secret" {
			w.WriteHeader(http.StatusTeapot)
		}
		if s := answer.Load().(string); strings.HasPrefix(s, "{") {
			if strings.Contains(s, "error") {
				w.WriteHeader(http.StatusBadRequest)
			}
			fmt.Fprint(w, s)
			return
		}
		w.Header().Set("Retry-After", answer.Load().(string))
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	defer endpoint.Close()
	c := m.credentials()
	delete(c, "password")
	c["access_token"] = "fresh"
	require.NoError(t, m.provider().Check(t.Context(), c))
	c["access_token"] = "stale"
	require.ErrorIs(t, m.provider().Check(t.Context(), c), connector.ErrReauth)

	delete(c, "access_token")
	c["refresh_token"], c["client_id"], c["client_secret"], c["token_url"] = "refresh-secret", "id", "client-secret", endpoint.URL
	p := m.provider()
	require.NoError(t, p.Check(t.Context(), c))
	require.NoError(t, p.Check(t.Context(), c))
	assert.EqualValues(t, 1, calls.Load(), "a token is used until it expires")
	m.set(faults{token: "newer"})
	require.ErrorIs(t, p.Check(t.Context(), c), connector.ErrReauth)
	answer.Store(`{"access_token":"newer","expires_in":3600}`)
	require.NoError(t, p.Check(t.Context(), c), "a token that was refused is not kept")

	answer.Store(`{"error":"invalid_grant","error_description":"refresh-secret was revoked"}`)
	err := m.provider().Check(t.Context(), c)
	require.ErrorIs(t, err, connector.ErrReauth)
	assert.ErrorContains(t, err, "invalid_grant")
	assert.NotContains(t, err.Error(), "secret")
	answer.Store("90")
	var limited *connector.RateLimited
	require.ErrorAs(t, m.provider().Check(t.Context(), c), &limited)
	assert.Equal(t, 90*time.Second, limited.After)
	answer.Store(`{"error":"server_error"}`)
	err = m.provider().Check(t.Context(), c)
	require.Error(t, err)
	assert.NotErrorIs(t, err, connector.ErrReauth)
}

// service syncs a mailbox through a whole service.
func service(t *testing.T, s *server) {
	c := s.client(t)
	require.NoError(t, c.Create("Work", nil).Wait())
	deliver(t, c, "Work", plainMail(1, ""))
	deliver(t, c, "Work", strings.Replace(report, "YmVkLHJvd3MKbm9ydGgsNQo=", "YmVkLHBsYW50Cm5vcnRoLHJhZGlzaGVzCg==", 1)) // bed,plant / north,radishes
	gone := deliver(t, c, "Work", "Subject: lunch\nMessage-ID: <lunch@mail.example>\n\nThe canteen serves pumpkin soup.\n")
	svc, err := contextmem.New(t.Context(), inmem.New(), &contextmem.Options{Providers: []connector.Provider{s.provider()}})
	require.NoError(t, err)
	defer svc.Close()
	_, err = svc.CreateTenant(t.Context(), contextmem.TenantSpec{ID: "acme"})
	require.NoError(t, err)
	acme := svc.Tenant("acme")
	require.NoError(t, acme.WaitReady(t.Context()))
	conn, err := svc.CreateConnector(t.Context(), contextmem.ConnectorSpec{Provider: imap.Name, Tenant: "acme", Credentials: s.credentials()})
	require.NoError(t, err)
	cycle := func(n int) {
		t.Helper()
		require.Eventually(t, func() bool {
			now, err := svc.Connector(t.Context(), conn.ID)
			require.NoError(t, err)
			require.Empty(t, now.LastError)
			return now.Cycles >= n && now.SyncStatus == contextmem.SyncIdle
		}, time.Minute, 20*time.Millisecond)
		require.NoError(t, svc.Drain(t.Context()))
	}
	_, err = svc.AddResources(t.Context(), conn.ID, []contextmem.ConnectorResource{{ResourceID: "Work", Type: imap.TypeMailbox}})
	require.NoError(t, err)
	cycle(1)
	ask := func(q string) string {
		res, err := acme.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassKnowledge, Query: q, Apps: true})
		require.NoError(t, err)
		var b strings.Builder
		for _, c := range res.Chunks {
			b.WriteString(c.Title + ": " + c.Text + "\n")
		}
		return b.String()
	}
	assert.Contains(t, ask("what grows in the north bed? radishes"), "radishes", "attachments are read by the service's parsers")
	assert.Contains(t, ask("pumpkin soup in the canteen"), "pumpkin soup")
	expunge(t, c, "Work", gone)
	_, err = svc.SyncNow(t.Context(), conn.ID)
	require.NoError(t, err)
	cycle(2)
	assert.NotContains(t, ask("pumpkin soup in the canteen"), "pumpkin soup")
}

func TestService(t *testing.T) {
	t.Parallel()
	service(t, &newMemory(t).server)
}

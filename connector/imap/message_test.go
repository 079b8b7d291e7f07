package imap

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/connector"
)

func itemOf(t *testing.T, raw string) *contextmem.AppItem {
	t.Helper()
	y := &syncing{session: &session{ctx: t.Context(), account: account{user: "ann@mail.example"}}, p: New(Config{}), r: connector.SyncRequest{ResourceID: "INBOX"}, state: state{Validity: 7}}
	a, err := y.item(&mail{uid: 3, body: []byte(raw)})
	require.NoError(t, err)
	return a
}

func TestItem(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ raw, subject, body, id, thread, reply string }{
		"nothing":             {"", "(no subject)", "", "INBOX/7.3", "INBOX/7.3", ""},
		"no header":           {"just words\nwithout a header\n", "(no subject)", "just words\nwithout a header", "INBOX/7.3", "INBOX/7.3", ""},
		"references alone":    {"Subject: x\nMessage-Id: <c@x>\nReferences: <a@x>\n <b@x>\n\nhi", "x", "hi", "c@x", "a@x", "b@x"},
		"a reply with prose":  {"Message-Id: <c@x>\nIn-Reply-To: Your mail of <a@x> (yesterday)\n\nhi", "(no subject)", "hi", "c@x", "a@x", "a@x"},
		"an answer to itself": {"Message-Id: <c@x>\nIn-Reply-To: <c@x>\n\nhi", "(no subject)", "hi", "c@x", "c@x", ""},
		"blank alternative": {"Content-Type: multipart/alternative; boundary=b\n\n--b\nContent-Type: text/plain\n\n \n--b\nContent-Type: text/html\n\n<p>page</p>\n--b--\n",
			"(no subject)", "<p>page</p>", "INBOX/7.3", "INBOX/7.3", ""},
		"cut": {"Content-Type: multipart/mixed; boundary=b\n\n--b\n\nbegins\n--b\nContent-Type: text/plain\n\nends", "(no subject)", "begins\n\nends", "INBOX/7.3", "INBOX/7.3", ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := itemOf(t, strings.ReplaceAll(tc.raw, "\n", "\r\n"))
			reply, _ := a.Fields["reply_to_id"].(string)
			body := strings.ReplaceAll(a.Fields["body"].(string), "\r\n", "\n")
			assert.Equal(t, tc, struct{ raw, subject, body, id, thread, reply string }{tc.raw, a.Title, body, a.ExternalID, a.ThreadID, reply})
		})
	}
}

func FuzzItem(f *testing.F) {
	f.Add("Subject: =?x?q?=FF?=\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain; charset=x-unknown\r\nContent-Transfer-Encoding: base64\r\n\r\n!!!\r\n--b\r\nContent-Disposition: attachment; filename=\"../a\"\r\n\r\nx")
	f.Add("From: a\xff <a@b>\r\nTo: ,,\r\nReferences: <<a>> <\x00>\r\n\r\n\xfe")
	f.Fuzz(func(t *testing.T, raw string) {
		a := itemOf(t, raw)
		b, err := json.Marshal(a)
		require.NoError(t, err)
		require.True(t, utf8.Valid(b))
		for _, s := range []string{a.Title, a.ExternalID, a.ThreadID, a.Fields["body"].(string)} {
			require.True(t, utf8.ValidString(s) && !strings.Contains(s, "\x00"))
		}
	})
}

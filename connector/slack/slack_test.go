package slack_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sort"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/connector"
	"github.com/contextmem/contextmem/connector/slack"
)

const token = "xoxb-secret"

var good = connector.Credentials{"token": token}

// fake implements the methods of the Web API that the provider uses.
type fake struct {
	*httptest.Server
	mu      sync.Mutex
	msgs    map[string]map[string]any // by ts; replies have another thread_ts
	refuse  func(w http.ResponseWriter, method string) bool
	byCalls map[string]int
}

func newFake(t *testing.T) *fake {
	t.Helper()
	f := &fake{msgs: map[string]map[string]any{}, byCalls: map[string]int{}}
	f.Server = httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(f.Close)
	return f
}

func ts(at time.Time) string { return fmt.Sprintf("%010d.%06d", at.Unix(), at.Nanosecond()/1000) }

func (f *fake) say(at time.Time, text string, more ...any) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := map[string]any{"type": "message", "ts": ts(at), "user": "U1", "text": text}
	for i := 0; i+1 < len(more); i += 2 {
		m[more[i].(string)] = more[i+1]
	}
	f.msgs[ts(at)] = m
	if root, ok := m["thread_ts"].(string); ok && root != ts(at) {
		p := f.msgs[root]
		n, _ := p["reply_count"].(int)
		p["thread_ts"], p["reply_count"], p["latest_reply"] = root, n+1, ts(at)
	}
	return ts(at)
}

func (f *fake) remove(at string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.msgs, at)
}

func (f *fake) serve(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	method := r.URL.Path[1:]
	f.byCalls[method]++
	w.Header().Set("Date", time.Now().UTC().Format(http.TimeFormat))
	if r.Header.Get("Authorization") != "Bearer "+token {
		fmt.Fprint(w, `{"ok":false,"error":"invalid_auth"}`)
		return
	}
	if f.refuse != nil && f.refuse(w, method) {
		return
	}
	limit, _ := strconv.Atoi(r.FormValue("limit"))
	switch method {
	case "auth.test":
		fmt.Fprint(w, `{"ok":true,"url":"https://acme.slack.example/","team":"Acme"}`)
	case "conversations.info":
		fmt.Fprint(w, `{"ok":true,"channel":{"id":"C1","name":"general"}}`)
	case "users.info":
		fmt.Fprintf(w, `{"ok":true,"user":{"name":"u","profile":{"display_name":"name of %s"}}}`, r.FormValue("user"))
	case "conversations.list":
		if r.FormValue("cursor") == "" {
			fmt.Fprint(w, `{"ok":true,"channels":[{"id":"C1","name":"general"}],"response_metadata":{"next_cursor":"abc="}}`)
		} else {
			fmt.Fprint(w, `{"ok":true,"channels":[{"id":"C2","name":"random"}],"response_metadata":{"next_cursor":""}}`)
		}
	case "conversations.history", "conversations.replies":
		root := r.FormValue("ts")
		var keys []string
		for k, m := range f.msgs {
			th, _ := m["thread_ts"].(string)
			inThread := th != "" && th != k && m["subtype"] != "thread_broadcast"
			if root == "" && inThread || root != "" && th != root {
				continue
			}
			if root != k && (k <= r.FormValue("oldest") || r.FormValue("latest") != "" && k >= r.FormValue("latest")) {
				continue
			}
			keys = append(keys, k)
		}
		sort.Strings(keys)
		if root == "" {
			sort.Sort(sort.Reverse(sort.StringSlice(keys)))
		}
		more := len(keys) > limit
		keys = keys[:min(limit, len(keys))]
		out := []any{}
		for _, k := range keys {
			out = append(out, f.msgs[k])
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"ok": true, "messages": out, "has_more": more})
	}
}

func open(f *fake, cfg slack.Config) *slack.Provider {
	cfg.BaseURL = f.URL
	return slack.New(cfg)
}

// drain syncs until nothing is left, with a fresh provider each time, as after a restart.
func drain(t *testing.T, f *fake, r connector.SyncRequest) (ids, deleted []string, last map[string]*contextmem.AppItem, cursor string) {
	t.Helper()
	last = map[string]*contextmem.AppItem{}
	r.ResourceID, r.Credentials = "C1", good
	for range 200 {
		page, err := open(f, slack.Config{PageSize: 4}).Sync(t.Context(), r)
		require.NoError(t, err)
		for _, o := range page.Objects {
			ids = append(ids, o.ExternalID)
			last[o.ExternalID] = o.App
		}
		deleted = append(deleted, page.Deleted...)
		if r.Cursor = page.Cursor; !page.More {
			return ids, deleted, last, r.Cursor
		}
	}
	t.Fatal("sync does not end")
	return nil, nil, nil, ""
}

func TestChannelWithThreads(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	base := time.Now().Add(-48 * time.Hour)
	for i := range 11 {
		f.say(base.Add(time.Duration(i)*time.Minute), fmt.Sprint("message ", i))
	}
	root := f.say(base.Add(time.Hour), "ask <@U7> in <#C9|help> &amp; see <https://example.org|docs>")
	for i := range 9 {
		f.say(base.Add(time.Hour+time.Duration(i+1)*time.Minute), fmt.Sprint("reply ", i), "thread_ts", root)
	}
	f.say(base.Add(2*time.Hour), "joined", "subtype", "channel_join")
	ids, deleted, last, cursor := drain(t, f, connector.SyncRequest{})
	assert.Len(t, ids, 21)
	assert.Len(t, last, 21)
	assert.Empty(t, deleted)
	a := last["C1:"+root]
	require.NotNil(t, a)
	assert.Equal(t, "ask @name of U7 in #help & see docs (https://example.org)", a.Fields["body"])
	assert.Equal(t, []any{"name of U7"}, a.Fields["mentions"])
	assert.Equal(t, "name of U1", a.Fields["author"])
	assert.Equal(t, "general", a.Metadata["container_name"])
	assert.Contains(t, a.URL, "https://acme.slack.example/archives/C1/p")
	reply := last["C1:"+ts(base.Add(time.Hour+3*time.Minute))]
	require.NotNil(t, reply)
	assert.Equal(t, "C1:"+root, reply.ThreadID)
	assert.Equal(t, "C1:"+root, reply.Fields["parent_id"])

	ids, deleted, _, _ = drain(t, f, connector.SyncRequest{Cursor: cursor})
	assert.Empty(t, ids)
	assert.Empty(t, deleted)
}

func TestSecondSyncSeesRepliesEditsAndDeletions(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	base := time.Now().Add(-48 * time.Hour)
	var all []string
	for i := range 10 {
		all = append(all, f.say(base.Add(time.Duration(i)*time.Minute), fmt.Sprint("message ", i)))
	}
	f.say(base.Add(2*time.Hour), "reply", "thread_ts", all[2])
	_, _, _, cursor := drain(t, f, connector.SyncRequest{})

	later := time.Now().Add(5 * time.Second)
	fresh := f.say(later, "new")
	answer := f.say(later.Add(time.Second), "late reply", "thread_ts", all[2])
	f.say(base.Add(3*time.Minute), "edited", "edited", map[string]any{"ts": ts(later)})
	f.remove(all[5])
	f.say(base.Add(7*time.Minute), "This message was deleted.", "subtype", "tombstone")
	ids, deleted, last, cursor := drain(t, f, connector.SyncRequest{Cursor: cursor})
	assert.ElementsMatch(t, []string{"C1:" + fresh, "C1:" + answer, "C1:" + all[3]}, ids)
	assert.ElementsMatch(t, []string{"C1:" + all[5], "C1:" + all[7]}, deleted)
	assert.Equal(t, "edited", last["C1:"+all[3]].Fields["body"])
	_, deleted, _, _ = drain(t, f, connector.SyncRequest{Cursor: cursor})
	assert.Empty(t, deleted)
}

func TestSinceBoundsTheFirstSync(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.say(time.Now().Add(-72*time.Hour), "old")
	want := f.say(time.Now().Add(-time.Hour), "new")
	ids, _, _, _ := drain(t, f, connector.SyncRequest{Since: time.Now().Add(-24 * time.Hour)})
	assert.Equal(t, []string{"C1:" + want}, ids)
}

func TestPauses(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	for i := range 10 {
		f.say(time.Now().Add(-time.Duration(i+1)*time.Hour), "m")
	}
	r := connector.SyncRequest{ResourceID: "C1", Credentials: good}
	var limited *connector.RateLimited
	f.refuse = func(w http.ResponseWriter, _ string) bool {
		w.Header().Set("Retry-After", "12")
		w.WriteHeader(http.StatusTooManyRequests)
		return true
	}
	_, err := open(f, slack.Config{}).Sync(t.Context(), r)
	require.ErrorAs(t, err, &limited)
	assert.Equal(t, 12*time.Second, limited.After)
	f.refuse = func(w http.ResponseWriter, method string) bool {
		if method != "conversations.history" || f.byCalls[method] < 3 {
			return false
		}
		fmt.Fprint(w, `{"ok":false,"error":"ratelimited"}`)
		return true
	}
	page, err := open(f, slack.Config{PageSize: 4}).Sync(t.Context(), r)
	require.NoError(t, err)
	assert.Len(t, page.Objects, 4)
	assert.True(t, page.More)
	r.Cursor = page.Cursor
	f.byCalls["conversations.history"] = 9
	_, err = open(f, slack.Config{PageSize: 4}).Sync(t.Context(), r)
	require.ErrorAs(t, err, &limited)
	f.refuse = nil
	ids, _, _, _ := drain(t, f, r)
	assert.Len(t, ids, 6)
}

func TestRefusalsAndBadAnswers(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	p := open(f, slack.Config{})
	assert.NoError(t, p.Check(t.Context(), good))
	err := p.Check(t.Context(), connector.Credentials{"token": "xoxb-gone"})
	assert.ErrorIs(t, err, connector.ErrReauth)
	assert.NotContains(t, err.Error(), "xoxb")
	assert.ErrorIs(t, p.Check(t.Context(), nil), connector.ErrBadCredentials)
	for _, body := range []string{``, `{"ok":`, `[]`, `{"ok":false,"error":"channel_not_found"}`, `{"ok":true,"messages":[{"ts":"x"}]}`} {
		t.Run(body, func(t *testing.T) {
			f.refuse = func(w http.ResponseWriter, method string) bool {
				if method == "conversations.history" {
					fmt.Fprint(w, body)
				}
				return method == "conversations.history"
			}
			_, err := p.Sync(t.Context(), connector.SyncRequest{ResourceID: "C1", Credentials: good})
			assert.Error(t, err, body)
		})
	}
	f.refuse = nil
	for _, c := range []string{"{", `{"v":2}`, `{"v":1,"r":"!"}`} {
		t.Run(c, func(t *testing.T) {
			_, err := p.Sync(t.Context(), connector.SyncRequest{ResourceID: "C1", Credentials: good, Cursor: c})
			assert.Error(t, err, c)
		})
	}
	a, next, err := p.Discover(t.Context(), good, "", 1)
	require.NoError(t, err)
	b, end, err := p.Discover(t.Context(), good, next, 1)
	require.NoError(t, err)
	assert.Equal(t, "C1 C2 ", a[0].ID+" "+b[0].ID+" "+end)
	assert.True(t, json.Valid(p.Describe().CredentialSchema))
}

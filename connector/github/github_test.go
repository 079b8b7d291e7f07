package github_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/connector"
	"github.com/contextmem/contextmem/connector/github"
	"github.com/contextmem/contextmem/content"
)

var (
	good = connector.Credentials{"token": token}
	day  = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

func open(f *fake, cfg github.Config) *github.Provider {
	cfg.BaseURL = f.URL
	return github.New(cfg)
}

// drain syncs until nothing is left, with a fresh provider each time, as after a restart.
func drain(t *testing.T, f *fake, cfg github.Config, r connector.SyncRequest) (ids []string, deleted []string, last map[string]connector.Object, cursor string) {
	t.Helper()
	last = map[string]connector.Object{}
	r.ResourceID, r.Credentials = "acme/docs", good
	for range 200 {
		page, err := open(f, cfg).Sync(t.Context(), r)
		require.NoError(t, err)
		if r.Limit > 0 {
			require.LessOrEqual(t, len(page.Objects)+len(page.Deleted), r.Limit)
		}
		for _, o := range page.Objects {
			ids = append(ids, o.ExternalID)
			last[o.ExternalID] = o
		}
		deleted = append(deleted, page.Deleted...)
		r.Cursor = page.Cursor
		if !page.More {
			return ids, deleted, last, r.Cursor
		}
	}
	t.Fatal("sync does not end")
	return nil, nil, nil, ""
}

func TestTicketsCarryTheirCommentsAndLinks(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.put(issue{number: 1, title: "Crash", body: "see #2 and other/repo#7, not #1", state: "closed", updated: day, comments: []string{"first", "second", "third"}})
	f.put(issue{number: 2, title: "Fix", state: "closed", updated: day.Add(time.Hour), pull: true, merged: true, reviews: []string{"rename this"}})
	ids, _, last, _ := drain(t, f, github.Config{PageSize: 2}, connector.SyncRequest{})
	assert.Equal(t, []string{"acme/docs#1", "acme/docs#2"}, ids)
	a := last["acme/docs#1"].App
	require.NotNil(t, a)
	assert.Equal(t, content.AppTicket, a.Kind)
	assert.Equal(t, "acme/docs#1", a.ExternalID)
	assert.Equal(t, "closed", a.Fields["status"])
	assert.Equal(t, "alice", a.Fields["reporter"])
	assert.Equal(t, []any{"acme/docs#2", "other/repo#7"}, a.Fields["linked_issue_ids"])
	assert.Equal(t, "acme/docs", a.Metadata["container_id"])
	require.Len(t, a.Comments, 3)
	assert.Equal(t, "third", a.Comments[2]["body"])
	assert.Equal(t, "bob", a.Comments[2]["author"])
	pr := last["acme/docs#2"].App
	assert.Equal(t, "merged", pr.Fields["status"])
	assert.Equal(t, "pull_request", pr.Type)
	require.Len(t, pr.Comments, 1)
	assert.Equal(t, "rename this", pr.Comments[0]["body"])
}

func TestCommentsAreBounded(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.put(issue{number: 1, title: "Long", updated: day, comments: strings.Split(strings.Repeat("x,", 9)+"x", ",")})
	_, _, last, _ := drain(t, f, github.Config{PageSize: 4, MaxComments: 5}, connector.SyncRequest{})
	a := last["acme/docs#1"].App
	assert.Len(t, a.Comments, 5)
	assert.Equal(t, true, a.Additional["comments_truncated"])
}

func TestSecondSyncFetchesOnlyWhatChanged(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	for i := 1; i <= 25; i++ {
		f.put(issue{number: i, title: "t", body: "b", updated: day.Add(time.Duration(i/3) * time.Minute), comments: []string{"c"}})
	}
	f.commit("one", map[string]string{"README.md": "# Readme", "docs/a.md": "alpha", "docs/b.md": "beta", "main.go": "package main"})
	ids, _, last, cursor := drain(t, f, github.Config{}, connector.SyncRequest{Limit: 4})
	assert.Len(t, ids, 28)
	assert.Len(t, last, 28)
	assert.Less(t, len(cursor), 400)
	assert.Equal(t, "alpha", string(last["acme/docs:docs/a.md"].File.Data))
	f.requests()

	ids, deleted, _, cursor := drain(t, f, github.Config{}, connector.SyncRequest{Cursor: cursor, Limit: 50})
	assert.Empty(t, ids)
	assert.Empty(t, deleted)
	assert.Len(t, f.requests(), 2, "one listing, one question for the head")

	f.put(issue{number: 3, title: "t", body: "b", state: "closed", updated: day.Add(time.Hour)})
	f.commit("two", map[string]string{"README.md": "# Readme", "docs/a.md": "alpha 2", "docs/c.md": "gamma"})
	ids, deleted, last, _ = drain(t, f, github.Config{}, connector.SyncRequest{Cursor: cursor, Limit: 2})
	assert.ElementsMatch(t, []string{"acme/docs#3", "acme/docs:docs/a.md", "acme/docs:docs/c.md"}, ids)
	assert.Equal(t, []string{"acme/docs:docs/b.md"}, deleted)
	assert.Equal(t, "closed", last["acme/docs#3"].App.Fields["status"])
	for _, r := range f.requests() {
		assert.NotContains(t, r, sha("# Readme"), "an unchanged file was fetched")
	}
}

func TestIssuesThatChangeWhilePagingAreNotSkipped(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	for i := 1; i <= 20; i++ {
		f.put(issue{number: i, title: "t", body: "b", updated: day.Add(time.Duration(i) * time.Second)})
	}
	seen := map[string]bool{}
	r := connector.SyncRequest{ResourceID: "acme/docs", Credentials: good, Limit: 3}
	for i := 1; ; i++ {
		page, err := open(f, github.Config{}).Sync(t.Context(), r)
		require.NoError(t, err)
		for _, o := range page.Objects {
			seen[o.ExternalID] = true
		}
		if r.Cursor = page.Cursor; !page.More {
			break
		}
		if i <= 3 { // an issue that was read already moves to the end and shifts all others
			f.put(issue{number: i, title: "t", body: "b", updated: day.Add(time.Hour + time.Duration(i)*time.Second)})
		}
	}
	assert.Len(t, seen, 20)
}

func TestManyIssuesOfOneSecond(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	for i := 1; i <= 17; i++ {
		f.put(issue{number: i, title: "t", body: "b", updated: day})
	}
	f.put(issue{number: 18, title: "t", body: "b", updated: day.Add(time.Second)})
	ids, _, last, _ := drain(t, f, github.Config{}, connector.SyncRequest{Limit: 5})
	assert.Len(t, last, 18)
	assert.Len(t, ids, 18)
}

func TestAnIssueThatChangesAgainWithinItsSecondComesAgain(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	now := time.Now().Truncate(time.Second)
	f.put(issue{number: 1, title: "before", body: "b", updated: now})
	_, _, _, cursor := drain(t, f, github.Config{}, connector.SyncRequest{})
	f.put(issue{number: 1, title: "after", body: "b", updated: now})
	_, _, last, _ := drain(t, f, github.Config{}, connector.SyncRequest{Cursor: cursor})
	require.Contains(t, last, "acme/docs#1")
	assert.Equal(t, "after", last["acme/docs#1"].App.Title)
}

func TestSinceAndTypes(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.put(issue{number: 1, title: "old", body: "b", updated: day})
	f.put(issue{number: 2, title: "new", body: "b", updated: day.Add(48 * time.Hour)})
	f.put(issue{number: 3, title: "pull", body: "b", updated: day.Add(49 * time.Hour), pull: true})
	f.commit("one", map[string]string{"a.md": "alpha"})
	since := day.Add(24 * time.Hour)
	for name, c := range map[string]struct {
		r    connector.SyncRequest
		want []string
	}{
		"all":    {connector.SyncRequest{Since: since}, []string{"acme/docs#2", "acme/docs#3", "acme/docs:a.md"}},
		"type":   {connector.SyncRequest{Type: "pull_request"}, []string{"acme/docs#3"}},
		"filter": {connector.SyncRequest{Filters: map[string]any{"object_types": []any{"issue", "file"}}}, []string{"acme/docs#1", "acme/docs#2", "acme/docs:a.md"}},
	} {
		t.Run(name, func(t *testing.T) {
			ids, _, _, _ := drain(t, f, github.Config{}, c.r)
			assert.Equal(t, c.want, ids, name)
		})
	}
	_, err := open(f, github.Config{}).Sync(t.Context(), connector.SyncRequest{ResourceID: "acme/docs", Credentials: good, Filters: map[string]any{"object_types": "wiki"}})
	assert.Error(t, err)
}

func TestFilesThatAreTooLargeAndTruncatedTrees(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.trunc = true
	f.commit("one", map[string]string{"a.md": "small", "docs/b.md": "small too", "docs/deep/c.md": "deep"})
	ids, _, _, cursor := drain(t, f, github.Config{MaxFileBytes: 10}, connector.SyncRequest{})
	assert.Equal(t, []string{"acme/docs:a.md", "acme/docs:docs/b.md", "acme/docs:docs/deep/c.md"}, ids)
	f.trunc = false
	f.commit("two", map[string]string{"a.md": strings.Repeat("x", 11), "docs/b.md": "small too"})
	ids, deleted, _, _ := drain(t, f, github.Config{MaxFileBytes: 10}, connector.SyncRequest{Cursor: cursor})
	assert.Empty(t, ids)
	assert.Equal(t, []string{"acme/docs:a.md", "acme/docs:docs/deep/c.md"}, deleted)
}

func TestABaseThatIsGoneIsReadAnew(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.commit("one", map[string]string{"a.md": "alpha"})
	_, _, _, cursor := drain(t, f, github.Config{}, connector.SyncRequest{})
	delete(f.commits, sha("one"))
	f.commit("forced", map[string]string{"a.md": "alpha", "b.md": "beta"})
	ids, _, _, _ := drain(t, f, github.Config{}, connector.SyncRequest{Cursor: cursor})
	assert.Equal(t, []string{"acme/docs:a.md", "acme/docs:b.md"}, ids)
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	reset := strconv.FormatInt(time.Now().Add(10*time.Minute).Unix(), 10)
	for name, c := range map[string]struct {
		code     int
		header   map[string]string
		body     string
		min, max time.Duration
	}{
		"too many":            {429, map[string]string{"Retry-After": "30"}, "", 30 * time.Second, 30 * time.Second},
		"quota":               {403, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset}, "{}", 9 * time.Minute, 11 * time.Minute},
		"secondary":           {403, nil, `{"message":"You have exceeded a secondary rate limit"}`, time.Minute, time.Minute},
		"secondary with time": {403, map[string]string{"Retry-After": "7"}, `{}`, 7 * time.Second, 7 * time.Second},
		"absurd":              {429, map[string]string{"Retry-After": "99999999999"}, "", time.Hour, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.setRefuse(func(string) (int, map[string]string, string) { return c.code, c.header, c.body })
			_, err := open(f, github.Config{}).Sync(t.Context(), connector.SyncRequest{ResourceID: "acme/docs", Credentials: good})
			var limited *connector.RateLimited
			require.ErrorAs(t, err, &limited)
			assert.GreaterOrEqual(t, limited.After, c.min)
			assert.LessOrEqual(t, limited.After, c.max)
		})
	}
}

func TestForbiddenIsNotAPause(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.setRefuse(func(string) (int, map[string]string, string) { return 403, nil, `{"message":"secret words"}` })
	_, err := open(f, github.Config{}).Sync(t.Context(), connector.SyncRequest{ResourceID: "acme/docs", Credentials: good})
	require.Error(t, err)
	var limited *connector.RateLimited
	assert.NotErrorAs(t, err, &limited)
	assert.NotContains(t, err.Error(), "secret")
}

func TestAPauseInTheMiddleKeepsWhatWasRead(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	for i := 1; i <= 6; i++ {
		f.put(issue{number: i, title: "t", body: "b", updated: day.Add(time.Duration(i) * time.Second), comments: []string{"c"}})
	}
	f.setRefuse(func(p string) (int, map[string]string, string) {
		if strings.HasSuffix(p, "/issues/4/comments") {
			return 429, map[string]string{"Retry-After": "1"}, ""
		}
		return 0, nil, ""
	})
	r := connector.SyncRequest{ResourceID: "acme/docs", Credentials: good}
	page, err := open(f, github.Config{}).Sync(t.Context(), r)
	require.NoError(t, err)
	assert.Len(t, page.Objects, 3)
	assert.True(t, page.More)
	r.Cursor = page.Cursor
	_, err = open(f, github.Config{}).Sync(t.Context(), r)
	var limited *connector.RateLimited
	require.ErrorAs(t, err, &limited)
	f.setRefuse(nil)
	ids, _, _, _ := drain(t, f, github.Config{}, r)
	assert.Equal(t, []string{"acme/docs#4", "acme/docs#5", "acme/docs#6"}, ids)
}

func TestBadAnswers(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"half":        `[{"number":1,"title":"t","upda`,
		"other shape": `{"message":"hm"}`,
		"no time":     `[{"number":1}]`,
		"empty":       ``,
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.setRefuse(func(string) (int, map[string]string, string) { return 200, nil, body })
			_, err := open(f, github.Config{}).Sync(t.Context(), connector.SyncRequest{ResourceID: "acme/docs", Credentials: good})
			assert.Error(t, err, name)
		})
	}
	f := newFake(t)
	for _, cursor := range []string{"{", `{"v":9}`, `{"v":1,"f":{"h":"../../user"}}`} {
		t.Run(cursor, func(t *testing.T) {
			_, err := open(f, github.Config{}).Sync(t.Context(), connector.SyncRequest{ResourceID: "acme/docs", Credentials: good, Cursor: cursor})
			assert.Error(t, err, cursor)
		})
	}
	for _, id := range []string{"", "acme", "acme/..", "acme/docs/issues", "a b/c"} {
		t.Run(id, func(t *testing.T) {
			_, err := open(f, github.Config{}).Sync(t.Context(), connector.SyncRequest{ResourceID: id, Credentials: good})
			assert.Error(t, err, id)
		})
	}
}

func TestASlowServerEndsWithTheContext(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	hold := make(chan struct{})
	t.Cleanup(func() { close(hold) })
	f.Config.Handler = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hold })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := open(f, github.Config{}).Sync(ctx, connector.SyncRequest{ResourceID: "acme/docs", Credentials: good})
	assert.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestCredentialsAndDiscovery(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	p := open(f, github.Config{})
	assert.NoError(t, p.Check(t.Context(), good))
	err := p.Check(t.Context(), connector.Credentials{"token": "ghp_revoked"})
	assert.ErrorIs(t, err, connector.ErrReauth)
	assert.NotContains(t, err.Error(), "ghp_revoked")
	assert.ErrorIs(t, p.Check(t.Context(), nil), connector.ErrBadCredentials)
	assert.ErrorIs(t, p.Check(t.Context(), connector.Credentials{"token": "a\r\nb"}), connector.ErrBadCredentials)

	var names []string
	cursor := ""
	for range 10 {
		rs, next, err := p.Discover(t.Context(), good, cursor, 2)
		require.NoError(t, err)
		for _, r := range rs {
			names = append(names, r.ID)
		}
		if cursor = next; cursor == "" {
			break
		}
	}
	assert.Equal(t, []string{"acme/r0", "acme/r1", "acme/r2", "acme/r3", "acme/r4"}, names)
	_, _, err = p.Discover(t.Context(), good, "x", 2)
	assert.Error(t, err)

	info := p.Describe()
	assert.True(t, json.Valid(info.CredentialSchema))
	assert.NotEmpty(t, info.SetupGuide)
	assert.Equal(t, "github", info.Name)
	assert.NotContains(t, fmt.Sprint(err), token)
}

func TestFilesThatWouldBeRefusedAreNotFetched(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.commit("one", map[string]string{"README.md": "# Readme", "long.md": strings.Repeat("long ", 100), "draft.md": "# Draft"})
	r := connector.SyncRequest{MaxBytes: 100, Supported: func(name, contentType string) bool {
		return contentType == "text/markdown" && name != "draft.md"
	}}
	ids, deleted, _, cursor := drain(t, f, github.Config{}, r)
	assert.Equal(t, []string{"acme/docs:README.md"}, ids)
	assert.Empty(t, deleted)
	for _, r := range f.requests() {
		assert.NotContains(t, r, sha("# Draft"))
	}
	f.commit("two", map[string]string{"README.md": strings.Repeat("grown ", 100)})
	r.Cursor = cursor
	ids, deleted, _, _ = drain(t, f, github.Config{}, r)
	assert.Empty(t, ids)
	assert.ElementsMatch(t, []string{"acme/docs:README.md", "acme/docs:draft.md", "acme/docs:long.md"}, deleted)
}

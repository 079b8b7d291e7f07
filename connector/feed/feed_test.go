package feed

import (
	"context"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/connector"
)

const rss = `<?xml version="1.0" encoding="ISO-8859-1"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:media="http://search.yahoo.com/mrss/">
<channel><title>Harbour News</title><atom:link rel="self" href="https://news.test/rss"/><image><title>logo</title></image>
<item><guid>g1</guid><title>Caf` + "\xe9" + ` opens</title><media:title>no</media:title><link>/a</link><pubDate>Mon, 02 Jan 2006 15:04:05 GMT</pubDate>
<description>short</description><content:encoded><![CDATA[<p>The caf&eacute; opens at the quay.</p>]]></content:encoded></item>
<item><title>Second</title><link>https://news.test/b</link><description>Two &lt;b&gt;boats&lt;/b&gt; left.</description></item>
<item><link>https://news.test/empty</link></item>
</channel></rss>`

const atom = `<feed xmlns="http://www.w3.org/2005/Atom"><title>Log</title>
<entry><id>urn:1</id><title>One</title><link rel="edit" href="https://x.test/e"/><link href="https://x.test/1"/><updated>2024-05-06T07:08:09Z</updated>
<author><name>Ann</name></author><content type="xhtml"><div><p>Hello there.</p></div></content></entry>
<entry><id>urn:2</id><title>Two</title><summary type="text">1 &lt; 2</summary></entry></feed>`

const jsonFeed = `{"version": "https://jsonfeed.org/version/1.1", "title": "J", "items": [
{"id": 7, "url": "https://j.test/7", "title": "Seven", "content_text": "plain <text>", "date_published": "2024-01-02T03:04:05+01:00", "authors": [{"name": "Bo"}]},
{"id": "8", "content_html": "<i>eight</i>"}]}`

func TestParse(t *testing.T) {
	t.Parallel()
	base, err := url.Parse("https://news.test/feed")
	require.NoError(t, err)
	for name, tc := range map[string]struct {
		in    string
		title string
		want  []entry
	}{
		"rss": {rss, "Harbour News", []entry{
			{id: "g1", title: "Café opens", link: "https://news.test/a", body: "<p>The caf&eacute; opens at the quay.</p>", time: time.Date(2006, 1, 2, 15, 4, 5, 0, time.UTC)},
			{id: "https://news.test/b", title: "Second", link: "https://news.test/b", body: "Two <b>boats</b> left."}}},
		"atom": {atom, "Log", []entry{
			{id: "urn:1", title: "One", link: "https://x.test/1", body: "<div><p>Hello there.</p></div>", author: "Ann", time: time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)},
			{id: "urn:2", title: "Two", body: "1 &lt; 2"}}},
		"json": {"\xef\xbb\xbf" + jsonFeed, "J", []entry{
			{id: "7", title: "Seven", link: "https://j.test/7", body: "plain <text>", plain: true, author: "Bo", time: time.Date(2024, 1, 2, 2, 4, 5, 0, time.UTC)},
			{id: "8", body: "<i>eight</i>"}}},
		"cut off": {rss[:strings.Index(rss, "<item><title>Second")+20], "Harbour News", []entry{
			{id: "g1", title: "Café opens", link: "https://news.test/a", body: "<p>The caf&eacute; opens at the quay.</p>", time: time.Date(2006, 1, 2, 15, 4, 5, 0, time.UTC)}}},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := parse([]byte(tc.in), base)
			require.NoError(t, err, name)
			require.Equal(t, tc.title, d.title, name)
			require.Equal(t, tc.want, d.entries, name)
		})
	}
	for _, bad := range []string{"", " ", "{}", "[]", "<html><body>hello</body></html>", "<rss", "text", `{"version": "https://jsonfeed.org/version/1", "items": 5}`} {
		t.Run(bad, func(t *testing.T) {
			_, err := parse([]byte(bad), base)
			require.ErrorIs(t, err, errNoFeed, "%q", bad)
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{rss, atom, jsonFeed, "<rdf><item><title>x</title></item>"} {
		f.Add([]byte(s))
	}
	base, err := url.Parse("https://news.test/feed")
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := parse(b, base)
		if err != nil {
			return
		}
		for _, e := range d.entries {
			require.NotEmpty(t, e.id)
			require.LessOrEqual(t, len(e.id), 1024)
		}
	})
}

func sync(t *testing.T, p *Provider, r connector.SyncRequest) *connector.Page {
	t.Helper()
	page, err := p.Sync(t.Context(), r)
	require.NoError(t, err)
	return page
}

func TestSyncAsksConditionally(t *testing.T) {
	t.Parallel()
	etag, served := true, 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if etag {
			w.Header().Set("ETag", `"v1"`)
			if r.Header.Get("If-None-Match") == `"v1"` {
				w.WriteHeader(http.StatusNotModified)
				return
			}
		}
		served++
		_, _ = w.Write([]byte(atom))
	}))
	defer srv.Close()
	p := New(Config{Client: srv.Client()})
	page := sync(t, p, connector.SyncRequest{ResourceID: srv.URL})
	require.Len(t, page.Objects, 2)
	a := page.Objects[0].App
	require.Equal(t, "One", a.Title)
	require.Equal(t, "2024-05-06T07:08:09Z", a.Timestamp)
	require.Equal(t, base64.StdEncoding.EncodeToString([]byte("<div><p>Hello there.</p></div>")), a.Content.HTMLBase64)
	again := sync(t, p, connector.SyncRequest{ResourceID: srv.URL, Cursor: page.Cursor})
	require.Empty(t, again.Objects)
	require.Equal(t, page.Cursor, again.Cursor)
	require.Equal(t, 1, served)
	etag = false
	again = sync(t, p, connector.SyncRequest{ResourceID: srv.URL, Cursor: page.Cursor})
	require.Empty(t, again.Objects, "the same bytes are not handed over again")
	require.Equal(t, 2, served)
	late := sync(t, p, connector.SyncRequest{ResourceID: srv.URL, Since: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)})
	require.Len(t, late.Objects, 1, "only the one without a time")
}

func TestSyncErrors(t *testing.T) {
	t.Parallel()
	status, header := 200, ""
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if header != "" {
			w.Header().Set("Retry-After", header)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(atom))
	}))
	defer srv.Close()
	p := New(Config{Client: srv.Client(), MaxBytes: 100})
	try := func(id, token string) error {
		_, err := p.Sync(t.Context(), connector.SyncRequest{ResourceID: id, Credentials: connector.Credentials{"token": token}})
		require.Error(t, err)
		return err
	}
	require.ErrorContains(t, try(srv.URL, ""), "over the limit")
	status, header = 429, "120"
	var limited *connector.RateLimited
	require.ErrorAs(t, try(srv.URL, ""), &limited)
	require.Equal(t, 2*time.Minute, limited.After)
	status, header = 401, ""
	require.ErrorIs(t, try(srv.URL, "tok"), connector.ErrReauth)
	require.NotErrorIs(t, try(srv.URL, ""), connector.ErrReauth)
	status = 404
	require.ErrorContains(t, try(srv.URL, ""), "404")
	for _, id := range []string{"", "file:///etc/passwd", "https://user:pw@host/", "nothing", "https://"} {
		t.Run(id, func(t *testing.T) {
			require.ErrorContains(t, try(id, ""), "not the address", "%q", id)
		})
	}
	guarded := New(Config{})
	_, err := guarded.Sync(t.Context(), connector.SyncRequest{ResourceID: srv.URL + "/?key=secret"})
	require.ErrorContains(t, err, "not public")
	require.NotContains(t, err.Error(), "secret")
	status, header = 429, "999999999"
	require.ErrorAs(t, try(srv.URL, ""), &limited)
	require.Equal(t, maxRetryAfter, limited.After)
}

func TestEntriesOverTheLimitAreLeftOut(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(atom)) }))
	defer srv.Close()
	p := New(Config{Client: srv.Client()})
	require.Len(t, sync(t, p, connector.SyncRequest{ResourceID: srv.URL, MaxBytes: 1000}).Objects, 2)
	require.Len(t, sync(t, p, connector.SyncRequest{ResourceID: srv.URL, MaxBytes: 20}).Objects, 1)
}

func TestDiscoverPages(t *testing.T) {
	t.Parallel()
	p := New(Config{Feeds: []Feed{{URL: "https://a.test", Name: "A"}, {URL: "https://b.test"}}})
	rs, next, err := p.Discover(t.Context(), nil, "", 1)
	require.NoError(t, err)
	require.Equal(t, "A", rs[0].Name)
	rs, next, err = p.Discover(t.Context(), nil, next, 1)
	require.NoError(t, err)
	require.Equal(t, "https://b.test", rs[0].Name)
	require.Empty(t, next)
	_, _, err = p.Discover(t.Context(), nil, "9", 1)
	require.Error(t, err)
}

func TestFeedIsRecalled(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(rss)) }))
	defer srv.Close()
	svc, err := contextmem.New(t.Context(), inmem.New(), &contextmem.Options{Providers: []connector.Provider{New(Config{Client: srv.Client()})}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, svc.Close()) })
	_, err = svc.CreateTenant(t.Context(), contextmem.TenantSpec{ID: "acme"})
	require.NoError(t, err)
	acme := svc.Tenant("acme")
	require.NoError(t, acme.WaitReady(t.Context()))
	c, err := svc.CreateConnector(t.Context(), contextmem.ConnectorSpec{Provider: Name, Tenant: "acme"})
	require.NoError(t, err)
	_, err = svc.AddResources(t.Context(), c.ID, []contextmem.ConnectorResource{{ResourceID: srv.URL}})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.Eventually(t, func() bool {
		c, err := svc.Connector(ctx, c.ID)
		require.NoError(t, err)
		require.Empty(t, c.LastError)
		return c.Dispatched == 2 && c.SyncStatus == contextmem.SyncIdle
	}, time.Minute, 5*time.Millisecond)
	require.NoError(t, svc.Drain(ctx))
	res, err := acme.Recall(ctx, contextmem.Recall{Query: "when does the café at the quay open?"})
	require.NoError(t, err)
	require.NotEmpty(t, res.Chunks)
	require.Contains(t, res.Chunks[0].Text, "café opens at the quay")
}

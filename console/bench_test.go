package console_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/console"
)

// BenchmarkPages loads the pages of a tenant with 100,000 memories over loopback.
func BenchmarkPages(b *testing.B) {
	svc, err := contextmem.Open(b.Context(), b.TempDir(), nil)
	require.NoError(b, err)
	defer svc.Close()
	big(b.Context(), b, svc, 100_000)
	c, err := console.New(svc, console.Options{})
	require.NoError(b, err)
	defer c.Close()
	srv := httptest.NewServer(c)
	defer srv.Close()
	_, text, err := svc.CreateKey(b.Context(), contextmem.KeySpec{})
	require.NoError(b, err)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	login, err := http.NewRequestWithContext(b.Context(), http.MethodPost, srv.URL+"/console/login", strings.NewReader(url.Values{"key": {text}}.Encode()))
	require.NoError(b, err)
	login.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := client.Do(login)
	require.NoError(b, err)
	require.NoError(b, res.Body.Close())
	cookie := res.Cookies()[0]
	v := &visitor{client: client}
	near, err := svc.Tenant("big").Sub("u").List(b.Context(), contextmem.ListRequest{Class: contextmem.ClassMemory, Page: 3999, PageSize: 25})
	require.NoError(b, err)
	for name, page := range map[string]string{"overview": "", "tenant": "t/big?sub=u", "last": "t/big?sub=u&class=memory&n=99976&after=" + near.Next, "completed": "t/big?sub=u&status=completed", "errored": "t/big?sub=u&status=errored", "search": "t/big?sub=u&q=apricot+violin",
		"item": "t/big/item?sub=u&id=m-050000", "recall": "t/big/recall?sub=u&q=which+violin+belongs+to+the+turbine", "timeline": "t/big/timeline?sub=u&person=anna+berg", "graph": "t/big/graph?sub=u",
		"keys": "keys", "webhooks": "webhooks", "connectors": "connectors", "system": "system"} {
		b.Run(name, func(b *testing.B) {
			size := 0
			begun := cpuTime()
			for b.Loop() {
				r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, srv.URL+"/console/"+page, nil)
				require.NoError(b, err)
				r.AddCookie(cookie)
				status, body := v.bench(b, r)
				require.Equal(b, http.StatusOK, status, page)
				size = len(body)
			}
			require.Less(b, size, 100_000)
			b.ReportMetric(float64(size), "bytes")
			b.ReportMetric(float64((cpuTime()-begun).Microseconds())/1000/float64(b.N), "cpu-ms/op")
		})
	}
}

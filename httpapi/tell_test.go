package httpapi

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
)

// TestMisspeltParameters: where a parameter that is misspelt makes a request mean more than its sender wanted, the answer says so.
func TestMisspeltParameters(t *testing.T) {
	t.Parallel()
	svc, err := contextmem.New(t.Context(), inmem.New(), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, svc.Close()) })
	h, err := New(svc, Options{Keys: map[string]string{fullKey: contextmem.DefaultOrg}})
	require.NoError(t, err)
	_, err = svc.EnsureTenant(t.Context(), contextmem.TenantSpec{ID: "acme"})
	require.NoError(t, err)
	_, err = svc.Tenant("acme").Remember(t.Context(), contextmem.Memory{ID: "m", Text: "Alice manages the pricing page."})
	require.NoError(t, err)
	for target, told := range map[string]string{
		"/context/relations?database=acme&type=memory&sourceid=m":                              "sourceid",
		"/context/chunks?database=acme&id=m&form=3":                                            "form",
		"/context/subgraph?database=acme&id=m&type=memory&maxsources=3":                        "maxsources",
		"/context/relations?database=acme&collection=&kind=memory&source_id=m&limit=5&acl=ann": "",
		"/context/relations?tenant_id=acme&sub_tenant_id=&type=memory&id=m&cursor=0":           "",
		"/context/chunks?tenant_id=acme&sub_tenant_id=&source_id=m&type=memory&from=0&limit=5": "",
		"/context/m/subgraph?tenant_id=acme&sub_tenant_id=&type=memory&depth=2&max_sources=5":  "",
		"/context/subgraph?database=acme&collection=&type=memory&id=m&depth=2&max_sources=5":   "",
	} {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
			r.Header.Set("Authorization", "Bearer "+fullKey)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			require.Equal(t, http.StatusOK, w.Code, w.Body.String())
			if told == "" {
				require.NotContains(t, w.Body.String(), "unknown_field")
				return
			}
			require.Contains(t, w.Body.String(), `{"code":"unknown_field","field":"`+told+`"`)
		})
	}
}

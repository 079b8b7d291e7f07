package httpapi_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/httpapi"
	"github.com/stretchr/testify/require"
)

// TestAuthenticatorErrors checks what the sender of a request gets if an Authenticator returns an error.
func TestAuthenticatorErrors(t *testing.T) {
	t.Parallel()
	svc, err := contextmem.New(t.Context(), inmem.New(), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, svc.Close()) })
	h, err := httpapi.New(svc, httpapi.Options{Authenticator: httpapi.AuthenticatorFunc(func(r *http.Request) (httpapi.Principal, error) {
		switch r.Header.Get("X-User") {
		case "":
			return httpapi.Principal{}, contextmem.ErrUnauthorized
		case "unknown":
			return httpapi.Principal{}, fmt.Errorf("no such user: %w", contextmem.ErrUnauthorized)
		case "guest":
			return httpapi.Principal{}, fmt.Errorf("guests may not: %w", contextmem.ErrForbidden)
		case "offline":
			return httpapi.Principal{}, errors.New("the directory of users at 10.0.0.1 does not answer")
		case "forgotten":
			return httpapi.Principal{}, nil
		}
		return httpapi.Principal{Org: contextmem.DefaultOrg, ID: "u"}, nil
	})})
	require.NoError(t, err)
	_, err = httpapi.New(svc, httpapi.Options{Authenticator: httpapi.AuthenticatorFunc(nil)})
	require.EqualError(t, err, "httpapi: option Authenticator: holds a nil function")
	for user, c := range map[string]struct {
		status int
		text   string
	}{
		"":          {401, `"message":"unauthorized"`},
		"unknown":   {401, `"message":"no such user: unauthorized"`},
		"guest":     {403, `"message":"guests may not: forbidden"`},
		"offline":   {500, `"message":"internal error"`},
		"forgotten": {500, `"message":"internal error"`},
		"alice":     {200, `"databases"`},
	} {
		t.Run("user "+user, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(http.MethodGet, "/databases", nil)
			r.Header.Set("X-User", user)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			require.Equal(t, c.status, w.Code, w.Body)
			require.Contains(t, w.Body.String(), c.text)
		})
	}
}

package delivery_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/connector"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// neverClosed is a backend that ignores Close, so that several services can use it one after the other.
type neverClosed struct{ backend.Backend }

func (neverClosed) Close() error { return nil }

func TestConnectorRefusals(t *testing.T) {
	t.Parallel()
	servicetest.InBubble(t, func(t *testing.T, svc *contextmem.Service, _ contextmem.Tenant, p *servicetest.ScriptedProvider) {
		ok := contextmem.ConnectorSpec{Provider: "script", Tenant: "acme", Credentials: token, AccountScope: "one"}
		made, err := svc.CreateConnector(t.Context(), ok)
		require.NoError(t, err)
		for name, tc := range map[string]struct {
			edit func(s *contextmem.ConnectorSpec)
			want error
		}{
			"provider missing":   {func(s *contextmem.ConnectorSpec) { s.Provider = "" }, contextmem.ErrInvalid},
			"provider unknown":   {func(s *contextmem.ConnectorSpec) { s.Provider = "nobody" }, contextmem.ErrInvalid},
			"account taken":      {func(*contextmem.ConnectorSpec) {}, contextmem.ErrConflict},
			"tenant unknown":     {func(s *contextmem.ConnectorSpec) { s.Tenant = "nowhere" }, contextmem.ErrNotFound},
			"interval short":     {func(s *contextmem.ConnectorSpec) { s.Interval = 299 * time.Second }, contextmem.ErrInvalid},
			"interval long":      {func(s *contextmem.ConnectorSpec) { s.Interval = 7*24*time.Hour + time.Second }, contextmem.ErrInvalid},
			"engine":             {func(s *contextmem.ConnectorSpec) { s.SyncEngine = "warp" }, contextmem.ErrInvalid},
			"auth type":          {func(s *contextmem.ConnectorSpec) { s.AuthType = "magic" }, contextmem.ErrInvalid},
			"credential missing": {func(s *contextmem.ConnectorSpec) { s.Credentials = nil }, contextmem.ErrInvalid},
			"credential unknown": {func(s *contextmem.ConnectorSpec) { s.Credentials = connector.Credentials{"token": "t", "x": "y"} }, contextmem.ErrInvalid},
		} {
			spec := ok
			tc.edit(&spec)
			_, err := svc.CreateConnector(t.Context(), spec)
			require.ErrorIs(t, err, tc.want, name)
		}
		p.Checks = func(c connector.Credentials) error {
			return fmt.Errorf("%w: %s", connector.ErrBadCredentials, c["token"])
		}
		_, err = svc.CreateConnector(t.Context(), contextmem.ConnectorSpec{Provider: "script", Credentials: token})
		require.ErrorIs(t, err, contextmem.ErrInvalid)
		require.NotContains(t, err.Error(), "secret-token")
		_, _, err = svc.Discover(t.Context(), made.ID, "bad", 0)
		require.ErrorIs(t, err, contextmem.ErrUpstream)
		require.NotContains(t, err.Error(), "secret-token")
		p.Checks = func(connector.Credentials) error { panic("no") }
		_, _, err = svc.DiscoverWith(t.Context(), contextmem.DiscoverRequest{Provider: "script", Credentials: token, Limit: 10})
		require.ErrorIs(t, err, contextmem.ErrUpstream)
		_, _, err = svc.DiscoverWith(t.Context(), contextmem.DiscoverRequest{Provider: "script", AuthType: "magic", Credentials: token})
		require.ErrorIs(t, err, contextmem.ErrInvalid)
		rs, next, err := svc.Discover(t.Context(), made.ID, "", 1000)
		require.NoError(t, err)
		require.Equal(t, "r100", rs[0].ID, "larger limits are clamped")
		require.Equal(t, "next", next)
		for _, r := range []contextmem.ConnectorResource{{}, {ResourceID: "x", SyncMode: "odd"}, {ResourceID: "x", LookbackDays: -1}, {ResourceID: "x", BackfillInterval: -1}} {
			_, err := svc.AddResources(t.Context(), made.ID, []contextmem.ConnectorResource{r})
			require.ErrorIs(t, err, contextmem.ErrInvalid, "%+v", r)
		}
		_, err = svc.AddResources(t.Context(), made.ID, []contextmem.ConnectorResource{{ResourceID: "x", TenantOverride: "nowhere"}})
		require.ErrorIs(t, err, contextmem.ErrNotFound)
		require.ErrorIs(t, svc.DeleteResource(t.Context(), made.ID, "x"), contextmem.ErrNotFound)
		zero, short := time.Duration(0), time.Second
		_, err = svc.EditConnector(t.Context(), made.ID, contextmem.ConnectorEdit{Interval: &short})
		require.ErrorIs(t, err, contextmem.ErrInvalid)
		c, err := svc.EditConnector(t.Context(), made.ID, contextmem.ConnectorEdit{Interval: &zero})
		require.NoError(t, err)
		require.Equal(t, time.Hour, c.Interval)
		for _, err := range []error{errorOf(svc.Org("elsewhere").Connector(t.Context(), made.ID)), errorOf(svc.Org("elsewhere").SyncNow(t.Context(), made.ID)),
			svc.Org("elsewhere").DeleteConnector(t.Context(), made.ID, true)} {
			require.ErrorIs(t, err, contextmem.ErrNotFound)
		}
	})
}

package delivery_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/backend/inmem"
	"github.com/contextmem/contextmem/fault"
)

func TestWebhookAddresses(t *testing.T) {
	t.Parallel()
	const loopback, metadata, private = "http://127.0.0.1:8080/", "http://169.254.169.254/latest/meta-data", "https://10.1.2.3/hook"
	for name, c := range map[string]struct {
		opts contextmem.Options
		open []string
		shut []string
	}{
		"default":  {contextmem.Options{}, nil, []string{loopback, metadata, private, "http://hooks.example.com"}},
		"loopback": {contextmem.Options{AllowLocalWebhooks: true}, []string{loopback}, []string{metadata, private, "http://10.1.2.3/hook", "http://hooks.example.com"}},
		"networks": {contextmem.Options{WebhookNetworks: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}}, []string{private}, []string{loopback, metadata, "https://10.2.0.1/", "http://10.1.2.3/hook"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			svc, err := contextmem.New(t.Context(), inmem.New(), &c.opts)
			require.NoError(t, err)
			defer func() { require.NoError(t, svc.Close()) }()
			for _, u := range append(c.open, "https://hooks.example.com") {
				_, err := svc.SetWebhook(t.Context(), contextmem.WebhookSpec{URL: u})
				require.NoError(t, err, u)
			}
			for _, u := range c.shut {
				_, err := svc.SetWebhook(t.Context(), contextmem.WebhookSpec{URL: u})
				require.ErrorIs(t, err, fault.ErrInvalid, u)
			}
		})
	}
	_, err := contextmem.New(t.Context(), inmem.New(), &contextmem.Options{WebhookNetworks: []netip.Prefix{{}}})
	require.ErrorContains(t, err, "WebhookNetworks")
}

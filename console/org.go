package console

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/fault"
)

type connectorsData struct {
	Connectors []contextmem.Connector
	Providers  []contextmem.ProviderInfo
	Tenants    []contextmem.TenantInfo
}

func connectorsPage(v *view) (err error) {
	if err := v.whole(); err != nil {
		return err
	}
	var d connectorsData
	if d.Connectors, err = v.org().Connectors(v.r.Context(), ""); err != nil {
		return err
	}
	d.Providers = v.c.svc.Providers()
	if d.Tenants, err = v.tenants("", 200); err != nil {
		return err
	}
	return v.show("connectors", d)
}

type connectorData struct {
	contextmem.Connector
	Synced    []contextmem.ConnectorResource
	Offered   []contextmem.ProviderResource
	OfferedBy string // name of the text that explains why nothing is offered
}

func connectorPage(v *view) (err error) {
	if err := v.whole(); err != nil {
		return err
	}
	ctx, id := v.r.Context(), v.r.PathValue("id")
	var d connectorData
	if d.Connector, err = v.org().Connector(ctx, id); err != nil {
		return err
	}
	if d.Synced, err = v.org().Resources(ctx, id); err != nil {
		return err
	}
	if v.value("discover") != "" {
		offered, _, err := v.org().Discover(ctx, id, "", 100)
		if err != nil && v.r.Context().Err() == nil {
			d.OfferedBy = strings.TrimPrefix(err.Error(), "contextmem: ")
		}
		d.Offered = offered
	}
	return v.show("connector", d)
}

func createConnector(v *view) error {
	if err := v.whole(); err != nil {
		return err
	}
	spec := contextmem.ConnectorSpec{Provider: v.value("provider"), Name: strings.TrimSpace(v.value("name")), Tenant: v.value("tenant"), Sub: strings.TrimSpace(v.value("into"))}
	for line := range strings.SplitSeq(v.value("credentials"), "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if !ok {
			return refuse(fault.KindInvalid, "credentials", "must be lines of name=value")
		}
		if spec.Credentials == nil {
			spec.Credentials = contextmem.Credentials{}
		}
		spec.Credentials[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	made, err := v.org().CreateConnector(v.r.Context(), spec)
	if err != nil {
		return err
	}
	return v.back("connectors/"+url.PathEscape(made.ID), url.Values{"discover": {"1"}}, "created")
}

// onConnector runs an action on the connector in the path and redirects to the connector's page.
func (v *view) onConnector(done string, f func(id string) error) error {
	if err := v.whole(); err != nil {
		return err
	}
	id := v.r.PathValue("id")
	if err := f(id); err != nil {
		return err
	}
	return v.back("connectors/"+url.PathEscape(id), nil, done)
}

func syncConnector(v *view) error {
	return v.onConnector("synced", func(id string) error {
		_, err := v.org().SyncNow(v.r.Context(), id)
		return err
	})
}

func pauseConnector(v *view) error {
	return v.onConnector("paused", func(id string) error {
		_, err := v.org().PauseConnector(v.r.Context(), id)
		return err
	})
}

func resumeConnector(v *view) error {
	return v.onConnector("resumed", func(id string) error {
		_, err := v.org().ResumeConnector(v.r.Context(), id)
		return err
	})
}

func addResource(v *view) error {
	return v.onConnector("added", func(id string) error {
		r := contextmem.ConnectorResource{ResourceID: v.value("resource"), Name: v.value("name"), Type: v.value("type")}
		_, err := v.org().AddResources(v.r.Context(), id, []contextmem.ConnectorResource{r})
		return err
	})
}

func deleteConnector(v *view) error {
	if err := v.whole(); err != nil {
		return err
	}
	if err := v.org().DeleteConnector(v.r.Context(), v.r.PathValue("id"), v.value("objects") == "1"); err != nil {
		return err
	}
	return v.back("connectors", nil, "deleted")
}

type webhooksData struct {
	Webhook    contextmem.Webhook
	Status     string
	Deliveries []contextmem.Delivery
	Next       string
}

var deliveryStates = map[string]bool{"": true, string(contextmem.DeliveryPending): true, string(contextmem.DeliverySweeping): true, string(contextmem.DeliveryDelivered): true,
	string(contextmem.DeliveryFailed): true, string(contextmem.DeliveryPermanentlyFailed): true}

// States returns the states of deliveries.
func (webhooksData) States() []string {
	return []string{string(contextmem.DeliveryPending), string(contextmem.DeliverySweeping), string(contextmem.DeliveryDelivered), string(contextmem.DeliveryFailed), string(contextmem.DeliveryPermanentlyFailed)}
}

func webhooksPage(v *view) (err error) {
	if err := v.whole(); err != nil {
		return err
	}
	ctx := v.r.Context()
	d := webhooksData{Status: v.value("status")}
	if !deliveryStates[d.Status] {
		return refuse(fault.KindInvalid, "status", "is no state of a delivery")
	}
	if d.Webhook, err = v.org().Webhook(ctx); err != nil {
		return err
	}
	page, err := v.org().ListDeliveries(ctx, contextmem.DeliveriesRequest{Status: contextmem.DeliveryStatus(d.Status), Limit: 25, Cursor: v.value("cursor")})
	if err != nil {
		return err
	}
	d.Deliveries, d.Next = page.Deliveries, page.Next
	v.Shown = v.c.sessions.shown(cookieOf(v.r))
	return v.show("webhooks", d)
}

func setWebhook(v *view) error {
	if err := v.whole(); err != nil {
		return err
	}
	w, err := v.org().SetWebhook(v.r.Context(), contextmem.WebhookSpec{URL: strings.TrimSpace(v.value("url")), GenerateSecret: v.value("secret") == "1"})
	if err != nil {
		return err
	}
	if w.Secret != "" {
		v.c.sessions.show(cookieOf(v.r), w.Secret)
	}
	return v.back("webhooks", nil, "saved")
}

func testWebhook(v *view) error {
	if err := v.whole(); err != nil {
		return err
	}
	t, err := v.org().TestWebhook(v.r.Context())
	if err != nil {
		return err
	}
	if !t.Delivered {
		return v.back("webhooks", nil, "testfailed")
	}
	return v.back("webhooks", nil, "tested")
}

func deleteWebhook(v *view) error {
	if err := v.whole(); err != nil {
		return err
	}
	if err := v.org().DeleteWebhook(v.r.Context()); err != nil {
		return err
	}
	return v.back("webhooks", nil, "deleted")
}

func resend(v *view) error {
	if err := v.whole(); err != nil {
		return err
	}
	if err := v.org().RetryDelivery(v.r.Context(), v.value("id")); err != nil {
		return err
	}
	return v.back("webhooks", nil, "resent")
}

type keysData struct {
	Keys []keyRow
	Own  string // id of the session's key
}

type keyRow struct{ contextmem.Key }

// Expired reports whether the key has expired.
func (k keyRow) Expired() bool { return !k.ExpiresAt.IsZero() && !k.ExpiresAt.After(time.Now()) }

func keysPage(v *view) error {
	if err := v.whole(); err != nil {
		return err
	}
	ks, err := v.org().Keys(v.r.Context())
	if err != nil {
		return err
	}
	d := keysData{Own: v.Key.ID}
	for _, k := range ks {
		d.Keys = append(d.Keys, keyRow{k})
	}
	v.Shown = v.c.sessions.shown(cookieOf(v.r))
	return v.show("keys", d)
}

// days reads the lifetime of a new key in days; 0: unlimited. A key cannot create a key that outlives it.
func (v *view) days() (time.Duration, error) {
	n, err := v.number("days", 0, 3650)
	if err != nil {
		return 0, err
	}
	ttl := time.Duration(n) * 24 * time.Hour
	if own := v.Key.ExpiresAt; !own.IsZero() {
		if left := time.Until(own); ttl == 0 || ttl > left {
			ttl = left
		}
	}
	return ttl, nil
}

func createKey(v *view) error {
	if err := v.whole(); err != nil {
		return err
	}
	ttl, err := v.days()
	if err != nil {
		return err
	}
	spec := contextmem.KeySpec{Owner: strings.TrimSpace(v.value("owner")), TTL: ttl}
	for _, s := range v.r.PostForm["scope"] {
		spec.Scopes = append(spec.Scopes, contextmem.Scope(s))
	}
	if len(spec.Scopes) == 0 {
		spec.Scopes = v.Key.Scopes
	}
	for _, s := range spec.Scopes {
		if !v.Key.Allows(s) {
			return refuse(fault.KindForbidden, "scope", "a key can't make one with more scopes than it has")
		}
	}
	spec.Tenants = append(spec.Tenants, strings.FieldsFunc(v.value("tenants"), func(r rune) bool { return strings.ContainsRune(", \n\r\t", r) })...)
	_, text, err := v.org().CreateKey(v.r.Context(), spec)
	if err != nil {
		return err
	}
	v.c.sessions.show(cookieOf(v.r), text)
	return v.back("keys", nil, "created")
}

func revokeKey(v *view) error {
	if err := v.whole(); err != nil {
		return err
	}
	if err := v.org().RevokeKey(v.r.Context(), v.value("id")); err != nil {
		return err
	}
	return v.back("keys", nil, "revoked")
}

func expireKey(v *view) error {
	if err := v.whole(); err != nil {
		return err
	}
	ttl, err := v.days()
	if err != nil {
		return err
	}
	var at time.Time
	if ttl > 0 {
		at = time.Now().Add(ttl)
	}
	if _, err := v.org().ExpireKey(v.r.Context(), v.value("id"), at); err != nil {
		return err
	}
	return v.back("keys", nil, "expires")
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

package contextmem

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// Bounds of sync intervals where a provider names none. The wire contract shows 300 and
// 604800 seconds in its samples, and an hour as the default.
const (
	minSyncInterval     = 5 * time.Minute
	maxSyncInterval     = 7 * 24 * time.Hour
	defaultSyncInterval = time.Hour

	maxConnectorText   = 1024 // bytes of names and scopes
	maxCredentialBytes = 64 << 10
	maxLookbackDays    = 36500
	maxResourcesCall   = 1000
	maxResourceBytes   = 256 << 10
	maxDiscover        = 100
)

var providerName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`)

// provider is a Provider with its description, defaults filled in.
type provider struct {
	Provider
	info ProviderInfo
}

// describeProviders checks the providers of Options.
func describeProviders(ps []Provider) (map[string]*provider, error) {
	out := make(map[string]*provider, len(ps))
	for _, p := range ps {
		if p == nil {
			return nil, errors.New("option Providers: holds nil")
		}
		i := p.Describe()
		if !providerName.MatchString(i.Name) {
			return nil, fmt.Errorf("option Providers: name %q is not lower case letters, digits, _ and -", shortID(i.Name))
		}
		if out[i.Name] != nil {
			return nil, fmt.Errorf("option Providers: %q is there twice", i.Name)
		}
		if i.MinInterval == 0 {
			i.MinInterval = minSyncInterval
		}
		if i.MaxInterval == 0 {
			i.MaxInterval = maxSyncInterval
		}
		if i.DefaultInterval == 0 {
			i.DefaultInterval = min(max(defaultSyncInterval, i.MinInterval), i.MaxInterval)
		}
		if i.MinInterval < time.Second || i.DefaultInterval < i.MinInterval || i.MaxInterval < i.DefaultInterval {
			return nil, fmt.Errorf("option Providers: %q has intervals out of order", i.Name)
		}
		if len(i.AuthTypes) == 0 {
			i.AuthTypes = []string{AuthNone}
		}
		out[i.Name] = &provider{Provider: p, info: i}
	}
	return out, nil
}

func (s *Service) providerInfos() []ProviderInfo {
	out := make([]ProviderInfo, 0, len(s.providers))
	for _, p := range s.providers {
		out = append(out, p.info)
	}
	slices.SortFunc(out, func(a, b ProviderInfo) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func (s *Service) provider(op, name string) (*provider, error) {
	if name == "" {
		return nil, fieldError(op, KindInvalid, ResourceConnector, "provider", "is required")
	}
	p := s.providers[name]
	if p == nil {
		return nil, fieldError(op, KindInvalid, ResourceConnector, "provider", "unknown provider %q", shortID(name))
	}
	return p, nil
}

// interval checks a sync interval; 0 is the default.
func (p *provider) interval(op string, d time.Duration) (time.Duration, error) {
	if d == 0 {
		return p.info.DefaultInterval, nil
	}
	if d < p.info.MinInterval || d > p.info.MaxInterval {
		return 0, fieldError(op, KindInvalid, ResourceConnector, "sync_interval_seconds", "must be 0 or between %d and %d",
			int64(p.info.MinInterval/time.Second), int64(p.info.MaxInterval/time.Second))
	}
	return d, nil
}

// authType checks a way to prove oneself; empty is the provider's first.
func (p *provider) authType(op, t string) (string, error) {
	if t == "" {
		return p.info.AuthTypes[0], nil
	}
	if !slices.Contains(p.info.AuthTypes, t) {
		return "", fieldError(op, KindInvalid, ResourceConnector, "auth_type", "must be one of %s", strings.Join(p.info.AuthTypes, ", "))
	}
	return t, nil
}

// checkCredentials judges credentials by the provider's schema, then by the provider.
func (p *provider) checkCredentials(ctx context.Context, op string, c Credentials) error {
	size := 0
	for k, v := range c {
		size += len(k) + len(v)
		if err := errors.Join(checkText(op, "credentials", k, maxConnectorText), checkText(op, "credentials", v, maxCredentialBytes)); err != nil {
			return fieldError(op, KindInvalid, ResourceConnector, "credentials", "hold text that is too long, not UTF-8 or has a NUL character")
		}
	}
	if size > maxCredentialBytes {
		return fieldError(op, KindInvalid, ResourceConnector, "credentials", "%d bytes are over the limit of %d", size, maxCredentialBytes)
	}
	var schema struct {
		Required   []string
		Properties map[string]any
		Additional any `json:"additionalProperties"`
	}
	if len(p.info.CredentialSchema) > 0 && json.Unmarshal(p.info.CredentialSchema, &schema) == nil {
		for _, k := range schema.Required {
			if c[k] == "" {
				return fieldError(op, KindInvalid, ResourceConnector, "credentials."+k, "is required by the provider")
			}
		}
		for _, k := range slices.Sorted(maps.Keys(c)) {
			if _, known := schema.Properties[k]; !known && schema.Additional == false {
				return fieldError(op, KindInvalid, ResourceConnector, "credentials."+shortID(k), "is not known to the provider")
			}
		}
	}
	return p.failure(op, c, guard(func() error { return p.Check(ctx, maps.Clone(c)) }))
}

// failure is the error of a call for an error of the provider.
func (p *provider) failure(op string, c Credentials, err error) error {
	var limited *RateLimited
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, ErrBadCredentials), errors.Is(err, ErrReauth):
		return fieldError(op, KindInvalid, ResourceConnector, "credentials", "%s", scrub(err, c))
	case errors.As(err, &limited):
		return &Error{Op: op, Kind: KindRateLimited, Resource: ResourceConnector, RetryAfter: limited.After, Err: errors.New(scrub(err, c))}
	}
	return &Error{Op: op, Kind: KindUpstream, Resource: ResourceConnector, ID: p.info.Name, Err: fmt.Errorf("provider %q: %s", p.info.Name, scrub(err, c))}
}

// guard turns a panic of a plug-in into an error.
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the provider panicked (%T)", p)
		}
	}()
	return f()
}

// scrub is the text of a provider's error, bounded and without credentials.
func scrub(err error, c Credentials) string {
	s := strings.ToValidUTF8(err.Error(), "")
	secrets := slices.SortedFunc(maps.Values(c), func(a, b string) int { return len(b) - len(a) })
	for _, v := range secrets {
		if v != "" {
			s = strings.ReplaceAll(s, v, "***")
		}
	}
	if len(s) > 500 {
		s = strings.ToValidUTF8(s[:500], "") + "…"
	}
	return s
}

func (s *Service) createConnector(ctx context.Context, org string, spec ConnectorSpec) (Connector, error) {
	const op = "create connector"
	var none Connector
	if err := s.begin(); err != nil {
		return none, err
	}
	defer s.end()
	p, err := s.provider(op, spec.Provider)
	if err != nil {
		return none, err
	}
	for _, f := range [...]struct{ name, value string }{{"name", spec.Name}, {"provider_account_scope", spec.AccountScope}, {"deployment_id", spec.DeploymentID},
		{"plan", spec.Plan}, {"user_id", spec.UserID}, {"collection", spec.Sub}} {
		if err := checkText(op, f.name, f.value, min(maxConnectorText, maxSubTenantBytes)); err != nil {
			return none, err
		}
	}
	if spec.SyncEngine != "" && spec.SyncEngine != "classic" {
		return none, fieldError(op, KindInvalid, ResourceConnector, "sync_engine", "must be empty or classic")
	}
	if spec.AuthType, err = p.authType(op, spec.AuthType); err != nil {
		return none, err
	}
	interval, err := p.interval(op, spec.Interval)
	if err != nil {
		return none, err
	}
	if spec.Tenant != "" {
		if _, err := s.tenantRecord(ctx, op, org, spec.Tenant); err != nil {
			return none, err
		}
	}
	if err := p.checkCredentials(ctx, op, spec.Credentials); err != nil {
		return none, err
	}
	now := time.Now().UTC()
	c := &storedConnector{Public: Connector{ID: "conn_" + newUID(), Org: org, UserID: spec.UserID, Provider: spec.Provider, Name: firstOf(spec.Name, spec.Provider),
		AccountScope: spec.AccountScope, AuthType: spec.AuthType, Tenant: spec.Tenant, Sub: spec.Sub, DeploymentID: spec.DeploymentID, Plan: spec.Plan,
		SyncEngine: "classic", Status: ConnectorActive, Interval: interval, NextSync: now.Add(interval), CreatedAt: now, UpdatedAt: now}}
	if c.Credentials, err = s.sealCredentials(org, c.Public.ID, spec.Credentials); err != nil {
		return none, wrap(op, ResourceConnector, "", err)
	}
	if c.Credentials != nil {
		c.Public.CredentialRef = "cred_" + hashText(8, c.Public.ID)
	}
	if err := s.insertConnector(ctx, op, c); err != nil {
		return none, err
	}
	made := s.present(c, nil)
	s.syncs.plan(org, c.Public.ID, c.Public.NextSync) // adding a resource brings it forward
	return made, nil
}

// insertConnector stores a new connector unless its account is taken.
func (s *Service) insertConnector(ctx context.Context, op string, c *storedConnector) error {
	s.syncs.accounts.Lock()
	defer s.syncs.accounts.Unlock()
	if c.Public.AccountScope != "" {
		taken := false
		if err := s.eachConnector(ctx, c.Public.Org, func(x *storedConnector) {
			taken = taken || x.Public.Provider == c.Public.Provider && x.Public.AccountScope == c.Public.AccountScope
		}); err != nil {
			return wrap(op, ResourceConnector, "", err)
		}
		if taken {
			return &Error{Op: op, Kind: KindConflict, Resource: ResourceConnector, Field: "provider_account_scope", Err: errors.New("another connector of the provider has this account")}
		}
	}
	w, err := encodeRecord(kindConnector, c.Public.Org, c.Public.ID, 0, c)
	if err == nil {
		err = s.reg.WriteRecords(ctx, []backend.RecordWrite{w})
	}
	return wrap(op, ResourceConnector, "", err)
}

// eachConnector calls f with the connectors of an organisation by id, without those that are being removed.
func (s *Service) eachConnector(ctx context.Context, org string, f func(c *storedConnector)) error {
	for after := ""; ; {
		rs, err := s.reg.Records(ctx, kindConnector, org, after, recordPage)
		if err != nil {
			return err
		}
		for _, r := range rs {
			c, err := decodeRecord[storedConnector](r)
			if err != nil {
				return err
			}
			if !c.Deleting {
				f(c)
			}
			after = r.ID
		}
		if len(rs) < recordPage {
			return nil
		}
	}
}

// present is a connector as callers see it. resources may be nil.
func (s *Service) present(c *storedConnector, resources []*storedResource) Connector {
	p := c.Public
	if pr := s.providers[p.Provider]; pr != nil {
		p.MinInterval, p.MaxInterval = pr.info.MinInterval, pr.info.MaxInterval
	}
	p.SyncStatus = SyncIdle
	if s.syncs.running(p.Org, p.ID) {
		p.SyncStatus = SyncRunning
	} else if p.LastError != "" {
		p.SyncStatus = SyncError
	}
	for _, r := range resources {
		if !r.Public.Paused {
			p.Resources++
		}
		if r.backfilling() && !p.NextSync.IsZero() && r.Public.BackfillNext.Before(p.NextSync) && !r.Public.BackfillNext.IsZero() {
			p.NextSync = r.Public.BackfillNext
		}
	}
	return p
}

func (s *Service) presentFull(ctx context.Context, op string, c *storedConnector) (Connector, error) {
	rs, err := s.readResources(ctx, c.Public.Org, c.Public.ID)
	if err != nil {
		return Connector{}, wrap(op, ResourceConnector, c.Public.ID, err)
	}
	return s.present(c, rs), nil
}

func (s *Service) connectors(ctx context.Context, org, provider string) ([]Connector, error) {
	const op = "connectors"
	if err := s.begin(); err != nil {
		return nil, err
	}
	defer s.end()
	var found []*storedConnector
	err := s.eachConnector(ctx, org, func(c *storedConnector) {
		if provider == "" || c.Public.Provider == provider {
			found = append(found, c)
		}
	})
	if err != nil {
		return nil, wrap(op, ResourceConnector, "", err)
	}
	out := make([]Connector, len(found))
	for i, c := range found {
		if out[i], err = s.presentFull(ctx, op, c); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *Service) connector(ctx context.Context, org, id string) (Connector, error) {
	const op = "connector"
	if err := s.begin(); err != nil {
		return Connector{}, err
	}
	defer s.end()
	c, _, err := s.readConnector(ctx, op, org, id)
	if err != nil {
		return Connector{}, err
	}
	return s.presentFull(ctx, op, c)
}

func (s *Service) editConnector(ctx context.Context, org, id string, e ConnectorEdit) (Connector, error) {
	const op = "edit connector"
	var none Connector
	if err := s.begin(); err != nil {
		return none, err
	}
	defer s.end()
	c, rev, err := s.readConnector(ctx, op, org, id)
	if err != nil {
		return none, err
	}
	p, err := s.provider(op, c.Public.Provider)
	if err != nil {
		return none, err
	}
	if e.Status != nil && *e.Status != ConnectorActive && *e.Status != ConnectorPaused {
		return none, fieldError(op, KindInvalid, ResourceConnector, "status", "must be active or paused")
	}
	if e.Name != nil {
		if err := checkText(op, "name", *e.Name, maxConnectorText); err != nil {
			return none, err
		}
	}
	var interval time.Duration
	if e.Interval != nil {
		if interval, err = p.interval(op, *e.Interval); err != nil {
			return none, err
		}
	}
	var sealed []byte
	if e.Credentials != nil {
		merged, err := s.openCredentials(org, id, c.Credentials)
		if err != nil {
			return none, wrap(op, ResourceConnector, id, err)
		}
		maps.Copy(merged, e.Credentials)
		if err := p.checkCredentials(ctx, op, merged); err != nil {
			return none, err
		}
		if sealed, err = s.sealCredentials(org, id, merged); err != nil {
			return none, wrap(op, ResourceConnector, id, err)
		}
	}
	before := c.Credentials
	c, err = s.changeConnector(ctx, op, org, id, func(c *storedConnector) error {
		now := time.Now().UTC()
		c.Public.UpdatedAt = now
		if e.Name != nil {
			c.Public.Name = *e.Name
		}
		if e.Interval != nil {
			c.Public.Interval, c.Public.NextSync = interval, now.Add(interval)
		}
		if e.Credentials != nil {
			if !bytes.Equal(c.Credentials, before) {
				return &Error{Op: op, Kind: KindConflict, Resource: ResourceConnector, ID: shortID(id), Err: errors.New("the credentials were changed by another call")}
			}
			c.Credentials, c.Public.CredentialRef = sealed, "cred_"+hashText(8, id, fmt.Sprint(rev))
			c.Public.NeedsReauth, c.Public.NeedsReauthAt, c.Public.NeedsReauthReason = false, time.Time{}, ""
			if c.Public.Status == ConnectorError {
				c.Public.Status, c.Public.NextSync = ConnectorActive, now
			}
		}
		if e.Status == nil {
			return nil
		}
		switch {
		case *e.Status == ConnectorPaused:
			c.Public.Status, c.Public.NextSync = ConnectorPaused, time.Time{}
		case c.Public.NeedsReauth:
			c.Public.Status = ConnectorError
		case c.Public.Status == ConnectorPaused:
			c.Public.Status = ConnectorActive
			c.Public.NextSync = later(c.Public.NextSync, now)
		}
		return nil
	})
	if err != nil {
		return none, err
	}
	if c.Public.Status == ConnectorPaused {
		if err := s.syncs.cancel(ctx, org, id); err != nil {
			return none, err
		}
	}
	out, err := s.presentFull(ctx, op, c)
	s.syncs.plan(org, id, time.Now())
	return out, err
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

func (s *Service) deleteConnector(ctx context.Context, org, id string, withObjects bool) error {
	const op = "delete connector"
	if err := s.begin(); err != nil {
		return err
	}
	defer s.end()
	c, err := s.changeConnector(ctx, op, org, id, func(c *storedConnector) error {
		c.Deleting, c.WithObjects, c.Credentials = true, withObjects, nil
		return nil
	})
	if err != nil {
		return err
	}
	if err = s.syncs.cancel(ctx, org, id); err == nil {
		err = s.purge(ctx, org, id, c)
	}
	if err != nil {
		s.syncs.plan(org, id, time.Now()) // the scheduler finishes it
		return wrap(op, ResourceConnector, id, err)
	}
	s.syncs.forget(org, id)
	return nil
}

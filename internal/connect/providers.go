package connect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/contextmem/contextmem/connector"
	"github.com/contextmem/contextmem/fault"
)

var providerName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`)

// provider is a Provider with its description, in which defaults are filled in.
type provider struct {
	connector.Provider
	info connector.Info
}

// CheckProviders returns nil if New accepts the providers.
func CheckProviders(ps []connector.Provider) error {
	_, err := describeProviders(ps)
	return err
}

// describeProviders validates the providers and returns them by name.
func describeProviders(ps []connector.Provider) (map[string]*provider, error) {
	out := make(map[string]*provider, len(ps))
	for _, p := range ps {
		if p == nil {
			return nil, errors.New("holds nil")
		}
		i := p.Describe()
		if !providerName.MatchString(i.Name) {
			return nil, fmt.Errorf("name %q is not lower case letters, digits, _ and -", fault.ShortID(i.Name))
		}
		if out[i.Name] != nil {
			return nil, fmt.Errorf("%q is there twice", i.Name)
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
			return nil, fmt.Errorf("%q has intervals out of order", i.Name)
		}
		if len(i.AuthTypes) == 0 {
			i.AuthTypes = []string{connector.AuthNone}
		}
		out[i.Name] = &provider{Provider: p, info: i}
	}
	return out, nil
}

// Providers lists the providers, sorted by name.
func (e *Engine) Providers() []connector.Info {
	out := make([]connector.Info, 0, len(e.providers))
	for _, p := range e.providers {
		out = append(out, p.info)
	}
	slices.SortFunc(out, func(a, b connector.Info) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func (e *Engine) provider(op, name string) (*provider, error) {
	if name == "" {
		return nil, fault.Fieldf(op, fault.KindInvalid, fault.Connector, "Provider", "is required")
	}
	p := e.providers[name]
	if p == nil {
		return nil, fault.Fieldf(op, fault.KindInvalid, fault.Connector, "Provider", "unknown provider %q", fault.ShortID(name))
	}
	return p, nil
}

// interval validates a sync interval; 0 means the default.
func (p *provider) interval(op string, d time.Duration) (time.Duration, error) {
	if d == 0 {
		return p.info.DefaultInterval, nil
	}
	if d < p.info.MinInterval || d > p.info.MaxInterval {
		return 0, fault.Fieldf(op, fault.KindInvalid, fault.Connector, "Interval", "must be 0 or between %d and %d seconds",
			int64(p.info.MinInterval/time.Second), int64(p.info.MaxInterval/time.Second))
	}
	return d, nil
}

// authType validates an authentication type; empty means the provider's first one.
func (p *provider) authType(op, t string) (string, error) {
	if t == "" {
		return p.info.AuthTypes[0], nil
	}
	if !slices.Contains(p.info.AuthTypes, t) {
		return "", fault.Fieldf(op, fault.KindInvalid, fault.Connector, "AuthType", "must be one of %s", strings.Join(p.info.AuthTypes, ", "))
	}
	return t, nil
}

// checkCredentials validates credentials, first by the provider's schema, then by the provider itself.
func (p *provider) checkCredentials(ctx context.Context, op string, c connector.Credentials) error {
	size := 0
	for k, v := range c {
		size += len(k) + len(v)
		if err := errors.Join(fault.CheckText(op, "Credentials", k, maxConnectorText), fault.CheckText(op, "Credentials", v, maxCredentialBytes)); err != nil {
			return fault.Fieldf(op, fault.KindInvalid, fault.Connector, "Credentials", "hold text that is too long, not UTF-8 or has a NUL character")
		}
	}
	if size > maxCredentialBytes {
		return fault.Fieldf(op, fault.KindInvalid, fault.Connector, "Credentials", "%d bytes are over the limit of %d", size, maxCredentialBytes)
	}
	var schema struct {
		Required   []string
		Properties map[string]any
		Additional any `json:"additionalProperties"`
	}
	if len(p.info.CredentialSchema) > 0 && json.Unmarshal(p.info.CredentialSchema, &schema) == nil {
		for _, k := range schema.Required {
			if c[k] == "" {
				return fault.Fieldf(op, fault.KindInvalid, fault.Connector, "Credentials."+k, "is required by the provider")
			}
		}
		for _, k := range slices.Sorted(maps.Keys(c)) {
			if _, known := schema.Properties[k]; !known && schema.Additional == false {
				return fault.Fieldf(op, fault.KindInvalid, fault.Connector, "Credentials."+fault.ShortID(k), "is not known to the provider")
			}
		}
	}
	return p.failure(op, c, fault.Guard(func() error { return p.Check(ctx, maps.Clone(c)) }))
}

// failure converts an error of the provider to the error of the call.
func (p *provider) failure(op string, c connector.Credentials, err error) error {
	var limited *connector.RateLimited
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, connector.ErrBadCredentials), errors.Is(err, connector.ErrReauth):
		return fault.Fieldf(op, fault.KindInvalid, fault.Connector, "Credentials", "%s", scrub(err, c))
	case errors.As(err, &limited):
		return &fault.Error{Op: op, Kind: fault.KindRateLimited, Resource: fault.Connector, RetryAfter: limited.After, Err: errors.New(scrub(err, c))}
	}
	return &fault.Error{Op: op, Kind: fault.KindUpstream, Resource: fault.Connector, ID: p.info.Name, Err: fmt.Errorf("provider %q: %s", p.info.Name, scrub(err, c))}
}

// scrub returns the text of a provider's error, shortened and without credentials.
func scrub(err error, c connector.Credentials) string {
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

package webhook

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"time"
	"unicode/utf8"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/fault"
)

const (
	kindWebhook     = "webhook"
	recordID        = "indexing"
	minSecretLength = 16
	maxSecretLength = 1024
)

// Registration is the receiver of an organisation's events.
type Registration struct {
	URL    string   `json:"url"`
	Events []string `json:"events"`
	Secret []byte   `json:"secret,omitempty"` // sealed
	// Previous is the sealed previous secret, which also signs until PreviousUntil.
	Previous      []byte    `json:"previous,omitempty"`
	PreviousUntil time.Time `json:"previous_until,omitzero"`
}

// Signed reports whether deliveries are signed.
func (r *Registration) Signed() bool { return len(r.Secret) > 0 }

// rotate sets a new sealed secret. The previous one still signs for the time overlap, if that is above 0.
func (r *Registration) rotate(sealed []byte, overlap time.Duration) {
	r.Previous, r.PreviousUntil = nil, time.Time{}
	if overlap > 0 && len(r.Secret) > 0 {
		r.Previous, r.PreviousUntil = r.Secret, time.Now().UTC().Add(overlap)
	}
	r.Secret = sealed
}

// stored is an organisation's record in the registry; reg is nil without a registration.
type stored struct {
	reg *Registration
	rev int64
}

func place(org string) string { return "webhook/" + org }

// read returns the registration of an organisation. Callers must not change it.
func (e *Engine) read(ctx context.Context, org string) (stored, error) {
	return e.cache.Get(org, func() (stored, error) {
		r, err := e.reg.Record(ctx, kindWebhook, org, recordID)
		if errors.Is(err, backend.ErrNotFound) {
			return stored{}, nil
		}
		if err != nil {
			return stored{}, err
		}
		w := new(Registration)
		if json.Unmarshal(r.Data, w) != nil {
			return stored{}, backend.ErrCorrupt
		}
		return stored{w, r.Rev}, nil
	})
}

// change replaces the registration of an organisation by the result of f. f gets nil if there is no registration, and returns nil to delete
// it. f runs again if another writer was faster.
func (e *Engine) change(ctx context.Context, op, org string, f func(old *Registration) (*Registration, error)) (*Registration, error) {
	for {
		with, release, err := e.cfg.Sealer.Hold(ctx)
		if err != nil {
			return nil, fault.Wrap(op, fault.Webhook, "", err)
		}
		w, raced, err := e.tryStore(ctx, op, org, with, f)
		release()
		if !raced || ctx.Err() != nil {
			return w, err
		}
	}
}

// store does the same as change, without Hold: the caller holds the key or f seals nothing.
func (e *Engine) store(ctx context.Context, op, org string, f func(old *Registration) (*Registration, error)) (*Registration, error) {
	for {
		w, raced, err := e.tryStore(ctx, op, org, nil, f)
		if !raced || ctx.Err() != nil {
			return w, err
		}
	}
}

// tryStore is one attempt of store, with additional writes. raced reports whether another writer was faster.
func (e *Engine) tryStore(ctx context.Context, op, org string, with []backend.RecordWrite, f func(old *Registration) (*Registration, error)) (w *Registration, raced bool, err error) {
	old, err := e.read(ctx, org)
	if err != nil {
		return nil, false, fault.Wrap(op, fault.Webhook, "", err)
	}
	if w, err = f(old.reg); err != nil {
		return nil, false, err
	}
	rec := backend.RecordWrite{Record: backend.Record{Kind: kindWebhook, Org: org, ID: recordID}, IfRev: old.rev, Delete: w == nil}
	if w != nil {
		if rec.Data, err = json.Marshal(w); err != nil {
			return nil, false, fault.Wrap(op, fault.Webhook, "", err)
		}
	}
	err = e.reg.WriteRecords(ctx, append([]backend.RecordWrite{rec}, with...))
	e.cache.Drop(org)
	raced = errors.Is(err, backend.ErrConflict) || errors.Is(err, backend.ErrExists) || errors.Is(err, backend.ErrNotFound)
	return w, raced, fault.Wrap(op, fault.Webhook, "", err)
}

// edit is like change, but requires a registration. f may change its copy, or return nil to delete the registration.
func (e *Engine) edit(ctx context.Context, op, org string, f func(w Registration) *Registration) (*Registration, error) {
	return e.change(ctx, op, org, func(old *Registration) (*Registration, error) {
		if old == nil {
			return nil, notRegistered(op)
		}
		return f(*old), nil
	})
}

// Registered reports whether an organisation has a receiver. It returns true, so that
// events are kept, if the registration cannot be read.
func (e *Engine) Registered(ctx context.Context, org string) bool {
	w, err := e.read(ctx, org)
	return err != nil || w.reg != nil
}

// Get returns the registration of an organisation; nil if there is none.
func (e *Engine) Get(ctx context.Context, op, org string) (*Registration, error) {
	w, err := e.read(ctx, org)
	return w.reg, fault.Wrap(op, fault.Webhook, "", err)
}

// Spec describes a registration to make.
type Spec struct {
	URL        string
	EventTypes []string // nil: StatusChanged
	Secret     string   // empty keeps the stored secret
	Generate   bool     // generate a new secret
}

// Set registers a receiver in place of any other. It returns the secret if it generated one.
func (e *Engine) Set(ctx context.Context, op, org string, s Spec) (*Registration, string, error) {
	if err := e.checkSpec(op, &s); err != nil {
		return nil, "", err
	}
	secret := s.Secret
	if s.Generate {
		secret = newSecret()
	}
	w, err := e.change(ctx, op, org, func(old *Registration) (*Registration, error) {
		w := &Registration{URL: s.URL, Events: []string{StatusChanged}}
		if old != nil {
			w.Secret, w.Previous, w.PreviousUntil = old.Secret, old.Previous, old.PreviousUntil
		}
		if secret != "" {
			w.rotate(e.cfg.Sealer.Seal(place(org), []byte(secret)), e.cfg.Overlap)
		}
		return w, nil
	})
	if err != nil || !s.Generate {
		secret = ""
	}
	return w, secret, err
}

func (e *Engine) checkSpec(op string, s *Spec) error {
	if s.URL == "" {
		return fault.Fieldf(op, fault.KindInvalid, fault.Webhook, "URL", "is required")
	}
	if err := e.checkURL(s.URL); err != nil {
		return fault.Fieldf(op, fault.KindInvalid, fault.Webhook, "URL", "%w", err)
	}
	if s.EventTypes != nil && len(s.EventTypes) == 0 {
		return fault.Fieldf(op, fault.KindUnprocessed, fault.Webhook, "EventTypes", "must not be empty")
	}
	for _, t := range s.EventTypes {
		if t != StatusChanged {
			return fault.Fieldf(op, fault.KindUnprocessed, fault.Webhook, "EventTypes", "unknown event %q", fault.ShortID(t))
		}
	}
	if s.Secret != "" && s.Generate {
		return fault.Fieldf(op, fault.KindUnprocessed, fault.Webhook, "Secret", "give a secret or have one generated, not both")
	}
	if s.Secret != "" {
		return checkSecret(op, s.Secret)
	}
	return nil
}

func checkSecret(op, secret string) error {
	if n := utf8.RuneCountInString(secret); n < minSecretLength || n > maxSecretLength {
		return fault.Fieldf(op, fault.KindUnprocessed, fault.Webhook, "Secret", "must have %d to %d characters", minSecretLength, maxSecretLength)
	}
	return nil
}

// newSecret returns 32 random bytes in base64url, with the prefix by which receivers recognize secrets.
func newSecret() string {
	var b [32]byte
	_, _ = rand.Read(b[:])
	return "whsec_" + base64.RawURLEncoding.EncodeToString(b[:])
}

// Delete deletes the registration and its secret. It returns fault.ErrNotFound if there is none.
func (e *Engine) Delete(ctx context.Context, op, org string) error {
	_, err := e.edit(ctx, op, org, func(Registration) *Registration { return nil })
	return err
}

// SetSecret replaces the signing secret at once. If secret is empty it generates one and returns it. It returns fault.ErrNotFound without a
// registration.
func (e *Engine) SetSecret(ctx context.Context, op, org, secret string) (w *Registration, generated string, err error) {
	if secret == "" {
		generated = newSecret()
		secret = generated
	} else if err := checkSecret(op, secret); err != nil {
		return nil, "", err
	}
	w, err = e.edit(ctx, op, org, func(w Registration) *Registration {
		w.rotate(e.cfg.Sealer.Seal(place(org), []byte(secret)), e.cfg.Overlap)
		return &w
	})
	if err != nil {
		return nil, "", err
	}
	return w, generated, nil
}

// DeleteSecret turns signing off. It returns fault.ErrNotFound without a registration.
func (e *Engine) DeleteSecret(ctx context.Context, op, org string) (*Registration, error) {
	return e.edit(ctx, op, org, func(w Registration) *Registration {
		w.rotate(nil, 0)
		return &w
	})
}

// target returns the current receiver of an organisation's events.
func (e *Engine) target(ctx context.Context, org string) (target, bool, error) {
	s, err := e.read(ctx, org)
	if err != nil || s.reg == nil {
		return target{}, false, err
	}
	w, t := s.reg, target{url: s.reg.URL}
	if len(w.Secret) > 0 {
		if t.secret, err = e.cfg.Sealer.Open(ctx, place(org), w.Secret); err != nil {
			return t, false, err
		}
	}
	if len(w.Previous) > 0 && time.Now().Before(w.PreviousUntil) {
		if t.previous, err = e.cfg.Sealer.Open(ctx, place(org), w.Previous); err != nil {
			return t, false, err
		}
	}
	return t, true, nil
}

// Reseal replaces every sealed secret by the result of f. Unchanged results are not written.
func (e *Engine) Reseal(ctx context.Context, f func(place string, sealed []byte) ([]byte, error)) error {
	return eachRecord(ctx, e.reg, kindWebhook, func(r backend.Record) error {
		e.cache.Drop(r.Org) // another process may have written the registration
		_, err := e.store(ctx, "reseal", r.Org, func(old *Registration) (*Registration, error) {
			if old == nil {
				return nil, errUnchanged
			}
			w, changed := *old, false
			for _, secret := range []*[]byte{&w.Secret, &w.Previous} {
				if len(*secret) == 0 {
					continue
				}
				sealed, err := f(place(r.Org), *secret)
				if err != nil {
					return nil, err
				}
				changed = changed || !bytes.Equal(sealed, *secret)
				*secret = sealed
			}
			if !changed {
				return nil, errUnchanged
			}
			return &w, nil
		})
		if errors.Is(err, errUnchanged) {
			return nil
		}
		return err
	})
}

var errUnchanged = errors.New("nothing to change")

const recordPage = 500

// eachRecord calls f for every record of a kind.
func eachRecord(ctx context.Context, reg backend.Registry, kind string, f func(r backend.Record) error) error {
	org, id := "", ""
	for {
		rs, err := reg.AllRecords(ctx, kind, org, id, recordPage)
		if err != nil {
			return err
		}
		for _, r := range rs {
			if err := f(r); err != nil {
				return err
			}
			org, id = r.Org, r.ID
		}
		if len(rs) < recordPage {
			return nil
		}
	}
}

package httpapi

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/fault"
)

// Principal is the authenticated sender of a request.
type Principal struct {
	ID  string         // id of the key; the key of rate limits
	Org string         // required, such as contextmem.DefaultOrg
	Key contextmem.Key // scopes and tenants; the zero Key may do everything in Org
}

// Authenticator identifies the sender of a request. An error that wraps contextmem.ErrUnauthorized refuses the sender with status 401, one that
// wraps contextmem.ErrForbidden with 403, and the sender reads its text. Any other error counts as a failure of the service: status 500, and
// the Logger gets the text. An Authenticator must be safe for concurrent use and must not read the body.
type Authenticator interface {
	Authenticate(r *http.Request) (Principal, error)
}

// AuthenticatorFunc is an Authenticator that is a function.
type AuthenticatorFunc func(r *http.Request) (Principal, error)

// Authenticate implements Authenticator.
func (f AuthenticatorFunc) Authenticate(r *http.Request) (Principal, error) { return f(r) }

// refusal returns an error of an Authenticator with the kind that it wraps.
func refusal(err error) error {
	var e *contextmem.Error
	if errors.As(err, &e) {
		return err
	}
	switch {
	case errors.Is(err, contextmem.ErrUnauthorized):
		return &contextmem.Error{Kind: fault.KindUnauthorized, Err: err}
	case errors.Is(err, contextmem.ErrForbidden):
		return &contextmem.Error{Kind: fault.KindForbidden, Err: err}
	}
	return err
}

var errUnauthorized = &contextmem.Error{Kind: fault.KindUnauthorized, Err: errors.New("a valid API key is required: Authorization: Bearer <key>")}

// errNoOrg is a defect of an Authenticator, of which the sender reads nothing.
var errNoOrg = errors.New("the Authenticator returned a Principal without Org")

// keyring authenticates by fixed keys and by keys stored in the service.
type keyring struct {
	svc   *contextmem.Service
	fixed []fixedKey
}

type fixedKey struct {
	key []byte
	who Principal
}

func newKeyring(svc *contextmem.Service, keys map[string]string) (*keyring, error) {
	k := &keyring{svc: svc}
	for key, org := range keys {
		if strings.TrimSpace(key) == "" || org == "" {
			return nil, errors.New("httpapi: a key or its organisation is empty")
		}
		h := sha256.Sum256([]byte(key))
		k.fixed = append(k.fixed, fixedKey{[]byte(key), Principal{ID: fmt.Sprintf("fixed-%x", h[:8]), Org: org, Key: contextmem.Key{Org: org}}})
	}
	return k, nil
}

// Authenticate implements Authenticator. It compares all fixed keys in constant time, so that timing reveals only their lengths.
func (k *keyring) Authenticate(r *http.Request) (Principal, error) {
	text, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || text == "" || text[0] == ' ' || len(text) > 4096 {
		return Principal{}, errUnauthorized
	}
	given, found := []byte(text), -1
	for i := range k.fixed {
		if subtle.ConstantTimeCompare(given, k.fixed[i].key) == 1 {
			found = i
		}
	}
	if found >= 0 {
		return k.fixed[found].who, nil
	}
	key, err := k.svc.VerifyKey(r.Context(), text)
	if errors.Is(err, contextmem.ErrUnauthorized) { // all invalid keys get the same error
		return Principal{}, errUnauthorized
	}
	if err != nil {
		return Principal{}, err
	}
	return Principal{ID: key.ID, Org: key.Org, Key: key}, nil
}

package main

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/httpapi"
)

// keyring authenticates requests over REST and MCP, by the keys of --api-keys and the keys stored in the directory.
type keyring struct {
	fixed  []fixedKey
	verify func(ctx context.Context, text string) (contextmem.Key, error)
}

type fixedKey struct{ text, org string }

// parseKeys parses "key=org" and "key". Its errors never contain a key.
func parseKeys(list []string) ([]fixedKey, error) {
	var out []fixedKey
	seen := map[string]bool{}
	for i, part := range list {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		key, org, named := strings.Cut(part, "=")
		if key, org = strings.TrimSpace(key), strings.TrimSpace(org); !named {
			org = contextmem.DefaultOrg
		}
		if key == "" || org == "" {
			return nil, usage("--api-keys: entry %d has no key or no organisation", i+1)
		}
		if seen[key] {
			return nil, usage("--api-keys: entry %d repeats a key", i+1)
		}
		seen[key] = true
		out = append(out, fixedKey{key, org})
	}
	return out, nil
}

var errNoKey = &fault.Error{Kind: fault.KindUnauthorized, Err: errors.New("a valid API key is required: Authorization: Bearer <key>")}

// Authenticate implements httpapi.Authenticator. It compares all fixed keys in constant time.
func (k *keyring) Authenticate(r *http.Request) (httpapi.Principal, error) {
	text, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || text == "" || len(text) > 4096 {
		return httpapi.Principal{}, errNoKey
	}
	given, found := sha256.Sum256([]byte(text)), -1
	for i, f := range k.fixed {
		h := sha256.Sum256([]byte(f.text))
		if subtle.ConstantTimeCompare(given[:], h[:]) == 1 {
			found = i
		}
	}
	if found >= 0 {
		return httpapi.Principal{ID: fmt.Sprintf("fixed-%x", given[:8]), Org: k.fixed[found].org, Key: contextmem.Key{Org: k.fixed[found].org}}, nil
	}
	key, err := k.verify(r.Context(), text)
	if errors.Is(err, contextmem.ErrUnauthorized) {
		return httpapi.Principal{}, errNoKey
	}
	if err != nil {
		return httpapi.Principal{}, err
	}
	return httpapi.Principal{ID: key.ID, Org: key.Org, Key: key}, nil
}

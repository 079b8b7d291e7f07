package main

import (
	"errors"
	"fmt"
	"net/netip"
	"os/exec"
	"strings"
	"time"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/document"
	"github.com/contextmem/contextmem/transcribe"
)

// readers sets the options for reading scans (OCR) and recordings (transcription).
func readers(env func(string) string, opts *contextmem.Options) error {
	if env("CONTEXTMEM_OCR") == "1" {
		for _, program := range []string{"tesseract", "pdftoppm"} {
			if _, err := exec.LookPath(program); err != nil {
				return fmt.Errorf("CONTEXTMEM_OCR: %s is not installed", program)
			}
		}
		opts.OCR = document.Tesseract{Languages: env("CONTEXTMEM_OCR_LANGUAGES")}
	}
	if base := env("CONTEXTMEM_TRANSCRIBER_URL"); base != "" {
		t, err := transcribe.New(transcribe.Config{BaseURL: base, Model: env("CONTEXTMEM_TRANSCRIBER_MODEL"), APIKey: env("CONTEXTMEM_TRANSCRIBER_KEY")})
		if err != nil {
			return fmt.Errorf("CONTEXTMEM_TRANSCRIBER_URL: %w", err)
		}
		opts.Transcriber = t
	}
	if s := env("CONTEXTMEM_PARSE_TIMEOUT"); s != "" {
		d, err := time.ParseDuration(s)
		if err != nil {
			return errors.New("CONTEXTMEM_PARSE_TIMEOUT is no duration such as 10m")
		}
		opts.ParseTimeout = d
	}
	return nil
}

// parseProxies reads "10.0.0.0/8,192.0.2.1/32".
func parseProxies(s string) ([]netip.Prefix, error) {
	var out []netip.Prefix
	for i, part := range strings.Split(s, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		p, err := netip.ParsePrefix(part)
		if err != nil {
			return nil, fmt.Errorf("CONTEXTMEM_TRUSTED_PROXIES: entry %d is no CIDR", i+1)
		}
		out = append(out, p)
	}
	return out, nil
}

// parseKeys reads "key=org,key". Errors never hold a key.
func parseKeys(s string) (map[string]string, error) {
	keys := map[string]string{}
	for i, part := range strings.Split(s, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		key, org, named := strings.Cut(part, "=")
		key, org = strings.TrimSpace(key), strings.TrimSpace(org)
		if !named {
			org = contextmem.DefaultOrg
		}
		if key == "" || org == "" {
			return nil, fmt.Errorf("CONTEXTMEM_API_KEYS: entry %d has no key or no organisation", i+1)
		}
		if _, twice := keys[key]; twice {
			return nil, fmt.Errorf("CONTEXTMEM_API_KEYS: entry %d repeats a key", i+1)
		}
		keys[key] = org
	}
	if len(keys) == 0 {
		return nil, errors.New("CONTEXTMEM_API_KEYS is not set: the server needs at least one key")
	}
	return keys, nil
}

package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

const signaturePrefix = "sha256="

func sum(secret, body []byte) []byte {
	m := hmac.New(sha256.New, secret)
	m.Write(body)
	return m.Sum(nil)
}

// Sign returns the value of the signature header: "sha256=" and the lower-case
// hexadecimal HMAC-SHA256 of body.
func Sign(secret, body []byte) string { return signaturePrefix + hex.EncodeToString(sum(secret, body)) }

// Verify reports whether header is the signature of body with one of the secrets. It takes constant time. An empty secret
// never verifies.
func Verify(body []byte, header string, secrets ...string) bool {
	digits, ok := strings.CutPrefix(header, signaturePrefix)
	if !ok || strings.ToLower(digits) != digits {
		return false
	}
	got, err := hex.DecodeString(digits)
	if err != nil {
		return false
	}
	match := false
	for _, s := range secrets {
		match = s != "" && hmac.Equal(sum([]byte(s), body), got) || match
	}
	return match
}

package access

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
)

// Errors of receipts.
var (
	ErrReceipt    = errors.New("the signature of the receipt does not fit it")
	ErrReceiptKey = errors.New("the receipt was signed with another key")
)

func (d *derived) name() string { return hex.EncodeToString(d.check[:8]) }

func (d *derived) sign(text []byte) []byte {
	m := hmac.New(sha256.New, d.receipt)
	m.Write(text)
	return m.Sum(nil)
}

// Sign returns the HMAC-SHA256 of a receipt under a key derived from the deployment's key. text returns the receipt, which contains
// the name of the derived key. The name distinguishes keys but reveals nothing about them.
func (s *Secrets) Sign(text func(key string) ([]byte, error)) (string, error) {
	cur, _ := s.keys()
	b, err := text(cur.name())
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(cur.sign(b)), nil
}

// VerifyReceipt checks the signature of a receipt. It returns ErrReceipt if it does not match, and ErrReceiptKey if the key was rotated since.
func (s *Secrets) VerifyReceipt(key string, text []byte, signature string) error {
	cur, old := s.keys()
	sum, err := hex.DecodeString(signature)
	for _, d := range []*derived{cur, old} {
		if d == nil || d.name() != key {
			continue
		}
		if err != nil || !hmac.Equal(sum, d.sign(text)) {
			return ErrReceipt
		}
		return nil
	}
	return ErrReceiptKey
}

package erase

import (
	"encoding/json"
	"errors"

	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/access"
)

// signed returns the bytes that the signature of a receipt covers.
func signed(r content.EraseReceipt) ([]byte, error) {
	r.Signature = ""
	return json.Marshal(r)
}

// Sign sets the key and the signature of a receipt.
func Sign(secrets *access.Secrets, r *content.EraseReceipt) (err error) {
	r.Signature, err = secrets.Sign(func(key string) ([]byte, error) {
		r.Key = key
		return signed(*r)
	})
	return err
}

// Verify returns nil if the deployment of the secrets made a receipt and the receipt is unchanged.
func Verify(op string, secrets *access.Secrets, r content.EraseReceipt) error {
	text, err := signed(r)
	if err != nil {
		return fault.Wrap(op, "", "", err)
	}
	switch err := secrets.VerifyReceipt(r.Key, text, r.Signature); {
	case errors.Is(err, access.ErrReceiptKey):
		return &fault.Error{Op: op, Kind: fault.KindConflict, Err: err}
	case err != nil:
		return &fault.Error{Op: op, Kind: fault.KindInvalid, Err: err}
	}
	return nil
}

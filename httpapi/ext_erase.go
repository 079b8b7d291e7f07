package httpapi

import (
	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/wire"
)

// eraseRequest names what to erase by one of IDs, User and All.
type eraseRequest struct {
	IDs            []string `json:"ids"`
	User           string   `json:"user_name"`
	All            bool     `json:"all"`
	AllCollections bool     `json:"all_collections"` // in every collection of the database
}

func extErase(c *call, sub contextmem.Sub) (any, error) {
	var r eraseRequest
	if err := c.read(&r); err != nil {
		return nil, err
	}
	erase := sub.Erase
	if r.AllCollections {
		if c.scope.collection != "" {
			return nil, bad(fault.KindInvalid, "all_collections", "can't be given beside collection")
		}
		erase = sub.Tenant().Erase
	}
	receipt, err := erase(c.ctx, content.EraseRequest{IDs: r.IDs, User: r.User, All: r.All})
	if err != nil {
		return nil, err
	}
	return wire.OfReceipt(&receipt), nil
}

// verifiedRow names a receipt that is from this deployment and unchanged.
type verifiedRow struct {
	ID       string `json:"id"`
	Verified bool   `json:"verified"`
}

func extVerifyReceipt(c *call, _ contextmem.Tenant) (any, error) {
	var r wire.Receipt
	if err := c.read(&r); err != nil {
		return nil, err
	}
	if r.Org != c.who.Org {
		return nil, bad(fault.KindInvalid, "org_id", "is not the organisation of the key")
	}
	if err := c.api.svc.VerifyReceipt(r.Receipt()); err != nil {
		return nil, err
	}
	return verifiedRow{r.ID, true}, nil
}

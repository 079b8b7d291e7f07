package client

import (
	"context"
	"net/http"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/wire"
)

// Erase erases items of the sub-tenant, as contextmem.Sub.Erase does. If the answer is lost, the erasure may have happened: the
// receipt of a repeated call then counts what was left.
func (s Sub) Erase(ctx context.Context, q contextmem.EraseRequest) (contextmem.EraseReceipt, error) {
	return s.erase(ctx, q, s.body())
}

// Erase erases items in all sub-tenants, as contextmem.Tenant.Erase does.
func (t Tenant) Erase(ctx context.Context, q contextmem.EraseRequest) (contextmem.EraseReceipt, error) {
	body := t.body()
	body["all_collections"] = true
	return t.erase(ctx, q, body)
}

func (s scope) erase(ctx context.Context, q contextmem.EraseRequest, body map[string]any) (contextmem.EraseReceipt, error) {
	put(body, "ids", q.IDs, q.IDs == nil)
	put(body, "user_name", q.User, q.User == "")
	put(body, "all", true, !q.All)
	var a wire.Receipt
	if _, err := s.c.send(ctx, request{op: "erase", method: http.MethodPost, path: "/ext/erase", json: body, once: true, of: q}, &a); err != nil {
		return contextmem.EraseReceipt{}, err
	}
	return a.Receipt(), nil
}

// VerifyReceipt returns nil if the server's deployment made a receipt and the receipt is unchanged; see contextmem.Service.VerifyReceipt.
func (c *Client) VerifyReceipt(ctx context.Context, r contextmem.EraseReceipt) error {
	_, err := c.send(ctx, request{op: "verify receipt", method: http.MethodPost, path: "/ext/erase/verify", json: wire.OfReceipt(&r)}, nil)
	return err
}

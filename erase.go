package contextmem

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/access"
	"github.com/contextmem/contextmem/internal/erase"
	"github.com/contextmem/contextmem/internal/feedback"
	"github.com/contextmem/contextmem/internal/uid"
)

// What is erased, and the receipt for it, are declared in package content.
type (
	// EraseRequest names what to erase: content.EraseRequest.
	EraseRequest = content.EraseRequest
	// EraseReceipt says what was erased: content.EraseReceipt.
	EraseReceipt = content.EraseReceipt
)

// Erase deletes items of the sub-tenant and rewrites the files that held them, so that no byte of them stays in any file of
// the deployment: not in free pages, the write-ahead log, or search indexes. Deliveries of webhooks about them go too, sent or
// not, and what feedback taught about them. Of other items nothing changes; what they say about the same person
// stays. Erasing rewrites the tenant's store, and its writes wait meanwhile: a second for each few hundred megabytes.
// Backups and exports that were made before are files of their own and keep what was in them. What nobody else has is
// counted in the receipt: an item that is not there is no error. After an error a repeat goes on. Over a database the receipt
// names in Remains what the call could not reach, such as the log of the database. It needs a
// backend that implements backend.Purger, as that of [Open] does.
func (s Sub) Erase(ctx context.Context, q EraseRequest) (EraseReceipt, error) {
	return s.erase(ctx, "erase", q, false)
}

// Erase is [Sub.Erase] for all sub-tenants of the tenant.
func (t Tenant) Erase(ctx context.Context, q EraseRequest) (EraseReceipt, error) {
	return t.erase(ctx, "erase", q, true)
}

func (s scope) erase(ctx context.Context, op string, q EraseRequest, all bool) (r EraseReceipt, err error) {
	if err := erase.Check(op, q.IDs, q.User); err != nil {
		return r, err
	}
	r = EraseReceipt{ID: uid.New(), Org: s.org, Tenant: s.tenant, IDs: slices.Clone(q.IDs), User: q.User, Began: now()}
	ref, name, err := s.enter(ctx, op)
	if err != nil {
		return EraseReceipt{}, err
	}
	defer ref.Release()
	ctx, cancel := s.svc.gate.Bind(ctx)
	defer cancel()
	eq := erase.Request{Tenant: s.tenant, IDs: q.IDs, User: q.User}
	if r.TenantUID = ref.UID; !all {
		r.Sub, eq.Subs = name, []string{name}
	}
	e := erase.Engine{Registry: s.svc.reg, Deleted: s.svc.sched.Deleted, Feedback: s.svc.eraseFeedback, Others: s.svc.leases != nil}
	n, err := e.Run(ctx, ref, eq)
	if err != nil {
		return EraseReceipt{}, fault.Wrap(op, fault.Tenant, s.tenant, err)
	}
	r.Items, r.Events, r.Feedback, r.Remains, r.Ended = n.Items, n.Events, n.Feedback, n.Remains, now()
	r.Signature, err = s.svc.secrets.Sign(func(key string) ([]byte, error) {
		r.Key = key
		return signed(r)
	})
	return r, fault.Wrap(op, "", "", err)
}

func now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

// signed is what the signature is over.
func signed(r EraseReceipt) ([]byte, error) {
	r.Signature = ""
	return json.Marshal(r)
}

// eraseFeedback deletes records of feedback; see erase.Engine.
func (s *Service) eraseFeedback(ctx context.Context, org, tenant string, subs, ids []string) (int, error) {
	return feedback.EraseRecords(ctx, s.reg, org, func(f *Feedback) bool {
		return f.Tenant == tenant && (slices.Contains(subs, cmp.Or(f.Sub, tenant)) ||
			slices.ContainsFunc(f.GroundTruth.SourceIDs, func(id string) bool { return slices.Contains(ids, id) }))
	})
}

// VerifyReceipt reports whether a receipt was made by this deployment and is unchanged: nil then. fault.ErrInvalid when
// it is not; fault.ErrConflict when it can't be told, since the key was replaced by [Service.RotateSecretKey] after it was made.
func (s *Service) VerifyReceipt(r EraseReceipt) error {
	const op = "verify receipt"
	text, err := signed(r)
	if err != nil {
		return fault.Wrap(op, "", "", err)
	}
	switch err := s.secrets.VerifyReceipt(r.Key, text, r.Signature); {
	case errors.Is(err, access.ErrReceiptKey):
		return &fault.Error{Op: op, Kind: fault.KindConflict, Err: err}
	case err != nil:
		return &fault.Error{Op: op, Kind: fault.KindInvalid, Err: err}
	}
	return nil
}

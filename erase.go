package contextmem

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/erase"
	"github.com/contextmem/contextmem/internal/feedback"
	"github.com/contextmem/contextmem/internal/uid"
)

// Types of erasure. They are declared in package content.
type (
	// EraseRequest names what to erase: content.EraseRequest.
	EraseRequest = content.EraseRequest
	// EraseReceipt is the signed record of an erasure: content.EraseReceipt.
	EraseReceipt = content.EraseReceipt
)

// Erase deletes items of the sub-tenant, by their ids, by user, or all, and rewrites the files that held them, so that none of their bytes remain in any file of
// the deployment, including free pages, the write-ahead log and search indexes. It also removes webhook deliveries about the
// items, sent or unsent, and boosts that feedback on them produced. Other items do not change, even if they are about the same
// person. Erase rewrites the tenant's store, which takes about a second for each few hundred megabytes; writes to the tenant wait
// during that time. Earlier backups and exports are separate files and keep their content. An item that does not exist is no
// error. After an error, repeating the call continues the erasure. With a database as the store, Remains of the receipt names
// the places that the call could not reach, such as the log of the database. Erase needs a
// backend that implements backend.Purger, as that of [Open] does.
func (s Sub) Erase(ctx context.Context, q EraseRequest) (EraseReceipt, error) {
	return s.erase(ctx, "erase", q, false)
}

// Erase is [Sub.Erase] for all sub-tenants of the tenant.
func (t Tenant) Erase(ctx context.Context, q EraseRequest) (EraseReceipt, error) {
	return t.erase(ctx, "erase", q, true)
}

func (s scope) erase(ctx context.Context, op string, q EraseRequest, all bool) (r EraseReceipt, err error) {
	if err := erase.Check(op, q); err != nil {
		return r, err
	}
	r = EraseReceipt{ID: uid.New(), Org: s.org, Tenant: s.tenant, IDs: slices.Clone(q.IDs), User: q.User, Began: now()}
	ref, name, err := s.enter(ctx, op)
	if err != nil {
		return EraseReceipt{}, err
	}
	defer ref.Release()
	ctx, cancel := s.svc().gate.Bind(ctx)
	defer cancel()
	eq := erase.Request{Tenant: s.tenant, IDs: q.IDs, User: q.User}
	if r.TenantUID = ref.UID; !all {
		r.Sub, eq.Subs = name, []string{name}
	}
	e := erase.Engine{Registry: s.svc().reg, Deleted: s.svc().sched.Deleted, Empty: s.svc().documents.Empty, Feedback: s.svc().eraseFeedback, Others: s.svc().leases != nil}
	n, err := e.Run(ctx, ref, eq)
	if err != nil {
		return EraseReceipt{}, fault.Wrap(op, fault.Tenant, s.tenant, err)
	}
	r.Items, r.Events, r.Feedback, r.Remains, r.Ended = n.Items, n.Events, n.Feedback, n.Remains, now()
	err = erase.Sign(s.svc().secrets, &r)
	return r, fault.Wrap(op, "", "", err)
}

func now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

// eraseFeedback deletes records of feedback; see erase.Engine.
func (s *Service) eraseFeedback(ctx context.Context, org, tenant string, subs, ids []string) (int, error) {
	return feedback.EraseRecords(ctx, s.reg, org, func(f *Feedback) bool {
		return f.Tenant == tenant && (slices.Contains(subs, cmp.Or(f.Sub, tenant)) ||
			slices.ContainsFunc(f.GroundTruth.SourceIDs, func(id string) bool { return slices.Contains(ids, id) }))
	})
}

// VerifyReceipt returns nil if this deployment made the receipt and the receipt is unchanged, else fault.ErrInvalid. It returns
// fault.ErrConflict if [Service.RotateSecretKey] has replaced the key since, so that the receipt cannot be checked.
func (s *Service) VerifyReceipt(r EraseReceipt) error {
	return s.call(func() error { return erase.Verify("verify receipt", s.secrets, r) })
}

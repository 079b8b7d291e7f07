package shared

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path/filepath"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/client"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/facts"
	"github.com/contextmem/contextmem/fault"
)

// memories is one partition, served by the local or the remote owner.
type memories struct {
	d           *Deployment
	tenant, sub string
}

// Sub returns a partition of a tenant. It does no I/O. Its calls support what REST supports (see package client), even when this
// process is the owner. Progress is always refused.
func (d *Deployment) Sub(tenant, sub string) contextmem.Memories { return memories{d, tenant, sub} }

func (m memories) do(ctx context.Context, once bool, call func(contextmem.Memories) error) error {
	return m.d.do(ctx, once, func(s *seat) error {
		if s.svc != nil {
			return call(s.svc.Tenant(m.tenant).Sub(m.sub))
		}
		return call(s.client.Tenant(m.tenant).Sub(m.sub))
	})
}

var errProgress = &fault.Error{Op: "shared", Kind: fault.KindInvalid, Field: "Progress", Err: errors.New("is not carried between processes")}

// AddMemories implements contextmem.Memories.
func (m memories) AddMemories(ctx context.Context, b contextmem.MemoryBatch) (res *contextmem.IngestResult, err error) {
	if b.Progress != nil {
		return nil, errProgress
	}
	b = client.WithIDs(b)
	err = m.do(ctx, b.FailIfExists, func(to contextmem.Memories) (err error) { res, err = to.AddMemories(ctx, b); return err })
	return res, err
}

// AddKnowledge implements contextmem.Memories.
func (m memories) AddKnowledge(ctx context.Context, b contextmem.KnowledgeBatch) (res *contextmem.IngestResult, err error) {
	if b.Progress != nil {
		return nil, errProgress
	}
	if b, err = client.KnowledgeWithIDs(b); err != nil {
		return nil, err
	}
	err = m.do(ctx, b.FailIfExists, func(to contextmem.Memories) (err error) { res, err = to.AddKnowledge(ctx, b); return err })
	return res, err
}

// Recall implements contextmem.Memories.
func (m memories) Recall(ctx context.Context, q contextmem.Recall) (res *contextmem.Result, err error) {
	err = m.do(ctx, false, func(to contextmem.Memories) (err error) { res, err = to.Recall(ctx, q); return err })
	return res, err
}

// List implements contextmem.Memories.
func (m memories) List(ctx context.Context, r contextmem.ListRequest) (p *contextmem.SourcePage, err error) {
	err = m.do(ctx, false, func(to contextmem.Memories) (err error) { p, err = to.List(ctx, r); return err })
	return p, err
}

// Fetch implements contextmem.Memories.
func (m memories) Fetch(ctx context.Context, r contextmem.FetchRequest) (f *contextmem.Fetched, err error) {
	err = m.do(ctx, false, func(to contextmem.Memories) (err error) { f, err = to.Fetch(ctx, r); return err })
	return f, err
}

// Status implements contextmem.Memories.
func (m memories) Status(ctx context.Context, ids ...string) (st []contextmem.ItemStatus, err error) {
	err = m.do(ctx, false, func(to contextmem.Memories) (err error) { st, err = to.Status(ctx, ids...); return err })
	return st, err
}

// Wait implements contextmem.Memories.
func (m memories) Wait(ctx context.Context, ids ...string) (st []contextmem.ItemStatus, err error) {
	err = m.do(ctx, false, func(to contextmem.Memories) (err error) { st, err = to.Wait(ctx, ids...); return err })
	return st, err
}

// Retry implements contextmem.Memories.
func (m memories) Retry(ctx context.Context, class contextmem.Class, id string) error {
	return m.do(ctx, true, func(to contextmem.Memories) error { return to.Retry(ctx, class, id) })
}

// DeleteItems implements contextmem.Memories.
func (m memories) DeleteItems(ctx context.Context, r contextmem.DeleteItemsRequest) (res *contextmem.DeleteItemsResult, err error) {
	err = m.do(ctx, false, func(to contextmem.Memories) (err error) { res, err = to.DeleteItems(ctx, r); return err })
	return res, err
}

// Facts implements contextmem.Memories.
func (m memories) Facts(ctx context.Context, r facts.Request) (p *facts.Page, err error) {
	err = m.do(ctx, false, func(to contextmem.Memories) (err error) { p, err = to.Facts(ctx, r); return err })
	return p, err
}

// Profile implements contextmem.Memories.
func (m memories) Profile(ctx context.Context, r facts.ProfileRequest) (p *facts.Profile, err error) {
	err = m.do(ctx, false, func(to contextmem.Memories) (err error) { p, err = to.Profile(ctx, r); return err })
	return p, err
}

// CreateTenant creates a tenant and waits until it is ready. It returns contextmem.ErrExists when the id is taken.
func (d *Deployment) CreateTenant(ctx context.Context, spec contextmem.TenantSpec) error {
	return d.do(ctx, true, func(s *seat) error {
		if s.svc == nil {
			if err := s.client.CreateTenant(ctx, spec); err != nil {
				return err
			}
			return s.client.Tenant(spec.ID).WaitReady(ctx)
		}
		if _, err := s.svc.CreateTenant(ctx, spec); err != nil {
			return err
		}
		return s.svc.Tenant(spec.ID).WaitReady(ctx)
	})
}

// EnsureTenant creates a tenant with default settings unless it exists, and waits until it is ready.
func (d *Deployment) EnsureTenant(ctx context.Context, id string) error {
	return d.do(ctx, false, func(s *seat) error {
		if s.svc == nil {
			if err := s.client.CreateTenant(ctx, contextmem.TenantSpec{ID: id}); err != nil && !errors.Is(err, contextmem.ErrExists) {
				return err
			}
			return s.client.Tenant(id).WaitReady(ctx)
		}
		if _, err := s.svc.CreateTenant(ctx, contextmem.TenantSpec{ID: id}); err != nil && !errors.Is(err, contextmem.ErrExists) {
			return err
		}
		return s.svc.Tenant(id).WaitReady(ctx)
	})
}

// Settle waits until the owner has finished the background processing of a tenant's completed items: vectors of a slow embedder
// and superseded memories. It waits only if this process is the owner, and returns at once for a guest. Work that is unfinished
// when a process ends is left to the next owner.
func (d *Deployment) Settle(ctx context.Context, tenant string) error {
	return d.do(ctx, false, func(s *seat) error {
		if s.svc == nil {
			return nil
		}
		return s.svc.Tenant(tenant).WaitRefined(ctx)
	})
}

// Tenants lists the tenants by id, ready or in preparation. It leaves out tenants whose creation failed.
func (d *Deployment) Tenants(ctx context.Context) (out []contextmem.TenantInfo, err error) {
	err = d.do(ctx, false, func(s *seat) (err error) {
		if s.svc == nil {
			out, err = s.client.Tenants(ctx)
			return err
		}
		out = nil
		for t, err := range s.svc.Tenants(ctx) {
			if err != nil {
				return err
			}
			if t.State != contextmem.TenantFailed {
				out = append(out, t)
			}
		}
		return nil
	})
	return out, err
}

// DeleteTenant deletes a tenant and everything in it.
func (d *Deployment) DeleteTenant(ctx context.Context, id string) error {
	return d.do(ctx, true, func(s *seat) error {
		if s.svc == nil {
			return s.client.Tenant(id).Delete(ctx)
		}
		return s.svc.Tenant(id).Delete(ctx)
	})
}

// Subs returns the number of items of each sub-tenant of a tenant, by name.
func (d *Deployment) Subs(ctx context.Context, tenant string) (out []contextmem.SubStats, err error) {
	err = d.do(ctx, false, func(s *seat) (err error) {
		if s.svc == nil {
			out, err = s.client.Tenant(tenant).Subs(ctx)
			return err
		}
		st, err := s.svc.Tenant(tenant).Stats(ctx)
		out = st.Subs
		return err
	})
	return out, err
}

// DeleteSub deletes a sub-tenant and everything in it.
func (d *Deployment) DeleteSub(ctx context.Context, tenant, sub string) error {
	return d.do(ctx, true, func(s *seat) error {
		if s.svc == nil {
			return s.client.Tenant(tenant).Sub(sub).Delete(ctx)
		}
		return s.svc.Tenant(tenant).Sub(sub).Delete(ctx)
	})
}

// Keys lists the keys by id.
func (d *Deployment) Keys(ctx context.Context) (out []contextmem.Key, err error) {
	err = d.do(ctx, false, func(s *seat) (err error) {
		if s.svc != nil {
			out, err = s.svc.Keys(ctx)
			return err
		}
		return s.call(ctx, http.MethodGet, "/_local/keys", nil, nil, &out)
	})
	return out, err
}

// CreateKey creates a key and returns its text, which cannot be read again.
func (d *Deployment) CreateKey(ctx context.Context, spec contextmem.KeySpec) (k contextmem.Key, text string, err error) {
	err = d.do(ctx, true, func(s *seat) (err error) {
		if s.svc != nil {
			k, text, err = s.svc.CreateKey(ctx, spec)
			return err
		}
		var m madeKey
		err = s.call(ctx, http.MethodPost, "/_local/keys", nil, spec, &m)
		k, text = m.Key, m.Text
		return err
	})
	return k, text, err
}

// RevokeKey revokes a key with immediate effect.
func (d *Deployment) RevokeKey(ctx context.Context, id string) error {
	return d.do(ctx, true, func(s *seat) error {
		if s.svc != nil {
			return s.svc.RevokeKey(ctx, id)
		}
		return s.call(ctx, http.MethodDelete, "/_local/keys", url.Values{"id": {id}}, nil, nil)
	})
}

// Export writes all data that was added to a tenant; see [contextmem.Tenant.Export]. It is not repeated when the owner ends
// meanwhile. The file is then incomplete.
func (d *Deployment) Export(ctx context.Context, tenant string, w io.Writer) error {
	s, err := d.current(ctx)
	if err != nil {
		return err
	}
	if s.svc != nil {
		return s.svc.Tenant(tenant).Export(ctx, w)
	}
	return s.call(ctx, http.MethodGet, "/_local/export", url.Values{"tenant": {tenant}}, nil, w)
}

// Import creates a tenant from an export; see [contextmem.Organisation.ImportTenant]. It is not repeated when the owner ends
// meanwhile. The tenant is then deleted.
func (d *Deployment) Import(ctx context.Context, tenant string, r io.Reader) error {
	s, err := d.current(ctx)
	if err != nil {
		return err
	}
	if s.svc != nil {
		_, err := s.svc.ImportTenant(ctx, tenant, r)
		return err
	}
	return s.call(ctx, http.MethodPost, "/_local/import", url.Values{"tenant": {tenant}}, r, nil)
}

// Reembed recomputes the vectors of a tenant with the owner's embedder; see [contextmem.Tenant.Reembed].
func (d *Deployment) Reembed(ctx context.Context, tenant string) (n int, err error) {
	err = d.do(ctx, false, func(s *seat) (err error) {
		if s.svc != nil {
			n, err = s.svc.Tenant(tenant).Reembed(ctx)
			return err
		}
		return s.call(ctx, http.MethodPost, "/_local/reembed", url.Values{"tenant": {tenant}}, nil, &n)
	})
	return n, err
}

// TenantInfo describes a tenant.
func (d *Deployment) TenantInfo(ctx context.Context, tenant string) (i contextmem.TenantInfo, err error) {
	err = d.do(ctx, false, func(s *seat) (err error) {
		if s.svc != nil {
			i, err = s.svc.Tenant(tenant).Info(ctx)
			return err
		}
		return s.call(ctx, http.MethodGet, "/_local/tenant", url.Values{"tenant": {tenant}}, nil, &i)
	})
	return i, err
}

// Backup makes the owner copy the whole directory to another directory; see [contextmem.Service.Backup].
func (d *Deployment) Backup(ctx context.Context, dir string) (r contextmem.BackupReport, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return r, err
	}
	err = d.do(ctx, false, func(s *seat) (err error) {
		if s.svc != nil {
			r, err = s.svc.Backup(ctx, dir)
			return err
		}
		return s.call(ctx, http.MethodPost, "/_local/backup", url.Values{"dir": {dir}}, nil, &r)
	})
	return r, err
}

// Verify checks all stored data for damage; see [contextmem.Service.Verify].
func (d *Deployment) Verify(ctx context.Context) (r *contextmem.VerifyReport, err error) {
	err = d.do(ctx, false, func(s *seat) (err error) {
		if s.svc != nil {
			r, err = s.svc.Verify(ctx)
			return err
		}
		r = new(contextmem.VerifyReport)
		return s.call(ctx, http.MethodPost, "/_local/verify", nil, nil, r)
	})
	return r, err
}

// History implements contextmem.Memories.
func (m memories) History(ctx context.Context, r content.HistoryRequest) (h *content.History, err error) {
	err = m.do(ctx, false, func(to contextmem.Memories) (err error) { h, err = to.History(ctx, r); return err })
	return h, err
}

// RestoreVersion implements contextmem.Memories.
func (m memories) RestoreVersion(ctx context.Context, r content.RestoreVersionRequest) (it *contextmem.IngestItem, err error) {
	err = m.do(ctx, true, func(to contextmem.Memories) (err error) { it, err = to.RestoreVersion(ctx, r); return err })
	return it, err
}

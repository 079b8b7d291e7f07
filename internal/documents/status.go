package documents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/storerules"
	"github.com/contextmem/contextmem/internal/workspace"
)

// instructed occurs in the record of every item with custom instructions.
var instructed = []byte(`"ci":`)

// Statuses returns the states of items in a sub-tenant, given by its stored name, in the order of ids.
func Statuses(ctx context.Context, op string, sp *workspace.Space, sub string, ids []string) ([]content.ItemStatus, error) {
	out := make([]content.ItemStatus, len(ids))
	newest := make([]int64, len(ids))
	damaged := false
	for _, class := range []backend.Class{backend.Knowledge, backend.Memory} {
		srcs, err := sp.Store.Sources(ctx, backend.Partition{Class: class, Sub: sub}, ids)
		damaged = damaged || err != nil
		if err = backend.Undamaged(err); err != nil {
			return nil, fault.Wrap(op, fault.Source, "", err)
		}
		for i, src := range srcs {
			if src == nil || src.Num < newest[i] || item.Expired(src, time.Now()) {
				continue
			}
			newest[i] = src.Num
			out[i] = content.ItemStatus{ID: src.ID, Class: content.Class(src.Part.Class), Status: item.StatusOf(src.State), ErrorCode: src.ErrorCode,
				ErrorMessage: src.ErrorMessage, Attempts: src.Attempts}
			if src.State == backend.Completed || src.State == backend.GraphCreation {
				if out[i].Partial, err = item.PartialOf(src.Doc); err != nil {
					return nil, fault.Wrap(op, fault.Source, src.ID, err)
				}
			}
			out[i].ReadPages, out[i].TotalPages = sp.Pages(src.Num)
			if out[i].ServesOlder, err = servesOlder(ctx, sp, src); err != nil {
				return nil, fault.Wrap(op, fault.Source, src.ID, err)
			}
			if src.Infer && src.State == backend.Completed && bytes.Contains(src.Doc, instructed) {
				if _, out[i].Warnings, err = Reading(ctx, sp, src); err != nil {
					return nil, fault.Wrap(op, fault.Source, src.ID, err)
				}
			}
		}
	}
	for i, id := range ids {
		if newest[i] != 0 {
			continue
		}
		if damaged {
			err := intact(ctx, sp, sub, id)
			if errors.Is(err, backend.ErrCorrupt) {
				out[i] = content.ItemStatus{ID: id, Status: content.StatusErrored, ErrorCode: storerules.DamagedCode, ErrorMessage: "what is stored of the item is damaged: ingest it again, or restore a backup"}
				continue
			}
			if err != nil {
				return nil, fault.Wrap(op, fault.Source, id, err)
			}
		}
		hint, err := elsewhere(ctx, sp, sub, id)
		if err != nil {
			return nil, fault.Wrap(op, fault.Source, "", err)
		}
		out[i] = content.ItemStatus{ID: id, Status: content.StatusErrored, ErrorCode: "FILE_NOT_FOUND", ErrorMessage: "ID not found", Unknown: true, Hint: hint}
	}
	return out, nil
}

// intact returns the damage of the newest versions of an item, or nil if they are whole or there are none.
func intact(ctx context.Context, sp *workspace.Space, sub, id string) error {
	for _, class := range []backend.Class{backend.Knowledge, backend.Memory} {
		if _, err := sp.Store.Sources(ctx, backend.Partition{Class: class, Sub: sub}, []string{id}); err != nil {
			return err
		}
	}
	return nil
}

// servesOlder reports whether recall still finds the version before src.
func servesOlder(ctx context.Context, sp *workspace.Space, src *backend.Source) (bool, error) {
	if src.Older == 0 {
		return false, nil
	}
	older, err := sp.Store.SourcesByNum(ctx, []int64{src.Older})
	err = backend.Undamaged(err) // recall leaves a damaged version out
	return err == nil && older[0] != nil && !item.Expired(older[0], time.Now()), err
}

// elsewhere says whether other sub-tenants have an item with the id, without revealing its content.
func elsewhere(ctx context.Context, sp *workspace.Space, sub, id string) (string, error) {
	for _, class := range []backend.Class{backend.Knowledge, backend.Memory} {
		subs, err := sp.Store.FindSubs(ctx, class, id)
		if err != nil {
			return "", err
		}
		for _, other := range subs {
			if other != sub {
				return fmt.Sprintf("searched sub-tenant %q; an item with this id exists in another sub-tenant", fault.ShortID(sub)), nil
			}
		}
	}
	return "", nil
}

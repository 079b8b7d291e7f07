// Package feedback keeps opinions on recalls: the feedback records of an organisation, the latest recalls, to which feedback can refer, and
// the effects of feedback on the ranking of a tenant.
package feedback

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/contextmem/contextmem/backend"
)

// kind is the kind of the registry records.
const kind = "feedback"

// idLayout is a time layout whose texts sort by time.
const idLayout = "20060102150405.000000"

// NewID returns an id for a record made at the given time.
func NewID(at time.Time) string {
	random := uuid.New()
	return "fb_" + strings.ReplaceAll(at.Format(idLayout), ".", "") + fmt.Sprintf("_%x", random[:6])
}

// Write stores a record of an organisation as JSON.
func Write(ctx context.Context, reg backend.Registry, org, id string, record any) error {
	b, err := json.Marshal(record)
	if err != nil {
		return err
	}
	return reg.WriteRecords(ctx, []backend.RecordWrite{{Record: backend.Record{Kind: kind, Org: org, ID: id, Data: b}}})
}

// EraseRecords deletes the records of an organisation for which gone returns true, and returns their number.
func EraseRecords[T any](ctx context.Context, reg backend.Registry, org string, gone func(record *T) bool) (n int, err error) {
	const page = 500
	for after := ""; ; {
		rs, err := reg.Records(ctx, kind, org, after, page)
		if err != nil {
			return n, err
		}
		for _, r := range rs {
			var x T
			if json.Unmarshal(r.Data, &x) != nil || !gone(&x) {
				continue
			}
			err := reg.WriteRecords(ctx, []backend.RecordWrite{{Record: backend.Record{Kind: kind, Org: org, ID: r.ID}, Delete: true, IfRev: -1}})
			if err != nil {
				return n, err
			}
			n++
		}
		if len(rs) < page {
			return n, nil
		}
		after = rs[len(rs)-1].ID
	}
}

// Read returns up to limit records of an organisation, oldest first, with ids after the given one.
func Read[T any](ctx context.Context, reg backend.Registry, org, after string, limit int) ([]T, error) {
	rs, err := reg.Records(ctx, kind, org, after, limit)
	if err != nil {
		return nil, err
	}
	out := make([]T, len(rs))
	for i, r := range rs {
		if err := json.Unmarshal(r.Data, &out[i]); err != nil {
			return nil, fmt.Errorf("record of feedback: %w", backend.ErrCorrupt)
		}
	}
	return out, nil
}

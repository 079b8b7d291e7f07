package storerules

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/contextmem/contextmem/backend"
)

func TestCheckRecord(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ifRev, rev int64
		want       error
	}{
		"new":               {0, 0, nil},
		"new, but there":    {0, 3, backend.ErrExists},
		"same":              {3, 3, nil},
		"changed":           {3, 4, backend.ErrConflict},
		"gone":              {3, 0, backend.ErrNotFound},
		"any, not there":    {-1, 0, nil},
		"any, there":        {-1, 7, nil},
		"no such condition": {-2, 7, backend.ErrConflict},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.ErrorIs(t, CheckRecord(&backend.RecordWrite{IfRev: c.ifRev}, c.rev), c.want)
		})
	}
}

// TestDue checks that a delivery that can be claimed at once does not have the zero time, which means never.
func TestDue(t *testing.T) {
	t.Parallel()
	at := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	for name, c := range map[string]struct {
		status      backend.DeliveryStatus
		next, lease time.Time
		want        any
		read        time.Time
	}{
		"pending":   {backend.DeliveryPending, at, time.Time{}, at.UnixMicro(), at},
		"at once":   {backend.DeliveryFailed, time.Time{}, at, int64(Never), time.Unix(0, 0).UTC()},
		"claimed":   {backend.DeliverySweeping, time.Time{}, at, at.UnixMicro(), at},
		"delivered": {backend.DeliveryDelivered, at, at, nil, time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			due := DueAt(c.status, c.next, c.lease)
			assert.Equal(t, c.want, due)
			if n, ok := due.(int64); ok {
				assert.Equal(t, c.read, DueTime(n))
			}
		})
	}
}

func TestRoom(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ limit, perURL, underWay, want int }{
		"no bound of an address": {5, 0, 9, 5},
		"room left":              {5, 3, 1, 2},
		"the limit is less":      {1, 3, 0, 1},
		"full":                   {5, 3, 3, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, Room(&backend.DeliveryClaim{Limit: c.limit, PerURL: c.perURL}, c.underWay))
		})
	}
}

func TestAddSub(t *testing.T) {
	t.Parallel()
	var subs []backend.SubInfo
	subs = AddSub(subs, backend.Knowledge, "a", 2)
	subs = AddSub(subs, backend.Memory, "a", 1)
	subs = AddSub(subs, backend.Memory, "b", 0)
	subs = AddSub(subs, backend.Raw, "c", 4)
	assert.Equal(t, []backend.SubInfo{{Sub: "a", Knowledge: 2, Memory: 1}, {Sub: "c", Raw: 4}}, subs)
}

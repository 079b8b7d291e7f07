package sqlite

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// TestAnyAhead checks that an item whose own time is after its acceptance counts as ahead until that time, and no other item does.
func TestAnyAhead(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	_, s := openTest(t)
	add := func(id string, at time.Time) {
		_, err := s.Accept(ctx, []backend.Incoming{{Source: backend.Source{Part: testPart, ID: id, Kind: "text", CreatedAt: testTime, UpdatedAt: testTime, Time: at}}})
		require.NoError(t, err)
	}
	any := func(part backend.Partition, after time.Time) bool {
		found, err := s.AnyAhead(ctx, part, after)
		require.NoError(t, err)
		return found
	}
	require.False(t, any(testPart, testTime))
	add("undated", time.Time{})
	add("past", testTime.Add(-time.Hour))
	add("now", testTime)
	require.False(t, any(testPart, testTime.Add(-2*time.Hour)))
	add("ahead", testTime.Add(time.Hour))
	require.True(t, any(testPart, testTime))
	require.False(t, any(testPart, testTime.Add(time.Hour)))
	require.False(t, any(backend.Partition{Class: testPart.Class, Sub: "another"}, testTime))
}

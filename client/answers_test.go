package client_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
)

// notAnswered are the fields of answers that REST does not carry, as the package documentation says.
var notAnswered = map[string]bool{"Chunk.Class": true, "Chunk.Time": true, "Chunk.Related": true, "SourceInfo.Class": true, "ItemStatus.Class": true, "ItemStatus.Attempts": true,
	"SourceInfo.CreatedAt": true, "SourceInfo.UpdatedAt": true, "SourceInfo.Status": true, "SourceInfo.Filename": true, "SourceInfo.ContentType": true, "SourceInfo.SizeBytes": true,
	"SourceInfo.Infer": true, "SourceInfo.App": true, "SourceInfo.Relations": true, "SourceInfo.ExpiresAt": true, "SourceInfo.Timestamp": true}

// TestAnswersAreWhole checks that a client gets all fields of a hit that the library returns, such as supersession,
// validity, relevance, heading and passage. Each field must be set in some hit, so that the test does not compare empty
// fields only.
func TestAnswersAreWhole(t *testing.T) {
	t.Parallel()
	svc, url := serve(t, nil)
	_, err := svc.EnsureTenant(t.Context(), contextmem.TenantSpec{ID: "acme"})
	require.NoError(t, err)
	local, remote := svc.Tenant("acme").Sub("bob"), dial(t, url).Tenant("acme").Sub("bob")
	when := time.Date(2024, 5, 3, 9, 30, 0, 0, time.UTC)
	for i, text := range []string{"My office is in Leeds, on the third floor.", "My office is in York now, no longer in Leeds.", "I sold my bicycle."} {
		res, err := remote.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "m" + string(rune('0'+i)), UserName: "Bob", Infer: true, Time: when.AddDate(0, i, 0),
			Messages: []contextmem.Message{{Role: "user", Text: text}}, Metadata: map[string]any{"n": float64(i)}}}})
		require.NoError(t, err)
		require.NoError(t, contextmem.Settled(t.Context(), remote, res))
	}
	res, err := remote.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Files: []contextmem.File{{ID: "manual", Name: "manual.md",
		Data: []byte("# Office\n\n## Keys\n\nThe keys of the office hang behind the door. Nobody may lend them.\n")}}})
	require.NoError(t, err)
	require.NoError(t, contextmem.Settled(t.Context(), remote, res))
	require.NoError(t, local.Supersede(t.Context(), "m0", "m1", "moved"))

	set := map[string]bool{}
	for _, class := range []contextmem.Class{contextmem.ClassMemory, contextmem.ClassKnowledge} {
		q := contextmem.Recall{Class: class, Query: "where is the office, and where are its keys?", Mode: contextmem.ModeThinking, PerSource: 3}
		want, err := local.Recall(t.Context(), q)
		require.NoError(t, err)
		got, err := remote.Recall(t.Context(), q)
		require.NoError(t, err)
		require.Len(t, got.Chunks, len(want.Chunks))
		for i := range want.Chunks {
			requireSame(t, set, want.Chunks[i], got.Chunks[i])
		}
		require.Len(t, got.Sources, len(want.Sources))
		for i := range want.Sources {
			requireSame(t, set, want.Sources[i], got.Sources[i])
		}
	}
	for _, field := range []string{"Heading", "Passage", "Relevance", "SupersededBy", "ValidFrom", "ValidTo", "Explain", "Inferred", "Layout"} {
		require.True(t, set["Chunk."+field], "no hit has %s", field)
	}
}

// requireSame compares the fields of two structs that REST carries, and records in set which of them are not empty.
func requireSame(t *testing.T, set map[string]bool, want, got any) {
	t.Helper()
	a, b := reflect.ValueOf(want), reflect.ValueOf(got)
	for i := range a.NumField() {
		name := a.Type().Name() + "." + a.Type().Field(i).Name
		if notAnswered[name] {
			continue
		}
		set[name] = set[name] || !a.Field(i).IsZero()
		x, y := a.Field(i).Interface(), b.Field(i).Interface()
		switch x := x.(type) {
		case time.Time:
			assert.True(t, x.Equal(y.(time.Time)), "%s: %v, %v", name, x, y)
		case float64:
			assert.InDelta(t, x, y, 1e-6, name)
		case *contextmem.Explain:
			assert.InDelta(t, x.Semantic, y.(*contextmem.Explain).Semantic, 1e-6)
			assert.InDelta(t, x.Succession, y.(*contextmem.Explain).Succession, 1e-6)
		default:
			if a.Field(i).IsZero() && b.Field(i).Kind() != reflect.Pointer && b.Field(i).Kind() != reflect.Struct && (b.Field(i).IsZero() || b.Field(i).Kind() == reflect.Map && b.Field(i).Len() == 0 || b.Field(i).Kind() == reflect.Slice && b.Field(i).Len() == 0) {
				continue // nil and empty are one on the wire
			}
			assert.Equal(t, x, y, name)
		}
	}
}

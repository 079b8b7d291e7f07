package memory_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/internal/servicetest"
)

// sessionsOf returns the number of memories of each named session.
func sessionsOf(t *testing.T, s contextmem.Sub) map[string]int {
	t.Helper()
	p, err := s.Sessions(t.Context(), content.SessionsRequest{})
	require.NoError(t, err)
	out := map[string]int{}
	for _, row := range p.Sessions {
		out[row.Name] = row.Memories
	}
	return out
}

// TestSessionFollowsMetadata checks that a memory stays in the session that its metadata name, whatever changes the memory.
func TestSessionFollowsMetadata(t *testing.T) {
	t.Parallel()
	named := func(session string) map[string]any { return map[string]any{"session_id": session} }
	text := "I live in Rome."
	for name, c := range map[string]struct {
		first  contextmem.Memory
		change func(t *testing.T, s contextmem.Sub)
		want   map[string]int
	}{
		"an edit of the metadata moves it": {contextmem.Memory{Additional: named("one")}, func(t *testing.T, s contextmem.Sub) {
			r, err := s.EditMetadata(t.Context(), contextmem.EditMetadataRequest{ID: "m", Additional: named("two")})
			require.NoError(t, err)
			require.True(t, r.Updated)
		}, map[string]int{"two": 1}},
		"an edit of the metadata names one": {contextmem.Memory{}, func(t *testing.T, s contextmem.Sub) {
			_, err := s.EditMetadata(t.Context(), contextmem.EditMetadataRequest{ID: "m", Additional: named("two")})
			require.NoError(t, err)
		}, map[string]int{"two": 1}},
		"an edit of the metadata takes it out": {contextmem.Memory{Additional: named("one")}, func(t *testing.T, s contextmem.Sub) {
			_, err := s.EditMetadata(t.Context(), contextmem.EditMetadataRequest{ID: "m", Additional: map[string]any{"session_id": nil}})
			require.NoError(t, err)
		}, map[string]int{}},
		"an edit of other metadata leaves it": {contextmem.Memory{Session: "own", Additional: named("one")}, func(t *testing.T, s contextmem.Sub) {
			_, err := s.EditMetadata(t.Context(), contextmem.EditMetadataRequest{ID: "m", Additional: named("two")})
			require.NoError(t, err)
		}, map[string]int{"own": 1}},
		"an edit of the memory moves it": {contextmem.Memory{Additional: named("one")}, func(t *testing.T, s contextmem.Sub) {
			_, err := s.UpdateMemory(t.Context(), "m", content.MemoryEdit{Text: &text, Additional: named("two")})
			require.NoError(t, err)
		}, map[string]int{"two": 1}},
		"an earlier version comes back into the session of the metadata that stay": {contextmem.Memory{Additional: named("one")}, func(t *testing.T, s contextmem.Sub) {
			servicetest.Remember(t, s, contextmem.Memory{ID: "m", Text: text, Additional: named("two")})
			_, err := s.RestoreVersion(t.Context(), content.RestoreVersionRequest{ID: "m", Version: 1})
			require.NoError(t, err)
		}, map[string]int{"two": 1}},
		"an earlier version comes back without the session of metadata that are gone": {contextmem.Memory{Additional: named("one")}, func(t *testing.T, s contextmem.Sub) {
			servicetest.Remember(t, s, contextmem.Memory{ID: "m", Text: text})
			_, err := s.RestoreVersion(t.Context(), content.RestoreVersionRequest{ID: "m", Version: 1})
			require.NoError(t, err)
			assert.Empty(t, sessionsOf(t, s))
			_, err = s.EditMetadata(t.Context(), contextmem.EditMetadataRequest{ID: "m", Additional: named("two")})
			require.NoError(t, err)
		}, map[string]int{"two": 1}},
		"an earlier version comes back with the session that the caller named": {contextmem.Memory{Session: "own"}, func(t *testing.T, s contextmem.Sub) {
			servicetest.Remember(t, s, contextmem.Memory{ID: "m", Text: text, Session: "other"})
			_, err := s.RestoreVersion(t.Context(), content.RestoreVersionRequest{ID: "m", Version: 1})
			require.NoError(t, err)
		}, map[string]int{"own": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, acme := servicetest.Open(t, nil)
			s := acme.Sub("anna")
			c.first.ID, c.first.Text = "m", "I live in Oslo."
			servicetest.Remember(t, s, c.first)
			c.change(t, s)
			servicetest.Done(t, s, "m")
			assert.Equal(t, c.want, sessionsOf(t, s))
			for session := range c.want {
				n, err := s.DeleteMatching(t.Context(), content.Matching{Class: contextmem.ClassMemory, Session: session})
				require.NoError(t, err)
				assert.Equal(t, 1, n)
			}
		})
	}
}

package memory_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/servicetest"
)

func versionTexts(h *content.History) (out []string) {
	for _, v := range h.Versions {
		out = append(out, fmt.Sprintf("%d>%d %s %s", v.Version, v.ReplacedBy, v.Cause, v.Text))
	}
	return out
}

func TestHistory(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	s := acme.Sub("anna")
	ctx := t.Context()
	servicetest.Remember(t, s, contextmem.Memory{ID: "m", Text: "I live in Oslo. I sail.", Metadata: map[string]any{"x": "1"}})
	h := servicetest.HistoryOf(t, s, "m")
	require.Equal(t, []string{"1>0  I live in Oslo. I sail."}, versionTexts(h))
	assert.Nil(t, h.Versions[0].Changes)
	servicetest.Remember(t, s, contextmem.Memory{ID: "m", Text: "I live in Lima. I sail.", Title: "Home"})
	servicetest.Remember(t, s, contextmem.Memory{ID: "m", Text: "I live in Lima. I sail.", Title: "Home"}) // nothing new
	text := "I live in Rome. I sail. I ski."
	_, err := s.UpdateMemory(ctx, "m", content.MemoryEdit{Text: &text})
	require.NoError(t, err)
	servicetest.Done(t, s, "m")
	it, err := s.RestoreVersion(ctx, content.RestoreVersionRequest{ID: "m", Version: 1})
	require.NoError(t, err)
	assert.Equal(t, contextmem.StatusQueued, it.Status)
	servicetest.Done(t, s, "m")
	h = servicetest.HistoryOf(t, s, "m")
	require.Equal(t, []string{"4>0  I live in Oslo. I sail.", "3>4 restore I live in Rome. I sail. I ski.", "2>3 edit I live in Lima. I sail.", "1>2 add I live in Oslo. I sail."}, versionTexts(h))
	assert.Equal(t, content.ClassMemory, h.Class)
	assert.Equal(t, []content.Difference{{Kind: content.Removed, Text: "I live in Lima. "}, {Kind: content.Added, Text: "I live in Rome. "}, {Kind: content.Same, Text: "I sail. "}, {Kind: content.Added, Text: "I ski."}}, h.Versions[1].Changes)
	for i := range 3 {
		assert.False(t, h.Versions[i+1].Replaced.IsZero())
		assert.False(t, h.Versions[i+1].Replaced.After(h.Versions[i].Stored), "version %d", i)
		assert.False(t, h.Versions[i+1].Replaced.Before(h.Versions[i+1].Stored), "version %d", i)
	}
	res, err := s.Recall(ctx, contextmem.Recall{Class: contextmem.ClassMemory, Query: "where do I live?"})
	require.NoError(t, err)
	require.Equal(t, []string{"I live in Oslo. I sail."}, servicetest.Texts(res), "earlier versions are not found")

	for name, c := range map[string]struct {
		r    content.RestoreVersionRequest
		want error
	}{
		"a version that is not there": {content.RestoreVersionRequest{ID: "m", Version: 9}, fault.ErrNotFound},
		"the newest":                  {content.RestoreVersionRequest{ID: "m", Version: 4}, fault.ErrNotFound},
		"no version":                  {content.RestoreVersionRequest{ID: "m"}, fault.ErrInvalid},
		"no item":                     {content.RestoreVersionRequest{ID: "n", Version: 1}, fault.ErrNotFound},
		"another class":               {content.RestoreVersionRequest{ID: "m", Version: 1, Class: contextmem.ClassKnowledge}, fault.ErrNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.RestoreVersion(ctx, c.r)
			require.ErrorIs(t, err, c.want)
		})
	}
	_, err = acme.Sub("bob").History(ctx, content.HistoryRequest{ID: "m"})
	require.ErrorIs(t, err, fault.ErrNotFound, "sub-tenants see their own alone")
	_, err = s.DeleteItems(ctx, contextmem.DeleteItemsRequest{IDs: []string{"m"}})
	require.NoError(t, err)
	servicetest.Remember(t, s, contextmem.Memory{ID: "m", Text: "I am new."})
	require.Equal(t, []string{"1>0  I am new."}, versionTexts(servicetest.HistoryOf(t, s, "m")), "versions go with their item")
}

// TestHistoryOfDocuments checks that documents keep the text of earlier versions, or only the dates if the text is too
// large.
func TestHistoryOfDocuments(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	ctx := t.Context()
	add := func(data []byte) {
		t.Helper()
		res, err := acme.AddKnowledge(ctx, contextmem.KnowledgeBatch{Files: []contextmem.File{{ID: "f", Name: "notes.md", Data: data}}})
		require.NoError(t, err)
		servicetest.Done(t, acme.Sub(""), res.IDs()...)
	}
	add([]byte("# Notes\n\nThe oven is cleaned on Mondays.\n"))
	add(bytes.Repeat([]byte("The oven is old. "), 20000))
	add([]byte("# Notes\n\nThe oven is cleaned on Tuesdays.\n"))
	h := servicetest.HistoryOf(t, acme.Sub(""), "f")
	require.Len(t, h.Versions, 3)
	assert.True(t, h.Versions[1].Lost)
	assert.Empty(t, h.Versions[1].Text)
	assert.Equal(t, int64(340000), h.Versions[1].SizeBytes)
	assert.Equal(t, "# Notes\n\nThe oven is cleaned on Mondays.\n", h.Versions[2].Text)
	_, err := acme.RestoreVersion(ctx, content.RestoreVersionRequest{ID: "f", Version: 2})
	require.ErrorIs(t, err, fault.ErrConflict)
	_, err = acme.RestoreVersion(ctx, content.RestoreVersionRequest{ID: "f", Version: 1})
	require.NoError(t, err)
	servicetest.Done(t, acme.Sub(""), "f")
	f, err := acme.Fetch(ctx, contextmem.FetchRequest{ID: "f"})
	require.NoError(t, err)
	assert.Equal(t, "# Notes\n\nThe oven is cleaned on Mondays.\n", f.Text)
	assert.Equal(t, "notes.md", f.Filename)
}

func TestHistoryIsBounded(t *testing.T) {
	t.Parallel()
	for keep, want := range map[int]int{0: 10, 3: 3, -1: 0} {
		t.Run(fmt.Sprint(keep), func(t *testing.T) {
			t.Parallel()
			_, acme := servicetest.Open(t, &contextmem.Options{Versions: keep})
			s := acme.Sub("anna")
			for i := range 13 {
				servicetest.Remember(t, s, contextmem.Memory{ID: "m", Text: fmt.Sprintf("I have %d boats.", i)})
			}
			h := servicetest.HistoryOf(t, s, "m")
			require.Len(t, h.Versions, want+1)
			if want > 0 {
				assert.Equal(t, 13, h.Versions[0].Version)
				assert.Equal(t, "I have 11 boats.", h.Versions[1].Text)
			}
		})
	}
	t.Run("bytes", func(t *testing.T) {
		t.Parallel()
		_, acme := servicetest.Open(t, nil)
		s := acme.Sub("anna")
		for i := range 5 {
			servicetest.Remember(t, s, contextmem.Memory{ID: "m", Text: strings.Repeat(fmt.Sprintf("I have %d boats. ", i), 6000)})
		}
		require.Len(t, servicetest.HistoryOf(t, s, "m").Versions, 3, "two of 100 KB fit into 256")
	})
}

// TestHistoryFollowsAccessLists checks that a principal who may not see an item, or a version of it, can neither read
// nor restore that version.
func TestHistoryFollowsAccessLists(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	s := acme.Sub("")
	ctx := t.Context()
	for i, acl := range [][]string{{"boss"}, {"boss", "anna"}, nil} {
		_, err := acme.AddKnowledge(ctx, contextmem.KnowledgeBatch{Files: []contextmem.File{{ID: "f", Name: "f.txt", Data: fmt.Appendf(nil, "The salary is %d.", i), ACL: acl}}})
		require.NoError(t, err)
		servicetest.Done(t, s, "f")
	}
	assert.Len(t, servicetest.HistoryOf(t, s, "f").Versions, 3)
	assert.Len(t, servicetest.HistoryOf(t, s, "f", "boss").Versions, 3)
	h := servicetest.HistoryOf(t, s, "f", "anna")
	require.Equal(t, []string{"3>0  The salary is 2.", "2>3 add The salary is 1."}, versionTexts(h))
	assert.Len(t, servicetest.HistoryOf(t, s, "f", "guest").Versions, 1)
	_, err := s.RestoreVersion(ctx, content.RestoreVersionRequest{ID: "f", Version: 1, Principals: []string{"anna"}})
	require.ErrorIs(t, err, fault.ErrNotFound)
	_, err = s.RestoreVersion(ctx, content.RestoreVersionRequest{ID: "f", Version: 1, Principals: []string{"boss"}})
	require.NoError(t, err)
	servicetest.Done(t, s, "f")
	f, err := s.Fetch(ctx, contextmem.FetchRequest{ID: "f", Principals: []string{"guest"}})
	require.NoError(t, err, "the access list is that of now")
	assert.Equal(t, "The salary is 0.", f.Text)
	_, err = s.EditMetadata(ctx, contextmem.EditMetadataRequest{Class: contextmem.ClassKnowledge, ID: "f", ACL: &[]string{"boss"}})
	require.NoError(t, err)
	_, err = s.History(ctx, content.HistoryRequest{ID: "f", Principals: []string{"anna"}})
	require.ErrorIs(t, err, fault.ErrNotFound)
}

// TestHistoryExpires checks that an earlier version expires at its own time even after it was replaced.
func TestHistoryExpires(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, nil)
	s := acme.Sub("anna")
	servicetest.Remember(t, s, contextmem.Memory{ID: "m", Text: "My code is 1234.", TTL: time.Hour})
	servicetest.Remember(t, s, contextmem.Memory{ID: "m", Text: "My code is 5678.", TTL: time.Hour})
	require.Len(t, servicetest.HistoryOf(t, s, "m").Versions, 2)
	servicetest.Remember(t, s, contextmem.Memory{ID: "m", Text: "My code is changed."})
	require.Equal(t, []string{"3>0  My code is changed."}, versionTexts(servicetest.HistoryOf(t, s, "m")))
}

// TestHistoryOfRacingCalls checks that concurrent calls that replace an item each leave a version.
func TestHistoryOfRacingCalls(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, &contextmem.Options{Versions: 100})
	s := acme.Sub("anna")
	servicetest.Remember(t, s, contextmem.Memory{ID: "m", Text: "I have no boats."})
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			_, err := s.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "m", Text: fmt.Sprintf("I have %d boats.", i)}, {Text: "Other."}}})
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	_, err := s.AddMemories(t.Context(), contextmem.MemoryBatch{Memories: []contextmem.Memory{{ID: "m", Text: "Twice."}, {ID: "m", Text: "Thrice."}}})
	require.NoError(t, err)
	h := servicetest.HistoryOf(t, s, "m")
	require.Len(t, h.Versions, 23)
	seen := map[string]bool{}
	for _, v := range h.Versions {
		seen[v.Text] = true
	}
	require.Len(t, seen, 23)
}

func TestHistoryIsExported(t *testing.T) {
	t.Parallel()
	svc, acme := servicetest.Open(t, nil)
	s := acme.Sub("anna")
	servicetest.Remember(t, s, contextmem.Memory{ID: "m", Text: "I live in Oslo."})
	servicetest.Remember(t, s, contextmem.Memory{ID: "m", Text: "I live in Lima."})
	var b bytes.Buffer
	require.NoError(t, acme.Export(t.Context(), &b))
	_, err := svc.Org("other").ImportTenant(t.Context(), "moved", &b)
	require.NoError(t, err)
	require.Equal(t, versionTexts(servicetest.HistoryOf(t, s, "m")), versionTexts(servicetest.HistoryOf(t, svc.Org("other").Tenant("moved").Sub("anna"), "m")))
}

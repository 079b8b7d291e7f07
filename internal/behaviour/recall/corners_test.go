package recall_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/servicetest"
)

func sourceIDs(res *contextmem.Result) []string {
	var ids []string
	for _, c := range res.Chunks {
		ids = append(ids, c.SourceID)
	}
	return ids
}

// TestRecencyOverAllCandidates checks that the newest of 300 equal memories rank first.
func TestRecencyOverAllCandidates(t *testing.T) {
	t.Parallel()
	servicetest.InEachService(t, func(t *testing.T, tn contextmem.Tenant) {
		s := tn.Sub("r")
		var ms []contextmem.Memory
		start := time.Now().Add(-400 * 24 * time.Hour)
		for i := range 300 {
			ms = append(ms, contextmem.Memory{ID: fmt.Sprintf("m%03d", i), Text: "The kettle is blue.", Time: start.Add(time.Duration(i) * 24 * time.Hour), Session: fmt.Sprint(i)})
		}
		servicetest.Remember(t, s, ms...)
		for _, class := range []contextmem.Class{contextmem.ClassMemory, contextmem.ClassAll} {
			res, err := s.Recall(t.Context(), contextmem.Recall{Class: class, Query: "blue kettle", RecencyBias: 1, MaxResults: 4})
			require.NoError(t, err)
			require.Equal(t, []string{"m299", "m298", "m297", "m296"}, sourceIDs(res))
			require.Negative(t, res.Chunks[3].Explain.Recency)
		}
	})
}

// TestKnownAtBehindManyCandidates checks that a memory known at the given time is found however many later memories
// match better.
func TestKnownAtBehindManyCandidates(t *testing.T) {
	t.Parallel()
	servicetest.InEachService(t, func(t *testing.T, tn contextmem.Tenant) {
		s := tn.Sub("k")
		var ms []contextmem.Memory
		for i := range 5 {
			ms = append(ms, contextmem.Memory{ID: fmt.Sprintf("old%d", i), Text: "A kettle stood in the long hall beside the door of the old harbour office.", Time: servicetest.OnDay("2020-01-01")})
		}
		for i := range 2400 {
			ms = append(ms, contextmem.Memory{ID: fmt.Sprintf("new%d", i), Text: "kettle kettle", Time: servicetest.OnDay("2024-01-01")})
		}
		for from := 0; from < len(ms); from += 500 {
			servicetest.Remember(t, s, ms[from:min(from+500, len(ms))]...)
		}
		res, err := s.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "kettle", KnownAt: servicetest.OnDay("2021-01-01")})
		require.NoError(t, err)
		require.ElementsMatch(t, []string{"old0", "old1", "old2", "old3", "old4"}, sourceIDs(res))
		require.Empty(t, res.Warnings)
	})
}

// TestEqualStatementsHideNoOthers checks that a statement of many sources takes one place, and others fill the result.
func TestEqualStatementsHideNoOthers(t *testing.T) {
	t.Parallel()
	servicetest.InEachService(t, func(t *testing.T, tn contextmem.Tenant) {
		s := tn.Sub("e")
		var ms []contextmem.Memory
		for i := range 120 {
			ms = append(ms, contextmem.Memory{ID: fmt.Sprintf("m%d", i), Text: "I love pizza.", Infer: true, UserName: "Ann"})
		}
		for i := range 12 {
			ms = append(ms, contextmem.Memory{ID: fmt.Sprintf("n%d", i), Text: fmt.Sprintf("On day %d of the journey somebody mentioned that a pizza was left over.", i)})
		}
		servicetest.Remember(t, s, ms...)
		res, err := s.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "Ann loves pizza", PerSource: 2, MaxResults: 130})
		require.NoError(t, err)
		inferred := 0
		for _, c := range res.Chunks {
			if c.Inferred {
				inferred++
			}
		}
		require.Equal(t, 1, inferred)
		for _, n := range []int{3, 10} {
			res, err := s.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassMemory, Query: "Ann loves pizza", MaxResults: n})
			require.NoError(t, err)
			require.Len(t, res.Chunks, n)
			res, err = s.BooleanRecall(t.Context(), contextmem.BooleanRecallRequest{Class: contextmem.ClassMemory, Query: "pizza", MaxResults: n})
			require.NoError(t, err)
			require.Len(t, res.Chunks, n, "boolean")
		}
	})
}

// TestHitsOfReplacedVersions checks that a version whose replacement cannot be read is still found, with a warning.
func TestHitsOfReplacedVersions(t *testing.T) {
	t.Parallel()
	servicetest.InEachService(t, func(t *testing.T, tn contextmem.Tenant) {
		s := tn.Sub("v")
		add := func(name string, data []byte) contextmem.ItemStatus {
			t.Helper()
			_, err := s.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Files: []contextmem.File{{ID: "k", Name: name, Data: data}}})
			require.NoError(t, err)
			st, err := s.Wait(t.Context(), "k")
			require.NoError(t, err)
			return st[0]
		}
		recall := func() *contextmem.Result {
			t.Helper()
			res, err := s.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassKnowledge, Query: "price of the kettle"})
			require.NoError(t, err)
			return res
		}
		require.False(t, add("one.txt", []byte("The price of the kettle is 20 euros.")).ServesOlder)
		require.Empty(t, recall().Chunks[0].Newer)
		broken := add("two.docx", []byte("PK\x03\x04 this is no archive"))
		require.Equal(t, contextmem.StatusErrored, broken.Status)
		require.True(t, broken.ServesOlder)
		res := recall()
		require.Equal(t, contextmem.StatusErrored, res.Chunks[0].Newer)
		require.Len(t, res.Warnings, 1)
		require.Equal(t, "outdated", res.Warnings[0].Code)
		lexical, err := s.BooleanRecall(t.Context(), contextmem.BooleanRecallRequest{Class: contextmem.ClassKnowledge, Query: "kettle", Operator: contextmem.OperatorAnd})
		require.NoError(t, err)
		require.Equal(t, contextmem.StatusErrored, lexical.Chunks[0].Newer)
		require.False(t, add("three.txt", []byte("The price of the kettle is 30 euros.")).ServesOlder)
		res = recall()
		require.Contains(t, res.Chunks[0].Text, "30 euros")
		require.Empty(t, res.Chunks[0].Newer)
		require.Empty(t, res.Warnings)
	})
}

// TestEditAccess checks that an edit of an access list takes effect at once, also while an older version of the item is
// served.
func TestEditAccess(t *testing.T) {
	t.Parallel()
	servicetest.InEachService(t, func(t *testing.T, tn contextmem.Tenant) {
		s := tn.Sub("a")
		add := func(f contextmem.File) {
			t.Helper()
			_, err := s.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Files: []contextmem.File{f}})
			require.NoError(t, err)
			_, err = s.Wait(t.Context(), "k")
			require.NoError(t, err)
		}
		seen := func(who string) int {
			t.Helper()
			res, err := s.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassKnowledge, Query: "price of the kettle", Principals: []string{who}})
			require.NoError(t, err)
			exact, err := s.BooleanRecall(t.Context(), contextmem.BooleanRecallRequest{Class: contextmem.ClassKnowledge, Query: "kettle", Principals: []string{who}})
			require.NoError(t, err)
			require.Len(t, exact.Chunks, len(res.Chunks))
			return len(res.Chunks)
		}
		allow := func(acl ...string) error {
			_, err := s.EditMetadata(t.Context(), contextmem.EditMetadataRequest{ID: "k", ACL: &acl})
			return err
		}
		add(contextmem.File{ID: "k", Name: "one.txt", Data: []byte("The price of the kettle is 20 euros.")})
		require.Equal(t, 1, seen("anna"))
		require.NoError(t, allow("bea"))
		require.Equal(t, []int{0, 1}, []int{seen("anna"), seen("bea")})
		_, err := s.EditMetadata(t.Context(), contextmem.EditMetadataRequest{ID: "k", Metadata: map[string]any{"colour": "blue"}})
		require.NoError(t, err)
		require.Equal(t, []int{0, 1}, []int{seen("anna"), seen("bea")}, "an edit of metadata keeps who may see it")
		require.NoError(t, allow())
		require.Equal(t, 1, seen("anna"))
		require.ErrorIs(t, allow(" "), contextmem.ErrInvalid)
		add(contextmem.File{ID: "k", Name: "two.docx", Data: []byte("PK\x03\x04 this is no archive"), ACL: []string{"bea"}})
		require.Equal(t, []int{0, 1}, []int{seen("anna"), seen("bea")}, "a version that cannot be read hides the one before")
	})
}

// TestEmojiAlone checks that memories and files of emoji alone are found by them, in both modes.
func TestEmojiAlone(t *testing.T) {
	t.Parallel()
	servicetest.InEachService(t, func(t *testing.T, tn contextmem.Tenant) {
		s := tn.Sub("emoji")
		servicetest.Remember(t, s, contextmem.Memory{ID: "cake", Text: "🎂🎉"}, contextmem.Memory{ID: "thumb", Text: "👍🏽"}, contextmem.Memory{ID: "words", Text: "A cake stood on the table."})
		res, err := s.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Files: []contextmem.File{{ID: "rocket", Name: "a.txt", Data: []byte("🚀")}, {ID: "ship", Name: "b.txt", Data: []byte("A ship.")}}})
		require.NoError(t, err)
		_, err = s.Wait(t.Context(), res.IDs()...)
		require.NoError(t, err)
		for _, mode := range []contextmem.Mode{contextmem.ModeFast, contextmem.ModeThinking} {
			for question, want := range map[string]string{"🎂": "cake", "👍": "thumb", "🚀?": "rocket"} {
				found, err := s.Recall(t.Context(), contextmem.Recall{Class: contextmem.ClassAll, Query: question, Mode: mode})
				require.NoError(t, err)
				require.NotEmpty(t, found.Chunks, "%s %s", mode, question)
				require.Equal(t, want, found.Chunks[0].SourceID, "%s %s", mode, question)
			}
		}
	})
}

// TestFirstSentenceIsNoTitle checks that the words of a plain text's first sentence tell its chunks apart: as a title they would be in all.
func TestFirstSentenceIsNoTitle(t *testing.T) {
	t.Parallel()
	servicetest.InEachService(t, func(t *testing.T, tn contextmem.Tenant) {
		var text strings.Builder
		text.WriteString("The old kiln at Zorbailmz was built by hand.\n\n")
		for i := range 400 {
			fmt.Fprintf(&text, "Batch %d: the kiln was hot, so we opened the kiln and looked at what the kiln had done to the %d plates. %s\n\n", i, i*7%90, strings.Repeat("The glaze had run a little. ", 20))
		}
		res, err := tn.AddKnowledge(t.Context(), contextmem.KnowledgeBatch{Files: []contextmem.File{{Name: "notes.txt", Data: []byte(text.String())}}})
		require.NoError(t, err)
		_, err = tn.Wait(t.Context(), res.IDs()...)
		require.NoError(t, err)
		for _, mode := range []contextmem.Mode{contextmem.ModeFast, contextmem.ModeThinking} {
			found, err := tn.Recall(t.Context(), contextmem.Recall{Query: "kiln zorbailmz", Mode: mode})
			require.NoError(t, err)
			require.Contains(t, found.Chunks[0].Text, "Zorbailmz", mode)
			require.Equal(t, "notes.txt", found.Chunks[0].Title)
			require.Empty(t, found.Chunks[0].Heading)
		}
	})
}

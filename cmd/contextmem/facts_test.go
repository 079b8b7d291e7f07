package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/facts"
)

func TestFactLinesShowStatementsBehindFacts(t *testing.T) {
	t.Parallel()
	learnt := time.Date(2025, 3, 1, 9, 0, 0, 0, time.UTC)
	lines := factLines(&facts.Page{Slot: "home", Facts: []facts.Fact{{ID: "rel_1", Subject: "ana", Predicate: "lives_in", Object: "braga", Slot: "home", Status: facts.Current, Confidence: .75,
		Evidence: "My home is in Braga.", SourceID: "b", Also: []facts.Occurrence{{SourceID: "a"}}}},
		Statements: []facts.Statement{{Text: "A casa nova tem um jardim.", Confidence: .9, Learnt: learnt, SourceID: "c"}}}, "Ana")
	require.Equal(t, []factLine{
		{ID: "rel_1", Subject: "ana", Predicate: "lives_in", Object: "braga", Slot: "home", Status: "current", Score: .75, Evidence: "My home is in Braga.", Source: "b", Also: []string{"a"}},
		{Subject: "Ana", Slot: "home", Status: "stated", Learnt: "2025-03-01", Score: .9, Evidence: "A casa nova tem um jardim.", Source: "c"}}, lines)
	require.Equal(t, "ana lives in braga", lines[0].says())
	require.Equal(t, "Ana: home", lines[1].says())
}

package mcpserver

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/facts"
)

func TestFactsShowOtherSourcesAndStatements(t *testing.T) {
	t.Parallel()
	learnt := time.Date(2025, 3, 1, 9, 0, 0, 0, time.UTC)
	var out factsOut
	out.add(&facts.Page{Slot: "home", Facts: []facts.Fact{{Subject: "Ana", Predicate: "lives_in", Object: "Braga", Status: facts.Current, Since: learnt, Evidence: "My home is in Braga.", SourceID: "b",
		Also: []facts.Occurrence{{SourceID: "a", Evidence: "I live in Braga."}}}},
		Statements: []facts.Statement{{Text: "A casa nova tem um jardim.", Learnt: learnt, SourceID: "c"}}})
	require.Equal(t, factsOut{
		Facts:      []factOut{{Subject: "Ana", Predicate: "lives_in", Object: "Braga", Status: "current", Since: "2025-03-01", Evidence: "My home is in Braga.", ID: "b", Also: []string{"a"}}},
		Statements: []statementOut{{"A casa nova tem um jardim.", "2025-03-01", "c"}}}, out)
}

package rules

import (
	"path"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/extract"
)

// TestUnmeant checks pairs of messages: of the first the words of a statement are there but not meant, the second has the same words and means them.
func TestUnmeant(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ unmeant, meant, statement string }{
		{"I have to practise now because I'm insane.", "I'm colour-blind.", "sam/is: *"},
		{"I've got a mortgage in principle for 210k.", "I've got a mortgage for 210k.", "sam/got: mortgage"},
		{"In theory I own a summer house.", "I own a summer house.", "sam/owns: summer house"},
		{"In my head I already live in Atlanta.", "I already live in Atlanta.", "sam/lives_in: atlanta"},
		{"I go to bed when my daughter does.", "I go to church when my daughter does.", "sam/goes_to: *"},
		{"I was seeing this guy Dom for a while.", "I saw Dom yesterday.", "sam/saw: dom"},
		{"Ola hears many things.", "Ola hears voices.", "ola/hears: *"},
		{"I do code a bit.", "I do pottery.", "sam/do: *"},
		{"I live in a cupboard with a sink.", "I live in a flat with five hens.", "sam/lives_with: *"},
		{"Not Linda my sister, Linda next door.", "My sister, Linda, is next door.", "linda/sibling_of: sam"},
		{"Lent's over, I'm fine.", "I lend books.", "sam/lend: *"},
		{"I don't drink except at funerals.", "I don't drink gin.", "sam/not_drinks: *"},
	} {
		assert.Empty(t, statementsLike(t, x.unmeant, x.statement), x.unmeant)
		assert.NotEmpty(t, statementsLike(t, x.meant, x.statement), x.meant)
	}
	assert.NotEmpty(t, statementsLike(t, "I've got an agreement in principle.", "sam/got: agreement*"))
	assert.NotEmpty(t, statementsLike(t, "i have two cats do you think they mind", "sam/has: two cats"))
	assert.Empty(t, statementsLike(t, "i cant swim is that a problem at an aquarium", "*problem*"))
}

// TestAnniversary checks that the day on which years are complete is not the day on which something began.
func TestAnniversary(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"I've been a nurse ten years in May.", "I've been sober six years in December."} {
		out, err := (&Extractor{}).Extract(t.Context(), []extract.Input{{Text: text, Time: time.Date(2026, 10, 2, 12, 0, 0, 0, time.UTC), Speaker: "Sam", Memory: true, Infer: true}})
		require.NoError(t, err)
		require.NotEmpty(t, factsBelieved(&out[0]), text)
		for _, b := range factsBelieved(&out[0]) {
			assert.True(t, b.from.IsZero(), "%s: %s from %s", text, b, b.from)
		}
	}
}

// statementsLike returns the facts and relations of a message that match a pattern, in which "*" is anything.
func statementsLike(t *testing.T, text, pattern string) (found []string) {
	t.Helper()
	out, err := (&Extractor{}).Extract(t.Context(), []extract.Input{{Text: text, Time: time.Date(2026, 10, 2, 12, 0, 0, 0, time.UTC), Speaker: "Sam", Memory: true, Infer: true}})
	require.NoError(t, err)
	for _, b := range append(factsBelieved(&out[0]), relationsBelieved(&out[0])...) {
		if ok, err := path.Match(strings.ReplaceAll(pattern, "/", " "), strings.ReplaceAll(b.String(), "/", " ")); ok || err != nil {
			found = append(found, b.String())
		}
	}
	return found
}

package change

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
	"github.com/contextmem/contextmem/internal/lazyregexp"
)

// testTexts returns statements of the collections of tests.
func testTexts(t *testing.T) (texts []string) {
	t.Helper()
	for _, name := range []string{"changes.txt", "notes.txt", "words.txt"} {
		data, err := os.ReadFile("testdata/" + name)
		require.NoError(t, err)
		texts = append(texts, strings.FieldsFunc(string(data), func(r rune) bool { return r == '\n' || r == '>' })...)
	}
	f, err := os.Open("testdata/conversations.jsonl.gz")
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c struct{ Said []string }
		require.NoError(t, json.Unmarshal(lines.Bytes(), &c))
		texts = append(texts, c.Said...)
	}
	return texts
}

// TestTriggersOfEvents checks that what is looked for before the expressions of events finds every text that they match.
func TestTriggersOfEvents(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("computes in one goroutine: left out with -short")
	}
	dates, changes, implied := 0, 0, 0
	for _, text := range append(testTexts(t), "Die Miete ist gesunken, auf 850", "3.Mai", "am 3. März", "le 3 août", "3月4日", "den 28th", "予定がずれました", "Sold it.") {
		may := triggersOf(text)
		if dayKinds[0].value.MatchString(text) {
			dates++
			require.True(t, may&mayDate != 0 || hasOrdinal(text), text)
		}
		if eventChanges.MatchString(text) {
			changes++
			require.NotZero(t, may&(mayShift|mayMove), text)
		}
		if impliedI.MatchString(text) {
			implied++
			require.NotZero(t, may&mayImply, text)
		}
	}
	require.Greater(t, min(dates, changes, implied), 5)
}

// TestTriggersWithin checks that triggersWithin of a text has every expression that a clause of it may match.
func TestTriggersWithin(t *testing.T) {
	t.Parallel()
	texts := append(testTexts(t), "He said 'from here on' and 'not'.", "It’s off, isn’t it? They’re gone.", "The “trip” is off; 5from 7.", "We cannot.We quit.", "The plan's off")
	none, closed := 0, 0
	for _, text := range texts {
		may := triggersWithin(text)
		if may&(mayDo|mayValue) == 0 {
			none++
		}
		for _, c := range language.Clauses(text, language.ClauseOptions{}) {
			trimmed := strings.TrimRight(strings.TrimSpace(c.Text), ".!;,")
			require.Zero(t, (triggersOf(c.Text)|triggersOf(trimmed))&(mayDo|mayValue)&^may, "%q of %q", c.Text, text)
			if c.Mode == extract.ModeEnded || c.Mode == extract.ModeCancelled {
				closed++
				require.NotZero(t, may&mayClose, "%q of %q", c.Text, text)
			}
		}
	}
	require.Greater(t, closed, 20)
	require.Greater(t, none, len(texts)/20, "some texts need no clauses")
}

// TestTriggers: an expression matches no clause without one of its words.
func TestTriggers(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("computes in one goroutine: left out with -short")
	}
	matched := map[string]int{}
	sentences := slices.Concat(goesOn, moving, drops, nothingOf, []*lazyregexp.Regexp{takesBack, keepsIt, corrects})
	for _, text := range testTexts(t) {
		whole := triggersOf(text)
		for _, c := range language.Clauses(text, language.ClauseOptions{}) {
			trimmed := strings.TrimRight(strings.TrimSpace(c.Text), ".!;,")
			may := triggersOf(c.Text)
			for name, x := range map[string]struct {
				needs trigger
				r     *lazyregexp.Regexp
				text  string
			}{
				"changes": {mayMove, changes, c.Text}, "disproves": {mayDisprove, disproves, c.Text}, "gone": {mayBeGone, gone, c.Text}, "swapped": {maySwap, swapped, c.Text},
				"oldValue": {mayReplace, oldValue, c.Text}, "denied": {mayDeny, denied, c.Text}, "othersThing": {mayBeOurs, othersThing, c.Text}, "anyMore": {mayEnd, anyMore, c.Text},
				"factual": {mayState, factual, c.Text}, "hasValue": {mayHave, hasValue, trimmed}, "getsValue": {mayGet, getsValue, trimmed}, "isOver": {mayBeOver, isOver, trimmed},
				"noLonger": {mayEnd, noLonger, trimmed}, "notMore": {mayEnd, notMore, trimmed},
				"resumes": {mayResume, resumes, c.Text}, "shifted": {mayCarry, shifted, trimmed}, "relocated": {mayCarry, relocated, trimmed}, "otherOne": {mayOther, otherOne, trimmed},
				"isOff": {mayCancel, isOff, trimmed}, "calledOff": {mayCancel, calledOff, trimmed},
			} {
				if x.r.MatchString(x.text) {
					matched[name]++
					require.NotZero(t, may&x.needs, "%s: %s", name, c.Text)
				}
			}
			for i, r := range sentences {
				needs := mayDrop
				switch {
				case r == corrects:
					needs = mayCorrect
				case i < len(goesOn):
					needs = mayGoOn
				case i < len(goesOn)+len(moving):
					needs = mayMoveHouse
				}
				if r.MatchString(c.Text) {
					require.NotZero(t, whole&needs, "%s", c.Text)
				}
			}
		}
	}
	require.Len(t, matched, 20, "each matches something: %v", matched)
}

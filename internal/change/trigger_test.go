package change

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/internal/language"
	"github.com/contextmem/contextmem/internal/lazyregexp"
)

// TestTriggers: an expression matches no clause without one of its words.
func TestTriggers(t *testing.T) {
	t.Parallel()
	var texts []string
	for _, name := range []string{"changes.txt", "notes.txt"} {
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
	matched := map[string]int{}
	for _, text := range texts {
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
			} {
				if x.r.MatchString(x.text) {
					matched[name]++
					require.NotZero(t, may&x.needs, "%s: %s", name, c.Text)
				}
			}
		}
	}
	require.Len(t, matched, 14, "each matches something: %v", matched)
}

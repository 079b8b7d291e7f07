package rules

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/extract"
)

// tongue is the language of a message of tongues.txt, and whether the message is a trap: nothing may be extracted from it.
type tongue struct {
	language string
	trap     bool
}

// readTongues returns the language of each message of tongues.txt, by its text.
func readTongues(t *testing.T) map[string]tongue {
	t.Helper()
	b, err := os.ReadFile(statements + "tongues.txt")
	require.NoError(t, err)
	tongues, texts := make(map[string]tongue), make(map[string]string)
	var current string
	for line := range strings.SplitSeq(string(b), "\n") {
		if name, ok := strings.CutPrefix(line, "language: "); ok {
			current = name
		} else if m := turnLine.FindStringSubmatch(line); m != nil {
			text := strings.TrimSpace(m[2])
			require.NotContains(t, tongues, text)
			tongues[text], texts[m[1]] = tongue{language: current}, text
		} else if list, ok := strings.CutPrefix(line, "traps: "); ok {
			name, turns, _ := strings.Cut(list, " ")
			for turn := range strings.FieldsSeq(turns) {
				text, ok := texts[turn]
				require.True(t, ok, turn)
				require.Equal(t, name, tongues[text].language, turn)
				tongues[text] = tongue{language: name, trap: true}
			}
		}
	}
	return tongues
}

// TestTongues measures, as TestStrict does, the precision of what is extracted from messages in other languages. A statement that is made of a
// trap is wrong whatever it says.
func TestTongues(t *testing.T) {
	t.Parallel()
	tongues := readTongues(t)
	found, silent, traps, expected := make(map[string]*tally), make(map[string]int), make(map[string]int), make(map[string]int)
	var all tally
	messages := readJudgements(t, "tonguesstrict.txt")
	require.Len(t, messages, len(tongues), "each message has a place in the labels")
	for _, j := range messages {
		in, ok := tongues[j.text]
		require.True(t, ok, j.text)
		c := found[in.language]
		if c == nil {
			c = new(tally)
			found[in.language] = c
		}
		for _, right := range j.right {
			if right {
				expected[in.language]++
			}
		}
		out, err := (&Extractor{}).Extract(t.Context(), []extract.Input{j.input()})
		require.NoError(t, err)
		seen := make(map[string]bool)
		for _, b := range append(factsBelieved(&out[0]), relationsBelieved(&out[0])...) {
			if seen[b.String()] {
				continue
			}
			seen[b.String()] = true
			if in.trap {
				c.wrong++
			} else {
				c.add(j.right, []believed{b})
			}
		}
		if in.trap {
			traps[in.language]++
			if len(seen) == 0 {
				silent[in.language]++
			}
		}
	}
	for _, want := range []struct {
		language string
		floor    float64
	}{{"es", .52}, {"de", .2}, {"fr", .56}, {"pt", .55}, {"it", .58}, {"zh", .64}, {"ja", .36}} {
		name := want.language
		c := found[name]
		require.NotNil(t, c, name)
		t.Logf("%s: precision %.3f (%d of %d), of %d right ones found %.2f, traps passed %d of %d, unknown %d", name, c.precision(), c.right, c.right+c.wrong, expected[name],
			float64(c.right)/float64(expected[name]), silent[name], traps[name], c.unknown)
		assert.GreaterOrEqual(t, c.precision(), want.floor, name)
		all.right, all.wrong, all.unknown = all.right+c.right, all.wrong+c.wrong, all.unknown+c.unknown
	}
	t.Logf("all: precision %.3f (%d of %d), unknown %d", all.precision(), all.right, all.right+all.wrong, all.unknown)
	assert.GreaterOrEqual(t, all.precision(), .51)
	assert.GreaterOrEqual(t, all.right, 56, "of 59 right ones at most 5 % may go")
	assert.LessOrEqual(t, all.unknown*20, all.right, "too much has no label")
}

package rules

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/extract"
)

// tongue is the language of a message of tongues.txt or tonguesheld.txt, and whether the message is a trap: nothing may be extracted from it.
type tongue struct {
	language string
	trap     bool
}

// readTongues returns the language of each message of a file, by its text.
func readTongues(t *testing.T, file string) map[string]tongue {
	t.Helper()
	b, err := os.ReadFile(statements + file)
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

// tongueTally counts what was found in the messages of a language.
type tongueTally struct {
	tally
	facts, relations tally
	expected         int // right statements, whether found or not
	traps, silent    int // traps, and those of which nothing was made
}

// add counts the statements of one message. Those that are made of a trap are wrong whatever they say.
func (c *tongueTally) add(j *judgement, trap bool, out *extract.Output) {
	for _, right := range j.right {
		if right {
			c.expected++
		}
	}
	right := j.right
	if trap {
		c.traps++
		right = make(map[string]bool)
	}
	count := func(to *tally, list []believed) int {
		seen := make(map[string]bool)
		for _, b := range list {
			if seen[b.String()] {
				continue
			}
			seen[b.String()] = true
			if trap {
				right[b.String()] = false
			}
			to.add(right, []believed{b})
		}
		return len(seen)
	}
	facts, relations := factsBelieved(out), relationsBelieved(out)
	count(&c.facts, facts)
	count(&c.relations, relations)
	if count(&c.tally, append(facts, relations...)) == 0 && trap {
		c.silent++
	}
}

func (c *tongueTally) log(t *testing.T, name string) {
	t.Helper()
	t.Logf("%s: precision %.3f (%d of %d), facts %.3f (%d of %d), relations %.3f (%d of %d), of %d right ones found %.2f, traps passed %d of %d, unknown %d", name, c.precision(), c.right, c.right+c.wrong,
		c.facts.precision(), c.facts.right, c.facts.right+c.facts.wrong, c.relations.precision(), c.relations.right, c.relations.right+c.relations.wrong,
		c.expected, float64(c.right)/float64(max(1, c.expected)), c.silent, c.traps, c.unknown)
}

// TestTongues measures, as TestStrict does, what is extracted from messages in other languages. The rules were mended by tongues.txt, and not by
// tonguesheld.txt.
func TestTongues(t *testing.T) {
	t.Parallel()
	for _, set := range []struct {
		name      string
		precision float64
		right     int // at least
	}{{"tongues", .97, 128}, {"tonguesheld", .9, 106}} {
		t.Run(set.name, func(t *testing.T) {
			tongues := readTongues(t, set.name+".txt")
			found := make(map[string]*tongueTally)
			var all tongueTally
			var order []string
			messages := readJudgements(t, set.name+"strict.txt")
			require.Len(t, messages, len(tongues), "each message has a place in the labels")
			for i := range messages {
				j := &messages[i]
				in, ok := tongues[j.text]
				require.True(t, ok, j.text)
				if found[in.language] == nil {
					found[in.language] = new(tongueTally)
					order = append(order, in.language)
				}
				out, err := (&Extractor{}).Extract(t.Context(), []extract.Input{j.input()})
				require.NoError(t, err)
				found[in.language].add(j, in.trap, &out[0])
				all.add(j, in.trap, &out[0])
			}
			for _, name := range order {
				found[name].log(t, name)
			}
			all.log(t, "all")
			assert.GreaterOrEqual(t, all.precision(), set.precision)
			assert.GreaterOrEqual(t, all.right, set.right)
			assert.LessOrEqual(t, all.unknown*20, all.right, "too much has no label")
		})
	}
}

package rules

import (
	"bufio"
	"encoding/json"
	"flag"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/extract"
)

// gateRows is the file to which TestGate writes the training data of the gate, a JSON object per line, for
// models/build/statements/train.py.
var gateRows = flag.String("gate.rows", "", "file for the labelled statements of which the gate is learned")

const (
	statements    = "../../models/build/statements/"
	conversations = "../../models/build/conversations/"
)

// judgement is a message with a reader's labels of the statements in it.
type judgement struct {
	conversation, user, text string
	time                     time.Time
	right                    map[string]bool
}

func (j *judgement) input() extract.Input {
	return extract.Input{Text: j.text, Time: j.time, Speaker: j.user, Memory: true, Infer: true}
}

var turnLine = regexp.MustCompile(`^(\d+) *U: *(.+)$`)

// userTurns reads the user's messages of a conversation, by turn.
func userTurns(t *testing.T, name string) map[string]judgement {
	t.Helper()
	dir := conversations
	switch name {
	case "messages", "told", "said", "fresh", "freshheld", "spoken", "spokenheld", "spokenlast", "voices", "matters", "folk", "folkheld", "everyday", "trades", "tradesheld", "tongues", "tonguesheld", "jest", "jestheld":
		dir = statements // messages of many people
	}
	b, err := os.ReadFile(dir + name + ".txt")
	require.NoError(t, err)
	out := make(map[string]judgement)
	j := judgement{conversation: name}
	for line := range strings.SplitSeq(string(b), "\n") {
		if user, ok := strings.CutPrefix(line, "user:"); ok {
			if j.user = strings.TrimSpace(user); dir == statements {
				j.conversation = name + " " + j.user
			}
		} else if when, ok := strings.CutPrefix(line, "## "); ok {
			j.time, err = time.Parse("2006-01-02 15:04", strings.TrimSpace(when))
			require.NoError(t, err)
		} else if m := turnLine.FindStringSubmatch(line); m != nil {
			j.text = strings.TrimSpace(m[2])
			out[m[1]] = j
		}
	}
	return out
}

// readJudgements reads a file of models/build/statements.
func readJudgements(t *testing.T, file string) []judgement {
	t.Helper()
	f, err := os.Open(statements + file)
	require.NoError(t, err)
	defer f.Close()
	var out []judgement
	turns := make(map[string]map[string]judgement)
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := lines.Text()
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '+' || line[0] == '-':
			out[len(out)-1].right[line[2:]] = line[0] == '+'
		default:
			name, turn, ok := strings.Cut(line, " ")
			require.True(t, ok, line)
			if turns[name] == nil {
				turns[name] = userTurns(t, name)
			}
			j, ok := turns[name][turn]
			require.True(t, ok, line)
			j.right = make(map[string]bool)
			out = append(out, j)
		}
	}
	require.NoError(t, lines.Err())
	return out
}

// tally counts statements that a reader labelled right or wrong, and statements without a label.
type tally struct{ right, wrong, unknown int }

func (c *tally) add(right map[string]bool, got []believed) {
	for _, b := range got {
		switch ok, known := right[b.String()]; {
		case !known:
			c.unknown++
		case ok:
			c.right++
		default:
			c.wrong++
		}
	}
}

func (c tally) precision() float64 { return float64(c.right) / float64(max(1, c.right+c.wrong)) }

// TestGate measures the gate on conversations that were not used for training: the precision of what it keeps, and the share of right
// statements that it drops.
func TestGate(t *testing.T) {
	t.Parallel()
	var facts, relations, allFacts, allRelations tally
	for _, j := range readJudgements(t, "held.txt") {
		in := j.input()
		for _, e := range []struct {
			Extractor
			facts, relations *tally
		}{{Extractor{}, &facts, &relations}, {Extractor{Unjudged: true}, &allFacts, &allRelations}} {
			out, err := e.Extract(t.Context(), []extract.Input{in})
			require.NoError(t, err)
			e.facts.add(j.right, factsBelieved(&out[0]))
			e.relations.add(j.right, relationsBelieved(&out[0]))
		}
	}
	report := func(name string, with, without tally, precision float64) {
		lost := 1 - float64(with.right)/float64(without.right)
		t.Logf("%s: precision %.3f (%d of %d), without the gate %.3f (%d of %d), of the right ones lost %.3f, unknown %d", name, with.precision(), with.right, with.right+with.wrong,
			without.precision(), without.right, without.right+without.wrong, lost, without.unknown)
		assert.GreaterOrEqual(t, with.precision(), precision, name)
		assert.Greater(t, with.precision(), without.precision(), name)
		assert.LessOrEqual(t, lost, .05, name)
		assert.LessOrEqual(t, without.unknown*10, without.right, "too much has no label: %s", name)
	}
	report("facts", facts, allFacts, .92)
	report("relations", relations, allRelations, .9)
	report("all", tally{right: facts.right + relations.right, wrong: facts.wrong + relations.wrong}, tally{right: allFacts.right + allRelations.right, wrong: allFacts.wrong + allRelations.wrong}, .91)
	if *gateRows != "" {
		writeGateRows(t)
	}
}

// TestStrict measures by a reader who signs a statement only if it is whole and right as it stands: on messages by which rules were mended,
// and on others that were written with them and kept apart.
func TestStrict(t *testing.T) {
	t.Parallel()
	for file, precision := range map[string]float64{"strict.txt": .925, "strictheld.txt": .9, "spokenstrict.txt": .87, "spokenlaststrict.txt": .87, "voicesstrict.txt": .86,
		"folkstrict.txt": .93, "folkheldstrict.txt": .91, "everydaystrict.txt": .89, "tradesstrict.txt": .9, "tradesheldstrict.txt": .92, "jeststrict.txt": .92, "jestheldstrict.txt": .82} {
		var with, without tally
		for _, j := range readJudgements(t, file) {
			for e, c := range map[*Extractor]*tally{{}: &with, {Unjudged: true}: &without} {
				out, err := e.Extract(t.Context(), []extract.Input{j.input()})
				require.NoError(t, err)
				seen := make(map[string]bool)
				for _, b := range append(factsBelieved(&out[0]), relationsBelieved(&out[0])...) {
					if !seen[b.String()] {
						seen[b.String()] = true
						c.add(j.right, []believed{b})
					}
				}
			}
		}
		lost := 1 - float64(with.right)/float64(without.right)
		t.Logf("%s: precision %.3f (%d of %d), without the gate %.3f (%d of %d), of the right ones lost %.3f, unknown %d", file, with.precision(), with.right, with.right+with.wrong,
			without.precision(), without.right, without.right+without.wrong, lost, without.unknown)
		assert.GreaterOrEqual(t, with.precision(), precision, file)
		assert.LessOrEqual(t, lost, .05, file)
		assert.LessOrEqual(t, without.unknown*20, without.right, "too much has no label: %s", file)
	}
}

// gateRow is a labelled statement with its traits.
type gateRow struct {
	Group    string // rows of one group are either all used for training or not at all
	Relation bool
	Right    bool
	Traits   []string
}

// writeGateRows writes the rows of train.txt, and of the sentences by which the rules were bettered.
func writeGateRows(t *testing.T) {
	f, err := os.Create(*gateRows)
	require.NoError(t, err)
	defer f.Close()
	w := json.NewEncoder(f)
	write := func(group string, in extract.Input, right func(believed) (bool, bool)) {
		d := newDoc(&in)
		defer d.done()
		var seen []judged
		d.learn = &seen
		d.read()
		facts, relations := factsBelieved(&d.out), relationsBelieved(&d.out)
		for _, x := range seen {
			kind := facts
			if x.relation {
				kind = relations
			}
			for i, b := range kind {
				if b.String() != x.said {
					continue
				}
				if ok, known := right(b); known {
					require.NoError(t, w.Encode(gateRow{Group: group, Relation: x.relation, Right: ok, Traits: x.traits}))
				}
				kind[i] = believed{} // once
				break
			}
		}
	}
	for _, j := range readJudgements(t, "train.txt") {
		write(j.conversation, j.input(), func(b believed) (bool, bool) {
			ok, known := j.right[b.String()]
			return ok, known
		})
	}
	for _, file := range []string{"heldout.txt", "heldout2.txt", "heldout3.txt", "heldout4.txt"} {
		for i, l := range readLabelled(t, "testdata/"+file) {
			in := extract.Input{Text: l.text, Time: ref, Speaker: "Alex", Memory: true, Infer: true, Pairs: strings.HasPrefix(l.text, "user:")}
			write(file+strconv.Itoa(i), in, func(b believed) (bool, bool) {
				for k := range l.labels {
					if l.labels[k].matches(b) {
						return true, true
					}
				}
				return false, true
			})
		}
	}
}

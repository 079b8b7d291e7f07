package memory_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/servicetest"
	"github.com/contextmem/contextmem/judge"
)

// scenario is a store of a few memories with questions.
type scenario struct {
	name      string
	memories  []contextmem.Memory
	questions []scenarioQuestion
	keep      []string // memories that nothing supersedes
}

type scenarioQuestion struct {
	text         string
	right, stale []string
}

func readScenarios(t *testing.T) (all []scenario) {
	t.Helper()
	data, err := os.ReadFile("testdata/scenarios.txt")
	require.NoError(t, err)
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		head, rest, _ := strings.Cut(line, " ")
		switch head {
		case "==":
			all = append(all, scenario{name: strings.Fields(rest)[0]})
		case "keep":
			all[len(all)-1].keep = strings.Fields(rest)
		case "?":
			col := strings.Split(rest, " | ")
			q := scenarioQuestion{text: col[0]}
			for _, c := range col[1:] {
				ids := strings.Fields(c)
				switch ids[0] {
				case "right":
					q.right = ids[1:]
				case "stale":
					q.stale = ids[1:]
				default:
					require.Fail(t, "neither right nor stale", line)
				}
			}
			all[len(all)-1].questions = append(all[len(all)-1].questions, q)
		default:
			s := &all[len(all)-1]
			s.memories = append(s.memories, contextmem.Memory{ID: head, Text: rest})
		}
	}
	return all
}

// TestScenarios asks stores of a few memories what holds, by rules alone. In a question with something that no longer holds, what holds comes
// first. In others the first hit is the one that ranking alone finds: what changed is another matter, or somebody else's.
func TestScenarios(t *testing.T) {
	t.Parallel()
	_, acme := servicetest.Open(t, &contextmem.Options{Judge: judge.None})
	for i, s := range readScenarios(t) {
		sub := acme.Sub(fmt.Sprint("scenario", i))
		for _, m := range s.memories {
			servicetest.Remember(t, sub, m)
		}
		require.NoError(t, sub.WaitRefined(t.Context()))
		for _, q := range s.questions {
			for _, mode := range []contextmem.Mode{contextmem.ModeFast, contextmem.ModeThinking} {
				ids, by := recallMemories(t, sub, contextmem.Recall{Query: q.text, Mode: mode})
				require.NotEmpty(t, ids, s.name)
				if len(q.stale) > 0 {
					assert.Contains(t, q.right, ids[0], "%s: %s %q", s.name, mode, q.text)
				} else {
					alone, _ := recallMemories(t, sub, contextmem.Recall{Query: q.text, Mode: mode, Superseded: contextmem.SupersededMark})
					assert.Equal(t, alone[0], ids[0], "%s: %s %q", s.name, mode, q.text)
				}
				for id, c := range by {
					if slices.Contains(s.keep, id) && c.SupersededBy != nil {
						assert.Fail(t, "superseded", "%s: %q by %q: %s", s.name, c.Text, c.SupersededBy.Evidence, c.SupersededBy.Decider)
					}
				}
			}
		}
	}
}

package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem"
	change "github.com/contextmem/contextmem/models/change-multilingual"
	both "github.com/contextmem/contextmem/models/e5-bge"
)

// notes is a small store of notes with questions, as models/build/notes.py reads it.
type notes struct {
	id        string
	memories  []string
	questions []noteQuestion
}

type noteQuestion struct{ kind, text, right, wrong string }

var aQuestion = regexp.MustCompile(`^([cto]) (.+?) \| (\d+)(?: \| (\d+))?$`)

func readNotes(t *testing.T, name string) (out []*notes) {
	t.Helper()
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "== "); ok {
			out = append(out, &notes{id: strings.Fields(rest)[0]})
			continue
		}
		s := out[len(out)-1]
		if m := aQuestion.FindStringSubmatch(line); m != nil {
			s.questions = append(s.questions, noteQuestion{m[1], m[2], m[3], m[4]})
		} else if line != "" && !strings.HasPrefix(line, "> ") {
			s.memories = append(s.memories, line)
		}
	}
	return out
}

// TestMattersOfAMessage: a message tells two or three matters, and a later one changes some of them. Questions about what changed find the later message
// before the earlier one; those about the other matters find the earlier message first, and it is not shown as superseded.
func TestMattersOfAMessage(t *testing.T) {
	t.Parallel()
	embedder, err := both.New()
	require.NoError(t, err)
	judge, err := change.New()
	require.NoError(t, err)
	svc, err := contextmem.Open(t.Context(), t.TempDir(), &contextmem.Options{Embedder: embedder, Judge: judge, Reranker: contextmem.NoReranker})
	require.NoError(t, err)
	defer svc.Close()
	_, err = svc.EnsureTenant(t.Context(), contextmem.TenantSpec{ID: "t"})
	require.NoError(t, err)
	for _, c := range []struct {
		file                    string
		changed, others, traps  int // questions whose right memory comes first, or before the outdated one
		changedAll, all, allToo int
	}{
		{"matters.txt", 26, 24, 5, 32, 29, 7},
		{"mattersheld.txt", 23, 24, 5, 28, 32, 9},
	} {
		first, asked := map[string]int{}, map[string]int{}
		for _, s := range readNotes(t, "../../models/build/notes/"+c.file) {
			sub := svc.Tenant("t").Sub(s.id)
			for i, text := range s.memories {
				_, err := sub.Remember(t.Context(), contextmem.Memory{ID: fmt.Sprint(i + 1), Text: text, UserName: "Sam", Time: time.Date(2026, 1, 5+10*i, 9, 0, 0, 0, time.UTC)})
				require.NoError(t, err)
				require.NoError(t, sub.WaitRefined(t.Context()))
			}
			for _, q := range s.questions {
				r, err := sub.Recall(t.Context(), contextmem.Recall{Query: q.text, Class: contextmem.ClassMemory})
				require.NoError(t, err)
				asked[q.kind]++
				top := r.Chunks[0]
				if top.SourceID == q.right {
					first[q.kind]++
				}
				if q.kind == "o" && top.SourceID == q.right {
					assert.Nil(t, top.SupersededBy, "%s %s", s.id, q.text)
				}
			}
		}
		assert.Equal(t, map[string]int{"c": c.changedAll, "o": c.all, "t": c.allToo}, asked, c.file)
		assert.GreaterOrEqual(t, first["c"], c.changed, "%s: what changed", c.file)
		assert.GreaterOrEqual(t, first["o"], c.others, "%s: other matters", c.file)
		assert.GreaterOrEqual(t, first["t"], c.traps, "%s: traps", c.file)
		t.Logf("%s: %v of %v", c.file, first, asked)
	}
}

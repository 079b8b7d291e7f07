package rules

import (
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/extract"
)

// TestTurkishOfOthers reads messages in other languages with the Turkish table, as if they had been taken for Turkish.
func TestTurkishOfOthers(t *testing.T) {
	t.Parallel()
	texts := make(map[string]string)
	for _, file := range []string{"tongues.txt", "tonguesheld.txt"} {
		for text, in := range readTongues(t, file) {
			texts[text] = in.language
		}
	}
	for _, file := range []string{"languages.txt", "languagesheld.txt"} {
		b, err := os.ReadFile("../../internal/behaviour/memory/testdata/" + file)
		require.NoError(t, err)
		current := ""
		for line := range strings.SplitSeq(string(b), "\n") {
			if name, ok := strings.CutPrefix(line, "language: "); ok {
				current = name
			} else if text, _, ok := strings.Cut(strings.TrimPrefix(line, "trap "), " =>"); ok && line[0] != '#' {
				for part := range strings.SplitSeq(text, " >> ") {
					texts[part] = current
				}
			}
		}
	}
	for l := range maps.Values(labelledEnglish(t)) {
		texts[l] = "en"
	}
	read := 0
	for text, of := range texts {
		if of == "tr" {
			continue
		}
		d := newDoc(&extract.Input{Text: text, Time: ref, Speaker: "Alex", Memory: true, Infer: true})
		d.readItem()
		for k := range d.Sentences {
			d.clauseSentence(&d.Sentences[k], turkish())
		}
		assert.Empty(t, stated(d.out), "%s: %s", of, text)
		d.done()
		read++
	}
	assert.Greater(t, read, 800)
}

// labelledEnglish returns the English sentences of testdata.
func labelledEnglish(t *testing.T) map[int]string {
	t.Helper()
	out := make(map[int]string)
	for _, file := range []string{"heldout.txt", "heldout2.txt", "heldout4.txt", "unseen3.txt", "unseen4.txt", "unseen5.txt"} {
		for _, l := range readLabelled(t, "testdata/"+file) {
			out[len(out)] = l.text
		}
	}
	return out
}

// TestClausePhrases checks that the lists which phrases name are there.
func TestClausePhrases(t *testing.T) {
	t.Parallel()
	for _, l := range []*clauseLanguage{turkish(), korean(), arabic(), hindi(), thai()} {
		assert.Greater(t, len(l.phrases), 100, l.code)
		for _, p := range l.phrases {
			text := p.before + p.skip + p.middle + p.after
			assert.NotEmpty(t, text+p.list, "%s: %v", l.code, p.form)
			assert.NotContains(t, text, "<", l.code)
			assert.NotContains(t, text, "{", l.code)
			if p.list != "" {
				assert.NotEmpty(t, l.words[p.list], "%s: %s", l.code, p.list)
			}
		}
	}
}

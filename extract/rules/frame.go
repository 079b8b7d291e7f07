package rules

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/language"
)

// frame is one way in which a verb relates two things.
type frame struct {
	preps      []string // prepositions before the object; empty for a direct object
	passive    bool     // a form of "be" and the participle come before the preposition
	predicate  string
	source     string // type of the subject if its name does not show one
	target     string // the same for the object
	kind       string // kind of the fact, for a first-person subject
	functional bool   // a newer statement supersedes it
	swap       bool   // the object is the source of the relation
}

//go:embed tables/frames.txt
var frameTable string

// frames holds the frames of each verb, by Word.Verb - 1.
var frames = sync.OnceValue(func() [][]frame {
	byBase := make(map[string][]frame)
	for line := range language.TableLines(frameTable) {
		base, tail, _ := strings.Cut(line, ":")
		for part := range strings.SplitSeq(tail, ";") {
			byBase[base] = append(byBase[base], parseFrame(strings.Fields(part)))
		}
	}
	verbs := language.Verbs()
	out := make([][]frame, len(verbs))
	for i := range verbs {
		out[i] = byBase[verbs[i].Base]
	}
	return out
})

// framesOf returns the frames of the verb that a word is a form of.
func framesOf(w language.Word) []frame { return frames()[w.Verb-1] }

func parseFrame(fields []string) frame {
	f := frame{predicate: fields[1], kind: extract.KindFact}
	preps := fields[0]
	if strings.HasPrefix(preps, "+") {
		f.passive = true
		preps = preps[1:]
	}
	if preps != "-" {
		f.preps = strings.Split(preps, "|")
	}
	for _, mark := range fields[2:] {
		switch {
		case mark[0] == '<':
			f.source = mark[1:]
		case mark[0] == '>':
			f.target = mark[1:]
		case mark == "functional":
			f.functional = true
		case mark == "swap":
			f.swap = true
		default:
			f.kind = mark
		}
	}
	return f
}

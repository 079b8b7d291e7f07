// Package persona measures whether a memory follows changes. It replays whole conversations of one person with an assistant, in which facts
// change, are corrected and are cancelled. Current statements must rank before outdated ones.
package persona

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/contextmem/contextmem"
)

// Persona is a conversation with questions about it.
type Persona struct {
	ID      string     `json:"id"`
	User    string     `json:"user"`
	Lang    string     `json:"lang"`
	Docs    []Turn     `json:"docs"`
	Queries []Question `json:"queries"`
	// Replaces has pairs of turns, the later one first: something in the earlier turn is no longer true after the later one. Empty means not
	// labelled.
	Replaces [][2]string `json:"replaces"`
}

// Turn is a message.
type Turn struct {
	ID      string    `json:"id"`
	Session string    `json:"session"`
	Time    time.Time `json:"time"`
	Role    string    `json:"role"` // user or assistant
	Name    string    `json:"name"`
	Text    string    `json:"text"`
}

// Question is asked at the end of the conversation, or as of a moment.
type Question struct {
	ID       string         `json:"id"`
	Text     string         `json:"text"`
	Category string         `json:"cat"`
	Relevant map[string]int `json:"rel"`   // turns with the answer: 2 states it, 1 implies it; empty if no turn has it
	Stale    []string       `json:"stale"` // turns that are no longer true, or never were
	AsOf     string         `json:"as_of"` // empty: now
}

// Load reads a persona.
func Load(file string) (*Persona, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var p Persona
	if err := json.Unmarshal(b, &p); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(p.Docs) == 0 || len(p.Queries) == 0 {
		return nil, fmt.Errorf("%s: has no turns or no questions", file)
	}
	return &p, nil
}

// Memories returns the turns as memories: one for each pair of user and assistant, or one for each turn. in gives the memory of each
// turn.
func (p *Persona) Memories(pairs bool) (ms []contextmem.Memory, in map[string]string) {
	in = map[string]string{}
	for i := 0; i < len(p.Docs); i++ {
		d := p.Docs[i]
		m := contextmem.Memory{ID: d.ID, Session: d.Session, UserName: p.User, Additional: map[string]any{"timestamp": d.Time.Format(time.RFC3339)}}
		in[d.ID] = d.ID
		if pairs && d.Role == "user" && i+1 < len(p.Docs) && p.Docs[i+1].Role == "assistant" && p.Docs[i+1].Session == d.Session {
			i++
			m.Pairs = []contextmem.Pair{{User: d.Text, Assistant: p.Docs[i].Text}}
			in[p.Docs[i].ID] = d.ID
		} else {
			m.Text = d.Name + ": " + d.Text
		}
		ms = append(ms, m)
	}
	return ms, in
}

// Answer is the result of a question.
type Answer struct {
	Question   *Question
	First      int  // rank of the best relevant memory, from 0; 99: it was not found
	HasStale   bool // some memory that is not relevant is stale
	StaleFirst bool // a stale memory ranks before every relevant one, or no relevant one is among the first ten
	Recall5    float64
	NDCG       float64
	Relevance  float64 // of the best hit
	Repeats    float64 // share of the first ten whose source already appeared
	Found      []string
}

// Run ingests the conversation, waits until it was compared, and asks the questions.
func Run(ctx context.Context, sub contextmem.Sub, p *Persona, pairs bool, mode contextmem.Mode) ([]Answer, error) {
	ms, in := p.Memories(pairs)
	for part := range slices.Chunk(ms, 20) {
		states, err := sub.Remember(ctx, part...)
		if err != nil {
			return nil, err
		}
		for _, s := range states {
			if s.Status != contextmem.StatusCompleted {
				return nil, fmt.Errorf("memory %s is %s %s", s.ID, s.Status, s.ErrorCode)
			}
		}
	}
	if err := sub.WaitRefined(ctx); err != nil {
		return nil, err
	}
	var out []Answer
	for i := range p.Queries {
		q := &p.Queries[i]
		r := contextmem.Recall{Class: contextmem.ClassMemory, Query: q.Text, Mode: mode, MaxResults: 20}
		if q.AsOf != "" {
			at, err := time.Parse(time.RFC3339, q.AsOf)
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", p.ID, q.ID, err)
			}
			r.AsOf = at
		}
		res, err := sub.Recall(ctx, r)
		if err != nil {
			return nil, err
		}
		out = append(out, judge(q, in, res.Chunks))
	}
	return out, nil
}

func judge(q *Question, in map[string]string, chunks []contextmem.Chunk) Answer {
	a := Answer{Question: q, First: 99}
	place, firstTen := map[string]int{}, map[string]bool{}
	for i, c := range chunks {
		if i < 10 {
			firstTen[c.SourceID] = true
		}
		if _, ok := place[c.SourceID]; !ok {
			place[c.SourceID] = len(a.Found)
			a.Found = append(a.Found, c.SourceID)
		}
	}
	if len(chunks) > 0 {
		a.Relevance = chunks[0].Relevance
		a.Repeats = 1 - float64(len(firstTen))/float64(min(10, len(chunks)))
	}
	rel := map[string]int{}
	for turn, grade := range q.Relevant {
		rel[in[turn]] = max(rel[in[turn]], grade)
	}
	ideal, grades := 0.0, []int{}
	for id, grade := range rel {
		grades = append(grades, grade)
		at, ok := place[id]
		if !ok {
			continue
		}
		a.First = min(a.First, at)
		if at < 5 {
			a.Recall5 += 1 / float64(len(rel))
		}
		if at < 10 {
			a.NDCG += float64(grade) / math.Log2(float64(at)+2)
		}
	}
	slices.SortFunc(grades, func(x, y int) int { return y - x })
	for i, g := range grades[:min(10, len(grades))] {
		ideal += float64(g) / math.Log2(float64(i)+2)
	}
	if ideal > 0 {
		a.NDCG /= ideal
	}
	worst := 100
	for _, turn := range q.Stale {
		id := in[turn]
		if _, good := rel[id]; good {
			continue
		}
		a.HasStale = true
		if at, ok := place[id]; ok {
			worst = min(worst, at)
		}
	}
	a.StaleFirst = a.HasStale && len(rel) > 0 && (worst < a.First || a.First > 9)
	return a
}

// Summary holds the metrics of answers. A metric without questions of its kind is NaN.
type Summary struct {
	Questions, Stale                                            int
	Recall1, Recall5, NDCG, StaleFirst, AbsentAUROC, RepeatRate float64
}

// Summarise computes the metrics of answers, only those of the named categories if any are named.
func Summarise(all []Answer, categories ...string) (s Summary) {
	var present, absent []float64
	for i := range all {
		a := &all[i]
		if len(categories) > 0 && !slices.Contains(categories, a.Question.Category) {
			continue
		}
		s.Questions++
		s.RepeatRate += a.Repeats
		if len(a.Question.Relevant) == 0 {
			absent = append(absent, a.Relevance)
			continue
		}
		present = append(present, a.Relevance)
		s.Recall5, s.NDCG = s.Recall5+a.Recall5, s.NDCG+a.NDCG
		if a.First == 0 {
			s.Recall1++
		}
		if a.HasStale {
			s.Stale++
			if a.StaleFirst {
				s.StaleFirst++
			}
		}
	}
	n := float64(len(present))
	s.Recall1, s.Recall5, s.NDCG = s.Recall1/n, s.Recall5/n, s.NDCG/n
	s.StaleFirst /= float64(s.Stale)
	s.RepeatRate /= float64(s.Questions)
	for _, x := range present {
		for _, y := range absent {
			switch {
			case x > y:
				s.AbsentAUROC++
			case x == y:
				s.AbsentAUROC += .5
			}
		}
	}
	s.AbsentAUROC /= n * float64(len(absent))
	return s
}

// Print writes a line of a table. A metric without questions of its kind is a dash.
func (s Summary) Print(w io.Writer, name string) error {
	_, err := fmt.Fprintf(w, "%-22s %4d  R@1 %s  R@5 %s  nDCG %s  stale first %s of %3d  absent AUROC %s  repeats %s\n", name, s.Questions,
		cell(s.Recall1), cell(s.Recall5), cell(s.NDCG), cell(s.StaleFirst), s.Stale, cell(s.AbsentAUROC), cell(s.RepeatRate))
	return err
}

// cell returns a metric as the table shows it: a dash, of the same width, if there are no questions of its kind.
func cell(metric float64) string {
	if math.IsNaN(metric) {
		return "    -"
	}
	return fmt.Sprintf("%.3f", metric)
}

// said normalises the white space of a text, because chunking may change it.
func said(s string) string { return strings.Join(strings.Fields(s), " ") }

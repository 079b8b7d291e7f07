// Package local reranks without a network or a model runtime, by late interaction over the vectors of single words. For every
// content word of the question, the most similar word of a text counts: 1 for the same stem, else the cube of the cosine.
// The word's rarity is its weight.
//
// Thinking mode uses this package on memories, with the word rarities of the whole partition. [Reranker] works on any list of
// texts and implements contextmem.Reranker.
package local

import (
	"context"
	"strings"

	"github.com/contextmem/contextmem/internal/lexical"
)

// Words returns vectors of single words, as contextmem.WordEmbedder does.
type Words interface {
	// AppendWord appends the L2-normalised vector of a lower-case word to dst. It returns false if the word has no vector.
	AppendWord(dst []float32, word string) ([]float32, bool)
}

// Reranker scores texts for a question. It implements contextmem.Reranker. It is safe for concurrent use.
type Reranker struct{ words *Lexicon }

// New returns a reranker that uses the vectors of words, such as embed/static. If words is nil, only equal stems match.
func New(words Words) *Reranker { return &Reranker{NewLexicon(words)} }

// Rerank returns the [Scorer.Score] of each text, in [0,1]. A word's rarity is its inverse document frequency among texts. The only
// error is the context's.
func (r *Reranker) Rerank(ctx context.Context, query string, texts []string) ([]float64, error) {
	df := map[string]int{}
	var toks []lexical.Token
	for _, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		seen := map[string]bool{}
		toks = lexical.Analyze(toks[:0], text)
		for _, t := range toks {
			if !seen[t.Term] {
				seen[t.Term] = true
				df[t.Term]++
			}
		}
	}
	s := r.words.Scorer(nil, Content(query, func(stem string) float64 { return lexical.IDF(len(texts), df[stem]) }))
	scores := make([]float64, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		scores[i] = s.Score(text, "")
	}
	return scores, nil
}

// Content returns the words of a question that name its subject, with their weights. It leaves out question words such as "what"
// and "did".
func Content(query string, weight func(stem string) float64) []Term {
	var out []Term
	for _, t := range lexical.Analyze(nil, query) {
		surface := query[t.Start:t.End]
		if !lexical.IsQuestionWord(strings.ToLower(surface)) {
			out = append(out, Term{surface, weight(t.Term)})
		}
	}
	return out
}

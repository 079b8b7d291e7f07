// Package reranker is the cross-encoder ms-marco-MiniLM-L-12-v2 (Reimers and Gurevych, 2019; trained on MS MARCO) for English,
// built into the program: it reads a question and a passage together and says how well they fit. 12 layers, up to 512 tokens of
// both together, weights in 8 bits (29 MB, Apache-2.0; see NOTICE).
//
//	model, err := reranker.New()
//	if err != nil {
//		return err
//	}
//	svc, err := contextmem.Open(ctx, dir, &contextmem.Options{Reranker: model})
//
// A program that imports the package, if only for that, has it as the default of Options.Reranker. Questions and passages that
// are not in English keep their order.
package reranker

import (
	"context"
	_ "embed" // the files
	"sync"

	"github.com/contextmem/contextmem/internal/models"
	"github.com/contextmem/contextmem/rerank"
	"github.com/contextmem/contextmem/rerank/neural"
)

func init() {
	rerank.Register(name, func() (rerank.Reranker, error) {
		r, err := New()
		if err != nil { // not a nil *Reranker in an interface
			return nil, err
		}
		return r, nil
	})
}

// Strings, not byte slices; see models.Bytes.
var (
	//go:embed config.json
	config string
	//go:embed tokenizer.bin
	tokenizer string
	//go:embed model.safetensors
	weights string
)

// name is the model's name among the default rerankers.
const name = "ms-marco-MiniLM-L-12-v2"

// Reranker is the model. It is safe for concurrent use.
type Reranker struct{ model *neural.Reranker }

var shared = sync.OnceValues(func() (*Reranker, error) {
	m, err := neural.New(neural.Files{Config: models.Bytes(config), Tokenizer: models.Bytes(tokenizer), Weights: models.Bytes(weights)}, nil)
	if err != nil {
		return nil, err
	}
	return &Reranker{m}, nil
})

// New returns the reranker, the same one at every call: its memory, about 25 MB beyond the mapped weights, is needed once in a
// process. The first question loads the weights, which takes tens of milliseconds.
func New() (*Reranker, error) { return shared() }

// Languages returns the languages that the model reads, as ISO 639-1 codes.
func (r *Reranker) Languages() []string { return []string{"en"} }

// Rerank returns the score of every text, in the order of texts: the logistic function of the model's output, in (0,1). If it fails, it
// returns no scores. Its errors are those of ctx.
func (r *Reranker) Rerank(ctx context.Context, query string, texts []string) ([]float64, error) {
	return r.model.Rerank(ctx, query, texts)
}

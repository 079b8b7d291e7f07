// Package bgememory is bge-small-en-v1.5 (Xiao et al., 2023), trained further for this project on what people tell an assistant in passing
// and what they ask for later in other words: 384 dimensions, 12 layers, up to 512 tokens at once, weights in 8 bits (29 MB, MIT
// licence; see NOTICE). It reads English; models/e5-bge has it beside a model of many languages.
//
//	model, err := bgememory.New()
//	if err != nil {
//		return err
//	}
//	svc, err := contextmem.Open(ctx, dir, &contextmem.Options{Embedder: model})
//
// A program that imports the package, if only for that, has it as the default of Options.Embedder.
package bgememory

import (
	_ "embed" // the files
	"sync"

	"github.com/contextmem/contextmem/embed"
	"github.com/contextmem/contextmem/embed/neural"
	"github.com/contextmem/contextmem/internal/models"
)

func init() {
	embed.Register(name, func() (embed.Embedder, error) {
		e, err := New()
		if err != nil { // not a nil *neural.Embedder in an interface
			return nil, err
		}
		return e, nil
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
	//go:embed calibration.json
	calibration string
)

const (
	// name is the model's name in [neural.Embedder.Model].
	name = "bge-memory-en"
	// weightsSHA256 is the SHA-256 of model.safetensors, whose bytes need not be read for it.
	weightsSHA256 = "f3181456579a1ecb6c87d6d41dc033bc18fc81854ae002908060303302a6cb2a"
)

var shared = sync.OnceValues(func() (*neural.Embedder, error) {
	query, passage := "Represent this sentence for searching relevant passages: ", ""
	return neural.New(neural.Files{
		Config: models.Bytes(config), Tokenizer: models.Bytes(tokenizer), Weights: models.Bytes(weights), Calibration: models.Bytes(calibration),
	}, &neural.Options{Model: name, Pooling: neural.CLS, QueryPrefix: &query, DocumentPrefix: &passage, WeightsSHA256: weightsSHA256})
})

// New returns the embedder, the same one at every call: its memory, about 25 MB beyond
// the mapped weights, is needed once in a process. The first text loads the weights,
// which takes tens of milliseconds. Queries get the instruction that the model was trained with.
func New() (*neural.Embedder, error) { return shared() }

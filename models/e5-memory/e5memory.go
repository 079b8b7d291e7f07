// Package e5memory is multilingual-e5-small (Wang et al., 2024), trained further for this project on what people tell an assistant in passing
// and what they ask for later in other words, in 19 languages: 384 dimensions, 12 layers, up to 512 tokens at once. Tokeniser,
// word embeddings and the lower four layers are those of models/multilingual-e5-small, which it brings along; its own weights are in 8 bits
// (14 MB, MIT licence; see NOTICE). models/e5-bge has it for memories.
//
//	model, err := e5memory.New()
//	if err != nil {
//		return err
//	}
//	svc, err := contextmem.Open(ctx, dir, &contextmem.Options{Embedder: model})
//
// It is no program's default: files want models/multilingual-e5-small, which is registered by the import, or models/e5-bge.
package e5memory

import (
	_ "embed" // the files
	"sync"

	"github.com/contextmem/contextmem/embed/neural"
	"github.com/contextmem/contextmem/internal/models"
	e5 "github.com/contextmem/contextmem/models/multilingual-e5-small"
)

// Strings, not byte slices; see models.Bytes.
var (
	//go:embed model.safetensors
	weights string
	//go:embed calibration.json
	calibration string
)

const (
	// name is the model's name in [neural.Embedder.Model].
	name = "e5-memory"
	// weightsSHA256 is the SHA-256 of model.safetensors, whose bytes need not be read for it.
	weightsSHA256 = "95380f274314542f4f60ad6fad62d3be4bf483ae12f79387798613101eebad99"
)

var shared = sync.OnceValues(func() (*neural.Embedder, error) {
	query, passage := "query: ", "passage: "
	files := e5.Files()
	files.Over, files.Calibration = models.Bytes(weights), models.Bytes(calibration)
	return neural.New(files, &neural.Options{Model: name, QueryPrefix: &query, DocumentPrefix: &passage, WeightsSHA256: weightsSHA256})
})

// New returns the embedder, the same one at every call: its memory, about 25 MB beyond
// the mapped weights, is needed once in a process. The first text loads the weights,
// which takes tens of milliseconds. Queries get the prefix "query: " and documents
// "passage: ", as the model was trained.
func New() (*neural.Embedder, error) { return shared() }

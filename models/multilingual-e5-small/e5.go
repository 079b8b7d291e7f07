// Package e5 is the embedding model multilingual-e5-small (Wang et al., 2024), which
// knows about a hundred languages, built into the program: 384 dimensions, 12 layers,
// up to 512 tokens at once, weights in 4 bits (73 MB, MIT licence; see NOTICE).
//
//	model, err := e5.New()
//	if err != nil {
//		return err
//	}
//	svc, err := contextmem.Open(ctx, dir, &contextmem.Options{Embedder: model})
//
// A program that imports the package, if only for that, has it as the default of Options.Embedder.
package e5

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
	name = "multilingual-e5-small"
	// weightsSHA256 is the SHA-256 of model.safetensors, whose bytes need not be read for it.
	weightsSHA256 = "a99898f4fc7b12572dfe3338611eb8c7e01bc7fe69910ace22e5cbd0fb336e34"
)

var shared = sync.OnceValues(func() (*neural.Embedder, error) {
	query, passage := "query: ", "passage: "
	return neural.New(Files(), &neural.Options{Model: name, QueryPrefix: &query, DocumentPrefix: &passage, WeightsSHA256: weightsSHA256})
})

// New returns the embedder, the same one at every call: its memory, about 25 MB beyond
// the mapped weights, is needed once in a process. The first text loads the weights,
// which takes tens of milliseconds. Queries get the prefix "query: " and documents
// "passage: ", as the model was trained.
func New() (*neural.Embedder, error) { return shared() }

// Files returns the files of the model, for fine-tuned models that share its tokeniser and word embeddings. They must not be changed.
func Files() neural.Files {
	return neural.Files{Config: models.Bytes(config), Tokenizer: models.Bytes(tokenizer), Weights: models.Bytes(weights), Calibration: models.Bytes(calibration)}
}

// Package change is a small model that compares what people say, in about a hundred languages: whether a later statement takes
// the place of an earlier one, and whether a passage answers a question. It is built into the program and runs on the
// first layers of multilingual-e5-small, which it shares with the embedder.
//
//	model, err := change.New()
//	if err != nil {
//		return err
//	}
//	p, err := model.Replaces(ctx, []judge.Pair{{
//		Earlier: judge.Statement{Text: "we live in Porto"},
//		Later:   judge.Statement{Text: "first night in the new house in Braga"},
//	}})
//
// A program that imports the package, if only for that, has it as the default of Options.Judge.
package change

import (
	_ "embed" // the files
	"sync"

	"github.com/contextmem/contextmem/internal/models"
	"github.com/contextmem/contextmem/judge"
	"github.com/contextmem/contextmem/judge/neural"
	e5 "github.com/contextmem/contextmem/models/multilingual-e5-small"
)

func init() {
	judge.Register(name, func() (judge.Judge, error) {
		j, err := New()
		if err != nil { // not a nil *neural.Judge in an interface
			return nil, err
		}
		return j, nil
	})
}

// Strings, not byte slices; see models.Bytes.
var (
	//go:embed config.json
	config string
	//go:embed model.safetensors
	weights string
	//go:embed rating.json
	rating string
	//go:embed reader.safetensors
	reader string
)

// name is the model's name in [neural.Judge.Model].
const name = "change-multilingual"

var shared = sync.OnceValues(func() (*neural.Judge, error) {
	encoder, err := e5.New()
	if err != nil {
		return nil, err
	}
	return neural.New(neural.Files{Config: models.Bytes(config), Weights: models.Bytes(weights), Rating: models.Bytes(rating), Reader: models.Bytes(reader)}, encoder, &neural.Options{Model: name})
})

// New returns the model, the same one at every call. It needs about 3.5 MB of memory, up to 32 MiB for the vectors of the texts
// that it compared last, and the encoder of multilingual-e5-small, which a program that embeds with it has anyway.
func New() (*neural.Judge, error) { return shared() }

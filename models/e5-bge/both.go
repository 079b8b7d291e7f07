// Package both is multilingual-e5-small with a model for English beside it, as one embedder: texts in any of about a hundred languages are
// embedded by the first, English ones by both, whose opinions are added up: files and app content by multilingual-e5-small and
// bge-small-en-v1.5, memories by e5-memory and bge-memory-en, the same two trained further on what people tell an assistant. Of English
// questions they find more than any model alone; other languages have what the first model gives. 768 dimensions; the weights are those of the four packages.
//
//	model, err := both.New()
//	if err != nil {
//		return err
//	}
//	svc, err := contextmem.Open(ctx, dir, &contextmem.Options{Embedder: model})
//
// A program that imports the package, if only for that, has it as the default of Options.Embedder.
package both

import (
	_ "embed"
	"sync"

	"github.com/contextmem/contextmem/embed"
	"github.com/contextmem/contextmem/embed/joint"
	bgememory "github.com/contextmem/contextmem/models/bge-memory-en"
	bge "github.com/contextmem/contextmem/models/bge-small-en"
	e5memory "github.com/contextmem/contextmem/models/e5-memory"
	e5 "github.com/contextmem/contextmem/models/multilingual-e5-small"
)

func init() {
	embed.Register("e5-bge", func() (embed.Embedder, error) {
		e, err := New()
		if err != nil { // not a nil *joint.Embedder in an interface
			return nil, err
		}
		return e, nil
	}, "multilingual-e5-small", "bge-small-en-v1.5", "bge-memory-en")
}

var shared = sync.OnceValues(func() (*joint.Embedder, error) {
	base, err := e5.New()
	if err != nil {
		return nil, err
	}
	beside, err := bge.New()
	if err != nil {
		return nil, err
	}
	told, err := e5memory.New()
	if err != nil {
		return nil, err
	}
	toldEnglish, err := bgememory.New()
	if err != nil {
		return nil, err
	}
	e, err := joint.New(base, beside, "en")
	if err != nil {
		return nil, err
	}
	m, err := joint.New(told, toldEnglish, "en")
	if err != nil {
		return nil, err
	}
	if m, err = m.WithMemories(memories); err != nil {
		return nil, err
	}
	if m, err = m.WithStatements(statements); err != nil {
		return nil, err
	}
	if e, err = e.WithMemoriesOf(m); err != nil {
		return nil, err
	}
	return e.WithSlots(slots)
})

// memories holds weights that adapt question vectors to statements of people about themselves; README.md has their origin.
//
//go:embed memories.f32
var memories []byte

// slots holds the weights of a head that classifies what questions are about; README.md has their origin.
//
//go:embed slots.f16
var slots []byte

// statements holds the weights of a head that classifies what memories are about; README.md has their origin.
//
//go:embed statements.f16
var statements []byte

// New returns the embedder, the same one at every call. Its memory is that of the four models, about 100 MB in addition to the mapped
// weights, once per process. The English models take their part when they read the first English text.
func New() (*joint.Embedder, error) { return shared() }

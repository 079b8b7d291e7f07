// Package embed holds the default embedder: the one that a service uses when its options name none. Packages under models/ register an
// embedder when they are imported, as database drivers do:
//
//	import _ "github.com/contextmem/contextmem/models/multilingual-e5-small"
package embed

import (
	"context"

	"github.com/contextmem/contextmem/internal/models"
)

// Embedder turns texts into vectors. It must be safe for concurrent use.
//
// An Embedder may also implement [Covering], [WordEmbedder], [Rated], [Calibrated] and [Slow].
type Embedder interface {
	// Model identifies model and weights, for example "static-en-128/1". It is
	// stored with each tenant; another identity at a later open is an error.
	Model() string
	// Dim is the length of every vector, 1 to 4096.
	Dim() int
	// EmbedDocuments returns a [Dim]float32 vector for each text, in order.
	EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error)
	// EmbedQuery returns a [Dim]float32 vector. The score of a document is the
	// inner product of the two vectors.
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
}

var process = models.Registry[Embedder]{Kind: "embedder", Kinds: "embedding models", Option: "Options.Embedder"}

// Register registers open under a name as a candidate for the default embedder of the process. A second call with the same name
// replaces the first. of names the embedders that this one is composed of: they are no longer candidates for the default, whatever the
// order of registration.
func Register(name string, open func() (Embedder, error), of ...string) {
	process.Register(name, open, of...)
}

// Default opens the registered embedder; it returns nil when none is registered. It returns an error when several are registered,
// because the choice must not depend on the order of imports.
func Default() (Embedder, error) { return process.Default() }

// Package rerank keeps the reranker that services use where their options name none. Packages under models/ register theirs
// when they are imported, as database drivers do:
//
//	import _ "github.com/contextmem/contextmem/models/reranker-en"
package rerank

import (
	"context"

	"github.com/contextmem/contextmem/internal/models"
)

// Reranker is what contextmem.Reranker asks for.
type Reranker interface {
	// Rerank returns a score for each text, higher is closer to the query.
	Rerank(ctx context.Context, query string, texts []string) ([]float64, error)
}

var process = models.Registry[Reranker]{Kind: "reranker", Kinds: "reranking models", Option: "Options.Reranker"}

// Register makes what open returns the default reranker of the process, under a name; again under the same name replaces it.
func Register(name string, open func() (Reranker, error)) { process.Register(name, open) }

// Default opens the reranker that was registered, nil when none was. It is an error when several were: which is the default
// must not depend on the order of imports.
func Default() (Reranker, error) { return process.Default() }

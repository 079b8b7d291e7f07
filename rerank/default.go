// Package rerank holds the default reranker, which services use when their options name none. Packages under models/ register a
// reranker when they are imported, like database drivers:
//
//	import _ "github.com/contextmem/contextmem/models/reranker-en"
package rerank

import (
	"context"

	"github.com/contextmem/contextmem/internal/models"
)

// Reranker has the same method as contextmem.Reranker.
type Reranker interface {
	// Rerank returns a score for each text. A higher score means more relevant to the query.
	Rerank(ctx context.Context, query string, texts []string) ([]float64, error)
}

var process = models.Registry[Reranker]{Kind: "reranker", Kinds: "reranking models", Option: "Options.Reranker"}

// Register registers open as a constructor of the process's default reranker. A second registration under a name replaces the first.
func Register(name string, open func() (Reranker, error)) { process.Register(name, open) }

// Default opens the registered reranker, or returns nil if there is none. It returns an error if several are registered, because
// the default must not depend on the order of imports.
func Default() (Reranker, error) { return process.Default() }

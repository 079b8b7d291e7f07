// Package graph reads the knowledge graph of a tenant: the relations around the results of a recall, the relations of a source, the sources
// that are linked with a source, and merged entities. Its results refer to rows of the Store; the caller turns them into what users see.
package graph

import (
	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/facts"
)

// Entity is an entity as users see it. An Entity without an ID was not found.
type Entity = facts.Entity

// Hit is a chunk that a recall returns.
type Hit struct {
	Row   *backend.Hydrated
	Score float64
}

// Named holds the entities of a partition that a question names.
type Named struct {
	Part     backend.Partition
	Entities []int64
}

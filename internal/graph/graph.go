// Package graph reads the knowledge graph of a tenant: what stands around the result of a recall, the relations of a
// source, the sources that are linked with one, and merged entities. What it returns refers to rows of the Store; the
// caller turns it into what users see.
package graph

import (
	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/facts"
)

// An Entity without an ID was not found.
type Entity = facts.Entity

// Hit is a chunk that a recall returns.
type Hit struct {
	Row   *backend.Hydrated
	Score float64
}

// Named is the entities of a partition that a question names.
type Named struct {
	Part     backend.Partition
	Entities []int64
}

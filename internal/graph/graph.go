// Package graph reads the knowledge graph of a tenant: what stands around the result of a recall, the relations of a
// source, the sources that are linked with one, and merged entities. What it returns refers to rows of the Store; the
// caller turns it into what users see.
package graph

import (
	"time"

	"github.com/contextmem/contextmem/backend"
)

// Entity is a node of the graph as users see it. One without an ID was not found.
type Entity struct {
	ID         string
	Name       string
	Type       string
	Namespace  string
	Identifier string
	Provider   string
}

// Evidence proves a relation.
type Evidence struct {
	ID         string
	Canonical  string
	Raw        string
	Context    string
	Confidence float64
	Temporal   string
	Timestamp  time.Time
	ChunkID    string
	SourceID   string
	TargetID   string
	Origin     string
	ValidFrom  time.Time
	ValidTo    time.Time
	Superseded bool
}

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

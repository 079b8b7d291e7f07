package httpapi

import (
	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/wire"
)

// relationGroup holds the evidence for one pair of entities.
type relationGroup struct {
	Source    wire.Entity     `json:"source"`
	Target    wire.Entity     `json:"target"`
	Relations []wire.Evidence `json:"relations"`
	ChunkID   *string         `json:"chunk_id"`
}

func groupsJSON(gs []contextmem.RelationGroup) []relationGroup {
	out := make([]relationGroup, len(gs))
	for i := range gs {
		g := &gs[i]
		out[i] = relationGroup{wire.OfEntity(&g.Source), wire.OfEntity(&g.Target), make([]wire.Evidence, len(g.Relations)), &g.ChunkID}
		for j := range g.Relations {
			out[i].Relations[j] = wire.OfEvidence(&g.Relations[j])
		}
	}
	return out
}

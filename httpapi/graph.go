package httpapi

import (
	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/internal/wire"
)

// entityBody is a node of the graph.
type entityBody struct {
	Name       string  `json:"name"`
	Type       string  `json:"type"`
	Namespace  string  `json:"namespace"`
	ID         string  `json:"entity_id"`
	Identifier *string `json:"identifier"`
	Provider   string  `json:"provider"`
}

func entityJSON(e contextmem.Entity) entityBody {
	return entityBody{e.Name, e.Type, e.Namespace, e.ID, orNull(e.Identifier), e.Provider}
}

// evidenceBody is an edge of the graph.
type evidenceBody struct {
	Canonical  string  `json:"canonical_predicate"`
	Raw        string  `json:"raw_predicate"`
	Context    string  `json:"context"`
	Confidence float32 `json:"confidence"`
	Temporal   *string `json:"temporal_details"`
	Timestamp  string  `json:"timestamp"`
	ID         string  `json:"relationship_id"`
	ChunkID    string  `json:"chunk_id"`
	SourceID   *string `json:"source_entity_id"`
	TargetID   *string `json:"target_entity_id"`
	Origin     string  `json:"origin,omitempty"`
}

func evidenceJSON(e contextmem.Evidence) evidenceBody {
	return evidenceBody{e.Canonical, e.Raw, e.Context, float32(e.Confidence), orNull(e.Temporal), wire.Time(e.Timestamp), e.ID, e.ChunkID, orNull(e.SourceID), orNull(e.TargetID), e.Origin}
}

// relationGroup is the evidence of one pair of entities.
type relationGroup struct {
	Source    entityBody     `json:"source"`
	Target    entityBody     `json:"target"`
	Relations []evidenceBody `json:"relations"`
	ChunkID   *string        `json:"chunk_id"`
}

func groupsJSON(gs []contextmem.RelationGroup) []relationGroup {
	out := make([]relationGroup, len(gs))
	for i, g := range gs {
		out[i] = relationGroup{entityJSON(g.Source), entityJSON(g.Target), make([]evidenceBody, len(g.Relations)), &gs[i].ChunkID}
		for j, e := range g.Relations {
			out[i].Relations[j] = evidenceJSON(e)
		}
	}
	return out
}

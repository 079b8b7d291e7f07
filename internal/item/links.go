package item

import "encoding/json"

// ForcefulRelations is the stored form of the forceful relations of a source.
type ForcefulRelations struct {
	IDs        []string       `json:"ids,omitempty"`
	Properties map[string]any `json:"properties,omitempty"`
	Links      []Link         `json:"links,omitempty"`
}

// Link is the stored form of a typed link. It names its target by ID, else by Provider and ExternalID.
type Link struct {
	Predicate  string         `json:"p,omitempty"`
	ID         string         `json:"i,omitempty"`
	Provider   string         `json:"v,omitempty"`
	ExternalID string         `json:"x,omitempty"`
	Properties map[string]any `json:"o,omitempty"`
}

// Linked returns the forceful relations of the record, nil for none.
func (d *Doc) Linked() *ForcefulRelations {
	if len(d.ForcefulRelations) == 0 {
		return nil
	}
	r := new(ForcefulRelations)
	if json.Unmarshal(d.ForcefulRelations, r) != nil {
		return nil
	}
	return r
}

// Tags returns the tags by which the sources that r names find the source of r. r may be nil.
func (r *ForcefulRelations) Tags() []uint64 {
	if r == nil {
		return nil
	}
	var tags []uint64
	for _, id := range r.IDs {
		tags = append(tags, Tag(LayerLink, "id", id))
	}
	for _, l := range r.Links {
		if l.ID != "" {
			tags = append(tags, Tag(LayerLink, "id", l.ID))
		} else {
			tags = append(tags, Tag(LayerLink, "external", l.Provider+"\x00"+l.ExternalID))
		}
	}
	return tags
}

// ExternalTag returns the tag of the source with an external id at a provider.
func ExternalTag(provider, external string) uint64 {
	return Tag(LayerApp, "pexternal", provider+"\x00"+external)
}

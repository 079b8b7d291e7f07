package item

import "github.com/contextmem/contextmem/content"

// Public returns the relations as users see them.
func (r *ForcefulRelations) Public() *content.ForcefulRelations {
	out := &content.ForcefulRelations{IDs: r.IDs, Properties: r.Properties}
	for _, l := range r.Links {
		out.Links = append(out.Links, content.Link{Predicate: l.Predicate, TargetID: l.ID, Provider: l.Provider, ExternalID: l.ExternalID, Properties: l.Properties})
	}
	return out
}

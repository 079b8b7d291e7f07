package content

// ForcefulRelations are connections of a source to others of the same class
// and sub-tenant. They may name items that are not there yet.
type ForcefulRelations struct {
	IDs        []string       // ids of related sources
	Properties map[string]any // kept and returned
	Links      []Link         // typed links, for app items
}

// Link is a typed connection of an app item.
type Link struct {
	Predicate  string // lower case; default "linked_to"
	TargetID   string // a source id; or
	Provider   string // the target's provider and
	ExternalID string // its id there
	Properties map[string]any
}

// SuppliedGraph replaces extraction for a source of the same call. Its relations
// attach to the chunks that fit them best. It stays with the source: when the source is
// ingested again without a graph it is applied again.
type SuppliedGraph struct {
	Entities  map[string]SuppliedEntity // by a handle that is local to the graph; at most 5000
	Relations []SuppliedRelation        // at most 10000, and 500 of one entity
}

// SuppliedEntity is a node of a supplied graph.
type SuppliedEntity struct {
	Name string // required, at most 256 characters; compared in lower case
	Type string
	// Namespace and Identifier tell entities apart whatever their names are: equal pairs are one entity, different ones never
	// are. The name is found as well, as long as it belongs to one identifier. At most 500 bytes together. An entity without an
	// Identifier is told apart by its name; its Namespace is kept with the source, and says nothing. Default "default".
	Namespace, Identifier string
}

// SuppliedRelation is an edge of a supplied graph.
type SuppliedRelation struct {
	Source, Target string // handles
	Predicate      string // required, at most 256 characters
	Context        string // at most 2000 characters
	Temporal       string
}

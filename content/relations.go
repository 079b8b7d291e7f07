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
	// Namespace and Identifier identify an entity independently of its name: entities with equal pairs are the same, others
	// are different. The name finds the entity too, as long as only one identifier has it. At most 500 bytes together. An entity
	// without an Identifier is identified by its name; its Namespace is stored with the source and has no effect. Default "default".
	Namespace, Identifier string
}

// SuppliedRelation is an edge of a supplied graph.
type SuppliedRelation struct {
	Source, Target string // handles
	Predicate      string // required, at most 256 characters
	Context        string // at most 2000 characters
	Temporal       string
}

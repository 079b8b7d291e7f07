package httpapi

import (
	"time"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
)

// memoryItem is an element of memories.
type memoryItem struct {
	ID           string `json:"source_id" also:"id,memory_id"`
	Text         string `json:"text"`
	Title        string `json:"title"`
	UserName     string `json:"user_name"`
	Instructions string `json:"custom_instructions"`
	Date         day    `json:"observation_date"`
	Markdown     bool   `json:"is_markdown"`
	Infer        bool   `json:"infer"`
	Expiry       *int   `json:"expiry_time"`
	Pairs        pairs  `json:"user_assistant_pairs"`
	Messages     turns  `json:"messages"`
	EachMessage  bool   `json:"each_message"`
	layers
	Relations related `json:"relations"`
}

func (x *memoryItem) memory(at string) (contextmem.Memory, error) {
	m := contextmem.Memory{ID: x.ID, Text: x.Text, Title: x.Title, UserName: x.UserName, Instructions: x.Instructions, Time: time.Time(x.Date), Markdown: x.Markdown,
		Infer: x.Infer, Pairs: x.Pairs, Messages: x.Messages, EachMessage: x.EachMessage, Metadata: x.Metadata, Additional: x.Additional, ForcefulRelations: x.Relations.ForcefulRelations}
	if x.Expiry != nil {
		if *x.Expiry < 1 {
			return m, bad(fault.KindInvalid, at+".expiry_time", "must be at least 1 second")
		}
		m.TTL = time.Duration(*x.Expiry) * time.Second
	}
	return m, nil
}

// turnItem is an element of messages.
type turnItem struct {
	Role string `json:"role"`
	Name string `json:"name"`
	Text string `json:"content" also:"text"`
	Time clock  `json:"timestamp" also:"time"`
}

// turns holds the messages of a conversation. An empty list is not nil.
type turns []contextmem.Message

func (l *turns) read(d *decoder, at string, m member) error {
	var list []turnItem
	if err := d.value(at, m, valueOf(&list)); err != nil {
		return err
	}
	*l = turns{}
	for _, x := range list {
		*l = append(*l, contextmem.Message{Role: content.Role(x.Role), Name: x.Name, Text: x.Text, Time: time.Time(x.Time)})
	}
	return nil
}

// schemaEntry declares a field of the metadata schema.
type schemaEntry struct {
	Name       string `json:"name"`
	Type       string `json:"data_type"`
	MaxLength  *int   `json:"max_length"`
	Match      bool   `json:"enable_match"`
	Filterable bool   `json:"filterable"`
	Dense      *bool  `json:"enable_dense_embedding"`
	Sparse     *bool  `json:"enable_sparse_embedding"`
	Searchable bool   `json:"searchable"`
	Analyzer   bool   `json:"enable_analyzer"`
	Nullable   *bool  `json:"nullable"`
}

// schemaEntries are the fields of a metadata schema.
type schemaEntries []contextmem.Field

func (s *schemaEntries) read(d *decoder, at string, m member) error {
	var list []schemaEntry
	if err := d.value(at, m, valueOf(&list)); err != nil {
		return err
	}
	*s = schemaEntries{}
	for i, x := range list {
		f := contextmem.Field{Name: x.Name, Type: content.DataType(x.Type), Match: x.Match || x.Filterable, Dense: isTrue(x.Dense), Sparse: isTrue(x.Sparse), Analyzer: x.Analyzer,
			Required: x.Nullable != nil && !*x.Nullable}
		if x.Searchable && x.Dense == nil && x.Sparse == nil {
			f.Dense, f.Sparse = true, true
		}
		if x.MaxLength != nil {
			if f.MaxLength = *x.MaxLength; f.MaxLength == 0 {
				return bad(fault.KindInvalid, indexed(at, i)+".max_length", "must be at least 1")
			}
		}
		*s = append(*s, f)
	}
	return nil
}

func isTrue(b *bool) bool { return b != nil && *b }

// filterMap is metadata_filters: top-level keys are tenant-level, a nested map is document-level.
type filterMap struct{ metadata, additional map[string]any }

func (f *filterMap) read(d *decoder, at string, m member) error {
	var all object
	if err := all.read(d, at, m); err != nil {
		return err
	}
	for _, name := range []string{"additional_metadata", "document_metadata"} {
		nested, ok := all[name].(map[string]any)
		if !ok && all[name] != nil {
			return bad(fault.KindUnprocessed, at+"."+name, "want an object")
		}
		if err := unite(&f.additional, nested, at+"."+name); err != nil {
			return err
		}
		delete(all, name)
	}
	if len(all) > 0 {
		f.metadata = all
	}
	return nil
}

// scalarsOnly returns an error for list values, which the first generation does not support.
func scalarsOnly(field string, f contextmem.Filters) error {
	for _, m := range []map[string]any{f.Metadata, f.Additional} {
		for k, v := range m {
			if _, ok := v.([]any); ok {
				return bad(fault.KindInvalid, field+"."+k, "only equality with one value is supported")
			}
		}
	}
	return nil
}

// suppliedGraphs is graph_payload: graphs by the id of their source.
type suppliedGraphs map[string]content.SuppliedGraph

type graphEntity struct {
	Name       string `json:"name"`
	Type       string `json:"type"`
	Namespace  string `json:"namespace"`
	Identifier string `json:"identifier"`
}

type graphRelation struct {
	Source    string `json:"source"`
	Target    string `json:"target"`
	Predicate string `json:"predicate"`
	Context   string `json:"context"`
	Temporal  string `json:"temporal_details"`
}

// graphEntities maps handles, which are local to a graph, to entities.
type graphEntities map[string]graphEntity

func (g *graphEntities) read(d *decoder, at string, m member) error {
	ms, err := m.members(at)
	if err != nil {
		return err
	}
	*g = graphEntities{}
	for handle, e := range ms.all() {
		var x graphEntity
		if err := d.value(at+"."+cut(handle), e, valueOf(&x)); err != nil {
			return err
		}
		(*g)[handle] = x
	}
	return nil
}

func (g *suppliedGraphs) read(d *decoder, at string, m member) error {
	m, err := d.structured(at, m)
	if err != nil || m.absent() {
		return err
	}
	ms, err := m.members(at)
	if err != nil {
		return err
	}
	*g = suppliedGraphs{}
	for id, e := range ms.all() {
		var x struct {
			Entities  graphEntities   `json:"entities"`
			Relations []graphRelation `json:"relations"`
		}
		if err := d.value(at, e, valueOf(&x)); err != nil {
			return bad(fault.KindUnprocessed, at, "an entry has members of the wrong type")
		}
		sg := content.SuppliedGraph{Entities: map[string]content.SuppliedEntity{}}
		for handle, e := range x.Entities {
			sg.Entities[handle] = content.SuppliedEntity{Name: e.Name, Type: e.Type, Namespace: e.Namespace, Identifier: e.Identifier}
		}
		for _, r := range x.Relations {
			sg.Relations = append(sg.Relations, content.SuppliedRelation{Source: r.Source, Target: r.Target, Predicate: r.Predicate, Context: r.Context, Temporal: r.Temporal})
		}
		(*g)[id] = sg
	}
	return nil
}

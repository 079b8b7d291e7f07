package httpapi

import (
	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/fault"
)

// memoryBatch is an ingestion of memories in the first generation.
type memoryBatch struct {
	Upsert   bool        `json:"upsert" default:"true"`
	Memories memoryItems `json:"memories"`
}

// memoriesRequest is an ingestion of memories in the second generation.
type memoriesRequest struct {
	memoryBatch
	Metadata   object         `json:"metadata"`
	Additional object         `json:"additional_metadata"`
	Graphs     suppliedGraphs `json:"graph_payload"`
}

// memoryItems are the elements of memories.
type memoryItems []contextmem.Memory

func (l *memoryItems) read(d *decoder, at string, m member) error {
	m, err := d.structured(at, m)
	if err != nil || m.absent() {
		return err
	}
	var list []memoryItem
	if m.typeName() != "array" {
		return m.want(at, "an array")
	}
	defer d.in.telling()()
	if err := d.value(at, m, valueOf(&list)); err != nil {
		return err
	}
	*l = memoryItems{}
	for i := range list {
		one, err := list[i].memory(indexed(at, i))
		if err != nil {
			return err
		}
		*l = append(*l, one)
	}
	return nil
}

func v1AddMemory(c *call, sub contextmem.Sub) (any, error) {
	return c.addMemories(sub, "is required")
}

// addMemories ingests the memories of the request. missing is the error message if there are none.
func (c *call) addMemories(sub contextmem.Sub, missing string) (any, error) {
	var r memoriesRequest
	var to any = &r
	if c.rt.family == gen1 {
		to = &r.memoryBatch
	}
	if err := c.read(to); err != nil {
		return nil, err
	}
	if r.Memories == nil {
		return nil, bad(fault.KindInvalid, "memories", "%s", missing)
	}
	for i, m := range r.Memories {
		if err := c.noComma(indexed("memories", i)+".id", m.ID); err != nil {
			return nil, err
		}
	}
	b := contextmem.MemoryBatch{Memories: r.Memories, FailIfExists: !r.Upsert, Metadata: r.Metadata, Additional: r.Additional, Graphs: r.Graphs}
	res, err := sub.AddMemories(c.ctx, b)
	if err != nil {
		return nil, err
	}
	return c.ingestJSON(res, "Memories"), nil
}

func v2Ingest(c *call, sub contextmem.Sub) (any, error) {
	class, err := c.class()
	if err != nil {
		return nil, err
	}
	switch {
	case class == contextmem.ClassMemory && len(c.in.files) > 0:
		return nil, bad(fault.KindInvalid, "documents", "needs type knowledge")
	case class == contextmem.ClassMemory:
		return c.addMemories(sub, "is required with type memory")
	case c.in.has("memories"):
		return nil, bad(fault.KindInvalid, "memories", "needs type memory")
	}
	return c.addKnowledge(sub)
}

func v1UploadKnowledge(c *call, sub contextmem.Sub) (any, error) { return c.addKnowledge(sub) }

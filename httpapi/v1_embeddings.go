package httpapi

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/contextmem/contextmem"
)

// vector reads an array of numbers.
func vector(field string, v any) ([]float32, error) {
	list, ok := v.([]any)
	if !ok {
		return nil, embeddingError(field, "want an array of numbers, got "+typeName(v))
	}
	out := make([]float32, len(list))
	for i, e := range list {
		n, ok := e.(json.Number)
		if !ok {
			return nil, embeddingError(field, "want numbers, got "+typeName(e))
		}
		f, err := n.Float64()
		if err != nil || math.Abs(f) > math.MaxFloat32 {
			return nil, embeddingError(field, "holds a number out of range")
		}
		out[i] = float32(f)
	}
	return out, nil
}

func embeddingError(field, message string) error {
	return &contextmem.Error{Kind: contextmem.KindUnprocessed, Resource: contextmem.ResourceEmbedding, Field: field, Err: constError(message)}
}

func v1InsertEmbeddings(c *call, sub contextmem.Sub) (any, error) {
	var err error
	var r contextmem.RawInsert
	if r.Upsert, err = c.in.boolean("upsert", false); err != nil {
		return nil, err
	}
	list, ok := c.in.fields.get("embeddings").([]any)
	if !ok {
		return nil, embeddingError("embeddings", "want an array of sources")
	}
	for i, e := range list {
		at := "embeddings[" + strconv.Itoa(i) + "]."
		m, ok := e.(map[string]any)
		if !ok {
			return nil, embeddingError(strings.TrimSuffix(at, "."), "want an object, got "+typeName(e))
		}
		var src contextmem.RawSource
		if src.SourceID, err = toString(at+"source_id", m["source_id"]); err != nil {
			return nil, err
		}
		if src.Metadata, err = metadataMap(at+"metadata", m["metadata"]); err != nil {
			return nil, err
		}
		vs, ok := m["embeddings"].([]any)
		if !ok {
			return nil, embeddingError(at+"embeddings", "want an array of vectors")
		}
		for j, x := range vs {
			vat := at + "embeddings[" + strconv.Itoa(j) + "]."
			vm, ok := x.(map[string]any)
			if !ok {
				return nil, embeddingError(strings.TrimSuffix(vat, "."), "want an object, got "+typeName(x))
			}
			var rv contextmem.RawVector
			if rv.ChunkID, err = toString(vat+"chunk_id", vm["chunk_id"]); err != nil {
				return nil, err
			}
			if rv.Vector, err = vector(vat+"embedding", vm["embedding"]); err != nil {
				return nil, err
			}
			src.Vectors = append(src.Vectors, rv)
		}
		r.Sources = append(r.Sources, src)
	}
	ids, err := sub.InsertVectors(c.ctx, r)
	if err != nil {
		return nil, err
	}
	return map[string]any{"insert_count": len(ids), "ids": ids, "success": true, "error": nil}, nil
}

func hitsJSON(hits []contextmem.RawHit, fields []string, vectors bool) []map[string]any {
	out := make([]map[string]any, len(hits))
	for i, h := range hits {
		m := map[string]any{"source_id": h.SourceID, "score": h.Score, "distance": h.Distance, "metadata": orEmpty(h.Metadata)}
		e := map[string]any{"chunk_id": h.ChunkID}
		if vectors {
			e["embedding"] = h.Vector
		}
		m["embedding"] = e
		if len(fields) > 0 && !contains(fields, "metadata") {
			delete(m, "metadata")
		}
		out[i] = m
	}
	return out
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// equality reads a filter expression of the form `key == "value" and other == 3`,
// which is what metadata can be matched by.
func equality(expr string) (map[string]any, error) {
	wrong := &contextmem.Error{Kind: contextmem.KindInvalid, Resource: contextmem.ResourceSearch, Field: "filter_expr",
		Err: constError(`must have the form: field == "value" and other == 3`)}
	out := map[string]any{}
	rest := strings.TrimSpace(expr)
	for rest != "" {
		key, after, ok := strings.Cut(rest, "==")
		key = strings.TrimSpace(key)
		if !ok || key == "" || strings.ContainsAny(key, " \"'()<>!=") {
			return nil, wrong
		}
		after = strings.TrimSpace(after)
		var text string
		if after != "" && (after[0] == '"' || after[0] == '\'') {
			end := strings.IndexByte(after[1:], after[0])
			if end < 0 {
				return nil, wrong
			}
			out[key] = after[1 : 1+end]
			rest = strings.TrimSpace(after[end+2:])
		} else {
			text, rest, _ = strings.Cut(after, " ")
			rest = strings.TrimSpace(rest)
			switch text {
			case "true", "false", "True", "False":
				out[key] = strings.EqualFold(text, "true")
			default:
				if _, err := strconv.ParseFloat(text, 64); err != nil {
					return nil, wrong
				}
				out[key] = json.Number(text)
			}
		}
		if rest == "" {
			break
		}
		var joined bool
		for _, and := range []string{"and ", "AND ", "&& "} {
			if strings.HasPrefix(rest, and) {
				rest, joined = strings.TrimSpace(rest[len(and):]), true
				break
			}
		}
		if !joined || rest == "" {
			return nil, wrong
		}
	}
	return out, nil
}

func v1SearchEmbeddings(c *call, sub contextmem.Sub) (any, error) {
	var err error
	var r contextmem.RawSearch
	if r.Vector, err = vector("query_embedding", c.in.fields.get("query_embedding")); err != nil {
		return nil, err
	}
	if r.Limit, err = c.in.integer("limit", 10); err != nil {
		return nil, err
	}
	if err := ranged("limit", r.Limit, 1, 1000); err != nil {
		return nil, err
	}
	expr, err := c.in.str("filter_expr")
	if err != nil {
		return nil, err
	}
	if r.Metadata, err = equality(expr); err != nil {
		return nil, err
	}
	fields, err := c.in.strings("output_fields")
	if err != nil {
		return nil, err
	}
	r.WithVectors = contains(fields, "embedding") || contains(fields, "vector")
	hits, err := sub.SearchVectors(c.ctx, r)
	if err != nil {
		return nil, err
	}
	return hitsJSON(hits, fields, r.WithVectors), nil
}

func (c *call) selection() (contextmem.RawSelect, error) {
	var s contextmem.RawSelect
	var err error
	if s.SourceID, err = c.in.str("source_id"); err != nil {
		return s, err
	}
	s.ChunkIDs, err = c.in.strings("chunk_ids")
	return s, err
}

func v1FilterEmbeddings(c *call, sub contextmem.Sub) (any, error) {
	s, err := c.selection()
	if err != nil {
		return nil, err
	}
	limit, err := c.in.integer("limit", 100)
	if err != nil {
		return nil, err
	}
	if err := ranged("limit", limit, 1, 10000); err != nil {
		return nil, err
	}
	fields, err := c.in.strings("output_fields")
	if err != nil {
		return nil, err
	}
	hits, err := sub.FilterVectors(c.ctx, s, limit)
	if err != nil {
		return nil, err
	}
	return hitsJSON(hits, fields, len(fields) == 0 || contains(fields, "embedding") || contains(fields, "vector")), nil
}

func v1DeleteEmbeddings(c *call, sub contextmem.Sub) (any, error) {
	s, err := c.selection()
	if err != nil {
		return nil, err
	}
	n, err := sub.DeleteVectors(c.ctx, s)
	if err != nil {
		return nil, err
	}
	return map[string]any{"delete_count": n, "success": true, "error": nil}, nil
}

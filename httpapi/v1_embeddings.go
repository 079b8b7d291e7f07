package httpapi

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/fault"
)

// insertRequest is the body of /embeddings/insert_raw_embeddings.
type insertRequest struct {
	Upsert  bool             `json:"upsert"`
	Sources embeddingSources `json:"embeddings"`
}

// embeddingSources is a list of sources with their vectors.
type embeddingSources []contextmem.VectorSource

type embeddingSource struct {
	ID       string           `json:"source_id"`
	Metadata metadata         `json:"metadata"`
	Vectors  embeddingVectors `json:"embeddings"`
}

// embeddingVectors holds the vectors of a source.
type embeddingVectors []contextmem.Vector

type embeddingVector struct {
	ChunkID string `json:"chunk_id"`
	Vector  vector `json:"embedding"`
}

func (s *embeddingSources) read(d *decoder, at string, m member) error {
	if m.typeName() != "array" {
		return embeddingError(at, "want an array of sources")
	}
	return m.elements(at, "an array", func(at string, e member) error {
		ms, err := e.members(at)
		if err != nil {
			return embeddingError(at, "want an object, got "+e.typeName())
		}
		var x embeddingSource
		if err := d.object(at+".", ms, valueOf(&x)); err != nil {
			return err
		}
		if x.Vectors == nil {
			return embeddingError(at+".embeddings", "want an array of vectors")
		}
		*s = append(*s, contextmem.VectorSource{SourceID: x.ID, Metadata: x.Metadata, Vectors: x.Vectors})
		return nil
	})
}

func (l *embeddingVectors) read(d *decoder, at string, m member) error {
	if m.typeName() != "array" {
		return embeddingError(at, "want an array of vectors")
	}
	*l = embeddingVectors{}
	return m.elements(at, "an array", func(at string, e member) error {
		ms, err := e.members(at)
		if err != nil {
			return embeddingError(at, "want an object, got "+e.typeName())
		}
		var x embeddingVector
		if err := d.object(at+".", ms, valueOf(&x)); err != nil {
			return err
		}
		if x.Vector == nil {
			return embeddingError(at+".embedding", "want an array of numbers")
		}
		*l = append(*l, contextmem.Vector{ChunkID: x.ChunkID, Vector: x.Vector})
		return nil
	})
}

func v1InsertEmbeddings(c *call, sub contextmem.Sub) (any, error) {
	var r insertRequest
	if err := c.read(&r); err != nil {
		return nil, err
	}
	if !c.in.has("embeddings") {
		return nil, bad(fault.KindInvalid, "embeddings", "is required")
	}
	ids, err := sub.InsertVectors(c.ctx, contextmem.InsertVectorsRequest{Sources: r.Sources, Upsert: r.Upsert})
	if err != nil {
		return nil, err
	}
	return struct {
		Count   int      `json:"insert_count"`
		IDs     []string `json:"ids"`
		Success bool     `json:"success"`
		Error   *string  `json:"error"`
	}{len(ids), ids, true, nil}, nil
}

// hitRow is a vector found by a search.
type hitRow struct {
	SourceID  string          `json:"source_id"`
	Score     float64         `json:"score"`
	Distance  float64         `json:"distance"`
	Metadata  *map[string]any `json:"metadata,omitempty"`
	Embedding hitVector       `json:"embedding"`
}

type hitVector struct {
	ChunkID string    `json:"chunk_id"`
	Vector  []float32 `json:"embedding"` // empty unless requested
}

func hitsJSON(hits []contextmem.VectorHit, fields []string, vectors bool) []hitRow {
	out := make([]hitRow, len(hits))
	for i, h := range hits {
		out[i] = hitRow{SourceID: h.SourceID, Score: h.Score, Distance: h.Distance, Embedding: hitVector{h.ChunkID, []float32{}}}
		if vectors {
			out[i].Embedding.Vector = h.Vector
		}
		if len(fields) == 0 || slices.Contains(fields, "metadata") {
			m := orEmpty(h.Metadata)
			out[i].Metadata = &m
		}
	}
	return out
}

// equality parses a filter expression of the form `key == "value" and other == 3`. Metadata supports no other comparisons.
func equality(expr string) (map[string]any, error) {
	wrong := &contextmem.Error{Kind: fault.KindInvalid, Resource: fault.Search, Field: "filter_expr",
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

// searchRequest is the body of /embeddings/search_raw_embeddings.
type searchRequest struct {
	Vector vector   `json:"query_embedding"`
	Limit  int      `json:"limit" default:"10" range:"1,1000"`
	Filter string   `json:"filter_expr"`
	Fields []string `json:"output_fields"`
	Recall float64  `json:"recall"`
	Exact  bool     `json:"exact"`
}

// wantsVectors reports whether output_fields requests the vectors.
func wantsVectors(fields []string) bool {
	return slices.Contains(fields, "embedding") || slices.Contains(fields, "vector")
}

func v1SearchEmbeddings(c *call, sub contextmem.Sub) (any, error) {
	if !c.in.has("query_embedding") {
		return nil, bad(fault.KindInvalid, "query_embedding", "is required")
	}
	var r searchRequest
	if err := c.read(&r); err != nil {
		return nil, err
	}
	equal, err := equality(r.Filter)
	if err != nil {
		return nil, err
	}
	q := contextmem.SearchVectorsRequest{Vector: r.Vector, Limit: r.Limit, Metadata: equal, WithVectors: wantsVectors(r.Fields),
		Recall: r.Recall, Exact: r.Exact}
	hits, err := sub.SearchVectors(c.ctx, q)
	if err != nil {
		return nil, err
	}
	return hitsJSON(hits, r.Fields, q.WithVectors), nil
}

// selection selects vectors by source id or by vector id.
type selection struct {
	SourceID string   `json:"source_id"`
	ChunkIDs []string `json:"chunk_ids"`
}

// filterRequest is the body of /embeddings/filter_raw_embeddings.
type filterRequest struct {
	selection
	Limit  int      `json:"limit" default:"100" range:"1,10000"`
	Fields []string `json:"output_fields"`
}

func v1FilterEmbeddings(c *call, sub contextmem.Sub) (any, error) {
	var r filterRequest
	if err := c.read(&r); err != nil {
		return nil, err
	}
	hits, err := sub.FilterVectors(c.ctx, contextmem.VectorSelection(r.selection), r.Limit)
	if err != nil {
		return nil, err
	}
	return hitsJSON(hits, r.Fields, len(r.Fields) == 0 || wantsVectors(r.Fields)), nil
}

func v1DeleteEmbeddings(c *call, sub contextmem.Sub) (any, error) {
	var r selection
	if err := c.read(&r); err != nil {
		return nil, err
	}
	n, err := sub.DeleteVectors(c.ctx, contextmem.VectorSelection(r))
	if err != nil {
		return nil, err
	}
	return struct {
		Count   int     `json:"delete_count"`
		Success bool    `json:"success"`
		Error   *string `json:"error"`
	}{n, true, nil}, nil
}

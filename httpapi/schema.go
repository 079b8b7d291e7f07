package httpapi

import "github.com/contextmem/contextmem"

// fieldRow is a field of the metadata schema with all defaults filled in.
type fieldRow struct {
	Name      string `json:"name"`
	Type      string `json:"data_type"`
	MaxLength int    `json:"max_length"`
	Match     bool   `json:"enable_match"`
	Dense     bool   `json:"enable_dense_embedding"`
	Sparse    bool   `json:"enable_sparse_embedding"`
	Analyzer  bool   `json:"enable_analyzer"`
	Nullable  bool   `json:"nullable"`
}

func schemaJSON(fs []contextmem.Field) []fieldRow {
	out := make([]fieldRow, len(fs))
	for i, f := range fs {
		out[i] = fieldRow{f.Name, string(f.Type), f.MaxLength, f.Match, f.Dense, f.Sparse, f.Analyzer, !f.Required}
	}
	return out
}

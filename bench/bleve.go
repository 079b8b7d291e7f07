package bench

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/index/scorch"
	"github.com/blevesearch/bleve/v2/mapping"
)

// Bleve is an index of bleve on disk.
type Bleve struct{ ix bleve.Index }

// NewBleve returns an index of docs in dir. It uses bleve's English analyzer and BM25
// and is merged to one segment.
func NewBleve(ctx context.Context, dir string, docs []string) (*Bleve, error) {
	text := mapping.NewTextFieldMapping()
	text.Analyzer = en.AnalyzerName
	text.Store, text.IncludeInAll, text.IncludeTermVectors, text.DocValues = false, false, false, false
	doc := mapping.NewDocumentStaticMapping()
	doc.AddFieldMappingsAt("text", text)
	m := mapping.NewIndexMapping()
	m.DefaultMapping = doc
	m.DefaultAnalyzer = en.AnalyzerName
	m.ScoringModel = "bm25"
	ix, err := bleve.New(filepath.Join(dir, "bleve"), m)
	if err != nil {
		return nil, err
	}
	for at := 0; at < len(docs); at += Batch {
		b := ix.NewBatch()
		for i := at; i < min(at+Batch, len(docs)); i++ {
			if err := b.Index(strconv.Itoa(i), map[string]string{"text": docs[i]}); err != nil {
				return nil, fmt.Errorf("bleve: document %d: %w", i, err)
			}
		}
		if err := ix.Batch(b); err != nil {
			return nil, fmt.Errorf("bleve: %w", err)
		}
	}
	inner, err := ix.Advanced()
	if err != nil {
		return nil, fmt.Errorf("bleve: %w", err)
	}
	if s, ok := inner.(*scorch.Scorch); ok {
		if err := s.ForceMerge(ctx, nil); err != nil {
			return nil, fmt.Errorf("bleve: %w", err)
		}
	}
	return &Bleve{ix}, nil
}

// Search returns the numbers of documents that contain any of the words.
func (b *Bleve) Search(ctx context.Context, words []string) ([]int, error) {
	q := bleve.NewMatchQuery(strings.Join(words, " "))
	q.SetField("text")
	found, err := b.ix.SearchInContext(ctx, bleve.NewSearchRequestOptions(q, TopK, 0, false))
	if err != nil {
		return nil, err
	}
	out := make([]int, len(found.Hits))
	for i, h := range found.Hits {
		if out[i], err = strconv.Atoi(h.ID); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Close closes the index.
func (b *Bleve) Close() error { return b.ix.Close() }

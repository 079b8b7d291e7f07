package bench

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/philippgille/chromem-go"
)

// Chromem is a collection of chromem-go, in memory.
type Chromem struct{ c *chromem.Collection }

// NewChromem returns a collection with the rows of v.
func NewChromem(ctx context.Context, v *Vectors) (*Chromem, error) {
	none := func(context.Context, string) ([]float32, error) { return nil, errors.New("vectors are given") }
	c, err := chromem.NewDB().CreateCollection("bench", nil, none)
	if err != nil {
		return nil, err
	}
	for i := range v.N {
		if err := c.AddDocument(ctx, chromem.Document{ID: strconv.Itoa(i), Embedding: v.Row(i)}); err != nil {
			return nil, fmt.Errorf("chromem-go: row %d: %w", i, err)
		}
	}
	return &Chromem{c}, nil
}

// Search returns the numbers of the rows nearest to q.
func (c *Chromem) Search(ctx context.Context, q []float32) ([]int, error) {
	found, err := c.c.QueryEmbedding(ctx, q, TopK, nil, nil)
	if err != nil {
		return nil, err
	}
	out := make([]int, len(found))
	for i, r := range found {
		if out[i], err = strconv.Atoi(r.ID); err != nil {
			return nil, err
		}
	}
	return out, nil
}

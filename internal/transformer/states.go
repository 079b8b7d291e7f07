package transformer

import (
	"context"
	"fmt"
)

// States returns, for each text, the vectors of its tokens after the first layers of the model, one after the
// other: [tokens * Hidden]float32. layers is 0 (the embeddings) to Layers; the texts are as for Encode. States stops
// with ctx's error between layers.
func (m *Model) States(ctx context.Context, texts [][]int32, layers int) ([][]float32, error) {
	if layers < 0 || layers > len(m.layers) {
		return nil, fmt.Errorf("layers must be in 0..%d", len(m.layers))
	}
	if err := m.check(texts, nil); err != nil {
		return nil, err
	}
	out := make([][]float32, len(texts))
	err := m.run(ctx, texts, nil, m.layers[:layers], false, func(s *scratch, first int) {
		for i, span := range s.spans {
			v := make([]float32, 0, span.n*m.cfg.Hidden)
			for r := range span.n {
				v = append(v, s.x[(span.first+r)*s.stride:][:m.cfg.Hidden]...)
			}
			out[first+i] = v
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

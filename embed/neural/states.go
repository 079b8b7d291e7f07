package neural

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// States returns the output of the model's first layers, for models that build on it: for each text the vectors of its tokens, special
// tokens included, one after the other: [tokens * Dim]float32. layers is 0 to the number of the model's layers. tokens is the maximum
// number of tokens per text, 3 to MaxTokens; longer texts are cut off. No prefix is added. The errors are those of ctx, and of weights
// that are found to be damaged.
func (e *Embedder) States(ctx context.Context, texts []string, layers, tokens int) ([][]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if tokens < 3 || tokens > e.set.maxTokens {
		return nil, errors.New("neural: tokens must be 3 to MaxTokens")
	}
	m, err := e.load()
	if err != nil {
		return nil, fmt.Errorf("neural: %w", err)
	}
	inputs := make([][]int32, len(texts))
	for i, text := range texts {
		if e.set.lower {
			text = strings.ToLower(text)
		}
		inputs[i] = e.tokenizer.Single(e.tokenizer.Append(nil, strings.TrimSpace(text)), tokens)
	}
	out, err := m.States(ctx, inputs, layers)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("neural: %w", err)
	}
	return out, nil
}

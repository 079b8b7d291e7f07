package neural

import (
	"errors"
	"fmt"

	"github.com/hashicorp/go-multierror"

	"github.com/contextmem/contextmem/internal/checkpoint"
	"github.com/contextmem/contextmem/internal/faults"
	"github.com/contextmem/contextmem/internal/transformer"
)

// Pooling is how the vectors of a text's tokens become the vector of the text.
type Pooling string

// The poolings.
const (
	Mean Pooling = "mean" // the mean of all tokens
	CLS  Pooling = "cls"  // the first token
)

// Defaults of [Options].
const (
	DefaultQueryCache = 256
	// Overlap is the minimum number of tokens that two neighbouring windows of a long text share, or an eighth of the window if that
	// is less.
	Overlap = 32
)

const (
	maxCachedBytes = 1024 // of a query's text
	maxQueryCache  = 1 << 20
	minTokens      = 16 // of a window
)

// Options override the settings in a model's files. The zero value overrides nothing.
type Options struct {
	// Model is the name in [Embedder.Model]; "" means the name of the directory.
	Model string
	// Pooling is Mean or CLS; "" means what 1_Pooling/config.json says, else Mean.
	Pooling Pooling
	// QueryPrefix and DocumentPrefix stand before every query and document ("query: ",
	// "passage: "); nil means the prompts of config_sentence_transformers.json called
	// "query", and "passage" or "document", else none.
	QueryPrefix, DocumentPrefix *string
	// MaxTokens is the maximum number of tokens in one input, special tokens included: 16 to the model's own maximum. 0 means
	// max_seq_length of sentence_bert_config.json, else the model's own maximum.
	MaxTokens int
	// QueryCache is how many queries of up to 1024 bytes are cached with their vectors (4*Dim bytes each). The least recently used
	// query is evicted first. 0 means DefaultQueryCache, negative none.
	QueryCache int
	// WeightsSHA256 is the SHA-256 of the weights in hex, if it is known. It becomes part of the model's identity; without it, all
	// weights are read to compute it.
	WeightsSHA256 string
}

// settings are options with all defaults filled in.
type settings struct {
	pooling                     transformer.Pooling
	queryPrefix, documentPrefix string
	maxTokens, overlap, cache   int
	lower                       bool
}

// complete fills the unset fields of o from the hints of the model's files and checks the result.
func complete(o Options, h hints, files *checkpoint.Checkpoint) (settings, error) {
	var wrong *multierror.Error
	s := settings{queryPrefix: h.queryPrefix, documentPrefix: h.documentPrefix, lower: h.lower, cache: o.QueryCache}
	if o.QueryPrefix != nil {
		s.queryPrefix = *o.QueryPrefix
	}
	if o.DocumentPrefix != nil {
		s.documentPrefix = *o.DocumentPrefix
	}
	pooling := o.Pooling
	if pooling == "" {
		pooling = h.pooling
	}
	switch pooling {
	case Mean, "":
		s.pooling = transformer.PoolMean
	case CLS:
		s.pooling = transformer.PoolCLS
	default:
		wrong = multierror.Append(wrong, fmt.Errorf("pooling %q, want %q or %q", pooling, Mean, CLS))
	}
	most := files.Config.MaxTokens()
	s.maxTokens = most
	if h.maxTokens > 0 {
		s.maxTokens = min(most, h.maxTokens)
	}
	if o.MaxTokens != 0 {
		s.maxTokens = o.MaxTokens
	}
	s.overlap = min(Overlap, s.maxTokens/8)
	switch {
	case s.maxTokens < minTokens || s.maxTokens > most:
		wrong = multierror.Append(wrong, fmt.Errorf("%d tokens at most, want %d to %d", s.maxTokens, minTokens, most))
	case s.maxTokens-files.Tokenizer.Specials()-s.overlap < 1:
		wrong = multierror.Append(wrong, errors.New("the special tokens leave no room for text"))
	}
	if s.cache == 0 {
		s.cache = DefaultQueryCache
	}
	if s.cache > maxQueryCache {
		wrong = multierror.Append(wrong, fmt.Errorf("QueryCache %d, want at most %d", s.cache, maxQueryCache))
	}
	return s, faults.Joined(wrong)
}

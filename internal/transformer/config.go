package transformer

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Config describes an encoder, as the config.json of a Hugging Face checkpoint does.
type Config struct {
	ModelType    string  // "bert", "roberta" or "xlm-roberta"
	Vocab        int     // rows of the word embeddings
	Hidden       int     // width of a token's vector
	Layers       int     // encoder layers
	Heads        int     // attention heads; divides Hidden
	Intermediate int     // width of the feed-forward layer
	MaxPositions int     // rows of the position embeddings
	TypeVocab    int     // rows of the token type embeddings
	LayerNormEps float64 // added to the variance
	PadID        int     // the padding token; positions of the RoBERTa families start after it
	Act          string  // "gelu", "gelu_new", "gelu_pytorch_tanh" or "relu"

	// Labels is the number of logits that Classify returns; 0 for an encoder without a head.
	Labels int
	// NamedHeads are the heads of a classifier with several heads, in the order of its logits. It is empty if the checkpoint has the one
	// unnamed head of Hugging Face. Labels is the sum of their labels.
	NamedHeads []Head
}

// Head is one of several classification heads over one encoder: the tensors
// classifiers.NAME.weight [Labels, Hidden] and classifiers.NAME.bias [Labels].
type Head struct {
	Name   string `json:"name"`
	Labels int    `json:"labels"`
}

// Limits of a Config. They keep sums of a row's products inside an int32, and allocations proportional to the checkpoint.
const (
	maxWidth     = 1 << 14 // Hidden and Intermediate
	maxLayers    = 256
	maxVocab     = 1 << 24
	maxPositions = 1 << 17
	maxTypes     = 1 << 10
	maxLabels    = 1 << 12
)

// hfConfig is the part of config.json that is read.
type hfConfig struct {
	ModelType     string            `json:"model_type"`
	Architectures []string          `json:"architectures"`
	Vocab         int               `json:"vocab_size"`
	Hidden        int               `json:"hidden_size"`
	Layers        int               `json:"num_hidden_layers"`
	Heads         int               `json:"num_attention_heads"`
	Intermediate  int               `json:"intermediate_size"`
	MaxPositions  int               `json:"max_position_embeddings"`
	TypeVocab     int               `json:"type_vocab_size"`
	Eps           *float64          `json:"layer_norm_eps"`
	Pad           *int              `json:"pad_token_id"`
	Act           string            `json:"hidden_act"`
	PositionType  string            `json:"position_embedding_type"`
	ID2Label      map[string]string `json:"id2label"`
	NumLabels     int               `json:"num_labels"`
	NamedHeads    []Head            `json:"classifier_heads"`
}

// ReadConfig reads a config.json. Missing fields have the defaults of the Hugging Face library: eps 1e-12, gelu, padding token 0
// (BERT) or 1 (RoBERTa), and two labels for a sequence classifier that names none. Unknown fields are ignored.
//
// Beyond Hugging Face's fields, classifier_heads lists the heads of a classifier that
// has several: [{"name": "relevance", "labels": 1}, ...].
func ReadConfig(data []byte) (Config, error) {
	h := hfConfig{Act: "gelu", PositionType: "absolute", TypeVocab: 2}
	if err := json.Unmarshal(data, &h); err != nil {
		return Config{}, fmt.Errorf("config.json: %w", err)
	}
	if h.PositionType != "absolute" {
		return Config{}, errors.New("config.json: position_embedding_type must be absolute")
	}
	c := Config{
		ModelType: h.ModelType, Vocab: h.Vocab, Hidden: h.Hidden, Layers: h.Layers, Heads: h.Heads,
		Intermediate: h.Intermediate, MaxPositions: h.MaxPositions, TypeVocab: h.TypeVocab,
		LayerNormEps: 1e-12, Act: h.Act, NamedHeads: h.NamedHeads,
	}
	if c.offsetsPositions() {
		c.PadID = 1
	}
	if h.Eps != nil {
		c.LayerNormEps = *h.Eps
	}
	if h.Pad != nil {
		c.PadID = *h.Pad
	}
	c.Labels = labels(h)
	return c, c.check()
}

// labels returns the total number of logits of the checkpoint's heads.
func labels(h hfConfig) int {
	if len(h.NamedHeads) > 0 {
		n := 0
		for _, head := range h.NamedHeads {
			n += min(max(head.Labels, 0), maxLabels+1) // checkHeads reports bad numbers
		}
		return n
	}
	classifies := false
	for _, a := range h.Architectures {
		classifies = classifies || strings.HasSuffix(a, "ForSequenceClassification")
	}
	switch {
	case !classifies:
		return 0
	case len(h.ID2Label) > 0:
		return len(h.ID2Label)
	case h.NumLabels > 0:
		return h.NumLabels
	}
	return 2
}

// offsetsPositions reports whether positions start at PadID+1, as in RoBERTa.
func (c Config) offsetsPositions() bool {
	return c.ModelType == "roberta" || c.ModelType == "xlm-roberta"
}

// MaxTokens returns the maximum number of tokens of a text, special tokens included.
func (c Config) MaxTokens() int {
	if c.offsetsPositions() {
		return c.MaxPositions - c.PadID - 1
	}
	return c.MaxPositions
}

func (c Config) check() error {
	switch c.ModelType {
	case "bert", "roberta", "xlm-roberta":
	default:
		return errors.New("config.json: model_type must be bert, roberta or xlm-roberta")
	}
	for _, f := range []struct {
		name          string
		value, lo, hi int
	}{
		{"vocab_size", c.Vocab, 1, maxVocab},
		{"hidden_size", c.Hidden, 1, maxWidth},
		{"num_hidden_layers", c.Layers, 1, maxLayers},
		{"num_attention_heads", c.Heads, 1, c.Hidden},
		{"intermediate_size", c.Intermediate, 1, maxWidth},
		{"max_position_embeddings", c.MaxPositions, 1, maxPositions},
		{"type_vocab_size", c.TypeVocab, 0, maxTypes},
		{"pad_token_id", c.PadID, 0, c.Vocab - 1},
		{"labels", c.Labels, 0, maxLabels},
		{"max_position_embeddings less the offset", c.MaxTokens(), 1, maxPositions},
	} {
		if f.value < f.lo || f.value > f.hi {
			return fmt.Errorf("config.json: %s must be in %d..%d", f.name, f.lo, f.hi)
		}
	}
	if c.Intermediate > 64*c.Hidden {
		return errors.New("config.json: intermediate_size must be at most 64 times hidden_size")
	}
	if c.Hidden%c.Heads != 0 {
		return errors.New("config.json: num_attention_heads must divide hidden_size")
	}
	if !(c.LayerNormEps >= 0 && c.LayerNormEps <= 1) {
		return errors.New("config.json: layer_norm_eps must be in 0..1")
	}
	if _, ok := activations[c.Act]; !ok {
		return errors.New("config.json: hidden_act must be gelu, gelu_new, gelu_pytorch_tanh or relu")
	}
	return c.checkHeads()
}

func (c Config) checkHeads() error {
	if len(c.NamedHeads) == 0 {
		return nil
	}
	seen, labels := map[string]bool{}, 0
	for _, h := range c.NamedHeads {
		if h.Name == "" || seen[h.Name] || h.Labels < 1 || h.Labels > maxLabels {
			return errors.New("config.json: classifier_heads need distinct names and one label or more each")
		}
		seen[h.Name] = true
		labels += h.Labels
	}
	if labels != c.Labels {
		return errors.New("config.json: labels must be those of classifier_heads together")
	}
	return nil
}

// Package tiny makes small models with random weights for tests.
package tiny

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/contextmem/contextmem/internal/checkpoint"
)

// Sizes of the models.
const (
	Hidden    = 32
	MaxTokens = 64
	layers    = 2
	heads     = 4
	inner     = 64
)

// words is the vocabulary without special tokens and letters.
var words = []string{"the", "cat", "dog", "sat", "ran", "on", "mat", "house", "ann", "lives", "in", "oslo", "query", "passage", "who", "where", ":", "?", "."}

// Files returns a BERT encoder with a WordPiece vocabulary of a few words and the letters a to z. With labels above 0 it is a sequence
// classifier. The same seed gives the same model.
func Files(seed uint64, labels int) checkpoint.Files {
	vocab := vocabulary()
	config := map[string]any{
		"model_type": "bert", "vocab_size": len(vocab), "hidden_size": Hidden, "num_hidden_layers": layers, "num_attention_heads": heads,
		"intermediate_size": inner, "max_position_embeddings": MaxTokens, "type_vocab_size": 2, "hidden_act": "gelu",
	}
	if labels > 0 {
		config["architectures"] = []string{"BertForSequenceClassification"}
		config["num_labels"] = labels
		names := map[string]string{}
		for i := range labels {
			names[fmt.Sprint(i)] = fmt.Sprintf("LABEL_%d", i)
		}
		config["id2label"] = names
	}
	return checkpoint.Files{Config: encode(config), Tokenizer: tokenizer(vocab), Weights: weights(seed, len(vocab), labels)}
}

// Write writes files into a directory under the names of Hugging Face.
func Write(dir string, f checkpoint.Files) error {
	for name, data := range map[string][]byte{
		checkpoint.ConfigFile: f.Config, checkpoint.TokenizerFile: f.Tokenizer, checkpoint.WeightsFile: f.Weights,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // maps of strings and numbers always encode
	}
	return data
}

func vocabulary() map[string]int {
	vocab := map[string]int{}
	for _, w := range append([]string{"[PAD]", "[UNK]", "[CLS]", "[SEP]"}, words...) {
		vocab[w] = len(vocab)
	}
	for c := 'a'; c <= 'z'; c++ {
		vocab[string(c)] = len(vocab)
		vocab["##"+string(c)] = len(vocab)
	}
	return vocab
}

func tokenizer(vocab map[string]int) []byte {
	return encode(map[string]any{
		"normalizer":     map[string]any{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "lowercase": true},
		"pre_tokenizer":  map[string]any{"type": "BertPreTokenizer"},
		"post_processor": map[string]any{"type": "BertProcessing", "cls": []any{"[CLS]", vocab["[CLS]"]}, "sep": []any{"[SEP]", vocab["[SEP]"]}},
		"model":          map[string]any{"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": vocab},
	})
}

// file collects the tensors of a safetensors file.
type file struct {
	rand   *rand.Rand
	header map[string]any
	body   []byte
}

// add adds a tensor of normally distributed numbers around a mean.
func (f *file) add(name string, mean, spread float64, shape ...int) {
	n, at := 1, len(f.body)
	for _, d := range shape {
		n *= d
	}
	for range n {
		f.body = binary.LittleEndian.AppendUint32(f.body, math.Float32bits(float32(mean+spread*f.rand.NormFloat64())))
	}
	f.header[name] = map[string]any{"dtype": "F32", "shape": shape, "data_offsets": []int{at, len(f.body)}}
}

func (f *file) linear(name string, out, in int) {
	f.add(name+".weight", 0, 1/math.Sqrt(float64(in)), out, in)
	f.add(name+".bias", 0, 0.1, out)
}

func (f *file) norm(name string) {
	f.add(name+".weight", 1, 0.1, Hidden)
	f.add(name+".bias", 0, 0.1, Hidden)
}

func weights(seed uint64, vocab, labels int) []byte {
	f := &file{rand: rand.New(rand.NewPCG(seed, 0)), header: map[string]any{}}
	prefix := ""
	if labels > 0 {
		prefix = "bert."
		f.linear("bert.pooler.dense", Hidden, Hidden)
		f.linear("classifier", labels, Hidden)
	}
	f.add(prefix+"embeddings.word_embeddings.weight", 0, 1, vocab, Hidden)
	f.add(prefix+"embeddings.position_embeddings.weight", 0, 0.2, MaxTokens, Hidden)
	f.add(prefix+"embeddings.token_type_embeddings.weight", 0, 0.5, 2, Hidden)
	f.norm(prefix + "embeddings.LayerNorm")
	for i := range layers {
		layer := fmt.Sprintf("%sencoder.layer.%d.", prefix, i)
		for _, name := range []string{"query", "key", "value"} {
			f.linear(layer+"attention.self."+name, Hidden, Hidden)
		}
		f.linear(layer+"attention.output.dense", Hidden, Hidden)
		f.norm(layer + "attention.output.LayerNorm")
		f.linear(layer+"intermediate.dense", inner, Hidden)
		f.linear(layer+"output.dense", Hidden, inner)
		f.norm(layer + "output.LayerNorm")
	}
	header := encode(f.header)
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(out, header...), f.body...)
}

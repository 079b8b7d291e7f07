package tokenize

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// piece is ["piece", score] of a unigram model's vocabulary.
type piece struct {
	text  string
	score float64
}

func (p *piece) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &[]any{&p.text, &p.score})
}

// vocabulary holds pieces with their ids and, for a unigram model, the scores by id.
type vocabulary struct {
	pieces []string
	ids    []int32
	scores []float64
	size   int // one more than the highest id
}

// FromJSON makes a tokenizer from a tokenizer.json of the tokenizers library. The error names a feature that is not supported.
func FromJSON(data []byte) (*Tokenizer, error) {
	image, err := compact(data)
	if err != nil {
		return nil, fmt.Errorf("tokenizer.json: %w", err)
	}
	return Open(image)
}

// compact converts a tokenizer.json to the compact form.
func compact(data []byte) ([]byte, error) {
	var c config
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, err
	}
	var v struct {
		Model struct {
			Vocab json.RawMessage `json:"vocab"`
		} `json:"model"`
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, err
	}
	vocab, err := readVocabulary(&c.Model, v.Model.Vocab)
	if err != nil {
		return nil, err
	}
	c.Model.Size = vocab.size
	var parts [sections][]byte
	if parts[3], err = takeCharsmap(c.Normalizer); err != nil {
		return nil, err
	}
	if parts[0], err = json.Marshal(c); err != nil {
		return nil, err
	}
	pieces, err := buildTrie(vocab.pieces, vocab.ids)
	if err != nil {
		return nil, fmt.Errorf("vocab: %w", err)
	}
	parts[1], parts[2] = pieces, encodeScores(vocab.scores)
	return writeSections(parts), nil
}

// readVocabulary reads the vocabulary of either model and fills in the fields of c that are not in tokenizer.json.
func readVocabulary(c *modelConfig, data []byte) (v vocabulary, err error) {
	switch c.Type {
	case "WordPiece":
		var ids map[string]int32
		if err := json.Unmarshal(data, &ids); err != nil {
			return v, fmt.Errorf("vocab: %w", err)
		}
		var ok bool
		if c.WordUnkID, ok = ids[c.UnkToken]; !ok {
			return v, errors.New("model: unk_token is not in the vocabulary")
		}
		for p, id := range ids {
			if id < 0 || id >= maxSize {
				return v, errors.New("vocab: an id is out of range")
			}
			v.pieces, v.ids = append(v.pieces, p), append(v.ids, id)
			v.size = max(v.size, int(id)+1)
		}
		return v, nil
	case "Unigram":
		return readUnigram(c, data)
	}
	return v, fmt.Errorf("model: type %q is not supported", c.Type)
}

func readUnigram(c *modelConfig, data []byte) (v vocabulary, err error) {
	var ps []piece
	if err := json.Unmarshal(data, &ps); err != nil {
		return v, fmt.Errorf("vocab: %w", err)
	}
	if c.UnkID == nil || *c.UnkID < 0 || int(*c.UnkID) >= len(ps) || len(ps) > maxSize {
		return v, errors.New("model: unk_id is missing or out of range")
	}
	c.MinScore = math.Inf(1)
	last := make(map[string]int, len(ps)) // the last occurrence of a piece counts
	for i, p := range ps {
		last[p.text] = i
		c.MinScore = min(c.MinScore, p.score)
		v.scores = append(v.scores, p.score)
	}
	for i, p := range ps {
		if last[p.text] == i && p.text != "" {
			v.pieces, v.ids = append(v.pieces, p.text), append(v.ids, int32(i))
		}
	}
	v.size = len(ps)
	return v, nil
}

// encodeScores encodes scores as float32 if that is lossless, else as float64.
func encodeScores(scores []float64) []byte {
	exact := true
	for _, s := range scores {
		exact = exact && float64(float32(s)) == s
	}
	var out []byte
	for _, s := range scores {
		if exact {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(s)))
		} else {
			out = binary.LittleEndian.AppendUint64(out, math.Float64bits(s))
		}
	}
	return out
}

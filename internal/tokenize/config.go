package tokenize

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// config is the part of tokenizer.json that this package uses, without the vocabulary and the charsmap.
type config struct {
	AddedTokens   []addedToken `json:"added_tokens"`
	Normalizer    *normConfig  `json:"normalizer"`
	PreTokenizer  *splitConfig `json:"pre_tokenizer"`
	PostProcessor *postConfig  `json:"post_processor"`
	Model         modelConfig  `json:"model"`
}

type normConfig struct {
	Type        string       `json:"type"`
	Normalizers []normConfig `json:"normalizers,omitempty"` // Sequence

	Charsmap []byte `json:"precompiled_charsmap,omitempty"` // Precompiled

	CleanText          bool  `json:"clean_text,omitempty"` // BertNormalizer
	HandleChineseChars bool  `json:"handle_chinese_chars,omitempty"`
	StripAccents       *bool `json:"strip_accents,omitempty"`
	Lowercase          bool  `json:"lowercase,omitempty"`

	Pattern *pattern `json:"pattern,omitempty"` // Replace
	Content string   `json:"content,omitempty"`
	Prepend string   `json:"prepend,omitempty"`     // Prepend
	Left    bool     `json:"strip_left,omitempty"`  // Strip
	Right   bool     `json:"strip_right,omitempty"` // Strip
}

type pattern struct {
	String string `json:"String,omitempty"`
	Regex  string `json:"Regex,omitempty"`
}

type splitConfig struct {
	Type          string        `json:"type"`
	PreTokenizers []splitConfig `json:"pretokenizers,omitempty"` // Sequence

	Replacement    string `json:"replacement,omitempty"` // Metaspace
	PrependScheme  string `json:"prepend_scheme,omitempty"`
	AddPrefixSpace *bool  `json:"add_prefix_space,omitempty"`
	Split          *bool  `json:"split,omitempty"`
}

type postConfig struct {
	Type string `json:"type"`

	Single        []postItem             `json:"single,omitempty"` // TemplateProcessing
	Pair          []postItem             `json:"pair,omitempty"`
	SpecialTokens map[string]postSpecial `json:"special_tokens,omitempty"`

	Sep *namedID `json:"sep,omitempty"` // BertProcessing, RobertaProcessing
	Cls *namedID `json:"cls,omitempty"`

	Processors []postConfig `json:"processors,omitempty"` // Sequence
}

type postItem struct {
	SpecialToken *postRef `json:"SpecialToken,omitempty"`
	Sequence     *postRef `json:"Sequence,omitempty"`
}

type postRef struct {
	ID     string `json:"id"`
	TypeID int32  `json:"type_id"`
}

type postSpecial struct {
	IDs []int32 `json:"ids"`
}

// namedID is ["[SEP]", 102].
type namedID struct {
	name string
	id   int32
}

func (n *namedID) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &[]any{&n.name, &n.id})
}

func (n namedID) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{n.name, n.id})
}

type modelConfig struct {
	Type string `json:"type"`

	UnkToken  string `json:"unk_token,omitempty"` // WordPiece
	Prefix    string `json:"continuing_subword_prefix,omitempty"`
	MaxChars  int    `json:"max_input_chars_per_word,omitempty"`
	WordUnkID int32  `json:"unk_token_id,omitempty"` // not in tokenizer.json: the id of UnkToken

	UnkID        *int32  `json:"unk_id,omitempty"` // Unigram
	ByteFallback bool    `json:"byte_fallback,omitempty"`
	FuseUnk      *bool   `json:"fuse_unk,omitempty"`
	MinScore     float64 `json:"min_score,omitempty"` // not in tokenizer.json: the lowest score

	Size int `json:"size,omitempty"` // not in tokenizer.json: one more than the highest id
}

// steps builds the normalisation.
func (c *normConfig) steps(charsmapData []byte) ([]step, error) {
	if c == nil {
		return nil, nil
	}
	switch c.Type {
	case "Sequence":
		var all []step
		for i := range c.Normalizers {
			steps, err := c.Normalizers[i].steps(charsmapData)
			if err != nil {
				return nil, err
			}
			all = append(all, steps...)
		}
		return all, nil
	case "Precompiled":
		if len(charsmapData) == 0 {
			return nil, nil
		}
		m, err := openCharsmap(charsmapData)
		if err != nil {
			return nil, err
		}
		return []step{m.apply}, nil
	case "BertNormalizer":
		accents := c.Lowercase
		if c.StripAccents != nil {
			accents = *c.StripAccents
		}
		return bertSteps(c.CleanText, c.HandleChineseChars, accents, c.Lowercase), nil
	case "Replace":
		switch {
		case c.Pattern != nil && c.Pattern.String != "":
			return []step{replace(c.Pattern.String, c.Content)}, nil
		case c.Pattern != nil && c.Pattern.Regex == " {2,}" && c.Content == " ":
			return []step{squeeze}, nil
		}
		return nil, errors.New("normalizer: Replace with this pattern is not supported")
	case "Lowercase":
		return []step{lower}, nil
	case "StripAccents":
		return []step{stripMarks(unicode.Mn)}, nil
	case "NFC":
		return []step{unicodeForm(norm.NFC)}, nil
	case "NFD":
		return []step{unicodeForm(norm.NFD)}, nil
	case "NFKC":
		return []step{unicodeForm(norm.NFKC)}, nil
	case "NFKD":
		return []step{unicodeForm(norm.NFKD)}, nil
	case "Strip":
		return []step{strip(c.Left, c.Right)}, nil
	case "Prepend":
		return []step{prepend(c.Prepend)}, nil
	}
	return nil, fmt.Errorf("normalizer: type %q is not supported", c.Type)
}

// splits builds the pre-tokenisation.
func (c *splitConfig) splits() ([]split, error) {
	if c == nil {
		return nil, nil
	}
	switch c.Type {
	case "Sequence":
		var all []split
		for i := range c.PreTokenizers {
			splits, err := c.PreTokenizers[i].splits()
			if err != nil {
				return nil, err
			}
			all = append(all, splits...)
		}
		return all, nil
	case "BertPreTokenizer":
		return []split{bertSplit}, nil
	case "WhitespaceSplit":
		return []split{whitespaceSplit}, nil
	case "Metaspace":
		m := &metaspace{mark: []byte(c.Replacement), scheme: c.PrependScheme, whole: c.Split != nil && !*c.Split}
		if m.scheme == "" {
			m.scheme = "always"
			if c.AddPrefixSpace != nil && !*c.AddPrefixSpace {
				m.scheme = "never"
			}
		}
		if len(m.mark) == 0 {
			return nil, errors.New("pre_tokenizer: Metaspace has no replacement")
		}
		if !slices.Contains([]string{"always", "first", "never"}, m.scheme) {
			return nil, fmt.Errorf("pre_tokenizer: prepend_scheme %q is not known", m.scheme)
		}
		return []split{m.split}, nil
	}
	return nil, fmt.Errorf("pre_tokenizer: type %q is not supported", c.Type)
}

// open makes the model from its pieces and their scores.
func (c *modelConfig) open(pieces trie, scores []byte) (model, error) {
	if len(pieces)%4 != 0 {
		return nil, errors.New("model: the pieces are cut off")
	}
	switch c.Type {
	case "WordPiece":
		maxChars := c.MaxChars
		if maxChars == 0 {
			maxChars = 100
		}
		if c.WordUnkID < 0 || int(c.WordUnkID) >= c.Size {
			return nil, errors.New("model: the id of unk_token is out of range")
		}
		return newWordPiece(pieces, c.Prefix, c.WordUnkID, int32(c.Size), maxChars), nil
	case "Unigram":
		if c.ByteFallback {
			return nil, errors.New("model: byte_fallback is not supported")
		}
		if c.UnkID == nil || *c.UnkID < 0 || int(*c.UnkID) >= c.Size {
			return nil, errors.New("model: unk_id is missing or out of range")
		}
		u := &unigram{pieces: pieces, scores: scores, unk: *c.UnkID, fuse: c.FuseUnk == nil || *c.FuseUnk}
		switch len(scores) {
		case 4 * c.Size:
		case 8 * c.Size:
			u.wide = true
		default:
			return nil, errors.New("model: the scores are cut off")
		}
		if math.IsNaN(c.MinScore) {
			return nil, errors.New("model: a score is no number")
		}
		u.unkCost = c.MinScore - unkPenalty
		return u, nil
	}
	return nil, fmt.Errorf("model: type %q is not supported", c.Type)
}

// templates returns the templates of special tokens for one text and for two.
func (c *postConfig) templates() (single, pair template, err error) {
	first, second := slot{text: 0}, slot{text: 1}
	if c == nil {
		return template{first}, template{first, second}, nil
	}
	switch c.Type {
	case "Sequence":
		if len(c.Processors) == 1 {
			return c.Processors[0].templates()
		}
	case "TemplateProcessing":
		if single, err = c.template(c.Single, 1); err != nil {
			return nil, nil, err
		}
		pair, err = c.template(c.Pair, 2)
		return single, pair, err
	case "BertProcessing", "RobertaProcessing":
		if c.Sep == nil || c.Cls == nil {
			return nil, nil, errors.New("post_processor: sep or cls is missing")
		}
		cls, sep := slot{text: -1, ids: []int32{c.Cls.id}}, slot{text: -1, ids: []int32{c.Sep.id}}
		single = template{cls, first, sep}
		if c.Type == "RobertaProcessing" {
			return single, template{cls, first, sep, sep, second, sep}, nil
		}
		second.types = 1
		return single, template{cls, first, sep, second, {text: -1, ids: sep.ids, types: 1}}, nil
	}
	return nil, nil, fmt.Errorf("post_processor: type %q is not supported", c.Type)
}

// template reads the items of a template for n texts.
func (c *postConfig) template(items []postItem, n int) (template, error) {
	var t template
	texts := 0
	for _, item := range items {
		switch {
		case item.Sequence != nil && (item.Sequence.ID == "A" || item.Sequence.ID == "B" && n == 2):
			text := int(item.Sequence.ID[0] - 'A')
			if text != texts {
				return nil, errors.New("post_processor: the texts must stand once each, A before B")
			}
			texts++
			t = append(t, slot{text: text, types: item.Sequence.TypeID})
		case item.SpecialToken != nil && len(c.SpecialTokens[item.SpecialToken.ID].IDs) > 0:
			t = append(t, slot{text: -1, ids: c.SpecialTokens[item.SpecialToken.ID].IDs, types: item.SpecialToken.TypeID})
		default:
			return nil, errors.New("post_processor: an item of a template is not known")
		}
	}
	if texts != n {
		return nil, fmt.Errorf("post_processor: a template holds %d texts, want %d", texts, n)
	}
	return t, nil
}

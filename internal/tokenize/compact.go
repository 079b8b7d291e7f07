package tokenize

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
)

// The compact form: the magic, the lengths of four sections (uint64, little-endian), the sections. The sections are the configuration
// (JSON), the trie of the pieces, their scores (float32 or float64, none for WordPiece) and the charsmap, if any.
const (
	magic      = "CMTOKEN1"
	sections   = 4
	headerSize = len(magic) + 8*sections
)

// Limits of a file.
const (
	maxSize  = 1 << 28 // ids
	maxAdded = 1 << 12 // added tokens
)

// Compact returns the compact form, which [Open] reads. The caller must not change it.
func (t *Tokenizer) Compact() []byte { return t.image }

// Open makes a tokenizer from its compact form. It keeps data and reads it in place.
func Open(data []byte) (*Tokenizer, error) {
	parts, err := readSections(data)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	t := &Tokenizer{image: data}
	var c config
	if err := json.Unmarshal(parts[0], &c); err != nil {
		return nil, fmt.Errorf("tokenizer: configuration: %w", err)
	}
	if err := t.build(&c, trie(parts[1]), parts[2], parts[3]); err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	return t, nil
}

// IsCompact reports whether data begins like the compact form.
func IsCompact(data []byte) bool {
	return len(data) >= len(magic) && string(data[:len(magic)]) == magic
}

func readSections(data []byte) (parts [sections][]byte, err error) {
	if !IsCompact(data) || len(data) < headerSize {
		return parts, errors.New("not in the compact form")
	}
	rest := data[headerSize:]
	for i := range parts {
		n := binary.LittleEndian.Uint64(data[len(magic)+8*i:])
		if n > uint64(len(rest)) {
			return parts, errors.New("cut off")
		}
		parts[i], rest = rest[:n:n], rest[n:]
	}
	return parts, nil
}

func writeSections(parts [sections][]byte) []byte {
	out := append(make([]byte, 0, headerSize), magic...)
	for _, p := range parts {
		out = binary.LittleEndian.AppendUint64(out, uint64(len(p)))
	}
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

// build makes the parts of t.
func (t *Tokenizer) build(c *config, pieces trie, scores, charsmap []byte) (err error) {
	if t.steps, err = c.Normalizer.steps(charsmap); err != nil {
		return err
	}
	if t.splits, err = c.PreTokenizer.splits(); err != nil {
		return err
	}
	if c.Model.Size <= 0 || c.Model.Size > maxSize {
		return fmt.Errorf("model: %d ids, want 1 to %d", c.Model.Size, maxSize)
	}
	if t.model, err = c.Model.open(pieces, scores); err != nil {
		return err
	}
	if t.single, t.pair, err = c.PostProcessor.templates(); err != nil {
		return err
	}
	t.size = c.Model.Size
	return t.buildAdded(c)
}

// buildAdded makes the added tokens and checks every id in the configuration.
func (t *Tokenizer) buildAdded(c *config) error {
	if len(c.AddedTokens) > maxAdded {
		return fmt.Errorf("added_tokens: more than %d", maxAdded)
	}
	var raw, normalised []addedToken
	for _, a := range c.AddedTokens {
		if a.Content == "" || a.ID < 0 || a.ID >= maxSize {
			return errors.New("added_tokens: a token is empty or its id is out of range")
		}
		t.size = max(t.size, int(a.ID)+1)
		if !a.Normalized {
			raw = append(raw, a)
			continue
		}
		text := []byte(a.Content)
		for _, apply := range t.steps {
			text = apply(nil, text)
		}
		if a.Content = string(text); a.Content != "" {
			normalised = append(normalised, a)
		}
	}
	t.added = addedTokens{newTokenSet(raw), newTokenSet(normalised)}
	for _, s := range append(t.single[:len(t.single):len(t.single)], t.pair...) {
		for _, id := range s.ids {
			if id < 0 || int(id) >= t.size {
				return errors.New("post_processor: the id of a special token is out of range")
			}
		}
	}
	return nil
}

// takeCharsmap removes the charsmap from a normaliser and returns it.
func takeCharsmap(c *normConfig) ([]byte, error) {
	if c == nil {
		return nil, nil
	}
	found := c.Charsmap
	c.Charsmap = nil
	for i := range c.Normalizers {
		inner, err := takeCharsmap(&c.Normalizers[i])
		if err != nil {
			return nil, err
		}
		if found != nil && inner != nil {
			return nil, errors.New("normalizer: more than one precompiled_charsmap")
		}
		if inner != nil {
			found = inner
		}
	}
	return found, nil
}

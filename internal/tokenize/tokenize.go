// Package tokenize converts text to the token ids of BERT and XLM-RoBERTa models. It implements WordPiece and SentencePiece's unigram
// model, configured by the tokenizer.json of Hugging Face's tokenizers library. Its results equal those of that library token by
// token.
//
// A tokenizer also has a compact form ([Tokenizer.Compact]), which [Open] uses in place: a vocabulary of 250,000 pieces needs no
// parsing and stays in mapped or embedded memory.
package tokenize

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// Tokenizer turns text into token ids. It is safe for concurrent use.
type Tokenizer struct {
	image   []byte // the compact form, see [Tokenizer.Compact]
	added   addedTokens
	steps   []step  // normalisation
	splits  []split // pre-tokenisation
	model   model
	single  template
	pair    template
	size    int
	scratch sync.Pool // *scratch
}

// model turns a word into ids.
type model interface {
	append(dst []int32, word []byte, s *scratch) []int32
	unknown() int32
}

// scratch is the working memory of one call.
type scratch struct {
	text, other []byte // input and output of a normalisation step
	words       words
	spare       words
	sections    []section
	normalised  []section
	nodes       []node
}

// words holds consecutive pieces of a text.
type words struct {
	text []byte
	ends []int // end of each word in the text
}

func (w *words) reset() { w.text, w.ends = w.text[:0], w.ends[:0] }

// end marks the end of a word at the end of the text, unless the word is empty.
func (w *words) end() {
	last := 0
	if n := len(w.ends); n > 0 {
		last = w.ends[n-1]
	}
	if len(w.text) > last {
		w.ends = append(w.ends, len(w.text))
	}
}

// Size returns the number of ids; every id is below it.
func (t *Tokenizer) Size() int { return t.size }

// Unknown returns the id for text that is not in the vocabulary.
func (t *Tokenizer) Unknown() int32 { return t.model.unknown() }

// Append appends the ids of text to dst, without the special tokens at both ends of an input. Bytes that are not UTF-8 are treated as
// U+FFFD. The names of special tokens in the text become those tokens, as in the tokenizers library.
func (t *Tokenizer) Append(dst []int32, text string) []int32 {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\ufffd")
	}
	s, _ := t.scratch.Get().(*scratch)
	if s == nil {
		s = new(scratch)
	}
	s.sections = t.added.raw.cut(s.sections[:0], text)
	for _, sec := range s.sections {
		if sec.id >= 0 {
			dst = append(dst, sec.id)
			continue
		}
		dst = t.section(dst, sec.text, sec.first, s)
	}
	t.release(s)
	return dst
}

// section appends the ids of a part of the text without special tokens; first reports whether it is the beginning of the text.
func (t *Tokenizer) section(dst []int32, text string, first bool, s *scratch) []int32 {
	s.text = append(s.text[:0], text...)
	for _, apply := range t.steps {
		s.other = apply(s.other[:0], s.text)
		s.text, s.other = s.other, s.text
	}
	if len(t.added.normalised) == 0 {
		return t.words(dst, s.text, first, s)
	}
	s.normalised = t.added.normalised.cut(s.normalised[:0], string(s.text))
	for _, sec := range s.normalised {
		if sec.id >= 0 {
			dst = append(dst, sec.id)
			continue
		}
		dst = t.words(dst, []byte(sec.text), first && sec.first, s)
	}
	return dst
}

// words appends the ids of normalised text.
func (t *Tokenizer) words(dst []int32, text []byte, first bool, s *scratch) []int32 {
	w, spare := &s.words, &s.spare
	w.reset()
	w.text = append(w.text, text...)
	w.end()
	for _, apply := range t.splits {
		spare.reset()
		from := 0
		for _, end := range w.ends {
			apply(spare, w.text[from:end], first && from == 0)
			from = end
		}
		w, spare = spare, w
	}
	from := 0
	for _, end := range w.ends {
		dst = t.model.append(dst, w.text[from:end], s)
		from = end
	}
	return dst
}

// maxKept is the maximum working memory that is kept between calls, in bytes of text.
const maxKept = 64 << 10

func (t *Tokenizer) release(s *scratch) {
	if cap(s.text) > maxKept || cap(s.words.text) > maxKept || cap(s.nodes) > maxKept {
		return
	}
	clear(s.sections[:cap(s.sections)]) // they would keep the text alive
	clear(s.normalised[:cap(s.normalised)])
	t.scratch.Put(s)
}

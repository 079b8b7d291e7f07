// Package tokenize turns text into the token ids of BERT and XLM-RoBERTa models:
// WordPiece and SentencePiece's unigram model, read from the tokenizer.json of
// Hugging Face's tokenizers library and equal to it token by token.
//
// A tokenizer can be kept in a compact form too ([Tokenizer.Compact]), which
// [Open] uses in place: a vocabulary of 250,000 pieces is ready at once and stays
// in mapped or embedded memory.
package tokenize

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// Tokenizer turns text into token ids. It is safe for concurrent use.
type Tokenizer struct {
	image   []byte // what [Tokenizer.Compact] returns
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
	text, other []byte // a section on its way through the steps
	words       words
	spare       words
	sections    []section
	normalised  []section
	nodes       []node
}

// words are pieces of a text, one after the other.
type words struct {
	text []byte
	ends []int // of each word
}

func (w *words) reset() { w.text, w.ends = w.text[:0], w.ends[:0] }

// end ends a word where the text ends, unless it is empty.
func (w *words) end() {
	last := 0
	if n := len(w.ends); n > 0 {
		last = w.ends[n-1]
	}
	if len(w.text) > last {
		w.ends = append(w.ends, len(w.text))
	}
}

// Size is the number of ids: every id is below it.
func (t *Tokenizer) Size() int { return t.size }

// Unknown is the id of what is not in the vocabulary.
func (t *Tokenizer) Unknown() int32 { return t.model.unknown() }

// Append appends the ids of text to dst, without the special tokens that begin and
// end an input. Bytes that are not UTF-8 count as U+FFFD. The names of special
// tokens in the text become those tokens, as in the original.
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

// section appends the ids of a stretch without special tokens; first reports that
// the text begins with it.
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

// maxKept bounds the working memory that is kept between calls, in bytes of text.
const maxKept = 64 << 10

func (t *Tokenizer) release(s *scratch) {
	if cap(s.text) > maxKept || cap(s.words.text) > maxKept || cap(s.nodes) > maxKept {
		return
	}
	clear(s.sections[:cap(s.sections)]) // they hold on to the text
	clear(s.normalised[:cap(s.normalised)])
	t.scratch.Put(s)
}

package tokenize

// template is the sequence of texts and special tokens in an input of a model.
type template []slot

// slot is a text or a special token.
type slot struct {
	text  int // 0 for the first text, 1 for the second, -1 for tokens
	ids   []int32
	types int32 // token type of this slot
}

// specials is the number of special tokens.
func (t template) specials() int {
	n := 0
	for _, s := range t {
		n += len(s.ids)
	}
	return n
}

// fill returns the input with the texts in their slots.
func (t template) fill(texts ...[]int32) (ids, types []int32) {
	n := t.specials()
	for _, x := range texts {
		n += len(x)
	}
	ids, types = make([]int32, 0, n), make([]int32, 0, n)
	for _, s := range t {
		what := s.ids
		if s.text >= 0 {
			what = texts[s.text]
		}
		ids = append(ids, what...)
		for range what {
			types = append(types, s.types)
		}
	}
	return ids, types
}

// Specials is the number of special tokens that Single adds.
func (t *Tokenizer) Specials() int { return t.single.specials() }

// Single makes an input from the ids of one text. It cuts off the end of the text so that at most limit ids remain, including the
// special tokens that it adds.
func (t *Tokenizer) Single(text []int32, limit int) []int32 {
	ids, _ := t.single.fill(text[:min(len(text), max(0, limit-t.Specials()))])
	return ids
}

// Pair makes an input of two texts with at most limit ids, and returns the token types of the ids. Too long texts lose their end, the
// longer text first, as in the strategy longest_first of the tokenizers library.
func (t *Tokenizer) Pair(a, b []int32, limit int) (ids, types []int32) {
	room := max(0, limit-t.pair.specials())
	if len(a)+len(b) > room {
		short := min(len(a), len(b))
		long := max(short, room-short)
		if short+long > room {
			short, long = room/2, room/2+room%2
		}
		if len(a) > len(b) {
			short, long = long, short
		}
		a, b = a[:short], b[:long]
	}
	return t.pair.fill(a, b)
}

// Windows makes the inputs for a text of any length. If the text and the special tokens fit into limit ids, there is one input.
// Otherwise there are several of about equal length, and each shares at least overlap ids with the previous one. limit must leave room
// for more than overlap ids.
func (t *Tokenizer) Windows(text []int32, limit, overlap int) [][]int32 {
	room := limit - t.Specials()
	if len(text) <= room {
		ids, _ := t.single.fill(text)
		return [][]int32{ids}
	}
	n := (len(text) - overlap + room - overlap - 1) / (room - overlap)
	out := make([][]int32, n)
	for i := range out {
		// The beginnings are spread evenly between the first and the last window.
		from := i * (len(text) - room) / (n - 1)
		out[i], _ = t.single.fill(text[from : from+room])
	}
	return out
}

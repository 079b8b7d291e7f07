package static

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/contextmem/contextmem/internal/simd"
)

// FNV-1a, 32 bits (Fowler, Noll, Vo): the hash of the file's index.
const (
	fnvOffset = 2166136261
	fnvPrime  = 16777619
)

// folded maps a byte to its lower-case form if it can be part of a token
// ([A-Za-z0-9]) and to 0 if it ends one.
var folded = func() (t [256]byte) {
	for c := byte('0'); c <= '9'; c++ {
		t[c] = c
	}
	for c := byte('a'); c <= 'z'; c++ {
		t[c], t[c-'a'+'A'] = c, c
	}
	return t
}()

// EmbedDocuments returns one vector per text, in order: [len(texts)][Dim]float32,
// divided by (norm + shrink), so every norm is below 1 and small for texts with
// little content. A text without any token gets a zero vector. All vectors of a
// call share one allocation. Many texts are embedded on all processors. The only error is that of ctx.
func (e *Embedder) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	all := make([]float32, len(texts)*e.dim)
	vecs := make([][]float32, len(texts))
	if workers := min(runtime.GOMAXPROCS(0), len(texts)/alone); workers > 1 {
		e.embedTogether(ctx, texts, vecs, all, workers)
	} else {
		for from := 0; from < len(texts) && ctx.Err() == nil; from += textsAtOnce {
			if from > 0 {
				runtime.Gosched() // yields to other goroutines
			}
			e.embedSome(texts, vecs, all, from)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return vecs, nil
}

// textsAtOnce is how many texts a goroutine embeds before it yields. Fewer than 2*alone texts are embedded by one goroutine.
const textsAtOnce, alone = 8, 64

// embedTogether embeds texts in workers goroutines; some texts are left out if ctx ends.
func (e *Embedder) embedTogether(ctx context.Context, texts []string, vecs [][]float32, all []float32, workers int) {
	var next atomic.Int64
	work := func() {
		for ctx.Err() == nil {
			from := int(next.Add(textsAtOnce)) - textsAtOnce
			if from >= len(texts) {
				return
			}
			e.embedSome(texts, vecs, all, from)
			runtime.Gosched()
		}
	}
	var wg sync.WaitGroup
	for range workers - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
}

// embedSome embeds textsAtOnce texts, beginning with the text at index from.
func (e *Embedder) embedSome(texts []string, vecs [][]float32, all []float32, from int) {
	for i := from; i < min(from+textsAtOnce, len(texts)); i++ {
		v := all[i*e.dim : (i+1)*e.dim : (i+1)*e.dim]
		e.sum(v, texts[i])
		divide(v, norm(v)+float64(e.shrink))
		vecs[i] = v
	}
}

// EmbedQuery returns the vector of a query, [Dim]float32 of unit length, or all
// zero if text has no token. The only error is that of ctx.
func (e *Embedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	v := make([]float32, e.dim)
	e.sum(v, text)
	divide(v, norm(v))
	return v, nil
}

// ReadQuery returns the results of [Embedder.EmbedQuery] and [Embedder.Coverage] in one pass.
func (e *Embedder) ReadQuery(text string) (vec []float32, coverage float64) {
	return e.AppendQuery(nil, text)
}

// AppendQuery is [Embedder.ReadQuery] with the vector appended to dst.
func (e *Embedder) AppendQuery(dst []float32, text string) (with []float32, coverage float64) {
	if cap(dst)-len(dst) >= e.dim {
		with = dst[:len(dst)+e.dim]
	} else {
		with = make([]float32, len(dst)+e.dim)
		copy(with, dst)
	}
	vec := with[len(dst):]
	clear(vec)
	r := reading{text: text}
	words, known := 0, 0
	for some := e.next(&r); len(some) > 0; some = e.next(&r) {
		e.add(vec, some)
		for k := range some {
			if t := &some[k]; !t.stop {
				words++
				if t.id >= 0 {
					known++
				}
			}
		}
	}
	divide(vec, norm(vec))
	if r.foreign { // the words of Coverage differ from the tokens of such a text
		return with, e.Coverage(text)
	}
	return with, share(known, words)
}

// AppendWord appends the unit-length vector of one word to dst, for late interaction (word against word). Case does not matter. It
// reports false, and returns dst unchanged, if the table lacks the word or has a zero vector for it: such words can only be compared
// for equality.
func (e *Embedder) AppendWord(dst []float32, word string) ([]float32, bool) {
	h, ok := hash(word)
	if !ok {
		return dst, false
	}
	id, ok := e.lookup(word, h)
	if !ok {
		return dst, false
	}
	n := len(dst)
	for range e.dim {
		dst = append(dst, 0)
	}
	v := dst[n:]
	e.addWord(v, id)
	length := norm(v)
	if length == 0 {
		return dst[:n], false
	}
	divide(v, length)
	return dst, true
}

// token is a run of ASCII letters and digits of a text.
type token struct {
	start, end int
	id         int    // index of its word in the table, -1 for none; before the lookup, the content of its slot
	hash       uint32 // of its lower-case form
	stop       bool   // carries no meaning: a stop word, or one character
}

// reading is the state of one pass over a text. Tokens are looked up in blocks before their vectors are added, so that the processor
// fetches the scattered table rows of a block at the same time.
type reading struct {
	text    string
	at      int
	foreign bool // the text before at has characters outside ASCII
	tokens  [16]token
}

// next returns the next tokens, none at the end of the text.
func (e *Embedder) next(r *reading) []token {
	n, i, text := 0, r.at, r.text
	for i < len(text) && n < len(r.tokens) {
		c := folded[text[i]]
		if c == 0 {
			r.foreign = r.foreign || text[i] >= utf8.RuneSelf
			i++
			continue
		}
		start, h := i, uint32(fnvOffset)
		for c != 0 {
			h = (h ^ uint32(c)) * fnvPrime
			if i++; i == len(text) {
				break
			}
			c = folded[text[i]]
		}
		r.tokens[n] = token{start: start, end: i, hash: h, id: e.slot(h & e.mask)}
		n++
	}
	r.at = i
	for k := range r.tokens[:n] {
		t := &r.tokens[k]
		word := text[t.start:t.end]
		t.stop = len(word) == 1 || isStopWord(word, t.hash)
		if t.id = e.find(word, t.hash&e.mask, t.id); t.id >= 0 {
			simd.Prefetch(e.rows[t.id*e.dim : (t.id+1)*e.dim])
		}
	}
	return r.tokens[:n]
}

// add adds the vectors of tokens to v.
func (e *Embedder) add(v []float32, some []token) {
	for k := range some {
		switch t := &some[k]; {
		case t.id >= 0:
			e.addWord(v, t.id)
		case !t.stop:
			addUnknown(v, t.hash, e.oov)
		}
	}
}

// sum adds the vectors of all tokens of text to v.
func (e *Embedder) sum(v []float32, text string) {
	r := reading{text: text}
	for some := e.next(&r); len(some) > 0; some = e.next(&r) {
		e.add(v, some)
	}
}

// hash is the FNV-1a of word in lower case; ok is false unless word is exactly
// one token.
func hash(word string) (h uint32, ok bool) {
	h = fnvOffset
	for i := range len(word) {
		c := folded[word[i]]
		if c == 0 {
			return 0, false
		}
		h = (h ^ uint32(c)) * fnvPrime
	}
	return h, len(word) > 0
}

// lookup finds the id of a token whose lower-case form hashes to h.
func (e *Embedder) lookup(token string, h uint32) (int, bool) {
	at := h & e.mask
	id := e.find(token, at, e.slot(at))
	return id, id >= 0
}

// slot returns the index of the word in a slot, -1 for none.
func (e *Embedder) slot(at uint32) int {
	return int(binary.LittleEndian.Uint32(e.table[4*int(at):])) - 1
}

// find is lookup that starts at slot at, which holds id; it returns -1 if the table lacks the token.
func (e *Embedder) find(token string, at uint32, id int) int {
	for id >= 0 {
		from := binary.LittleEndian.Uint32(e.offsets[4*id:])
		to := binary.LittleEndian.Uint32(e.offsets[4*id+4:])
		if equalFolded(token, e.words[from:to]) {
			return id
		}
		at = (at + 1) & e.mask
		id = e.slot(at)
	}
	return id
}

// equalFolded reports whether token in lower case is word.
func equalFolded[W string | []byte](token string, word W) bool {
	if len(token) != len(word) {
		return false
	}
	for i := range len(word) {
		if folded[token[i]] != word[i] {
			return false
		}
	}
	return true
}

// addWord adds the table's vector of word id to v.
func (e *Embedder) addWord(v []float32, id int) {
	scale := math.Float32frombits(binary.LittleEndian.Uint32(e.scales[4*id:]))
	row := e.rows[id*e.dim : (id+1)*e.dim]
	whole := len(v) &^ (simd.AlignF32 - 1)
	simd.AddScaled(v[:whole], row, scale)
	for i := whole; i < len(v); i++ {
		v[i] += float32(scale * float32(int8(row[i]))) // rounded before the addition, as in AddScaled
	}
}

// addUnknown adds a vector of +-oov for a word that the table lacks. Its signs are the bits of SplitMix64 (Steele, Lea, Flood 2014)
// seeded with the word's hash, lowest bit first; a set bit means plus. The same word always gets the same vector, and different words
// get nearly orthogonal ones, so rare names and codes match only themselves.
func addUnknown(v []float32, h uint32, oov float32) {
	state := uint64(h)
	for len(v) > 0 {
		state += 0x9e3779b97f4a7c15
		z := state
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		z ^= z >> 31
		n := min(64, len(v))
		for i := range v[:n] {
			// Moves the inverted lowest bit into the sign of oov, which is not negative.
			v[i] += math.Float32frombits(math.Float32bits(oov) | uint32(^z&1)<<31)
			z >>= 1
		}
		v = v[n:]
	}
}

// norm is the Euclidean length of v.
func norm(v []float32) float64 {
	var s float64
	for _, x := range v {
		s += float64(x) * float64(x)
	}
	return math.Sqrt(s)
}

// divide divides v by d; a d of 0, that of a zero vector, changes nothing.
func divide(v []float32, d float64) {
	if d == 0 {
		return
	}
	f := 1 / d // float32 would overflow for the smallest d
	for i, x := range v {
		v[i] = float32(float64(x) * f)
	}
}

// fingerprint is the first 8 bytes of the SHA-256 of data, in hex.
func fingerprint(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// Package static turns English text into vectors with a table of word vectors:
// no network, no model runtime, a few microseconds per text.
//
// The bundled table, static-en-128, holds 68,000 words of 128 dimensions in
// int8 and is read in place from the program's own image, so [New] costs
// nothing. A text is the weighted sum of its words. Queries are scaled to unit
// length; documents are divided by their length plus a constant, so that a
// document with little content scores low against everything. Score a query
// against a document by the inner product: making documents unit length again
// loses most of what the table was trained for.
//
// The table is English. Text in other scripts yields a zero vector; use
// [Embedder.Coverage] to learn how much of a text the table knows before
// giving its score any weight.
package static

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// bundledModel is the name of the vectors of static-en-128.cmse. It must change whenever the bytes of that file change.
const bundledModel = "static-en-128/1"

//go:embed static-en-128.cmse
var bundled []byte

// Limits of a CMSE1 file. They are far above any useful word table and keep
// every product of header fields inside 64 bits.
const (
	maxDim   = 4096
	maxVocab = 1 << 26
	maxSlots = 1 << 28
	// maxWeight bounds scale, shrink and oov, so that no sum overflows float32.
	maxWeight = 1e6
)

const (
	magic      = "CMSE1\x00\x00\x00"
	headerSize = len(magic) + 6*4
)

// ErrFormat is wrapped by every error of [Open].
var ErrFormat = errors.New("static: not a valid CMSE1 file")

// Embedder computes vectors from one word table. It holds no mutable state:
// all methods are safe for concurrent use. Make one with [New] or [Open]; the
// zero value is not usable.
type Embedder struct {
	model  string
	dim    int
	vocab  int
	mask   uint32 // slots-1
	shrink float32
	oov    float32

	// Sections of the file, read in place, little endian.
	table   []byte // u32 per slot: word id + 1, 0 = empty
	offsets []byte // u32 per word, and one more: start in words
	words   []byte
	scales  []byte // f32 per word
	rows    []byte // i8, dim per word
}

// New returns the embedder over the bundled table, static-en-128. It only reads a 32-byte header.
func New() *Embedder {
	e, err := layout(bundled)
	if err != nil {
		panic("static: bundled table: " + err.Error()) // a broken build; its checksum is tested
	}
	e.model = bundledModel
	return e
}

// Open returns an embedder over data, the bytes of a CMSE1 file. It keeps data and reads it in place, so data must not change
// afterwards (a read-only memory map is fine). Open checks the whole index once, in time linear in its size, so no later call can fail
// or panic because of data. Model is "static-<hash>", a name derived from all bytes of data. Errors wrap [ErrFormat].
func Open(data []byte) (*Embedder, error) {
	e, err := layout(data)
	if err != nil {
		return nil, err
	}
	if err := e.check(); err != nil {
		return nil, err
	}
	e.model = fmt.Sprintf("static-%s", fingerprint(data))
	return e, nil
}

// Model names the table; vectors of different models must not be compared. It
// is "static-en-128/1" for the bundled table.
func (e *Embedder) Model() string { return e.model }

// Dim is the number of dimensions of every vector: 128 for the bundled table.
func (e *Embedder) Dim() int { return e.dim }

// layout reads the header and cuts data into sections; it checks lengths, not
// contents.
func layout(data []byte) (*Embedder, error) {
	if len(data) < headerSize || string(data[:len(magic)]) != magic {
		return nil, fmt.Errorf("%w: no header", ErrFormat)
	}
	field := func(i int) uint32 { return binary.LittleEndian.Uint32(data[len(magic)+4*i:]) }
	dim, vocab, slots, size := field(0), field(1), field(2), field(3)
	switch {
	case dim == 0 || dim > maxDim:
		return nil, fmt.Errorf("%w: %d dimensions, want 1 to %d", ErrFormat, dim, maxDim)
	case vocab > maxVocab:
		return nil, fmt.Errorf("%w: %d words, want at most %d", ErrFormat, vocab, maxVocab)
	case slots == 0 || slots > maxSlots || slots&(slots-1) != 0:
		return nil, fmt.Errorf("%w: %d slots, want a power of two up to %d", ErrFormat, slots, maxSlots)
	case vocab >= slots:
		return nil, fmt.Errorf("%w: %d words need more than %d slots", ErrFormat, vocab, slots)
	}
	e := &Embedder{
		dim: int(dim), vocab: int(vocab), mask: slots - 1,
		shrink: math.Float32frombits(field(4)),
		oov:    math.Float32frombits(field(5)),
	}
	if !weight(e.shrink) || !weight(e.oov) {
		return nil, fmt.Errorf("%w: shrink or oov is out of range", ErrFormat)
	}
	rest := data[headerSize:]
	for _, s := range []struct {
		dst  *[]byte
		size uint64
	}{
		{&e.table, 4 * uint64(slots)},
		{&e.offsets, 4 * (uint64(vocab) + 1)},
		{&e.words, uint64(size)},
		{&e.scales, 4 * uint64(vocab)},
		{&e.rows, uint64(vocab) * uint64(dim)},
	} {
		if s.size > uint64(len(rest)) {
			return nil, fmt.Errorf("%w: cut short", ErrFormat)
		}
		*s.dst, rest = rest[:s.size:s.size], rest[s.size:]
	}
	if len(rest) != 0 {
		return nil, fmt.Errorf("%w: %d bytes too long", ErrFormat, len(rest))
	}
	return e, nil
}

// check verifies the assumptions of lookups: ids are inside the vocabulary and used once (so there is an empty slot and probing ends),
// offsets only grow and stay inside the words, scales are numbers.
func (e *Embedder) check() error {
	seen := make([]bool, e.vocab)
	for i := 0; i < len(e.table); i += 4 {
		id := binary.LittleEndian.Uint32(e.table[i:])
		if id == 0 {
			continue
		}
		if int64(id) > int64(e.vocab) {
			return fmt.Errorf("%w: slot %d names a word that does not exist", ErrFormat, i/4)
		}
		if seen[id-1] {
			return fmt.Errorf("%w: slot %d repeats a word", ErrFormat, i/4)
		}
		seen[id-1] = true
	}
	prev := uint32(0)
	for i := 0; i < len(e.offsets); i += 4 {
		off := binary.LittleEndian.Uint32(e.offsets[i:])
		if off < prev || uint64(off) > uint64(len(e.words)) {
			return fmt.Errorf("%w: bad offset of word %d", ErrFormat, i/4)
		}
		prev = off
	}
	for i := 0; i < len(e.scales); i += 4 {
		if !weight(math.Float32frombits(binary.LittleEndian.Uint32(e.scales[i:]))) {
			return fmt.Errorf("%w: bad scale of word %d", ErrFormat, i/4)
		}
	}
	return nil
}

// weight reports whether f is a usable factor: a number in [0, maxWeight].
func weight(f float32) bool { return f >= 0 && f <= maxWeight }

// Strength is the weight of the vector part in a hybrid score at the default alpha. The values were the best on development sets of
// conversations and of encyclopedic passages (see docs/recall.md).
func (e *Embedder) Strength() (memory, knowledge float64) { return .5, .2 }

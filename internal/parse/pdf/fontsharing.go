package pdf

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
)

const (
	// maxDescription bounds the bytes that describe a font, and maxDescriptionDepth their nesting. A font beyond them is not shared.
	maxDescription, maxDescriptionDepth = 256 << 10, 16
	// maxAlike bounds the shared fonts that differ in their streams only.
	maxAlike = 4
)

// fontEntries are the entries of dictionaries that the reader always reads to make a font. programEntries are those that it reads in addition
// when the font's text depends on its embedded program.
var (
	fontEntries = []name{"Subtype", "BaseFont", "Encoding", "ToUnicode", "FirstChar", "Widths", "FontMatrix", "FontBBox", "DescendantFonts", "FontDescriptor",
		"BaseEncoding", "Differences", "Flags", "MissingWidth", "CIDSystemInfo", "Registry", "Ordering", "DW", "DW2", "W", "UseCMap", "WMode",
		"Filter", "F", "DecodeParms", "DP", "EarlyChange", "Predictor", "Columns", "Colors", "BitsPerComponent"}
	programEntries = slices.Concat(fontEntries, []name{"FontFile", "FontFile2", "FontFile3", "CIDToGIDMap"})
)

// description is what a font is made of: the hash of its entries, and the bytes of its streams as they are in the file.
type description struct {
	sum     [sha256.Size]byte
	streams [][]byte
}

// equal reports whether two fonts are made of the same. It spends work for the bytes that it compares.
func (d *document) equal(a, b description) bool {
	if a.sum != b.sum || len(a.streams) != len(b.streams) {
		return false
	}
	for i := range a.streams {
		if !d.tick(len(a.streams[i])/64) || !bytes.Equal(a.streams[i], b.streams[i]) {
			return false
		}
	}
	return true
}

// sharedFont is a font for all dictionaries of its description. whole is set if the font depends on its embedded program, and includes it.
type sharedFont struct {
	font         *font
	frame, whole description
}

// make returns the font of a dictionary: that of an equal dictionary, under a number of its own, or a new one. Documents that are joined from
// others repeat their fonts.
func (fs *fonts) make(dic dict) *font {
	fs.made++
	frame, ok := fs.describe(dic, fontEntries)
	if !ok {
		return fs.d.newFont(dic, fs.made)
	}
	if shared := fs.find(dic, frame); shared != nil {
		f := *shared
		f.style = f.style.numbered(fs.made)
		return &f
	}
	f := fs.d.newFont(dic, fs.made)
	if fs.d.stop == nil && len(fs.shared[frame.sum]) < maxAlike {
		s := sharedFont{font: f, frame: frame}
		if f.readProgram {
			s.whole, ok = fs.describe(dic, programEntries)
		}
		if ok {
			fs.shared[frame.sum] = append(fs.shared[frame.sum], s)
		}
	}
	return f
}

// find returns a font that is made of the same as the dictionary, or nil. It looks at embedded programs only if the font was made with its own:
// then the dictionary's font would be too.
func (fs *fonts) find(dic dict, frame description) *font {
	var whole description
	for _, s := range fs.shared[frame.sum] {
		if !fs.d.equal(s.frame, frame) {
			continue
		}
		if s.font.readProgram {
			if whole.streams == nil {
				var ok bool
				if whole, ok = fs.describe(dic, programEntries); !ok {
					return nil
				}
			}
			if !fs.d.equal(s.whole, whole) {
				continue
			}
		}
		return s.font
	}
	return nil
}

// describe returns the description of a font by the entries. It reports false if the font is too large to describe, or if its streams are
// encrypted: then equal bytes do not have equal contents.
func (fs *fonts) describe(dic dict, entries []name) (description, bool) {
	if c := fs.d.crypt; c != nil && c.streamMethod != cryptNone {
		return description{}, false
	}
	w := describer{d: fs.d, entries: entries, out: fs.space[:0]}
	ok := w.add(dic, 0)
	fs.space = w.out
	if !fs.d.tick(len(w.out)) || !ok {
		return description{}, false
	}
	return description{sha256.Sum256(w.out), w.streams}, true
}

// describer writes values so that different ones have different bytes.
type describer struct {
	d       *document
	entries []name
	out     []byte
	streams [][]byte
}

// add writes a value, with the references in it resolved. It returns false when the description becomes too large.
func (w *describer) add(o any, depth int) bool {
	if depth > maxDescriptionDepth || len(w.out) > maxDescription {
		return false
	}
	switch v := w.d.resolve(o).(type) {
	case int:
		w.number('i', uint64(v))
	case float64:
		w.number('f', math.Float64bits(v))
	case name:
		w.text('n', string(v))
	case str:
		w.text('s', string(v))
	case keyword:
		w.text('k', string(v))
	case bool:
		if v {
			w.out = append(w.out, 't')
		} else {
			w.out = append(w.out, 'u')
		}
	case array:
		w.number('a', uint64(len(v)))
		for _, e := range v {
			if !w.add(e, depth+1) {
				return false
			}
		}
	case *stream:
		w.number('r', uint64(len(v.raw)))
		w.streams = append(w.streams, v.raw)
		return w.dict(v.dict, depth)
	case dict:
		return w.dict(v, depth)
	default:
		w.out = append(w.out, '0')
	}
	return true
}

func (w *describer) dict(v dict, depth int) bool {
	w.out = append(w.out, 'd')
	for i, key := range w.entries {
		if e, ok := v[key]; ok {
			w.out = append(w.out, byte(i))
			if !w.add(e, depth+1) {
				return false
			}
		}
	}
	w.out = append(w.out, 0xff)
	return true
}

func (w *describer) number(kind byte, v uint64) {
	w.out = binary.AppendUvarint(append(w.out, kind), v)
}

func (w *describer) text(kind byte, s string) {
	w.number(kind, uint64(len(s)))
	w.out = append(w.out, s...)
}

package sqlite

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/extract"
	"github.com/contextmem/contextmem/internal/move"
)

// Values that the library writes into many rows are stored in a short form. The short form has another SQLite type than the column's usual
// one, so it cannot be confused with values of callers or of earlier releases:
//
//   - a word of [words], in a column of texts, as a blob of one byte
//   - JSON, in a column of blobs, as a text in which bytes stand for [phrases]
//   - the key of a chunk as a blob: the 16 bytes of its hexadecimal digits, and its number where that is not the ordinal
//   - the sentence of a relation as a blob with its offset and length in the text of its chunk, if it occurs there
//   - the time at which a relation was learnt as an empty text, if it equals the time about which the relation speaks
//
// The two lists are part of the format: new entries are added at the end, and none may change.
var (
	words = [...]string{
		"", extract.TypePerson, extract.TypeOrganization, extract.TypeLocation, extract.TypeProduct, extract.TypeProject, extract.TypeEvent,
		extract.TypeDate, extract.TypeQuantity, extract.TypeMoney, extract.TypeIdentifier, extract.TypeErrorCode, extract.TypeURL,
		extract.TypeEmail, extract.TypeHandle, extract.TypeConcept, "text/plain", "text/markdown",
	}
	phrases = [...]string{
		`{"offsets":{"document_level_start_index":0}}`, `{"offsets":{"document_level_start_index":`, `,"page_level_start_index":`, `},"page":`,
		`{"k":["`, `"],"t":true,"f":true}`, `"],"t":true}`, `"],"f":true}`, `"],"y":true}`, `"],"s":"`, `{"s":"`,
		`{"q":true`, `{"t":true`, `{"f":true`, `{"y":true`, `,"q":true`, `,"t":true`, `,"f":true`, `,"y":true`, ` am on `, ` pm on `,
		`January, 20`, `February, 20`, `March, 20`, `April, 20`, `May, 20`, `June, 20`, `July, 20`, `August, 20`, `September, 20`, `October, 20`,
		`November, 20`, `December, 20`, `{"un":"User"}`, `{"un":"`, `{"nt":true`, `,"a":{"k":"`, `custom"}}`, `,"inferred":true}`,
	}
)

// phraseBytes lists the bytes that represent the phrases. They do not occur in JSON.
const phraseBytes = "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f" +
	"\xc0\xc1\xf5\xf6\xf7\xf8\xf9\xfa\xfb\xfc\xfd\xfe\xff"

var (
	wordBlobs    = map[string]any{}
	phraseOf     [256]string // byte -> phrase that it represents
	phraseByte   [256]bool   // whether a byte is in phraseBytes
	intoPhrases  *strings.Replacer
	chunkInfix   = "_chunk_"
	prefixDigits = 32
)

func init() {
	for i, w := range words {
		if w != "" {
			wordBlobs[w] = []byte{byte(i)}
		}
	}
	pairs := make([]string, 0, 2*len(phrases))
	for i, p := range phrases {
		phraseOf[phraseBytes[i]] = p
		pairs = append(pairs, p, phraseBytes[i:i+1])
	}
	for i := range len(phraseBytes) {
		phraseByte[phraseBytes[i]] = true
	}
	intoPhrases = strings.NewReplacer(pairs...)
}

// shortWord returns the stored form of a text.
func shortWord(s string) any {
	if b, ok := wordBlobs[s]; ok {
		return b
	}
	return s
}

// word reads a column stored by [shortWord].
func (r *row) word(i int) string {
	if b, ok := r.vals[i].([]byte); ok {
		if len(b) != 1 || int(b[0]) >= len(words) {
			r.wrong(i)
			return ""
		}
		return words[b[0]]
	}
	return r.str(i)
}

// shortJSON returns the stored form of JSON.
func shortJSON(b []byte) any {
	if len(b) == 0 || slices.ContainsFunc(b, func(c byte) bool { return phraseByte[c] || c == 0 }) {
		return b
	}
	s := intoPhrases.Replace(string(b))
	if len(s) >= len(b) {
		return b
	}
	return s
}

// json reads a column stored by [shortJSON]; nil for NULL.
func (r *row) json(i int) []byte {
	s, ok := r.vals[i].(string)
	if !ok {
		return r.blob(i)
	}
	n := 0
	for j := range len(s) {
		n += max(len(phraseOf[s[j]]), 1)
	}
	b := make([]byte, 0, n)
	for j := range len(s) {
		if p := phraseOf[s[j]]; p != "" {
			b = append(b, p...)
		} else {
			b = append(b, s[j])
		}
	}
	return b
}

// shortKey returns the stored form of a chunk's key.
func shortKey(key string, ordinal int) any {
	if len(key) <= prefixDigits+len(chunkInfix) || key[prefixDigits:prefixDigits+len(chunkInfix)] != chunkInfix {
		return key
	}
	prefix, number := key[:prefixDigits], key[prefixDigits+len(chunkInfix):]
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || strconv.Itoa(n) != number || strings.Trim(prefix, "0123456789abcdef") != "" {
		return key
	}
	b, err := hex.AppendDecode(nil, []byte(prefix))
	if err != nil {
		return key
	}
	if n != ordinal {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return b
}

// key reads a column stored by [shortKey]. The ordinal is in another column.
func (r *row) key(i, ordinal int) string {
	b, ok := r.vals[i].([]byte)
	if !ok {
		return r.str(i)
	}
	n := uint64(r.int(ordinal))
	if len(b) > prefixDigits/2 {
		var size int
		if n, size = binary.Uvarint(b[prefixDigits/2:]); size != len(b)-prefixDigits/2 {
			r.wrong(i)
			return ""
		}
	}
	if len(b) < prefixDigits/2 {
		r.wrong(i)
		return ""
	}
	var room [64]byte
	out := append(hex.AppendEncode(room[:0], b[:prefixDigits/2]), chunkInfix...)
	return string(strconv.AppendUint(out, n, 10))
}

// shortContext returns the stored form of a relation's sentence.
func shortContext(context, text string) any {
	at := strings.Index(text, context)
	if at < 0 || context == "" {
		return context
	}
	b := binary.AppendUvarint(make([]byte, 0, 2*binary.MaxVarintLen32), uint64(at))
	return binary.AppendUvarint(b, uint64(len(context)))
}

// contextText is the expression for the chunk's text of a relation r whose sentence is stored in the short form.
const contextText = "CASE typeof(r.context) WHEN 'blob' THEN (SELECT t.text FROM chunks t WHERE t.num = r.chunk) END"

// context reads a column stored by [shortContext]. text is the column of contextText.
func (r *row) context(i, text int) string {
	b, ok := r.vals[i].([]byte)
	if !ok {
		return r.str(i)
	}
	from, n := binary.Uvarint(b)
	size, m := binary.Uvarint(b[max(n, 0):])
	whole, ok := r.vals[text].(string)
	if n <= 0 || m <= 0 || n+m != len(b) || !ok || from > uint64(len(whole)) || size > uint64(len(whole))-from {
		r.err = fmt.Errorf("sqlite: the sentence of a relation does not stand in its chunk: %w", backend.ErrCorrupt)
		return ""
	}
	return strings.Clone(whole[from : from+size])
}

// shortLearnt returns the stored form of the time at which a relation was learnt.
func shortLearnt(at any, ord int64) any {
	if at == any(ord) {
		return ""
	}
	return at
}

// learnt reads a column stored by [shortLearnt]. Column ord has the time about which the relation speaks.
func (r *row) learnt(i, ord int) any {
	if r.vals[i] == any("") {
		return r.int(ord)
	}
	return r.vals[i]
}

// restored returns the full value of a column for package move, from column i of a query on. short is false if the column has no short form.
func restored(t *move.Table, r *row, i, col int) (value any, short bool) {
	switch name := t.Cols[col].Name; {
	case t == move.Chunks && name == "key":
		return []byte(r.key(i+col, i+chunkOrdinal)), true
	case t == move.Chunks && (name == "layout" || name == "extra"), t == move.Sources && name == "doc":
		if r.null(i + col) {
			return nil, true
		}
		return r.json(i + col), true
	case (t == move.Entities || t == move.Edges) && name == "type", t == move.Sources && name == "media":
		return []byte(r.word(i + col)), true
	case t == move.Relations && name == "context":
		return []byte(r.context(i+col, i+len(t.Cols))), true
	case t == move.Relations && name == "known_from":
		return r.learnt(i+col, i+relationOrd), true
	}
	return nil, false
}

// shorten converts the columns that [restored] expands to their short form, in a row that is about to be inserted.
func (s *spot) shorten(t *move.Table, args []any) error {
	for i, c := range t.Cols {
		text, _ := args[i].(string)
		switch data, _ := args[i].([]byte); {
		case t == move.Chunks && c.Name == "key":
			ordinal, _ := args[chunkOrdinal].(int64)
			args[i] = shortKey(text, int(ordinal))
		case t == move.Chunks && (c.Name == "layout" || c.Name == "extra"), t == move.Sources && c.Name == "doc":
			args[i] = shortJSON(data)
		case (t == move.Entities || t == move.Edges) && c.Name == "type", t == move.Sources && c.Name == "media":
			args[i] = shortWord(text)
		case t == move.Relations && c.Name == "context":
			whole := ""
			if _, err := s.c.one(bg, "SELECT text FROM chunks WHERE num = ?", func(r *row) error {
				whole = r.str(0)
				return nil
			}, args[relationChunk]); err != nil {
				return err
			}
			args[i] = shortContext(text, whole)
		case t == move.Relations && c.Name == "known_from":
			if ord, ok := args[relationOrd].(int64); ok {
				args[i] = shortLearnt(args[i], ord)
			}
		}
	}
	return nil
}

var (
	chunkOrdinal               = move.Chunks.At("ordinal")
	relationOrd, relationChunk = move.Relations.At("ord"), move.Relations.At("chunk")
)

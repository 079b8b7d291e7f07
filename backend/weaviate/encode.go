package weaviate

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-openapi/strfmt"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/lexical"
)

// space names a partition in the cluster. Searches filter by it, and each of the partition's terms begins with it.
type space string

// spaceOf returns the hash of a partition. It hides the names of sub-tenants, which users choose freely.
func spaceOf(p backend.Partition) space {
	sum := sha256.Sum256(append([]byte{byte(p.Class)}, p.Sub...))
	return space(base64.RawURLEncoding.EncodeToString(sum[:12]))
}

// subOf returns the hash of a sub-tenant's name. It is the same for all classes.
func subOf(sub string) string {
	sum := sha256.Sum256([]byte(sub))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// idOf returns the id of the object for a name of a kind. It is deterministic, so storing the object again replaces it.
func idOf(kind, name string) string {
	id := sha256.Sum256([]byte(kind + "\x00" + name))
	id[6] = id[6]&0x0f | 0x80 // version 8
	id[8] = id[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:16])
}

// number encodes an integer that a Store assigned as text, since JSON numbers are not exact.
func number(n int64) string { return strconv.FormatInt(n, 10) }

func parseNumber(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("weaviate: a number of an object cannot be read: %w", backend.ErrCorrupt)
	}
	return n, nil
}

func tagsOf(tags []uint64) []string {
	out := make([]string, len(tags))
	for i, t := range tags {
		out[i] = strconv.FormatUint(t, 36)
	}
	return out
}

// place names the vector of a chunk in a lane.
func place(chunk int64, lane backend.Lane) string { return number(chunk) + "/" + number(int64(lane)) }

// laneOf names a lane of a class for filters. The lane of raw vectors has a separate name, since it is never dropped.
func laneOf(c backend.Class, l backend.Lane) string {
	if c == backend.Raw {
		return "raw"
	}
	return number(int64(l))
}

// laneSpace names a lane of a partition. Vector searches filter by it.
func laneSpace(p backend.Partition, l backend.Lane) string {
	return string(spaceOf(p)) + "/" + number(int64(l))
}

const (
	// stopSign is the first character of a stop word in a bag. It replaces the zero byte with which the term begins.
	stopSign = '!'
	// stemSign begins a stem in a bag: the encoded byte with which the term begins.
	stemSign = "%01"
)

// encodeTerm encodes a term without white space, so that it stays one token.
func encodeTerm(term string) string {
	plain := utf8.ValidString(term)
	for _, r := range term {
		plain = plain && r != '%' && r != stopSign && !unicode.IsSpace(r) && !unicode.IsControl(r)
	}
	if plain {
		return term
	}
	var b strings.Builder
	if term[0] == 0 {
		b.WriteByte(stopSign)
		term = term[1:]
	}
	for i := 0; i < len(term); {
		r, size := utf8.DecodeRuneInString(term[i:])
		if r == utf8.RuneError && size <= 1 || r == '%' || r == stopSign || unicode.IsSpace(r) || unicode.IsControl(r) {
			for _, c := range []byte(term[i : i+size]) {
				fmt.Fprintf(&b, "%%%02x", c)
			}
		} else {
			b.WriteString(term[i : i+size])
		}
		i += size
	}
	return b.String()
}

// titleWeight is the weight of words of the title, as package backend prescribes.
const titleWeight = 3

// field is the tokens of a text, and the weight of each token.
type field struct {
	weight int
	tokens []lexical.Token
}

// fieldsOf analyses the texts of a chunk: title, heading, text and the further texts in more.
func fieldsOf(title string, r *backend.Row, more []string) []field {
	texts := append([]string{title, r.Heading, r.Text}, more...)
	out, in := make([]field, len(texts)), lexical.StemLanguageOf(texts...)
	for i, text := range texts {
		out[i] = field{1, lexical.AnalyzeDocument(nil, text, in)}
	}
	out[0].weight = titleWeight
	return out
}

// bagOf encodes the terms of fields and their positions, for the property that the cluster does not index. Each field is a
// line. A token is the distance from the token before it, a colon and its term; distance 1 is omitted.
func bagOf(fields []field) string {
	var b strings.Builder
	for i, f := range fields {
		if i > 0 {
			b.WriteByte('\n')
		}
		at := 0
		for j, t := range f.tokens {
			if j > 0 {
				b.WriteByte(' ')
			}
			if step := t.Pos - at; step != 1 {
				b.WriteString(strconv.Itoa(step))
			}
			at = t.Pos
			b.WriteByte(':')
			b.WriteString(encodeTerm(t.Term))
		}
	}
	return b.String()
}

// wordsOf encodes the terms of a chunk for the keyword index of the cluster. words repeats each term according to its
// weight. stops has each stop word once; stop words do not score and can only be required. length is the weighted number
// of words. Each term begins with the space, so that the cluster counts the terms of each partition separately. everyTerm is the last of words.
func wordsOf(s space, fields []field) (words, stops string, length int) {
	var b, other strings.Builder
	seen := map[string]bool{}
	for _, f := range fields {
		for _, t := range f.tokens {
			if t.Stop() {
				if !seen[t.Term] {
					seen[t.Term] = true
					other.WriteString(wordOf(s, t.Term))
					other.WriteByte(' ')
				}
				continue
			}
			if !t.Uncounted() {
				length += f.weight
			}
			for range f.weight {
				b.WriteString(wordOf(s, t.Term))
				b.WriteByte(' ')
			}
		}
	}
	if b.Len() > 0 {
		b.WriteString(tokenOf(s, everyTerm))
		b.WriteByte(' ')
	}
	return b.String(), other.String(), length
}

// everyTerm is an encoded term that all chunks with words have in the keyword index of the cluster, and no bag has. It is not the code of any term. Searches that the
// cluster ranks ask for it: up to 1.35.2 its BM25 with a limit loses a chunk where the last block of one term ends before those of two others. It loses
// none if one of the terms is in all chunks.
const everyTerm = "%"

// wordOf returns the token of a term in the keyword index.
func wordOf(s space, term string) string { return tokenOf(s, encodeTerm(term)) }

// tokenOf returns the token of an encoded term in the keyword index.
func tokenOf(s space, encoded string) string { return string(s) + "~" + encoded }

// bag is the decoded result of bagOf for the terms of a query.
type bag struct {
	tf     map[string]int
	places map[string][]spot
	length int // weighted number of words
	tokens int // number of tokens in the keyword index of the cluster
}

// spot is a position of a term.
type spot struct{ field, pos int }

// readBag decodes the frequencies of the wanted terms, which are given in encoded form. If places is set it also decodes
// their positions.
func readBag(text string, want map[string]bool, places bool) (bag, error) {
	out := bag{tf: make(map[string]int, len(want))}
	if places {
		out.places = make(map[string][]spot, len(want))
	}
	var err error
	out.length, err = eachTerm(text, func(term string, weight, field, pos int) {
		if term == "" || term[0] != stopSign {
			out.tokens += weight
		}
		if !want[term] {
			return
		}
		out.tf[term] += weight
		if places {
			out.places[term] = append(out.places[term], spot{field, pos})
		}
	})
	return out, err
}

// eachTerm calls f for each term of a result of bagOf. It returns the weighted number of words.
func eachTerm(text string, f func(term string, weight, field, pos int)) (length int, err error) {
	number := 0
	for line := range strings.SplitSeq(text, "\n") {
		weight := 1
		if number == 0 {
			weight = titleWeight
		}
		pos := 0
		for token := range strings.FieldsSeq(line) {
			step, term, ok := strings.Cut(token, ":")
			if !ok {
				return 0, fmt.Errorf("weaviate: the terms of an object cannot be read: %w", backend.ErrCorrupt)
			}
			if step == "" {
				pos++
			} else {
				n, err := strconv.Atoi(step)
				if err != nil {
					return 0, fmt.Errorf("weaviate: the terms of an object cannot be read: %w", backend.ErrCorrupt)
				}
				pos += n
			}
			if (term == "" || term[0] != stopSign) && !strings.HasPrefix(term, stemSign) {
				length += weight
			}
			f(term, weight, number, pos)
		}
		number++
	}
	return length, nil
}

func uuidOf(kind, name string) strfmt.UUID { return strfmt.UUID(idOf(kind, name)) }

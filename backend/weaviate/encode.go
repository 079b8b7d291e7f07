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

// space names a partition in the cluster. It is what filters limit searches to, and begins its terms.
type space string

// spaceOf hashes a partition: the names of sub-tenants are the users' and may be anything.
func spaceOf(p backend.Partition) space {
	sum := sha256.Sum256(append([]byte{byte(p.Class)}, p.Sub...))
	return space(base64.RawURLEncoding.EncodeToString(sum[:12]))
}

// subOf names a sub-tenant, over all classes.
func subOf(sub string) string {
	sum := sha256.Sum256([]byte(sub))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// idOf is the id of the object that stands for something: the same whoever stores it, and however often.
func idOf(kind, name string) string {
	id := sha256.Sum256([]byte(kind + "\x00" + name))
	id[6] = id[6]&0x0f | 0x80 // version 8
	id[8] = id[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:16])
}

// number writes what a Store assigned, exactly: JSON numbers are not.
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

// place names a vector: of a chunk in a lane.
func place(chunk int64, lane backend.Lane) string { return number(chunk) + "/" + number(int64(lane)) }

// laneOf names a lane of a class for filters. That of raw vectors has a name of its own: it is never dropped.
func laneOf(c backend.Class, l backend.Lane) string {
	if c == backend.Raw {
		return "raw"
	}
	return number(int64(l))
}

// laneSpace is what searches by vectors are limited to.
func laneSpace(p backend.Partition, l backend.Lane) string {
	return string(spaceOf(p)) + "/" + number(int64(l))
}

// stopSign begins stop words in a bag, in place of what begins their terms.
const stopSign = '!'

// encodeTerm writes a term without white space, so that it stays one token.
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

// titleWeight is what package backend prescribes.
const titleWeight = 3

// field is the tokens of a text, with the weight of each.
type field struct {
	weight int
	tokens []lexical.Token
}

// fieldsOf analyses a chunk: the title, the heading, the text and the further texts of the chunk.
func fieldsOf(title string, r *backend.Row, more []string) []field {
	texts := append([]string{title, r.Heading, r.Text}, more...)
	out, in := make([]field, len(texts)), lexical.TongueOf(texts...)
	for i, text := range texts {
		out[i] = field{1, lexical.AnalyzeDocument(nil, text, in)}
	}
	out[0].weight = titleWeight
	return out
}

// bagOf writes fields for what the cluster does not index: the frequencies and the places of terms. Fields are lines; a
// token is its distance from the one before it and its term.
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

// wordsOf writes the terms of a chunk as the cluster indexes them: words as often as they count, and apart from them each
// stop word once, which says nothing and is only ever required. length is how many words that are. All begin with the
// space, so that the cluster counts the terms of each partition by themselves.
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
			if !t.Beside() {
				length += f.weight
			}
			for range f.weight {
				b.WriteString(wordOf(s, t.Term))
				b.WriteByte(' ')
			}
		}
	}
	return b.String(), other.String(), length
}

// wordOf is the token of a term.
func wordOf(s space, term string) string { return string(s) + "~" + encodeTerm(term) }

// bag is what bagOf wrote, read for the terms of a query.
type bag struct {
	tf     map[string]int
	places map[string][]spot
	length int
}

// spot is where a term stands.
type spot struct{ field, pos int }

// readBag reads the frequencies of terms in their encoded form, and their places where asked.
func readBag(text string, want map[string]bool, places bool) (bag, error) {
	out := bag{tf: make(map[string]int, len(want))}
	if places {
		out.places = make(map[string][]spot, len(want))
	}
	var err error
	out.length, err = eachTerm(text, func(term string, weight, field, pos int) {
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

// eachTerm calls f for each term of what bagOf wrote, and returns how many words count.
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
			if term == "" || term[0] != stopSign {
				length += weight
			}
			f(term, weight, number, pos)
		}
		number++
	}
	return length, nil
}

func uuidOf(kind, name string) strfmt.UUID { return strfmt.UUID(idOf(kind, name)) }

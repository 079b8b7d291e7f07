package weaviate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-openapi/strfmt"
	"github.com/weaviate/weaviate-go-client/v5/weaviate/filters"
	pb "github.com/weaviate/weaviate/grpc/generated/protocol/v1"

	"github.com/contextmem/contextmem/backend"
)

// maxResults is the maximum number of objects in one answer: QUERY_MAXIMUM_RESULTS of the cluster, 10,000 by default.
const maxResults = 10_000

// where is a filter. Everything passes the zero value.
type where struct {
	op    filters.WhereOperator
	path  string
	texts []string
	parts []where
}

func equal(path, text string) where {
	return where{op: filters.Equal, path: path, texts: []string{text}}
}
func anyOf(path string, s []string) where {
	return where{op: filters.ContainsAny, path: path, texts: s}
}
func noneOf(path string, s []string) where {
	return where{op: filters.ContainsNone, path: path, texts: s}
}
func allOf(parts ...where) where {
	parts = slices.DeleteFunc(parts, where.empty)
	if len(parts) == 0 {
		return where{}
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return where{op: filters.And, parts: parts}
}

func (w where) empty() bool { return w.op == "" }

// everything is a filter that all objects pass, since each has a space.
var everything = where{op: filters.Like, path: propSpace, texts: []string{"*"}}

// single reports whether the filter compares with one text.
func (w *where) single() bool {
	return w.op == filters.Equal || w.op == filters.Like || w.op == filters.LessThan || w.op == filters.GreaterThanEqual
}

// withFilter adds the conditions of f to a filter. It returns false if nothing can match.
func withFilter(first where, f backend.Filter) (where, bool) {
	parts := []where{first}
	for _, group := range f.All {
		if len(group) == 0 {
			return where{}, false
		}
		parts = append(parts, anyOf(propTags, tagsOf(group)))
	}
	if len(f.Not) > 0 {
		parts = append(parts, noneOf(propTags, tagsOf(f.Not)))
	}
	return allOf(parts...), true
}

// builder returns the filter for the client's calls that take one.
func (w where) builder() *filters.WhereBuilder {
	b := filters.Where().WithOperator(w.op)
	if len(w.parts) > 0 {
		ops := make([]*filters.WhereBuilder, len(w.parts))
		for i, p := range w.parts {
			ops[i] = p.builder()
		}
		return b.WithOperands(ops)
	}
	return b.WithPath([]string{w.path}).WithValueText(w.texts...)
}

// quote returns s as a string literal of GraphQL.
func quote(s string) string {
	out, _ := json.Marshal(s) // never fails for a string
	return string(out)
}

func (w where) write(b *strings.Builder) {
	b.WriteString("{operator:")
	b.WriteString(string(w.op))
	if len(w.parts) > 0 {
		b.WriteString(",operands:[")
		for i, p := range w.parts {
			if i > 0 {
				b.WriteByte(',')
			}
			p.write(b)
		}
		b.WriteString("]}")
		return
	}
	b.WriteString(`,path:["` + w.path + `"],valueText:`)
	if w.single() {
		b.WriteString(quote(w.texts[0]))
	} else {
		b.WriteByte('[')
		for i, t := range w.texts {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(quote(t))
		}
		b.WriteByte(']')
	}
	b.WriteByte('}')
}

// searchRequest is a search of one collection.
type searchRequest struct {
	collection, tenant string
	where              where
	words              string    // query of a BM25 search
	near               []float32 // query of a vector search
	limit              int
	fields             string
}

func (a *searchRequest) query() string {
	var b strings.Builder
	b.WriteString("{Get{" + a.collection + "(tenant:" + quote(a.tenant))
	if !a.where.empty() {
		b.WriteString(",where:")
		a.where.write(&b)
	}
	if a.words != "" {
		b.WriteString(`,bm25:{query:` + quote(a.words) + `,properties:["` + propWords + `"]}`)
	}
	if a.near != nil {
		b.WriteString(",nearVector:{vector:[")
		for i, x := range a.near {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(strconv.FormatFloat(float64(x), 'g', -1, 32))
		}
		b.WriteString("]}")
	}
	b.WriteString(",limit:" + strconv.Itoa(min(a.limit, maxResults)) + "){" + a.fields + "}}}")
	return b.String()
}

// object is an object of an answer by GraphQL, in props, or by gRPC, in reply.
type object struct {
	props map[string]any
	reply *pb.SearchResult
}

// value returns a property of an answer by gRPC, or nil if it is missing.
func (o object) value(name string) *pb.Value {
	return o.reply.GetProperties().GetNonRefProps().GetFields()[name]
}

func (o object) text(name string) string {
	if o.reply != nil {
		return o.value(name).GetTextValue()
	}
	s, _ := o.props[name].(string)
	return s
}

func (o object) number(name string) (int64, error) { return parseNumber(o.text(name)) }

// distance returns the distance of an object from the query vector. It returns false if the answer has none.
func (o object) distance() (float64, bool) {
	if o.reply != nil {
		m := o.reply.GetMetadata()
		return float64(m.GetDistance()), m.GetDistancePresent()
	}
	m, _ := o.props["_additional"].(map[string]any)
	f, ok := m["distance"].(float64)
	return f, ok
}

// updated is the field of an object with the time when a node has stored it.
const updated = "lastUpdateTimeUnix"

// storedSince reports whether a node stored an object at a time or later, by the node's clock, or does not tell when.
func (o object) storedSince(at time.Time) bool {
	if o.reply != nil {
		m := o.reply.GetMetadata()
		return !m.GetLastUpdateTimeUnixPresent() || m.GetLastUpdateTimeUnix() >= at.UnixMilli()
	}
	m, _ := o.props["_additional"].(map[string]any)
	s, _ := m[updated].(string)
	when, err := strconv.ParseInt(s, 10, 64)
	return err != nil || when >= at.UnixMilli()
}

// score returns the score of an object by the cluster's BM25. It returns false if the answer has none.
func (o object) score() (float64, bool) {
	if o.reply != nil {
		m := o.reply.GetMetadata()
		return float64(m.GetScore()), m.GetScorePresent()
	}
	m, _ := o.props["_additional"].(map[string]any)
	s, _ := m["score"].(string)
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil
}

// explained is the field of an object with the explanation of its score by the cluster's BM25.
const explained = "explainScore"

// explanation returns the frequencies of the terms by which the cluster's BM25 has scored an object, and its number of tokens. They are in
// the explanation of the score: ", BM25F_WORD_frequency:2, BM25F_WORD_propLength:60" for each term, in any order.
func (o object) explanation(sp space) bag {
	text := o.reply.GetMetadata().GetExplainScore()
	if o.reply == nil {
		m, _ := o.props["_additional"].(map[string]any)
		text, _ = m[explained].(string)
	}
	out, prefix := bag{tf: make(map[string]int, maxAsked)}, tokenOf(sp, "")
	for part := range strings.SplitSeq(text, ", BM25F_") {
		colon, ok := strings.LastIndexByte(part, ':'), false
		if colon < 0 {
			continue
		}
		n, err := strconv.Atoi(part[colon+1:])
		if err != nil {
			f, err := strconv.ParseFloat(part[colon+1:], 64)
			if err != nil {
				continue
			}
			n = int(f)
		}
		word := part[:colon]
		if word, ok = strings.CutSuffix(word, "_frequency"); !ok {
			out.tokens = n
		} else if term, ok := strings.CutPrefix(word, prefix); ok {
			out.tf[term] = n
		}
	}
	return out
}

func (o object) texts(name string) (out []string) {
	if o.reply != nil {
		return o.value(name).GetListValue().GetTextValues().GetValues()
	}
	list, _ := o.props[name].([]any)
	for _, x := range list {
		if s, ok := x.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// tags returns the tags that users of the index have set.
func (o object) tags() (out []uint64, err error) {
	for _, text := range userTags(o.texts(propTags)) {
		tag, err := strconv.ParseUint(text, 36, 64)
		if err != nil {
			return nil, fmt.Errorf("weaviate: a tag of an object cannot be read: %w", backend.ErrCorrupt)
		}
		out = append(out, tag)
	}
	return out, nil
}

func (o object) id() strfmt.UUID {
	if o.reply != nil {
		return strfmt.UUID(o.reply.GetMetadata().GetId())
	}
	m, _ := o.props["_additional"].(map[string]any)
	s, _ := m["id"].(string)
	return strfmt.UUID(s)
}

func (o object) vector() []float32 {
	if o.reply != nil {
		return vectorOf(o.reply.GetMetadata().GetVectorBytes())
	}
	m, _ := o.props["_additional"].(map[string]any)
	list, _ := m["vector"].([]any)
	out := make([]float32, len(list))
	for i, x := range list {
		f, _ := x.(float64)
		out[i] = float32(f)
	}
	return out
}

// searchTimeout is how long a node may take for a search before another is asked.
const searchTimeout = 10 * time.Second

// get makes a search: by gRPC on nodes that have a gRPC address, else by GraphQL.
func (c *cluster) get(ctx context.Context, r route, a searchRequest) ([]object, error) {
	return read(ctx, c, "search", r, a.onNode())
}

// onNode returns a function that makes the search on a node.
func (a *searchRequest) onNode() func(ctx context.Context, n *node) ([]object, error) {
	m, query := a.message(), sync.OnceValue(a.query)
	return func(ctx context.Context, n *node) (out []object, err error) {
		if m != nil && n.searcher != nil {
			return n.searchGRPC(ctx, m)
		}
		data, err := n.graph(ctx, query())
		if err != nil {
			return nil, err
		}
		get, _ := data["Get"].(map[string]any)
		list, ok := get[a.collection].([]any)
		if !ok {
			return nil, errAgain
		}
		out = make([]object, 0, len(list))
		for _, x := range list {
			m, _ := x.(map[string]any)
			out = append(out, object{props: m})
		}
		return out, nil
	}
}

// graph makes a GraphQL query.
func (n *node) graph(ctx context.Context, query string) (map[string]any, error) {
	answer, err := n.GraphQL().Raw().WithQuery(query).Do(ctx)
	if err != nil {
		return nil, err
	}
	if len(answer.Errors) > 0 {
		return nil, errAgain
	}
	data := make(map[string]any, len(answer.Data))
	for k, v := range answer.Data {
		data[k] = v
	}
	return data, nil
}

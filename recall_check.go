package contextmem

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/internal/item"
	"github.com/contextmem/contextmem/internal/recall"
)

// scope is what a recall covers.
type scope struct {
	part   backend.Partition
	weight float64
	answer *recall.Answer // of the search in it, which explains its hits
}

// completeRequestID makes an id where the caller gave none.
func completeRequestID(op string, id *string) error {
	if *id == "" {
		*id = NewRequestID()
	} else if _, ok := readRequestID(*id); !ok {
		return fieldError(op, KindInvalid, ResourceSearch, "request_id", "must be a UUID")
	}
	return nil
}

// checkQuery refuses a query text that can't be searched.
func checkQuery(op, field, q string) error {
	if strings.TrimSpace(q) == "" {
		return fieldError(op, KindInvalid, ResourceSearch, field, "is required and must not be blank")
	}
	if n := utf8.RuneCountInString(q); n > maxQueryChars {
		return fieldError(op, KindInvalid, ResourceSearch, field, "%d characters are over the limit of %d", n, maxQueryChars)
	}
	return checkText(op, field, q, len(q))
}

func (q *Recall) complete(op string) error {
	bad := func(field, format string, args ...any) error {
		return fieldError(op, KindInvalid, ResourceSearch, field, format, args...)
	}
	if err := checkQuery(op, "query", q.Query); err != nil {
		return err
	}
	if err := completeRequestID(op, &q.RequestID); err != nil {
		return err
	}
	switch q.Class {
	case 0:
		q.Class = ClassKnowledge
	case ClassKnowledge, ClassMemory, ClassAll:
	default:
		return bad("type", "unknown class %d", q.Class)
	}
	switch q.Mode {
	case "":
		q.Mode = ModeFast
	case ModeFast, ModeThinking, ModeAuto:
	default:
		return bad("mode", "must be fast, thinking or auto")
	}
	if q.MaxResults < 0 || q.MaxResults > maxResults {
		return bad("max_results", "must be between 1 and %d", maxResults)
	}
	if !q.Alpha.set {
		q.Alpha = FixedAlpha(recall.DefaultAlpha)
	}
	if v := q.Alpha.value; !q.Alpha.auto && (math.IsNaN(v) || v < 0 || v > 1) {
		return bad("alpha", "must be between 0 and 1, or auto")
	}
	if v := q.RecencyBias; math.IsNaN(v) || v < 0 || v > 1 {
		return bad("recency_bias", "must be between 0 and 1")
	}
	if q.RelatedChunks < 0 || q.RelatedChunks > maxRelatedPerHit {
		return bad("num_related_chunks", "must be between 0 and %d", maxRelatedPerHit)
	}
	if utf8.RuneCountInString(q.Hint) > maxQueryChars {
		return bad("additional_context", "is over %d characters", maxQueryChars)
	}
	if err := checkText(op, "additional_context", q.Hint, len(q.Hint)); err != nil {
		return err
	}
	if err := checkNames(op, q.IDs, q.Titles, q.Principals); err != nil {
		return err
	}
	return checkSubs(op, q.Subs)
}

// maxNames bounds the ids, titles and principals that limit a search.
const maxNames = 10_000

func checkNames(op string, ids, titles, principals []string) error {
	for _, l := range [...]struct {
		field string
		n     int
	}{{"ids", len(ids)}, {"titles", len(titles)}, {"acl", len(principals)}} {
		if l.n > maxNames {
			return fieldError(op, KindInvalid, ResourceSearch, l.field, "%d entries are over the limit of %d", l.n, maxNames)
		}
	}
	return nil
}

func checkSubs(op string, subs map[string]float64) error {
	if subs == nil {
		return nil
	}
	if len(subs) < 1 || len(subs) > 100 {
		return fieldError(op, KindInvalid, ResourceSearch, "collections", "needs 1 to 100 entries")
	}
	for name, w := range subs {
		if math.IsNaN(w) || w <= 0 || w > 1e6 {
			return fieldError(op, KindInvalid, ResourceSearch, "collections."+shortID(name), "a weight must be above 0")
		}
	}
	return nil
}

// scopes appends the partitions of a recall to out, which is empty, heaviest first.
func (s Sub) scopes(ctx context.Context, h *held, class Class, subs map[string]float64, out []scope) ([]scope, error) {
	add := func(name string, w float64) {
		for _, c := range [...]Class{ClassKnowledge, ClassMemory} {
			if class == c || class == ClassAll {
				out = append(out, scope{part: backend.Partition{Class: backend.Class(c), Sub: name}, weight: w})
			}
		}
	}
	if subs == nil {
		name, err := s.resolve(ctx, h)
		if err != nil {
			return nil, err
		}
		add(name, 1)
		return out, nil
	}
	top := 0.0
	for _, w := range subs {
		top = max(top, w)
	}
	merged := make(map[string]float64, len(subs))
	for name, w := range subs {
		full, err := Sub{svc: s.svc, org: s.org, tenant: s.tenant, sub: name}.resolve(ctx, h)
		if err != nil {
			return nil, err
		}
		merged[full] = max(merged[full], w/top)
	}
	for name, w := range merged {
		add(name, w)
	}
	slices.SortFunc(out, func(a, b scope) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.part.Sub, b.part.Sub), cmp.Compare(a.part.Class, b.part.Class))
	})
	return out, nil
}

// sourceFilter is the filter of ids, titles, principals and metadata.
func (s *Service) sourceFilter(op string, schema []Field, f Filters, ids, titles, principals []string) (backend.Filter, []Warning, error) {
	out, warnings, err := s.filter(op, schema, f, true)
	if err != nil {
		return out, nil, err
	}
	if ids != nil {
		g := []uint64{}
		for _, id := range ids {
			g = append(g, item.IDTag(id))
		}
		out.All = append(out.All, g)
	}
	if titles != nil {
		g := []uint64{}
		for _, t := range titles {
			g = append(g, item.TitleTag(t))
		}
		out.All = append(out.All, g)
	}
	if g := item.Visible(principals); g != nil {
		out.All = append(out.All, g)
	}
	return out, warnings, nil
}

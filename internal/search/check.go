package search

import (
	"cmp"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/feedback"
	"github.com/contextmem/contextmem/internal/uid"
)

// Bounds of searches.
const (
	maxResults       = 1001 // wire contract, first generation
	maxTextResults   = 1000
	maxFanOut        = 1000 // over several sub-tenants
	resultsPerSub    = 10   // default, if the caller gives no number
	maxRelatedPerHit = 50
	maxQueryChars    = 8000
	maxNames         = 10_000 // ids, titles or principals in a filter
	maxSubs          = 100
	maxRejected      = 200 // rejected candidates in a report
	maxIDBytes       = 1024
)

func bad(op, field, format string, args ...any) error {
	return fault.Fieldf(op, fault.KindInvalid, fault.Search, field, format, args...)
}

// complete validates a recall and fills in defaults.
func (q *Query) complete(op string) error {
	if err := q.completeAny(op); err != nil {
		return err
	}
	unit := func(v float64) bool { return v >= 0 && v <= 1 } // false for NaN
	switch {
	case q.MaxResults < 0 || q.MaxResults > maxResults:
		return bad(op, "MaxResults", "must be between 1 and %d", maxResults)
	case !unit(q.MinRelevance):
		return bad(op, "MinRelevance", "must be between 0 and 1")
	case q.PerSource < 0 || q.PerSource > maxResults:
		return bad(op, "PerSource", "must be between 1 and %d", maxResults)
	case !q.Alpha.Auto && !unit(q.Alpha.Value):
		return bad(op, "Alpha", "must be between 0 and 1, or auto")
	case !unit(q.RecencyBias):
		return bad(op, "RecencyBias", "must be between 0 and 1")
	case q.RelatedChunks < 0 || q.RelatedChunks > maxRelatedPerHit:
		return bad(op, "RelatedChunks", "must be between 0 and %d", maxRelatedPerHit)
	case utf8.RuneCountInString(q.Hint) > maxQueryChars:
		return bad(op, "Hint", "is over %d characters", maxQueryChars)
	}
	if err := fault.CheckText(op, "Hint", q.Hint, len(q.Hint)); err != nil {
		return err
	}
	if a := q.Asked; a != nil {
		if a.Most < 0 || a.Most > maxRejected {
			return bad(op, "Rejected", "must be between 0 and %d", maxRejected)
		}
		if err := fault.CheckText(op, "Missing", a.Source, maxIDBytes); err != nil {
			return err
		}
	}
	if q.MaxResults == 0 {
		q.MaxResults = resultsPerSub
		if q.Subs != nil {
			q.MaxResults = min(maxFanOut, resultsPerSub*len(q.Subs))
		}
	}
	return nil
}

// completeBoolean validates a keyword search and fills in defaults.
func (q *Query) completeBoolean(op string) error {
	q.MaxResults = cmp.Or(q.MaxResults, resultsPerSub)
	if err := q.completeAny(op); err != nil {
		return err
	}
	if q.MaxResults < 1 || q.MaxResults > maxTextResults {
		return bad(op, "MaxResults", "must be between 1 and %d", maxTextResults)
	}
	return nil
}

// completeAny validates the fields that every search has.
func (q *Query) completeAny(op string) error {
	if strings.TrimSpace(q.Query) == "" {
		return bad(op, "Query", "is required and must not be blank")
	}
	if n := utf8.RuneCountInString(q.Query); n > maxQueryChars {
		return bad(op, "Query", "%d characters are over the limit of %d", n, maxQueryChars)
	}
	if err := fault.CheckText(op, "Query", q.Query, len(q.Query)); err != nil {
		return err
	}
	if q.RequestID == "" {
		q.RequestID = uid.Request()
	} else if !feedback.IsRequestID(q.RequestID) {
		return bad(op, "RequestID", "must be a UUID")
	}
	switch q.Class {
	case 0, content.ClassKnowledge, content.ClassMemory, content.ClassAll:
	default:
		return bad(op, "Class", "unknown class %d", q.Class)
	}
	for _, l := range [...]struct {
		field string
		n     int
	}{{"IDs", len(q.IDs)}, {"Titles", len(q.Titles)}, {"Principals", len(q.Principals)}} {
		if l.n > maxNames {
			return bad(op, l.field, "%d entries are over the limit of %d", l.n, maxNames)
		}
	}
	if q.Subs != nil && (len(q.Subs) < 1 || len(q.Subs) > maxSubs) {
		return bad(op, "Subs", "needs 1 to %d entries", maxSubs)
	}
	for name, w := range q.Subs {
		if math.IsNaN(w) || w <= 0 || w > 1e6 {
			return bad(op, "Subs."+fault.ShortID(name), "a weight must be above 0")
		}
	}
	return nil
}

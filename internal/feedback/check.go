package feedback

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
)

// Bounds of one record, in characters unless said otherwise.
const (
	maxChars      = 8000
	maxIDs        = 100
	maxID         = 256
	maxPairs      = 20
	maxKey        = 64
	maxValue      = 512
	defaultSource = "user"
	maxSubBytes   = 512
)

// Complete checks feedback and fills in defaults. Its errors are of package fault.
func Complete(op string, f *content.Feedback) error {
	bad := func(field, format string, args ...any) error {
		return fault.Fieldf(op, fault.KindInvalid, fault.Feedback, field, format, args...)
	}
	if !IsRequestID(f.RequestID) {
		return bad("RequestID", "must be the UUID of a query's answer")
	}
	for _, t := range [...]struct{ field, value string }{{"Text", f.Text}, {"GroundTruth.Answer", f.GroundTruth.Answer}} {
		if err := fault.CheckText(op, t.field, t.value, 4*maxChars); err != nil {
			return err
		}
	}
	f.Text = strings.TrimSpace(f.Text)
	f.GroundTruth.Answer = strings.TrimSpace(f.GroundTruth.Answer)
	if utf8.RuneCountInString(f.Text) > maxChars {
		return bad("Text", "is over %d characters", maxChars)
	}
	if utf8.RuneCountInString(f.GroundTruth.Answer) > maxChars {
		return bad("GroundTruth.Answer", "is over %d characters", maxChars)
	}
	var ids []string
	for _, id := range f.GroundTruth.SourceIDs {
		if id = strings.TrimSpace(id); id == "" || slices.Contains(ids, id) {
			continue
		}
		if utf8.RuneCountInString(id) > maxID {
			return bad("GroundTruth.SourceIDs", "an entry is over %d characters", maxID)
		}
		if err := fault.CheckText(op, "GroundTruth.SourceIDs", id, 4*maxID); err != nil {
			return err
		}
		if ids = append(ids, id); len(ids) > maxIDs {
			return bad("GroundTruth.SourceIDs", "has over %d entries", maxIDs)
		}
	}
	f.GroundTruth.SourceIDs = ids
	if f.Text == "" && f.GroundTruth.Answer == "" && len(ids) == 0 {
		return bad("Text", "feedback, or a ground_truth with an answer or source_ids, is required")
	}
	switch f.Rating {
	case "", content.RatingPositive, content.RatingNegative, content.RatingNeutral:
	default:
		return bad("Rating", "must be positive, negative or neutral")
	}
	if f.Source == "" {
		f.Source = defaultSource
	}
	if f.Source != "user" && f.Source != "agent" {
		return bad("Source", "must be user or agent")
	}
	if f.Sub != "" && f.Tenant == "" {
		return bad("Sub", "needs database")
	}
	if err := fault.CheckText(op, "Sub", f.Sub, maxSubBytes); err != nil {
		return err
	}
	if len(f.Metadata) > maxPairs {
		return bad("Metadata", "has over %d entries", maxPairs)
	}
	for k, v := range f.Metadata {
		if utf8.RuneCountInString(k) > maxKey || utf8.RuneCountInString(v) > maxValue {
			return bad("Metadata", "keys may have %d and values %d characters", maxKey, maxValue)
		}
		for _, s := range [...]string{k, v} {
			if err := fault.CheckText(op, "Metadata", s, 4*maxValue); err != nil {
				return err
			}
		}
	}
	return nil
}

// IsRequestID reports whether s is a UUID in the usual form of 36 characters, in either case.
func IsRequestID(s string) bool { return len(s) == 36 && uuid.Validate(s) == nil }

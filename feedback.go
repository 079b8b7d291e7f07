package contextmem

import (
	"context"
	"time"
)

// Rating of an answer.
type Rating string

// Ratings; an absent rating is not RatingNeutral.
const (
	RatingPositive Rating = "positive"
	RatingNegative Rating = "negative"
	RatingNeutral  Rating = "neutral"
)

// GroundTruth is what would have been right.
type GroundTruth struct {
	Answer    string   // at most 8000 characters
	SourceIDs []string // at most 100 after blanks and duplicates are dropped, 256 characters each
}

// Feedback is an opinion on a recall. Text or a usable GroundTruth is required.
type Feedback struct {
	ID          string // assigned
	RequestID   string // Result.RequestID of the recall, a UUID
	Text        string // at most 8000 characters
	Rating      Rating
	Source      string // "user" (default) or "agent"
	GroundTruth GroundTruth
	Tenant      string            // optional; must exist
	Sub         string            // needs Tenant
	Metadata    map[string]string // at most 20 entries; keys 64, values 512 characters
	CreatedAt   time.Time         // assigned
	Known       bool              // assigned: the request id belongs to a recall that this deployment remembers
}

// AddFeedback records feedback. Every call makes a record of its own.
func (o Organisation) AddFeedback(ctx context.Context, f Feedback) (Feedback, error) {
	return o.svc.addFeedback(ctx, o.id, f)
}

// ListFeedback returns up to limit records (1 to 1000, default 100), oldest first, with ids after the given one.
func (o Organisation) ListFeedback(ctx context.Context, after string, limit int) ([]Feedback, error) {
	return o.svc.listFeedback(ctx, o.id, after, limit)
}

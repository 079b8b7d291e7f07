package content

import "time"

// Rating of an answer.
type Rating string

// Ratings; an absent rating is not RatingNeutral.
const (
	RatingPositive Rating = "positive"
	RatingNegative Rating = "negative"
	RatingNeutral  Rating = "neutral"
)

// GroundTruth is the correct answer and its sources.
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

// BoostReport describes the score changes by feedback.
type BoostReport struct {
	FeedbackID string
	Terms      []string           // of the questions it applies to
	Sources    map[string]float64 // source id -> change of its score, as a share of the best score
}

package httpapi

import (
	"fmt"
	"math"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/fault"
)

type feedbackLimit float64

// Error implements error.
func (f feedbackLimit) Error() string {
	return fmt.Sprintf("over %d feedback submissions a minute; try again in %.0f seconds", feedbackPerMinute, math.Ceil(float64(f)))
}

// feedbackRequest is the body of /feedback.
type feedbackRequest struct {
	RequestID   string `json:"request_id"`
	Feedback    string `json:"feedback"`
	Rating      string `json:"rating"`
	Source      string `json:"source"`
	Database    string `json:"database"`
	Collection  string `json:"collection"`
	GroundTruth struct {
		Answer    string   `json:"answer"`
		SourceIDs []string `json:"source_ids"`
	} `json:"ground_truth"`
	Metadata texts `json:"metadata"`
}

// feedback reads a submission. Every violated rule is reported as an invalid parameter.
func (c *call) feedback() (contextmem.Feedback, error) {
	var r feedbackRequest
	if err := c.read(&r); err != nil {
		if ce, ok := err.(*contextmem.Error); ok && ce.Kind == fault.KindUnprocessed {
			ce.Kind = fault.KindInvalid
		}
		return contextmem.Feedback{}, err
	}
	return contextmem.Feedback{RequestID: r.RequestID, Text: r.Feedback, Rating: contextmem.Rating(r.Rating), Source: r.Source, Tenant: r.Database, Sub: r.Collection,
		GroundTruth: contextmem.GroundTruth{Answer: r.GroundTruth.Answer, SourceIDs: r.GroundTruth.SourceIDs}, Metadata: r.Metadata}, nil
}

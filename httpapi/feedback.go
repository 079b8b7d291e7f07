package httpapi

import (
	"fmt"
	"math"

	"github.com/contextmem/contextmem"
)

type feedbackLimit float64

// Error implements error.
func (f feedbackLimit) Error() string {
	return fmt.Sprintf("over %d feedback submissions a minute; try again in %.0f seconds", feedbackPerMinute, math.Ceil(float64(f)))
}

// feedback reads a submission. Every rule it breaks is an invalid parameter.
func (c *call) feedback() (contextmem.Feedback, error) {
	f, err := c.readFeedback()
	if ce, ok := err.(*contextmem.Error); ok && ce.Kind == contextmem.KindUnprocessed {
		ce.Kind = contextmem.KindInvalid
	}
	return f, err
}

func (c *call) readFeedback() (contextmem.Feedback, error) {
	var f contextmem.Feedback
	var rating string
	var err error
	for _, s := range []struct {
		name string
		to   *string
	}{{"request_id", &f.RequestID}, {"feedback", &f.Text}, {"rating", &rating}, {"source", &f.Source}, {"database", &f.Tenant}, {"collection", &f.Sub}} {
		if *s.to, err = c.in.str(s.name); err != nil {
			return f, err
		}
	}
	f.Rating = contextmem.Rating(rating)
	gt, err := c.in.object("ground_truth")
	if err != nil {
		return f, err
	}
	if f.GroundTruth.Answer, err = toString("ground_truth.answer", gt["answer"]); err != nil {
		return f, err
	}
	if f.GroundTruth.SourceIDs, err = toStrings("ground_truth.source_ids", gt["source_ids"]); err != nil {
		return f, err
	}
	m, err := c.in.object("metadata")
	if err != nil {
		return f, err
	}
	for k, v := range m {
		s, err := toString("metadata."+cut(k), v)
		if err != nil {
			return f, err
		}
		if f.Metadata == nil {
			f.Metadata = map[string]string{}
		}
		f.Metadata[k] = s
	}
	return f, nil
}

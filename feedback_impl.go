package contextmem

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/contextmem/contextmem/backend"
)

const (
	kindFeedback      = "feedback"
	maxFeedbackChars  = 8000
	maxFeedbackIDs    = 100
	maxFeedbackID     = 256
	maxFeedbackPairs  = 20
	maxFeedbackKey    = 64
	maxFeedbackValue  = 512
	feedbackIDLayout  = "20060102150405.000000" // ids sort by time
	defaultFeedbackBy = "user"
)

var uuidRule = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)

func (f *Feedback) complete(op string) error {
	bad := func(field, format string, args ...any) error {
		return fieldError(op, KindInvalid, ResourceFeedback, field, format, args...)
	}
	if !uuidRule.MatchString(f.RequestID) {
		return bad("request_id", "must be the UUID of a query's answer")
	}
	for _, t := range [...]struct{ field, value string }{{"feedback", f.Text}, {"ground_truth.answer", f.GroundTruth.Answer}} {
		if err := checkText(op, t.field, t.value, 4*maxFeedbackChars); err != nil {
			return err
		}
	}
	f.Text = strings.TrimSpace(f.Text)
	f.GroundTruth.Answer = strings.TrimSpace(f.GroundTruth.Answer)
	if utf8.RuneCountInString(f.Text) > maxFeedbackChars {
		return bad("feedback", "is over %d characters", maxFeedbackChars)
	}
	if utf8.RuneCountInString(f.GroundTruth.Answer) > maxFeedbackChars {
		return bad("ground_truth.answer", "is over %d characters", maxFeedbackChars)
	}
	var ids []string
	for _, id := range f.GroundTruth.SourceIDs {
		if id = strings.TrimSpace(id); id == "" || slices.Contains(ids, id) {
			continue
		}
		if utf8.RuneCountInString(id) > maxFeedbackID {
			return bad("ground_truth.source_ids", "an entry is over %d characters", maxFeedbackID)
		}
		if err := checkText(op, "ground_truth.source_ids", id, 4*maxFeedbackID); err != nil {
			return err
		}
		if ids = append(ids, id); len(ids) > maxFeedbackIDs {
			return bad("ground_truth.source_ids", "has over %d entries", maxFeedbackIDs)
		}
	}
	f.GroundTruth.SourceIDs = ids
	if f.Text == "" && f.GroundTruth.Answer == "" && len(ids) == 0 {
		return bad("feedback", "feedback, or a ground_truth with an answer or source_ids, is required")
	}
	switch f.Rating {
	case "", RatingPositive, RatingNegative, RatingNeutral:
	default:
		return bad("rating", "must be positive, negative or neutral")
	}
	if f.Source == "" {
		f.Source = defaultFeedbackBy
	}
	if f.Source != "user" && f.Source != "agent" {
		return bad("source", "must be user or agent")
	}
	if f.Sub != "" && f.Tenant == "" {
		return bad("collection", "needs database")
	}
	if err := checkText(op, "collection", f.Sub, maxSubTenantBytes); err != nil {
		return err
	}
	if len(f.Metadata) > maxFeedbackPairs {
		return bad("metadata", "has over %d entries", maxFeedbackPairs)
	}
	for k, v := range f.Metadata {
		if utf8.RuneCountInString(k) > maxFeedbackKey || utf8.RuneCountInString(v) > maxFeedbackValue {
			return bad("metadata", "keys may have %d and values %d characters", maxFeedbackKey, maxFeedbackValue)
		}
		for _, s := range [...]string{k, v} {
			if err := checkText(op, "metadata", s, 4*maxFeedbackValue); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Service) addFeedback(ctx context.Context, org string, f Feedback) (Feedback, error) {
	const op = "add feedback"
	if err := cmp.Or(checkOrg(op, org), f.complete(op)); err != nil {
		return Feedback{}, err
	}
	if err := s.begin(); err != nil {
		return Feedback{}, err
	}
	defer s.end()
	if f.Tenant != "" {
		if _, err := s.tenantRecord(ctx, op, org, f.Tenant); err != nil {
			return Feedback{}, err
		}
	}
	seen, known := s.requests.get(org, strings.ToLower(f.RequestID))
	f.Known = known
	f.CreatedAt = time.Now().UTC()
	f.ID = "fb_" + strings.ReplaceAll(f.CreatedAt.Format(feedbackIDLayout), ".", "") + "_" + newUID()[:12]
	b, err := json.Marshal(f)
	if err != nil {
		return Feedback{}, wrap(op, ResourceFeedback, "", err)
	}
	if err := s.reg.WriteRecords(ctx, []backend.RecordWrite{{Record: backend.Record{Kind: kindFeedback, Org: org, ID: f.ID, Data: b}}}); err != nil {
		return Feedback{}, wrap(op, ResourceFeedback, "", err)
	}
	if known && s.opts.FeedbackBoosts {
		if err := s.learn(ctx, org, f, seen); err != nil {
			s.opts.Logger.Warn("feedback was recorded, but its boosts were not", "err", err)
		}
	}
	return f, nil
}

func (s *Service) listFeedback(ctx context.Context, org, after string, limit int) ([]Feedback, error) {
	const op = "list feedback"
	if limit == 0 {
		limit = 100
	}
	if limit < 1 || limit > 1000 {
		return nil, fieldError(op, KindInvalid, ResourceFeedback, "limit", "must be between 1 and 1000")
	}
	if err := s.begin(); err != nil {
		return nil, err
	}
	defer s.end()
	rs, err := s.reg.Records(ctx, kindFeedback, org, after, limit)
	if err != nil {
		return nil, wrap(op, ResourceFeedback, "", err)
	}
	out := make([]Feedback, len(rs))
	for i, r := range rs {
		if err := json.Unmarshal(r.Data, &out[i]); err != nil {
			return nil, wrap(op, ResourceFeedback, "", fmt.Errorf("record of feedback: %w", backend.ErrCorrupt))
		}
	}
	return out, nil
}

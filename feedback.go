package contextmem

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/feedback"
	"github.com/contextmem/contextmem/internal/intake"
	"github.com/contextmem/contextmem/internal/workspace"
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

// BoostReport says what feedback changed.
type BoostReport struct {
	FeedbackID string
	Terms      []string           // of the questions it applies to
	Sources    map[string]float64 // source id -> what was added, as a share of the best score
}

// AddFeedback records feedback. Every call makes a record of its own.
func (o Organisation) AddFeedback(ctx context.Context, f Feedback) (Feedback, error) {
	const op = "add feedback"
	s := o.svc
	if err := cmp.Or(workspace.CheckOrg(op, o.id), f.complete(op)); err != nil {
		return Feedback{}, err
	}
	if err := s.gate.Enter(); err != nil {
		return Feedback{}, err
	}
	defer s.gate.Leave()
	if f.Tenant != "" {
		if _, err := s.set.Record(ctx, op, o.id, f.Tenant); err != nil {
			return Feedback{}, err
		}
	}
	seen, known := s.requests.Get(o.id, f.RequestID)
	f.Known = known
	f.CreatedAt = time.Now().UTC()
	f.ID = feedback.NewID(f.CreatedAt)
	if err := feedback.Write(ctx, s.reg, o.id, f.ID, f); err != nil {
		return Feedback{}, fault.Wrap(op, fault.Feedback, "", err)
	}
	if known && s.opts.FeedbackBoosts {
		if err := s.learn(ctx, op, f, &seen); err != nil {
			s.opts.Logger.Warn("feedback was recorded, but its boosts were not", "err", err)
		}
	}
	return f, nil
}

// learn turns feedback on a remembered recall into boosts.
func (s *Service) learn(ctx context.Context, op string, f Feedback, seen *feedback.Recalled) error {
	rating := map[Rating]float64{RatingPositive: 1, RatingNegative: -1}[f.Rating]
	opinion, ok := feedback.OpinionOf(f.ID, rating, f.GroundTruth.SourceIDs, seen)
	if !ok {
		return nil
	}
	h, err := s.set.Open(ctx, op, seen.Org, seen.Tenant)
	if err != nil {
		return err
	}
	defer h.Release()
	return feedback.Learn(ctx, h.Store, &h.Edits, opinion)
}

// ListFeedback returns up to limit records (1 to 1000, default 100), oldest first, with ids after the given one.
func (o Organisation) ListFeedback(ctx context.Context, after string, limit int) ([]Feedback, error) {
	const op = "list feedback"
	limit = cmp.Or(limit, 100)
	if limit < 1 || limit > maxFeedbackPage {
		return nil, fault.Fieldf(op, fault.KindInvalid, fault.Feedback, "limit", "must be between 1 and %d", maxFeedbackPage)
	}
	if err := o.svc.gate.Enter(); err != nil {
		return nil, err
	}
	defer o.svc.gate.Leave()
	out, err := feedback.Read[Feedback](ctx, o.svc.reg, o.id, after, limit)
	if err != nil {
		return nil, fault.Wrap(op, fault.Feedback, "", err)
	}
	return out, nil
}

// Boosts reports what feedback changed in the tenant, oldest first. See
// Options.FeedbackBoosts.
func (t Tenant) Boosts(ctx context.Context) ([]BoostReport, error) {
	const op = "list boosts"
	h, err := t.svc.set.Open(ctx, op, t.org, t.tenant)
	if err != nil {
		return nil, err
	}
	defer h.Release()
	all, err := feedback.Opinions(ctx, h.Store)
	if err != nil {
		return nil, fault.Wrap(op, fault.Tenant, t.tenant, err)
	}
	out := make([]BoostReport, len(all))
	for i, o := range all {
		out[i] = BoostReport{FeedbackID: o.Feedback, Terms: o.Terms, Sources: o.Sources}
	}
	return out, nil
}

// DropBoosts takes back what a feedback changed. fault.ErrNotFound when it changed nothing.
func (t Tenant) DropBoosts(ctx context.Context, feedbackID string) error {
	const op = "drop boosts"
	h, err := t.svc.set.Open(ctx, op, t.org, t.tenant)
	if err != nil {
		return err
	}
	defer h.Release()
	found, err := feedback.Forget(ctx, h.Store, &h.Edits, feedbackID)
	if err == nil && !found {
		return &fault.Error{Op: op, Kind: fault.KindNotFound, Resource: fault.Feedback, ID: fault.ShortID(feedbackID), Err: errors.New("it changed nothing")}
	}
	return fault.Wrap(op, fault.Tenant, t.tenant, err)
}

// NewRequestID returns a random UUID (version 4).
func NewRequestID() string { return uuid.NewString() }

// isRequestID reports whether s is a UUID in the usual form of 36 characters, in either case.
func isRequestID(s string) bool { return len(s) == 36 && uuid.Validate(s) == nil }

const (
	maxFeedbackChars  = 8000
	maxFeedbackIDs    = 100
	maxFeedbackID     = 256
	maxFeedbackPairs  = 20
	maxFeedbackKey    = 64
	maxFeedbackValue  = 512
	maxFeedbackPage   = 1000
	defaultFeedbackBy = "user"
)

func (f *Feedback) complete(op string) error {
	bad := func(field, format string, args ...any) error {
		return fault.Fieldf(op, fault.KindInvalid, fault.Feedback, field, format, args...)
	}
	if !isRequestID(f.RequestID) {
		return bad("RequestID", "must be the UUID of a query's answer")
	}
	for _, t := range [...]struct{ field, value string }{{"Text", f.Text}, {"GroundTruth.Answer", f.GroundTruth.Answer}} {
		if err := fault.CheckText(op, t.field, t.value, 4*maxFeedbackChars); err != nil {
			return err
		}
	}
	f.Text = strings.TrimSpace(f.Text)
	f.GroundTruth.Answer = strings.TrimSpace(f.GroundTruth.Answer)
	if utf8.RuneCountInString(f.Text) > maxFeedbackChars {
		return bad("Text", "is over %d characters", maxFeedbackChars)
	}
	if utf8.RuneCountInString(f.GroundTruth.Answer) > maxFeedbackChars {
		return bad("GroundTruth.Answer", "is over %d characters", maxFeedbackChars)
	}
	var ids []string
	for _, id := range f.GroundTruth.SourceIDs {
		if id = strings.TrimSpace(id); id == "" || slices.Contains(ids, id) {
			continue
		}
		if utf8.RuneCountInString(id) > maxFeedbackID {
			return bad("GroundTruth.SourceIDs", "an entry is over %d characters", maxFeedbackID)
		}
		if err := fault.CheckText(op, "GroundTruth.SourceIDs", id, 4*maxFeedbackID); err != nil {
			return err
		}
		if ids = append(ids, id); len(ids) > maxFeedbackIDs {
			return bad("GroundTruth.SourceIDs", "has over %d entries", maxFeedbackIDs)
		}
	}
	f.GroundTruth.SourceIDs = ids
	if f.Text == "" && f.GroundTruth.Answer == "" && len(ids) == 0 {
		return bad("Text", "feedback, or a ground_truth with an answer or source_ids, is required")
	}
	switch f.Rating {
	case "", RatingPositive, RatingNegative, RatingNeutral:
	default:
		return bad("Rating", "must be positive, negative or neutral")
	}
	if f.Source == "" {
		f.Source = defaultFeedbackBy
	}
	if f.Source != "user" && f.Source != "agent" {
		return bad("Source", "must be user or agent")
	}
	if f.Sub != "" && f.Tenant == "" {
		return bad("Sub", "needs database")
	}
	if err := fault.CheckText(op, "Sub", f.Sub, intake.MaxSubTenantBytes); err != nil {
		return err
	}
	if len(f.Metadata) > maxFeedbackPairs {
		return bad("Metadata", "has over %d entries", maxFeedbackPairs)
	}
	for k, v := range f.Metadata {
		if utf8.RuneCountInString(k) > maxFeedbackKey || utf8.RuneCountInString(v) > maxFeedbackValue {
			return bad("Metadata", "keys may have %d and values %d characters", maxFeedbackKey, maxFeedbackValue)
		}
		for _, s := range [...]string{k, v} {
			if err := fault.CheckText(op, "Metadata", s, 4*maxFeedbackValue); err != nil {
				return err
			}
		}
	}
	return nil
}

package contextmem

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/feedback"
	"github.com/contextmem/contextmem/internal/uid"
	"github.com/contextmem/contextmem/internal/workspace"
)

// Types of feedback on recalls. They are declared in package content.
type (
	// Rating of an answer: content.Rating.
	Rating = content.Rating
	// GroundTruth is the correct answer and its sources, as given by the caller: content.GroundTruth.
	GroundTruth = content.GroundTruth
	// Feedback is a rating or a correction of a recall: content.Feedback.
	Feedback = content.Feedback
	// BoostReport describes a change of the ranking by feedback: content.BoostReport.
	BoostReport = content.BoostReport
)

// Ratings; an absent rating is not RatingNeutral.
const (
	RatingPositive = content.RatingPositive
	RatingNegative = content.RatingNegative
	RatingNeutral  = content.RatingNeutral
)

// AddFeedback records feedback. Every call adds a separate record.
func (o Organisation) AddFeedback(ctx context.Context, f Feedback) (Feedback, error) {
	const op = "add feedback"
	s := o.svc()
	if err := cmp.Or(workspace.CheckOrg(op, o.id), feedback.Complete(op, &f)); err != nil {
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

// ListFeedback returns up to limit feedback records (1 to 1000, default 100), oldest first, whose ids come after the given id.
func (o Organisation) ListFeedback(ctx context.Context, after string, limit int) ([]Feedback, error) {
	const op = "list feedback"
	limit = cmp.Or(limit, 100)
	if limit < 1 || limit > 1000 {
		return nil, fault.Fieldf(op, fault.KindInvalid, fault.Feedback, "limit", "must be between 1 and 1000")
	}
	if err := o.svc().gate.Enter(); err != nil {
		return nil, err
	}
	defer o.svc().gate.Leave()
	out, err := feedback.Read[Feedback](ctx, o.svc().reg, o.id, after, limit)
	if err != nil {
		return nil, fault.Wrap(op, fault.Feedback, "", err)
	}
	return out, nil
}

// Boosts returns the changes of the ranking that feedback made in the tenant, oldest first. See
// Options.FeedbackBoosts.
func (t Tenant) Boosts(ctx context.Context) ([]BoostReport, error) {
	const op = "list boosts"
	return opened(ctx, t.scope, op, func(ref *workspace.Ref) ([]BoostReport, error) {
		all, err := feedback.Opinions(ctx, ref.Store)
		out := make([]BoostReport, len(all))
		for i, o := range all {
			out[i] = BoostReport{FeedbackID: o.Feedback, Terms: o.Terms, Sources: o.Sources}
		}
		return out, fault.Wrap(op, fault.Tenant, t.tenant, err)
	})
}

// DropBoosts undoes the changes of the ranking that a feedback record made. It returns fault.ErrNotFound if the record changed nothing.
func (t Tenant) DropBoosts(ctx context.Context, feedbackID string) error {
	const op = "drop boosts"
	h, err := t.svc().set.Open(ctx, op, t.org, t.tenant)
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
func NewRequestID() string { return uid.Request() }

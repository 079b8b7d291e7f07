package contextmem

import (
	"context"
	"io"
	"time"

	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/meter"
	"github.com/contextmem/contextmem/observe"
)

// Activity has counts and latencies of a service over all organisations, since it was opened.
type Activity struct {
	Queue                  Progress
	Recalls                int64
	RecallP50, RecallP95   time.Duration    // upper bounds, at most twice the real value; 0: there was no recall
	ProcessP50, ProcessP95 time.Duration    // of the processing of batches of items
	Errors                 map[string]int64 // items that ended errored, by code
}

// Activity returns counts and latencies of the service. It takes microseconds for each tenant with unprocessed items.
func (s *Service) Activity(ctx context.Context) (a Activity, err error) {
	err = s.call(func() error {
		waiting, err := s.sched.Waiting(ctx)
		if err != nil {
			return fault.Wrap("activity", "", "", err)
		}
		recalls, batches := s.meter.Operations.Of(observe.Recall), s.meter.Operations.Of(observe.Process)
		a = Activity{Queue: Progress(waiting), Recalls: recalls.Count(), RecallP50: recalls.Quantile(.5), RecallP95: recalls.Quantile(.95),
			ProcessP50: batches.Quantile(.5), ProcessP95: batches.Quantile(.95), Errors: map[string]int64{}}
		s.meter.Errored.Each(func(labels []string, n *meter.Counter) { a.Errors[labels[0]] = n.Value() })
		return nil
	})
	return a, err
}

// WriteMetrics writes the metrics of the service, over all organisations, in the Prometheus text format.
// docs/operations.md lists them. It does not open closed tenants.
func (s *Service) WriteMetrics(ctx context.Context, w io.Writer) error {
	return s.call(func() error {
		waiting, err := s.sched.Waiting(ctx)
		if err != nil {
			return fault.Wrap("metrics", "", "", err)
		}
		g, err := s.set.Gauges(ctx)
		if err != nil {
			return fault.Wrap("metrics", "", "", err)
		}
		g.Queued, g.Processing, g.Graph = waiting.Queued, waiting.Processing, waiting.Graph
		g.StoreBytes, g.IndexFileBytes = s.meter.Files.Measure(s.opts.keyDir)
		out := meter.NewWriter(w)
		s.meter.Write(out, g)
		return out.Flush()
	})
}

// Ping returns nil if the service is open and its registry can be read.
func (s *Service) Ping(ctx context.Context) error {
	return s.call(func() error {
		_, err := s.reg.Tenants(ctx, DefaultOrg, "", 1)
		return fault.Wrap("ping", "", "", err)
	})
}

func (s *Service) synced(provider, outcome string, objects int) {
	s.meter.Syncs.Of(provider, outcome).Add(1)
	s.meter.Objects.Of(provider).Add(objects)
}

// Package otel exports the work of a contextmem service as OpenTelemetry traces and metrics. Each recall, each call that adds
// items and each processed batch is a span. Its stages are child spans, and their parts are children of the stages.
//
//	o, err := otel.New(otel.Config{})
//	svc, err := contextmem.Open(ctx, dir, &contextmem.Options{Observer: o})
//	http.Handle("/", otel.Handler(h, otel.Config{})) // requests continue the trace of their traceparent
//
// The package is a module of its own, so that the library does not depend on OpenTelemetry.
package otel

import (
	"context"
	"net/http"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/contextmem/contextmem/observe"
)

// name is the instrumentation name.
const name = "github.com/contextmem/contextmem/otel"

// Config names the providers that receive traces and metrics.
type Config struct {
	Tracers trace.TracerProvider // default: the global one
	Meters  metric.MeterProvider // default: the global one
}

// Observer is an observe.Observer. It is safe for concurrent use.
type Observer struct {
	tracer                        trace.Tracer
	operations, stages            metric.Float64Histogram
	accepted, completed, ofErrors metric.Int64Counter
}

var _ observe.Observer = (*Observer)(nil)

// New returns an observer for contextmem.Options.Observer.
func New(c Config) (*Observer, error) {
	if c.Tracers == nil {
		c.Tracers = otel.GetTracerProvider()
	}
	if c.Meters == nil {
		c.Meters = otel.GetMeterProvider()
	}
	o := &Observer{tracer: c.Tracers.Tracer(name)}
	m := c.Meters.Meter(name)
	var err error
	if o.operations, err = m.Float64Histogram("contextmem.operation.duration", metric.WithUnit("s"), metric.WithDescription("How long recalls, additions and batches of processed items took.")); err != nil {
		return nil, err
	}
	if o.stages, err = m.Float64Histogram("contextmem.stage.duration", metric.WithUnit("s"), metric.WithDescription("How long the stages of operations took.")); err != nil {
		return nil, err
	}
	if o.accepted, err = m.Int64Counter("contextmem.items.accepted", metric.WithUnit("{item}")); err != nil {
		return nil, err
	}
	if o.completed, err = m.Int64Counter("contextmem.items.completed", metric.WithUnit("{item}")); err != nil {
		return nil, err
	}
	if o.ofErrors, err = m.Int64Counter("contextmem.items.errored", metric.WithUnit("{item}")); err != nil {
		return nil, err
	}
	return o, nil
}

// Observe implements observe.Observer. Spans carry the start and end times of their operations and stages.
func (o *Observer) Observe(ctx context.Context, r *observe.Record) {
	op := attribute.String("operation", r.Operation)
	attrs := []attribute.KeyValue{attribute.String("contextmem.tenant", r.Tenant), attribute.Int("contextmem.items", r.Items)}
	if r.Org != "" {
		attrs = append(attrs, attribute.String("contextmem.org", r.Org))
	}
	switch r.Operation {
	case observe.Recall:
		attrs = append(attrs, attribute.String("contextmem.mode", r.Mode), attribute.Bool("contextmem.degraded", r.Degraded))
	case observe.Process:
		attrs = append(attrs, attribute.Int("contextmem.completed", r.Completed), attribute.StringSlice("contextmem.errors", r.Errors), attribute.Int("contextmem.retried", r.Retried))
		o.completed.Add(ctx, int64(r.Completed))
		for _, code := range r.Errors {
			o.ofErrors.Add(ctx, 1, metric.WithAttributes(attribute.String("code", code)))
		}
	case observe.Accept:
		o.accepted.Add(ctx, int64(r.Items))
	}
	ctx, span := o.tracer.Start(ctx, "contextmem."+r.Operation, trace.WithTimestamp(r.Start), trace.WithAttributes(attrs...))
	whole := ctx // context of the latest stage, the parent of the parts that follow it
	for _, s := range r.Stages {
		in, full := ctx, s.Name
		if s.Within != "" {
			in, full = whole, s.Within+"."+s.Name
		}
		sctx, child := o.tracer.Start(in, "contextmem."+r.Operation+"."+full, trace.WithTimestamp(s.Start))
		child.End(trace.WithTimestamp(s.Start.Add(s.Took)))
		if s.Within == "" {
			whole = sctx
		}
		o.stages.Record(ctx, s.Took.Seconds(), metric.WithAttributes(op, attribute.String("stage", full)))
	}
	if r.Err != nil {
		span.SetStatus(codes.Error, r.Err.Error()) // contextmem's errors hold no content
	}
	span.End(trace.WithTimestamp(r.Start.Add(r.Took)))
	o.operations.Record(ctx, r.Took.Seconds(), metric.WithAttributes(op))
}

// Handler returns h with a span for each request. The span continues the trace in the request's traceparent header.
func Handler(h http.Handler, c Config) http.Handler {
	if c.Tracers == nil {
		c.Tracers = otel.GetTracerProvider()
	}
	tracer, headers := c.Tracers.Tracer(name), propagation.TraceContext{}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := headers.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
		ctx, span := tracer.Start(ctx, r.Method, trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(time.Now()))
		defer span.End()
		h.ServeHTTP(w, r.WithContext(ctx))
	})
}

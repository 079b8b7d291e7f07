package otel_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/contextmem/contextmem"
	"github.com/contextmem/contextmem/otel"
)

// TestTraces: a trace of one ingest and one recall shows every stage.
func TestTraces(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	exporter := tracetest.NewInMemoryExporter()
	tracers := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))
	reader := metric.NewManualReader()
	o, err := otel.New(otel.Config{Tracers: tracers, Meters: metric.NewMeterProvider(metric.WithReader(reader))})
	require.NoError(t, err)
	svc, err := contextmem.Open(ctx, t.TempDir(), &contextmem.Options{Observer: o})
	require.NoError(t, err)
	defer svc.Close()
	_, err = svc.EnsureTenant(ctx, contextmem.TenantSpec{ID: "acme"})
	require.NoError(t, err)
	sub := svc.Tenant("acme").Sub("alice")

	ingest, root := tracers.Tracer("test").Start(ctx, "ingest")
	_, err = sub.Remember(ingest, contextmem.Memory{ID: "a", Text: "I moved to Lisbon in May.", Infer: true})
	require.NoError(t, err)
	require.NoError(t, svc.Drain(ctx))
	root.End()
	recall, second := tracers.Tracer("test").Start(ctx, "recall")
	_, err = sub.Recall(recall, contextmem.Recall{Query: "Where do I live?", Class: contextmem.ClassMemory, GraphContext: true, Temporal: &contextmem.Temporal{}})
	require.NoError(t, err)
	second.End()
	_, err = svc.Tenant("nobody").Recall(ctx, contextmem.Recall{Query: "x"})
	require.Error(t, err)

	of := func(id trace.TraceID) (names []string) {
		byID := map[trace.SpanID]tracetest.SpanStub{}
		for _, s := range exporter.GetSpans() {
			byID[s.SpanContext.SpanID()] = s
		}
		for _, s := range exporter.GetSpans() {
			if s.SpanContext.TraceID() != id {
				continue
			}
			names = append(names, s.Name)
			assert.False(t, s.EndTime.Before(s.StartTime), s.Name)
			if parent, ok := byID[s.Parent.SpanID()]; ok && parent.Name != "ingest" {
				assert.False(t, s.StartTime.Before(parent.StartTime), s.Name)
				assert.False(t, s.EndTime.After(parent.EndTime), s.Name)
			}
		}
		return names
	}
	assert.ElementsMatch(t, []string{"ingest", "contextmem.accept", "contextmem.accept.check", "contextmem.accept.store", "contextmem.process", "contextmem.process.claim", "contextmem.process.parse",
		"contextmem.process.embed", "contextmem.process.index", "contextmem.process.follow", "contextmem.process.extract", "contextmem.process.refine", "contextmem.process.finish", "contextmem.process.settle"},
		of(root.SpanContext().TraceID()))
	assert.ElementsMatch(t, []string{"recall", "contextmem.recall", "contextmem.recall.open", "contextmem.recall.rank", "contextmem.recall.rank.question", "contextmem.recall.rank.survey", "contextmem.recall.rank.fuse",
		"contextmem.recall.rank.around", "contextmem.recall.rank.sessions", "contextmem.recall.rank.context", "contextmem.recall.read", "contextmem.recall.order", "contextmem.recall.succeed",
		"contextmem.recall.judge", "contextmem.recall.context", "contextmem.recall.graph", "contextmem.recall.temporal", "contextmem.recall.shape"}, of(second.SpanContext().TraceID()))
	failed := 0
	for _, s := range exporter.GetSpans() {
		if s.Status.Description != "" {
			failed++
			assert.Contains(t, s.Status.Description, "nobody")
		}
	}
	assert.Equal(t, 1, failed)

	var m metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(ctx, &m))
	var names []string
	for _, s := range m.ScopeMetrics {
		for _, x := range s.Metrics {
			names = append(names, x.Name)
		}
	}
	assert.ElementsMatch(t, []string{"contextmem.operation.duration", "contextmem.stage.duration", "contextmem.items.accepted", "contextmem.items.completed"}, names)
}

type reranker struct{}

func (reranker) Rerank(_ context.Context, _ string, texts []string) ([]float64, error) {
	return make([]float64, len(texts)), nil
}

// TestParts: what ranking does in partitions that are too large to be looked at as a whole, and what thinking adds.
func TestParts(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	exporter := tracetest.NewInMemoryExporter()
	o, err := otel.New(otel.Config{Tracers: sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))})
	require.NoError(t, err)
	svc, err := contextmem.Open(ctx, t.TempDir(), &contextmem.Options{Observer: o, Reranker: reranker{}})
	require.NoError(t, err)
	defer svc.Close()
	_, err = svc.EnsureTenant(ctx, contextmem.TenantSpec{ID: "acme"})
	require.NoError(t, err)
	sub := svc.Tenant("acme").Sub("alice")
	list := make([]contextmem.Memory, 1000)
	for round := range 3 { // more than are looked at as a whole
		for i := range list {
			list[i] = contextmem.Memory{ID: fmt.Sprintf("%d-%d", round, i), Text: fmt.Sprintf("Note %d of round %d: the bakery sold loaves.", i, round)}
		}
		_, err = sub.AddMemories(ctx, contextmem.MemoryBatch{Memories: list})
		require.NoError(t, err)
	}
	_, err = sub.AddKnowledge(ctx, contextmem.KnowledgeBatch{Files: []contextmem.File{{ID: "a", Name: "a.md", Data: []byte("# Oslo\n\nAnna Lind works at Zorblax in Oslo. Zorblax belongs to Bo Berg.")},
		{ID: "b", Name: "b.md", Data: []byte("# Bergen\n\nBo Berg founded Zorblax. Anna Lind met Bo Berg in Bergen.")}}})
	require.NoError(t, err)
	require.NoError(t, svc.Drain(ctx))
	parts := func(q contextmem.Recall) (names []string) {
		exporter.Reset()
		_, err := sub.Recall(ctx, q)
		require.NoError(t, err)
		byID := map[trace.SpanID]string{}
		for _, s := range exporter.GetSpans() {
			byID[s.SpanContext.SpanID()] = s.Name
		}
		for _, s := range exporter.GetSpans() {
			if name, ok := strings.CutPrefix(s.Name, "contextmem.recall."); ok && strings.Contains(name, ".") {
				within, _, _ := strings.Cut(name, ".")
				assert.Equal(t, "contextmem.recall."+within, byID[s.Parent.SpanID()], name)
				names = append(names, name)
			}
		}
		return names
	}
	assert.Equal(t, []string{"rank.question", "rank.survey", "rank.terms", "rank.keyword", "rank.vector", "rank.rest", "rank.fuse", "rank.around", "rank.sessions", "rank.context", "rank.late", "order.rerank"},
		parts(contextmem.Recall{Query: "Who sold loaves?", Class: contextmem.ClassMemory, Mode: contextmem.ModeThinking}))
	assert.Equal(t, []string{"rank.question", "rank.survey", "rank.fuse", "rank.entities", "rank.walk", "rank.bridge", "order.rerank"},
		parts(contextmem.Recall{Query: "Where does Anna Lind of Zorblax work?", Class: contextmem.ClassKnowledge, Mode: contextmem.ModeThinking}))
}

func TestHandler(t *testing.T) {
	t.Parallel()
	exporter := tracetest.NewInMemoryExporter()
	tracers := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))
	var inside trace.SpanContext
	h := otel.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { inside = trace.SpanContextFromContext(r.Context()) }), otel.Config{Tracers: tracers})
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)
	r.Header.Set("Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	h.ServeHTTP(httptest.NewRecorder(), r)
	assert.Equal(t, "4bf92f3577b34da6a3ce929d0e0e4736", inside.TraceID().String())
	require.Len(t, exporter.GetSpans(), 1)
}

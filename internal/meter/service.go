package meter

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/contextmem/contextmem/observe"
)

// Service counts the activity of a service since it was opened. It is safe for concurrent use.
type Service struct {
	Operations Family[Histogram] // by operation
	Stages     Family[Histogram] // by operation and stage
	Recalls    Family[Counter]   // by mode, degraded and outcome
	Accepted   Counter           // items
	Completed  Counter           // items
	Errored    Family[Counter]   // items by code
	Retried    Counter           // items returned to the queue
	Deliveries Family[Counter]   // attempts by outcome: delivered, failed, permanently_failed
	Syncs      Family[Counter]   // by provider and outcome: ok, error
	Objects    Family[Counter]   // objects delivered by connectors, by provider

	Files Files

	known map[string]*operation // operations found without building a key
	fast  *Counter              // successful recalls in fast mode
}

type operation struct {
	all    *Histogram
	names  []string
	stages []*Histogram
}

// stage returns the histogram of a stage at or behind index at, and its index. It returns nil if there is no such stage.
func (o *operation) stage(name string, at int) (*Histogram, int) {
	for i := at; i < len(o.names); i++ {
		if o.names[i] == name {
			return o.stages[i], i
		}
	}
	if at > 0 {
		return o.stage(name, 0)
	}
	return nil, 0
}

// stages lists the stages of package observe.
var stages = map[string][]string{
	observe.Recall:  {"open", "rank", "read", "order", "succeed", "judge", "context", "graph", "temporal", "shape"},
	observe.Accept:  {"check", "store"},
	observe.Process: {"claim", "parse", "embed", "index", "follow", "extract", "refine", "finish", "settle"},
}

// NewService returns a Service with all counters at 0.
func NewService() *Service {
	s := &Service{known: map[string]*operation{}}
	for op, names := range stages {
		o := &operation{all: s.Operations.Of(op), names: names}
		for _, name := range names {
			o.stages = append(o.stages, s.Stages.Of(op, name))
		}
		s.known[op] = o
	}
	s.fast = s.Recalls.Of("fast", "false", "ok")
	return s
}

// Observe implements observe.Observer.
func (s *Service) Observe(_ context.Context, r *observe.Record) {
	o := s.known[r.Operation]
	if o == nil {
		return
	}
	o.all.Observe(r.Took)
	at := 0
	for i := range r.Stages { // stages mostly come in the order of o.names
		if r.Stages[i].Within != "" {
			continue
		}
		h, place := o.stage(r.Stages[i].Name, at)
		if h != nil {
			at = place
			h.Observe(r.Stages[i].Took)
		}
	}
	switch r.Operation {
	case observe.Recall:
		if r.Err == nil && !r.Degraded && r.Mode == "fast" {
			s.fast.Add(1)
			return
		}
		outcome := "ok"
		if r.Err != nil {
			outcome = "error"
		}
		s.Recalls.Of(r.Mode, strconv.FormatBool(r.Degraded), outcome).Add(1)
	case observe.Accept:
		s.Accepted.Add(r.Items)
	case observe.Process:
		s.Completed.Add(r.Completed)
		s.Retried.Add(r.Retried)
		for _, code := range r.Errors {
			s.Errored.Of(code).Add(1)
		}
	}
}

// Gauges are values measured when metrics are written.
type Gauges struct {
	Queued, Processing, Graph  int          // items in progress
	Open                       int          // open tenants
	Items                      map[Item]int // of all tenants
	IndexMemory, IndexBudget   int64        // bytes of indexes in memory, and the limit; negative: unknown
	Loads, Evictions           int64        // index partitions loaded from files into memory, and evicted
	StoreBytes, IndexFileBytes int64        // bytes of files; negative: unknown
	Sizes                      []IndexSize
	Damaged                    int64 // rows
	Losses                     int   // tenants that lacked acknowledged changes when they were opened
}

// IndexSize is the file size of one kind of index.
type IndexSize struct {
	Index       string
	Bytes, Rows int64
}

// Item is the key by which items are counted.
type Item struct {
	State string
	Error string // error code of an errored item
}

// maxCodes bounds the series of errored items, because external extractors and parsers may use arbitrary codes.
const maxCodes = 100

// items writes the numbers of items.
func (w *Writer) items(all map[Item]int) {
	w.Head("contextmem_items", "gauge", "Items of all tenants by state, errored ones by the code of the error; those of a closed tenant as they were when it was counted last.")
	sample := func(state, code string, n int) {
		w.Sample("contextmem_items", []string{"state", "error"}, []string{state, code}, float64(n))
	}
	for _, state := range []string{"completed", "errored", "graph_creation", "processing", "queued"} {
		n := all[Item{State: state}]
		if state != "errored" {
			sample(state, "", n)
			continue
		}
		codes := map[string]int{}
		for x, k := range all {
			if x.State == state && x.Error != "" {
				codes[x.Error] = k
			}
		}
		names := slices.Sorted(maps.Keys(codes))
		for i, code := range names {
			if i >= maxCodes {
				n += codes[code]
				continue
			}
			sample(state, code, codes[code])
		}
		if n > 0 || len(codes) == 0 {
			sample(state, "", n)
		}
	}
}

// Write writes all metrics in the Prometheus text format.
func (s *Service) Write(w *Writer, g *Gauges) {
	w.Histograms("contextmem_operation_duration_seconds", "How long recalls, additions and batches of processed items took.", []string{"operation"}, &s.Operations)
	w.Histograms("contextmem_stage_duration_seconds", "How long the stages of operations took.", []string{"operation", "stage"}, &s.Stages)
	w.Counters("contextmem_recalls_total", "Recalls by the mode that ran.", []string{"mode", "degraded", "outcome"}, &s.Recalls)
	count := func(name, help string, n int64) {
		w.Head(name, "counter", help)
		w.Sample(name, nil, nil, float64(n))
	}
	count("contextmem_items_accepted_total", "Items that were accepted.", s.Accepted.Value())
	count("contextmem_items_completed_total", "Items that were completed.", s.Completed.Value())
	w.Counters("contextmem_items_errored_total", "Items that ended in an error, by its code.", []string{"code"}, &s.Errored)
	count("contextmem_items_retried_total", "Items that were given back to be tried again.", s.Retried.Value())
	w.Counters("contextmem_webhook_attempts_total", "Attempts to deliver events, by what became of them.", []string{"outcome"}, &s.Deliveries)
	w.Counters("contextmem_connector_syncs_total", "Syncs of connectors.", []string{"provider", "outcome"}, &s.Syncs)
	w.Counters("contextmem_connector_objects_total", "Objects that connectors handed over.", []string{"provider"}, &s.Objects)
	w.Head("contextmem_queue_items", "gauge", "Items that are on their way.")
	for _, x := range []struct {
		state string
		n     int
	}{{"queued", g.Queued}, {"processing", g.Processing}, {"graph_creation", g.Graph}} {
		w.Sample("contextmem_queue_items", []string{"state"}, []string{x.state}, float64(x.n))
	}
	w.items(g.Items)
	count("contextmem_damaged_rows_total", "Stored rows that are damaged and were left out of answers, each once while its tenant is open.", g.Damaged)
	w.Gauge("contextmem_tenants_with_losses", "Tenants that were opened and lacked changes that had been acknowledged, until the file that says so is removed and the program is started again.", float64(g.Losses))
	w.Gauge("contextmem_open_tenants", "Tenants that are open.", float64(g.Open))
	if g.IndexBudget >= 0 {
		w.Gauge("contextmem_index_memory_bytes", "Memory of the search indexes.", float64(g.IndexMemory))
		w.Gauge("contextmem_index_memory_limit_bytes", "Bound of it; 0: none.", float64(g.IndexBudget))
		count("contextmem_index_cache_loads_total", "Partitions of indexes that were read from their files.", g.Loads)
		count("contextmem_index_cache_evictions_total", "Partitions of indexes that left memory.", g.Evictions)
	}
	if len(g.Sizes) > 0 {
		w.Head("contextmem_index_bytes", "gauge", "Files of the search indexes of open tenants, by index.")
		for _, x := range g.Sizes {
			w.Sample("contextmem_index_bytes", []string{"index"}, []string{x.Index}, float64(x.Bytes))
		}
		w.Head("contextmem_index_rows", "gauge", "Chunks in those files, by index.")
		for _, x := range g.Sizes {
			w.Sample("contextmem_index_rows", []string{"index"}, []string{x.Index}, float64(x.Rows))
		}
	}
	if g.IndexFileBytes >= 0 {
		w.Gauge("contextmem_index_file_bytes", "Files of the search indexes.", float64(g.IndexFileBytes))
	}
	if g.StoreBytes >= 0 {
		w.Gauge("contextmem_store_file_bytes", "Files of the stores.", float64(g.StoreBytes))
	}
}

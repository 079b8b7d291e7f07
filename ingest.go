package contextmem

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/contextmem/contextmem/backend"
)

// Pair is one exchange of a conversation.
type Pair struct {
	User, Assistant string
}

// Memory is a user fact, note or conversation to remember. Text or Pairs is required, not both.
type Memory struct {
	ID       string        // upsert key, at most 1024 bytes; default: 32 random hexadecimal characters
	Text     string        // raw text or markdown
	Markdown bool          // Text is markdown
	Pairs    []Pair        // a conversation
	Infer    bool          // also extract preferences, facts and entities about UserName
	Title    string        // display title
	UserName string        // default "User"
	TTL      time.Duration // the memory is deleted after it; 0 never
	// Instructions guide inference; they are ignored without Infer. Which of them the extractor honours is its own: see the
	// documentation of package extract/rules; a model gets them as they are. Parts that were not honoured are warnings of
	// the item, see ItemStatus.
	Instructions       string
	Metadata           map[string]any // tenant-level; at most 16384 bytes of compact JSON
	AdditionalMetadata map[string]any // document-level; at most Options.MaxAdditionalBytes of compact JSON
	Relations          *Relations     // forceful connections to other memories of the sub-tenant
	// Time is when it was said or happened. Default: a timestamp, time, date or observation_date in the metadata, if it can
	// be read; else, for a memory that is added alone, the time of the call.
	Time time.Time
	// Session ties memories of one conversation together. Default: session_id, session, conversation_id or thread_id in the metadata;
	// else memories close in time belong together.
	Session string
}

// MemoryBatch is what AddMemories takes.
type MemoryBatch struct {
	Memories     []Memory // at least one
	FailIfExists bool     // an existing id fails its item instead of being replaced
	// Metadata and AdditionalMetadata are put under those of every item, whose own keys win.
	Metadata, AdditionalMetadata map[string]any
	Graphs                       map[string]SuppliedGraph // by memory id; see SuppliedGraph
	// Progress is told how the accepted items move on, until all of them are final. Nil: nobody.
	Progress ProgressFunc
}

// File is a document to parse.
type File struct {
	ID          string // upsert key; default: derived from name and scope, so that the same name again replaces it
	Name        string // file name; its ending helps to find the format
	ContentType string // media type, may carry a charset; helps to find the format
	Data        []byte // the content; or
	// Open returns the content when Data is nil. It is read once, before the call returns.
	Open                         func() (io.ReadCloser, error)
	Title                        string // default: the file name
	Kind                         string // free category, shown as type
	URL                          string
	Description                  string
	Time                         time.Time // default: a time in the metadata, else the document's own
	Metadata, AdditionalMetadata map[string]any
	Relations                    *Relations
	ACL                          []string // principals that may see it; none: everybody
}

// KnowledgeBatch is what AddKnowledge takes: files, app items, or both.
type KnowledgeBatch struct {
	Files                        []File
	Apps                         []AppItem
	FailIfExists                 bool
	Metadata, AdditionalMetadata map[string]any // put under those of every item
	Graphs                       map[string]SuppliedGraph
	Progress                     ProgressFunc // as MemoryBatch.Progress
}

// Relations are forceful connections of a source to others of the same class
// and sub-tenant. They may name items that are not there yet.
type Relations struct {
	IDs        []string       // ids of related sources
	Properties map[string]any // kept and returned
	Links      []Link         // typed links, for app items
}

// Link is a typed connection of an app item.
type Link struct {
	Predicate  string // lower case; default "linked_to"
	TargetID   string // a source id; or
	Provider   string // the target's provider and
	ExternalID string // its id there
	Properties map[string]any
}

// SuppliedGraph replaces extraction for a source of the same call. Its relations
// attach to the chunks that fit them best. It stays with the source: when the source is
// ingested again without a graph it is applied again.
type SuppliedGraph struct {
	Entities  map[string]SuppliedEntity // by a handle that is local to the graph; at most 5000
	Relations []SuppliedRelation        // at most 10000, and 500 of one entity
}

// SuppliedEntity is a node of a supplied graph.
type SuppliedEntity struct {
	Name       string // required, at most 256 characters; compared in lower case
	Type       string
	Namespace  string
	Identifier string
}

// SuppliedRelation is an edge of a supplied graph.
type SuppliedRelation struct {
	Source, Target string // handles
	Predicate      string // required, at most 256 characters
	Context        string // at most 2000 characters
	Temporal       string
}

// Status is where an item stands.
type Status string

// States of an item. It can be recalled from StatusGraphCreation on.
const (
	StatusQueued        Status = "queued"
	StatusProcessing    Status = "processing"
	StatusGraphCreation Status = "graph_creation"
	StatusCompleted     Status = "completed"
	StatusErrored       Status = "errored"
	StatusFailed        Status = "failed" // not accepted; only in an IngestItem
)

var statusOf = map[backend.State]Status{backend.Queued: StatusQueued, backend.Processing: StatusProcessing,
	backend.GraphCreation: StatusGraphCreation, backend.Completed: StatusCompleted, backend.Errored: StatusErrored}

// Terminal tells whether the state is final.
func (s Status) Terminal() bool {
	return s == StatusCompleted || s == StatusErrored || s == StatusFailed
}

// IngestItem is the fate of one item of a call, in input order.
type IngestItem struct {
	ID               string
	Filename         string // files only
	Title            string
	Status           Status // StatusQueued, or StatusFailed with Err
	Infer            bool
	Err              error
	RelationsCreated int    // forceful relations whose target is there
	RelationsError   string // what became of the others; empty when nothing is amiss
}

// IngestResult is what ingestion calls return. Items are durable when the call
// returns; those that failed have changed nothing.
type IngestResult struct {
	Items            []IngestItem
	Accepted, Failed int
}

// IDs returns the ids of the accepted items.
func (r *IngestResult) IDs() []string {
	var ids []string
	for _, it := range r.Items {
		if it.Err == nil {
			ids = append(ids, it.ID)
		}
	}
	return ids
}

// ItemStatus is the state of an item.
type ItemStatus struct {
	ID           string
	Class        Class
	Status       Status
	ErrorCode    string // E####; may be set on an item that waits for a retry
	ErrorMessage string
	Attempts     int
	Unknown      bool // no such item in this scope; Status is StatusErrored and ErrorCode FILE_NOT_FOUND
	Hint         string
	// Warnings say what an item that is completed lacks: custom instructions that were not honoured (code
	// "unheeded_instruction", one each). They are not said of items that wait.
	Warnings []Warning
}

// AddMemories accepts memories. They are durable and queued when it returns; an
// error means that nothing was accepted. Items that fail alone (FailIfExists) say so in
// the result.
func (s Sub) AddMemories(ctx context.Context, b MemoryBatch) (*IngestResult, error) {
	in := &intake{op: "add memories", sub: s, class: backend.Memory, failIfExists: b.FailIfExists}
	return in.take(ctx, b.Progress, func() error { return in.memories(ctx, b) })
}

// AddKnowledge accepts files and app items, as AddMemories does memories. A file
// whose format is known to be unsupported from its name or type refuses the call
// with ErrFormat; one that turns out unreadable ends StatusErrored.
func (s Sub) AddKnowledge(ctx context.Context, b KnowledgeBatch) (*IngestResult, error) {
	in := &intake{op: "add knowledge", sub: s, class: backend.Knowledge, failIfExists: b.FailIfExists}
	return in.take(ctx, b.Progress, func() error { return in.knowledge(ctx, b) })
}

// Status reports items by id, knowledge and memories alike, in the order asked.
// An unknown id is no error: see ItemStatus.Unknown.
func (s Sub) Status(ctx context.Context, ids ...string) ([]ItemStatus, error) {
	const op = "status"
	h, err := s.svc.open(ctx, op, s.org, s.tenant)
	if err != nil {
		return nil, err
	}
	defer h.release()
	return s.status(ctx, op, h, ids)
}

func (s Sub) status(ctx context.Context, op string, h *held, ids []string) ([]ItemStatus, error) {
	name, err := s.resolve(ctx, h)
	if err != nil {
		return nil, wrap(op, ResourceSub, s.sub, err)
	}
	out := make([]ItemStatus, len(ids))
	newest := make([]int64, len(ids))
	for _, class := range []backend.Class{backend.Knowledge, backend.Memory} {
		srcs, err := h.store.Sources(ctx, backend.Partition{Class: class, Sub: name}, ids)
		if err != nil {
			return nil, wrap(op, ResourceSource, "", err)
		}
		for i, src := range srcs {
			if src == nil || src.Num < newest[i] || expired(src, time.Now()) {
				continue
			}
			newest[i] = src.Num
			out[i] = ItemStatus{ID: src.ID, Class: Class(src.Part.Class), Status: statusOf[src.State], ErrorCode: src.ErrorCode,
				ErrorMessage: src.ErrorMessage, Attempts: src.Attempts}
			if src.Infer && src.State == backend.Completed && bytes.Contains(src.Doc, instructed) {
				if _, out[i].Warnings, err = reading(ctx, h, src); err != nil {
					return nil, wrap(op, ResourceSource, src.ID, err)
				}
			}
		}
	}
	for i, id := range ids {
		if newest[i] != 0 {
			continue
		}
		out[i] = ItemStatus{ID: id, Status: StatusErrored, ErrorCode: "FILE_NOT_FOUND", ErrorMessage: "ID not found", Unknown: true}
		if hint, err := s.elsewhere(ctx, h, name, id); err != nil {
			return nil, wrap(op, ResourceSource, "", err)
		} else if hint != "" {
			out[i].Hint = hint
		}
	}
	return out, nil
}

// elsewhere says whether an id exists in other sub-tenants, without naming its content.
func (s Sub) elsewhere(ctx context.Context, h *held, name, id string) (string, error) {
	for _, class := range []backend.Class{backend.Knowledge, backend.Memory} {
		subs, err := h.store.FindSubs(ctx, class, id)
		if err != nil {
			return "", err
		}
		for _, other := range subs {
			if other != name {
				return fmt.Sprintf("searched collection %q; an item with this id exists in another collection", shortID(name)), nil
			}
		}
	}
	return "", nil
}

// Wait waits until every id is terminal and returns their states; an unknown
// id counts as terminal.
func (s Sub) Wait(ctx context.Context, ids ...string) ([]ItemStatus, error) {
	const op = "wait"
	h, err := s.svc.open(ctx, op, s.org, s.tenant)
	if err != nil {
		return nil, err
	}
	defer h.release()
	for {
		changed := h.changes()
		st, err := s.status(ctx, op, h, ids)
		if err != nil {
			return nil, err
		}
		open := false
		for _, x := range st {
			open = open || !x.Status.Terminal()
		}
		if !open {
			return st, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return st, ctx.Err()
		case <-s.svc.life.Done():
			return st, &Error{Op: op, Kind: KindClosed, Err: ErrClosed}
		}
	}
}

// Retry processes an errored item again, from the content that was kept.
// ErrConflict when it is not errored.
func (s Sub) Retry(ctx context.Context, class Class, id string) error {
	const op = "retry"
	if class == 0 {
		class = ClassKnowledge
	}
	if class != ClassKnowledge && class != ClassMemory {
		return errClass(op, class)
	}
	h, name, err := s.enter(ctx, op)
	if err != nil {
		return err
	}
	defer h.release()
	err = s.svc.sched.admit(ctx, h.uid, func() error {
		return h.store.Requeue(ctx, backend.Partition{Class: backend.Class(class), Sub: name}, id)
	})
	if errors.Is(err, backend.ErrConflict) {
		return &Error{Op: op, Kind: KindConflict, Resource: ResourceSource, ID: shortID(id), Err: errors.New("only an errored item can be processed again")}
	}
	return sourceError(op, class, id, err)
}

func expired(src *backend.Source, now time.Time) bool {
	return !src.ExpiresAt.IsZero() && !src.ExpiresAt.After(now)
}

// resolve returns the name under which the sub-tenant is stored.
func (s Sub) resolve(ctx context.Context, h *held) (string, error) {
	switch s.sub {
	case "", s.tenant:
		return s.tenant, nil
	case "default":
		subs, err := h.store.Subs(ctx)
		if err != nil {
			return "", err
		}
		for _, x := range subs {
			if x.Sub == "default" {
				return "default", nil
			}
		}
		return s.tenant, nil
	}
	return s.sub, nil
}

// sourceError is the error for a source that could not be found or read.
func sourceError(op string, class Class, id string, err error) error {
	res := ResourceSource
	if class == ClassMemory {
		res = ResourceMemory
	}
	if errors.Is(err, backend.ErrNotFound) {
		return &Error{Op: op, Kind: KindNotFound, Resource: res, ID: shortID(id), Err: fmt.Errorf("%s not found", res)}
	}
	return wrap(op, res, id, err)
}

// MaxFileBytes is the size above which a file is refused.
func (s *Service) MaxFileBytes() int64 { return s.opts.MaxFileBytes }

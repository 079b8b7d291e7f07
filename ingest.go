package contextmem

import (
	"context"
	"errors"
	"slices"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/fault"
	"github.com/contextmem/contextmem/internal/documents"
	"github.com/contextmem/contextmem/internal/intake"
	"github.com/contextmem/contextmem/internal/workspace"
)

// MemoryBatch is the input of AddMemories.
type MemoryBatch struct {
	Memories     []Memory // at least one
	FailIfExists bool     // an existing id fails its item instead of being replaced
	// Metadata and Additional are added to the metadata of every item. Keys that the item itself sets take precedence.
	Metadata, Additional map[string]any
	Graphs               map[string]content.SuppliedGraph // by memory id; see content.SuppliedGraph
	// Progress is called as the accepted items change state, until all of them are final. Nil: no calls.
	Progress ProgressFunc
}

// KnowledgeBatch is the input of AddKnowledge: files, app items, or both.
type KnowledgeBatch struct {
	Files                []File
	Apps                 []AppItem
	FailIfExists         bool                             // as MemoryBatch.FailIfExists
	Metadata, Additional map[string]any                   // as in MemoryBatch
	Graphs               map[string]content.SuppliedGraph // by item id
	Progress             ProgressFunc                     // as MemoryBatch.Progress
	SkipUnsupported      bool                             // skip files that no parser reads; without it they fail
	// SkipUnchanged skips a file that is stored already with the same content and was added with the same parameters. Later edits
	// of its metadata remain. A file whose processing ended in an error, or that has a supplied graph, is not skipped.
	SkipUnchanged bool
}

// States of items are declared in package content.
type (
	// Status is the processing state of an item: content.Status.
	Status = content.Status
	// ItemStatus is the state of an item: content.ItemStatus.
	ItemStatus = content.ItemStatus
)

// States of an item. It can be recalled from StatusGraphCreation on.
const (
	StatusQueued        = content.StatusQueued
	StatusProcessing    = content.StatusProcessing
	StatusGraphCreation = content.StatusGraphCreation
	StatusCompleted     = content.StatusCompleted
	StatusErrored       = content.StatusErrored
	StatusFailed        = content.StatusFailed  // not accepted; only in an IngestItem
	StatusSkipped       = content.StatusSkipped // skipped because of an option of KnowledgeBatch; only in an IngestItem
)

// IngestItem is the outcome of one item of an ingest call.
type IngestItem struct {
	ID                       string
	Filename                 string // files only
	Title                    string
	Status                   Status // StatusQueued, StatusFailed with Err, or StatusSkipped with Skipped
	Infer                    bool   // Memory.Infer of the item
	Err                      error  // why the item was not accepted; nil: it was accepted
	ForcefulRelationsCreated int    // number of forceful relations whose target exists
	ForcefulRelationsError   string // what happened to the other forceful relations; empty: there was no error
	Skipped                  string // why the item was skipped: SkippedUnsupported or SkippedUnchanged
}

// Reasons why an item was skipped, in IngestItem.Skipped.
const (
	SkippedUnsupported = string(intake.SkipUnsupported)
	SkippedUnchanged   = string(intake.SkipUnchanged)
)

// IngestResult is the result of an ingest call. Accepted items are durable when the call
// returns; failed items have changed nothing.
type IngestResult struct {
	Items                     []IngestItem
	Accepted, Failed, Skipped int
}

// IDs returns the ids of the accepted items.
func (r *IngestResult) IDs() []string {
	var ids []string
	for _, it := range r.Items {
		if it.Status == StatusQueued {
			ids = append(ids, it.ID)
		}
	}
	return ids
}

// AddMemories accepts memories. They are durable and queued when it returns. An
// error means that nothing was accepted. If only single items fail (FailIfExists), their entries of
// the result have the errors.
func (s scope) AddMemories(ctx context.Context, b MemoryBatch) (*IngestResult, error) {
	const op = "add memories"
	ref, err := s.svc().set.Open(ctx, op, s.org, s.tenant)
	if err != nil {
		return nil, err
	}
	defer ref.Release()
	items, err := s.svc().intake.Memories(ctx, op, ref, s.sub, intake.Memories{Memories: b.Memories, FailIfExists: b.FailIfExists,
		Metadata: b.Metadata, Additional: b.Additional, Graphs: b.Graphs})
	return s.ingested(items, b.Progress), err
}

// AddKnowledge accepts files and app items in the way that AddMemories accepts memories. An empty file, or a file whose name
// or type alone shows that no parser reads it, fails by itself with ErrFormat; see [Service.Supported]. If all items are such
// files, the call fails. A file that proves unreadable during processing ends with StatusErrored.
func (s scope) AddKnowledge(ctx context.Context, b KnowledgeBatch) (*IngestResult, error) {
	const op = "add knowledge"
	ref, err := s.svc().set.Open(ctx, op, s.org, s.tenant)
	if err != nil {
		return nil, err
	}
	defer ref.Release()
	items, err := s.svc().intake.Knowledge(ctx, op, ref, s.sub, intake.Knowledge{Files: b.Files, Apps: b.Apps, FailIfExists: b.FailIfExists,
		Metadata: b.Metadata, Additional: b.Additional, Graphs: b.Graphs, SkipUnsupported: b.SkipUnsupported, SkipUnchanged: b.SkipUnchanged})
	return s.ingested(items, b.Progress), err
}

// ingested makes the result of an ingest call and reports the accepted items to progress. Without items it returns no result.
func (s scope) ingested(items []intake.Item, progress ProgressFunc) *IngestResult {
	if items == nil {
		return nil
	}
	res := &IngestResult{Items: make([]IngestItem, len(items)), Accepted: intake.Accepted(items)}
	for i, it := range items {
		status := StatusQueued
		switch {
		case it.Err != nil:
			status = StatusFailed
			res.Failed++
		case it.Skipped != "":
			status = StatusSkipped
			res.Skipped++
		}
		res.Items[i] = IngestItem{ID: it.ID, Filename: it.Filename, Title: it.Title, Status: status, Infer: it.Infer, Err: it.Err,
			ForcefulRelationsCreated: it.ForcefulRelationsCreated, ForcefulRelationsError: it.ForcefulRelationsError, Skipped: string(it.Skipped)}
	}
	s.follow(progress, res)
	return res
}

// Status returns the states of items of both classes, in the order of ids.
// An unknown id is no error: see ItemStatus.Unknown.
func (s scope) Status(ctx context.Context, ids ...string) ([]ItemStatus, error) {
	const op = "status"
	return entered(ctx, s, op, func(ref *workspace.Ref, name string) ([]ItemStatus, error) {
		return documents.Statuses(ctx, op, ref.Space, name, ids)
	})
}

// Wait waits until every item has a final state and returns the states. An unknown
// id counts as final.
func (s scope) Wait(ctx context.Context, ids ...string) ([]ItemStatus, error) {
	const op = "wait"
	ref, name, err := s.enter(ctx, op)
	if err != nil {
		return nil, err
	}
	defer ref.Release()
	for {
		changed := ref.Changes()
		st, err := documents.Statuses(ctx, op, ref.Space, name, ids)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(st, func(x ItemStatus) bool { return !x.Status.Terminal() }) {
			return st, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return st, ctx.Err()
		case <-s.svc().gate.Life().Done():
			return st, &fault.Error{Op: op, Kind: fault.KindClosed, Err: fault.ErrClosed}
		}
	}
}

// WaitRefined waits until all accepted items of the tenant are processed and refined. Then all texts have the vectors of an
// Options.Embedder that is [Slow], and the memories have been compared with earlier ones that they may supersede. WaitRefined
// does not wait for texts that the embedder cannot read. It keeps waiting while the embedder is unavailable.
func (s scope) WaitRefined(ctx context.Context) error {
	const op = "wait"
	ref, err := s.svc().set.Open(ctx, op, s.org, s.tenant)
	if err != nil {
		return err
	}
	defer ref.Release()
	err = s.svc().sched.WaitRefined(ctx, ref.UID)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return err
	}
	return fault.Wrap(op, fault.Tenant, s.tenant, err)
}

// Retry processes an errored item again, from its stored content.
// It returns ErrConflict if the item is not errored.
func (s scope) Retry(ctx context.Context, class Class, id string) error {
	const op = "retry"
	if class == 0 {
		class = ClassKnowledge
	}
	if class != ClassKnowledge && class != ClassMemory {
		return workspace.ClassError(op, class)
	}
	ref, name, err := s.enter(ctx, op)
	if err != nil {
		return err
	}
	defer ref.Release()
	err = s.svc().sched.Admit(ctx, ref.UID, func() error {
		return ref.Store.Requeue(ctx, backend.Partition{Class: backend.Class(class), Sub: name}, id)
	})
	if errors.Is(err, backend.ErrConflict) {
		return &fault.Error{Op: op, Kind: fault.KindConflict, Resource: fault.Source, ID: fault.ShortID(id), Err: errors.New("only an errored item can be processed again")}
	}
	return workspace.SourceError(op, class, id, err)
}

// Supported reports whether a parser may be able to read a file with the given name and declared media type. Either may be
// empty. True is no guarantee, since the content decides.
func (s *Service) Supported(name, contentType string) bool {
	return s.intake != nil && s.intake.Parsers.Supported(name, contentType)
}

// MaxFileBytes is the size above which a file is refused.
func (s *Service) MaxFileBytes() int64 {
	if s.opts == nil {
		return 0
	}
	return s.opts.MaxFileBytes
}

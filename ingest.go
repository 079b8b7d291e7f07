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

// MemoryBatch is what AddMemories takes.
type MemoryBatch struct {
	Memories     []Memory // at least one
	FailIfExists bool     // an existing id fails its item instead of being replaced
	// Metadata and Additional are put under those of every item, whose own keys win.
	Metadata, Additional map[string]any
	Graphs               map[string]content.SuppliedGraph // by memory id; see content.SuppliedGraph
	// Progress is told how the accepted items move on, until all of them are final. Nil: nobody.
	Progress ProgressFunc
}

// KnowledgeBatch is what AddKnowledge takes: files, app items, or both.
type KnowledgeBatch struct {
	Files                []File
	Apps                 []AppItem
	FailIfExists         bool                             // as MemoryBatch.FailIfExists
	Metadata, Additional map[string]any                   // put under those of every item, whose own keys win
	Graphs               map[string]content.SuppliedGraph // by item id
	Progress             ProgressFunc                     // as MemoryBatch.Progress
	SkipUnsupported      bool                             // leave files out that no parser reads, which fail otherwise
	// SkipUnchanged leaves files out that are stored with the same content and whose call said the same of them; edits
	// of their metadata since then stay. Files that ended in an error, and those with a supplied graph, are taken.
	SkipUnchanged bool
}

// States of items are declared in package content.
type (
	// Status is where an item stands: content.Status.
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
	StatusSkipped       = content.StatusSkipped // left out as KnowledgeBatch asks; only in an IngestItem
)

// IngestItem is the fate of one item of a call, in input order.
type IngestItem struct {
	ID                       string
	Filename                 string // files only
	Title                    string
	Status                   Status // StatusQueued, StatusFailed with Err, or StatusSkipped with Skipped
	Infer                    bool   // as the memory asked
	Err                      error  // why the item was not accepted; nil: it was
	ForcefulRelationsCreated int    // those whose target is there
	ForcefulRelationsError   string // what became of the others; empty when nothing is amiss
	Skipped                  string // why it was left out: SkippedUnsupported or SkippedUnchanged
}

// Why an item was left out.
const (
	SkippedUnsupported = string(intake.SkipUnsupported)
	SkippedUnchanged   = string(intake.SkipUnchanged)
)

// IngestResult is what ingestion calls return. Items are durable when the call
// returns; those that failed have changed nothing.
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

// AddMemories accepts memories. They are durable and queued when it returns; an
// error means that nothing was accepted. Items that fail alone (FailIfExists) say so in
// the result.
func (s scope) AddMemories(ctx context.Context, b MemoryBatch) (*IngestResult, error) {
	const op = "add memories"
	ref, err := s.svc.set.Open(ctx, op, s.org, s.tenant)
	if err != nil {
		return nil, err
	}
	defer ref.Release()
	items, err := s.svc.intake.Memories(ctx, op, ref, s.sub, intake.Memories{Memories: b.Memories, FailIfExists: b.FailIfExists,
		Metadata: b.Metadata, Additional: b.Additional, Graphs: b.Graphs})
	return s.ingested(items, b.Progress), err
}

// AddKnowledge accepts files and app items, as AddMemories does memories. A file that is empty, or whose name or type
// alone shows that no parser reads it, fails alone with ErrFormat, see [Service.Supported]; a call that brings nothing
// else fails as a whole. A file that turns out unreadable ends StatusErrored.
func (s scope) AddKnowledge(ctx context.Context, b KnowledgeBatch) (*IngestResult, error) {
	const op = "add knowledge"
	ref, err := s.svc.set.Open(ctx, op, s.org, s.tenant)
	if err != nil {
		return nil, err
	}
	defer ref.Release()
	items, err := s.svc.intake.Knowledge(ctx, op, ref, s.sub, intake.Knowledge{Files: b.Files, Apps: b.Apps, FailIfExists: b.FailIfExists,
		Metadata: b.Metadata, Additional: b.Additional, Graphs: b.Graphs, SkipUnsupported: b.SkipUnsupported, SkipUnchanged: b.SkipUnchanged})
	return s.ingested(items, b.Progress), err
}

// ingested shapes the fates of items and tells progress what becomes of those accepted; no items make no result.
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

// Status reports items by id, knowledge and memories alike, in the order asked.
// An unknown id is no error: see ItemStatus.Unknown.
func (s scope) Status(ctx context.Context, ids ...string) ([]ItemStatus, error) {
	const op = "status"
	return entered(ctx, s, op, func(ref *workspace.Ref, name string) ([]ItemStatus, error) {
		return documents.Statuses(ctx, op, ref.Space, name, ids)
	})
}

// Wait waits until every id is terminal and returns their states; an unknown
// id counts as terminal.
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
		case <-s.svc.gate.Life().Done():
			return st, &fault.Error{Op: op, Kind: fault.KindClosed, Err: fault.ErrClosed}
		}
	}
}

// WaitRefined waits until nothing that was accepted in the tenant waits to be processed, all of its texts have the vectors of an Options.Embedder that is [Slow], and its memories
// were compared with earlier ones that they may take the place of. Texts that the embedder cannot read are not waited for; while it is down the wait goes on.
func (s scope) WaitRefined(ctx context.Context) error {
	const op = "wait"
	ref, err := s.svc.set.Open(ctx, op, s.org, s.tenant)
	if err != nil {
		return err
	}
	defer ref.Release()
	err = s.svc.sched.WaitRefined(ctx, ref.UID)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return err
	}
	return fault.Wrap(op, fault.Tenant, s.tenant, err)
}

// Retry processes an errored item again, from the content that was kept.
// ErrConflict when it is not errored.
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
	err = s.svc.sched.Admit(ctx, ref.UID, func() error {
		return ref.Store.Requeue(ctx, backend.Partition{Class: backend.Class(class), Sub: name}, id)
	})
	if errors.Is(err, backend.ErrConflict) {
		return &fault.Error{Op: op, Kind: fault.KindConflict, Resource: fault.Source, ID: fault.ShortID(id), Err: errors.New("only an errored item can be processed again")}
	}
	return workspace.SourceError(op, class, id, err)
}

// Supported reports false when a file's name or declared media type alone shows that no parser reads it. True is no
// promise: the content decides. Both arguments may be empty.
func (s *Service) Supported(name, contentType string) bool {
	return s.intake.Parsers.Supported(name, contentType)
}

// MaxFileBytes is the size above which a file is refused.
func (s *Service) MaxFileBytes() int64 { return s.opts.MaxFileBytes }

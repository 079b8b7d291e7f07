// Package intake checks the items that callers add and converts them to sources for the Store.
package intake

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/content"
	"github.com/contextmem/contextmem/internal/parse"
	"github.com/contextmem/contextmem/internal/workspace"
	"github.com/contextmem/contextmem/observe"
)

// Limits bound the items of one call.
type Limits struct {
	MaxItems           int   // files and app items of a call
	MaxMemories        int   // memories of a call
	MaxMemoryBytes     int   // bytes of the text of one memory
	MaxFileBytes       int64 // bytes of one file
	Versions           int   // number of older versions of an item that are kept
	MaxAdditionalBytes int   // bytes of the compact JSON of an item's additional metadata
}

const (
	maxMetadataBytes  = 16384
	maxMergedBytes    = 1 << 20 // bytes of a metadata map after an edit
	MaxSourceIDBytes  = 1024
	MaxSubTenantBytes = 512
	maxPrincipals     = 1000 // principals in the access list of one item
)

// Admitter commits items to a workspace and queues the workspace for processing.
type Admitter interface {
	Admit(ctx context.Context, uid string, store func() error) error
	PlanExpiry(uid string, at time.Time)
}

// Config is what an Engine needs.
type Config struct {
	Limits
	Parsers      *parse.Registry
	ParseTimeout time.Duration
	Schedule     Admitter
	Life         context.Context  // ends when the service closes
	Observer     observe.Observer // is called for calls that add items; nil: none
	Logger       *slog.Logger
}

// Engine adds items. It is safe for concurrent use.
type Engine struct{ Config }

// New returns an Engine.
func New(c Config) *Engine { return &Engine{c} }

// Item is the result of one item of a call.
type Item struct {
	ID                       string
	Filename                 string // files only
	Title                    string
	Infer                    bool
	Err                      error  // why it was not accepted; nil: it was accepted or skipped
	Skipped                  Skip   // why it was skipped, as the call asked for; empty with a nil Err: it is queued
	ForcefulRelationsCreated int    // number of relations whose target exists
	ForcefulRelationsError   string // why the others were not created; empty: there are none
}

// Skip is the reason why an item was skipped.
type Skip string

// The reasons of Skip.
const (
	SkipUnsupported Skip = "unsupported" // no parser reads its format
	SkipUnchanged   Skip = "unchanged"   // an equal item is stored
)

// Memories is a batch of memories.
type Memories struct {
	Memories             []content.Memory
	FailIfExists         bool
	Metadata, Additional map[string]any
	Graphs               map[string]content.SuppliedGraph
}

// Knowledge is a batch of files and app items.
type Knowledge struct {
	Files                []content.File
	Apps                 []content.AppItem
	FailIfExists         bool
	Metadata, Additional map[string]any
	Graphs               map[string]content.SuppliedGraph
	SkipUnsupported      bool   // skip files whose format no parser reads, instead of failing them
	SkipUnchanged        bool   // skip files that equal the stored ones
	Lenient              bool   // keep metadata that the schema does not declare; no filter matches it
	Instructions         string // for items without their own
}

// Memories accepts a batch of memories into a sub-tenant of an open tenant. If it returns an error, nothing was accepted.
func (e *Engine) Memories(ctx context.Context, op string, ref *workspace.Ref, sub string, m Memories) ([]Item, error) {
	in, err := e.begin(ctx, op, ref, sub, backend.Memory)
	if err != nil {
		return nil, err
	}
	in.failIfExists = m.FailIfExists
	if err := in.memories(m); err != nil {
		return nil, err
	}
	return in.accept(ctx)
}

// Knowledge accepts a batch of files and app items, like Memories.
func (e *Engine) Knowledge(ctx context.Context, op string, ref *workspace.Ref, sub string, k Knowledge) ([]Item, error) {
	in, err := e.begin(ctx, op, ref, sub, backend.Knowledge)
	if err != nil {
		return nil, err
	}
	in.failIfExists, in.lenient, in.instructions = k.FailIfExists, k.Lenient, cmp.Or(k.Instructions, in.instructions)
	if err := in.knowledge(ctx, k); err != nil {
		return nil, err
	}
	return in.accept(ctx)
}

// Accepted returns how many of the items are queued.
func Accepted(items []Item) (n int) {
	for i := range items {
		if items[i].Err == nil && items[i].Skipped == "" {
			n++
		}
	}
	return n
}

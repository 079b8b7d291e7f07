// Package intake checks what callers bring and turns it into sources that the Store accepts.
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

// Limits bound what one call may bring.
type Limits struct {
	MaxItems           int   // files and app items
	MaxMemories        int   // memories
	MaxMemoryBytes     int   // of the text of one memory
	MaxFileBytes       int64 // of one file
	Versions           int   // of an item that are kept behind the newest
	MaxAdditionalBytes int   // of the compact JSON of an item's additional metadata
}

const (
	maxMetadataBytes  = 16384
	maxMergedBytes    = 1 << 20 // of a map that edits grew
	MaxSourceIDBytes  = 1024
	MaxSubTenantBytes = 512
	maxPrincipals     = 1000 // of one item
)

// Admitter puts a workspace in line for processing around a commit of items.
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
	Observer     observe.Observer // is told of calls that add items; nil: nobody is
	Logger       *slog.Logger
}

// Engine takes items in. It is safe for concurrent use.
type Engine struct{ Config }

// New returns an Engine.
func New(c Config) *Engine { return &Engine{c} }

// Item is the fate of one item of a call, in input order.
type Item struct {
	ID                       string
	Filename                 string // files only
	Title                    string
	Infer                    bool
	Err                      error  // why it was not accepted
	Skipped                  Skip   // why it was left out, as asked; empty with a nil Err: it is queued
	ForcefulRelationsCreated int    // those whose target is there
	ForcefulRelationsError   string // what became of the others; empty when nothing is amiss
}

// Skip is why an item was left out.
type Skip string

// The reasons of Skip.
const (
	SkipUnsupported Skip = "unsupported" // no parser reads it
	SkipUnchanged   Skip = "unchanged"   // it is stored as it was handed in
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
	SkipUnsupported      bool   // files that no parser reads are left out instead of failing
	SkipUnchanged        bool   // so are files that are stored as they were handed in
	Lenient              bool   // metadata that the schema does not declare is kept, but matches no filter
	Instructions         string // for items without their own
}

// Memories accepts a batch into a sub-tenant of an open tenant. An error means that nothing was accepted.
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

// Knowledge accepts a batch as Memories does.
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

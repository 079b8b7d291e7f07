// Package move copies a deployment from one kind of storage to another, row by row and exactly, while it is in use.
//
// Both sides read and write rows of the same tables. A side with another storage form translates its data to these rows. The
// common rows allow the two sides to be compared, and an interrupted copy to resume.
package move

import (
	"cmp"
	"context"
	"encoding/binary"
	"hash/crc64"
	"iter"
	"math"
	"slices"
	"sort"
	"strings"
)

// Row holds the values of a table's columns: int64, float64, []byte or nil.
type Row []any

// Kind is what a column holds.
type Kind byte

// Kinds of columns.
const (
	Int      Kind = 'i' // or nil
	Bool     Kind = 'o' // 0 or 1
	Float    Kind = 'f'
	Text     Kind = 't'
	Word     Kind = 'w' // a text of ASCII
	MaybeTxt Kind = 'T' // or nil
	Bytes    Kind = 'b' // or nil
)

// Column is one column of a table.
type Column struct {
	Name string
	Kind Kind
}

// Table is a table of a workspace or of the registry. Its key are the first columns.
type Table struct {
	Name string
	Keys int
	Cols []Column
}

func table(name string, keys int, cols string) *Table {
	t := &Table{Name: name, Keys: keys}
	for _, c := range strings.Fields(cols) {
		n, kind, typed := strings.Cut(c, ":")
		col := Column{n, Int}
		if typed {
			col.Kind = Kind(kind[0])
		}
		t.Cols = append(t.Cols, col)
	}
	return t
}

// At returns the index of the column with the given name.
func (t *Table) At(name string) int {
	for i, c := range t.Cols {
		if c.Name == name {
			return i
		}
	}
	panic("move: no column " + name)
}

// numbered reports whether the key is one integer. Both sides list such a table in key order.
func (t *Table) numbered() bool { return t.Keys == 1 && t.Cols[0].Kind == Int }

// The tables of the registry.
var (
	Tenants = table("tenants", 1, "uid:w org:t id:t state:w error:t created data:b rev wake")
	Records = table("records", 3, "kind:t org:t id:t rev data:b")
	Sending = table("deliveries", 1, `num id:t org:t url:t event:t item:t database:t tenant_uid:t collection:t indexing_status:t status:w attempts error_code:t
		error_message:t last_error:t last_status payload:b created updated next_attempt lease token:t due`)

	// Registry lists the tables of the registry in the order of copying.
	Registry = []*Table{Records, Sending, Tenants}
)

// The tables of a workspace. Due times, tokens and leases of sources are left out, because no process holds a claim after a
// move.
var (
	Parts   = table("parts", 1, "id class sub:t items chunks")
	Sources = table("sources", 1, `num part id:t newest:o indexed:o graph:o dense:o infer:o state lane lanes attempts not_before older first_chunk chunks
		seq_chunks seq_tags seq_graph seq_lane_1 seq_lane_2 seq_lane_3 compared created updated time expires size title:t kind:t filename:t media:t session:t
		error_code:t error_message:t tags:b metadata:b additional:b doc:b rev`)
	Values    = table("vals", 1, "name:t data:b")
	Epochs    = table("epochs", 1, "num epoch seq")
	Entities  = table("entities", 1, "num part root mentions uses named:o key:t name:t type:t")
	Aliases   = table("aliases", 2, "part key:t into_key:t")
	Merges    = table("merges", 1, "num part at undone from_key:t into_key:t reason:t stated:t asked_from:t asked_into:t")
	Relations = table("relations", 1, `num part source chunk from_id to_id ord flags superseded_by valid_from valid_to known_from known_to confidence:f
		predicate:t from_key:t to_key:t raw:t context:t temporal:t origin:t kind:t object:t precision:t`)
	Events      = table("events", 1, "seq class status source at epoch sub:t item:t error_code:t error_message:t")
	Changes     = table("changes", 1, "seq kind source class sub:T id:T")
	Successions = table("successions", 1, `num part later earlier later_chunk earlier_chunk compared retracts:o confidence:f created undone matter:t evidence:t
		decider:t extra:b`)
	// Ledger has one row, with the key 0.
	Ledger = table("ledger", 1, "key source chunk entity relation merge_no event part succession seq feed_start completed errored retractions")

	// Workspace lists the tables of a workspace in the order of copying: parts come before sources, and the ledger comes last.
	Workspace = []*Table{Parts, Sources, Values, Epochs, Entities, Aliases, Merges, Relations, Events, Changes, Successions, Ledger}
)

// The tables of the data owned by a source. Rows of these tables change only together with the row of their source.
var (
	Blobs    = table("blobs", 2, "source kind crc data:b")
	Chunks   = table("chunks", 1, "num source ordinal crc key:t text:t heading:t layout:b extra:b")
	Vectors  = table("vectors", 2, "chunk lane crc data:b")
	Mentions = table("mentions", 1, "source crc data:b")
	Edges    = table("entity_sources", 2, "entity source count type:t")
	Stated   = table("stated_aliases", 5, "part from_key:t likely:o into_key:t source at reason:t")
)

// Owned is a row that belongs to a source.
type Owned struct {
	Table *Table
	Row   Row
}

// Whose maps rows of content to the source that owns them.
type Whose struct {
	spans []span // chunk ranges, ascending
}

type span struct{ first, last, source int64 }

// NewWhose returns a Whose that knows the chunk ranges of the given sources.
func NewWhose(sources []Row) *Whose {
	w := &Whose{}
	for _, s := range sources {
		if num, first, last := Range(s); last >= first {
			w.spans = append(w.spans, span{first, last, num})
		}
	}
	slices.SortFunc(w.spans, func(a, b span) int { return cmp.Compare(a.first, b.first) })
	return w
}

// Chunk returns the number of the source that owns the chunk, or 0 if none of the sources does.
func (w *Whose) Chunk(num int64) int64 {
	i := sort.Search(len(w.spans), func(i int) bool { return w.spans[i].last >= num })
	if i == len(w.spans) || w.spans[i].first > num {
		return 0
	}
	return w.spans[i].source
}

// Range returns the number of a source and the numbers of its first and last chunk. A source without chunks has the range 0 to
// -1.
func Range(source Row) (num, first, last int64) {
	num, first = source[0].(int64), source[firstChunk].(int64)
	if n := source[chunkCount].(int64); n > 0 {
		return num, first, first + n - 1
	}
	return num, 0, -1
}

var firstChunk, chunkCount = Sources.At("first_chunk"), Sources.At("chunks")

// Op replaces the row Old by the row New of the same key. A nil Old inserts a row; a nil New deletes one.
type Op struct {
	Table    *Table
	Old, New Row
	Owned    []Owned // all rows owned by a new row of Sources
	Class    int64   // for a row of Sources: the class of its partition
}

// View is a consistent snapshot of a workspace or of the registry.
type View interface {
	// Each lists the rows of a table of Workspace or Registry. A table with a single integer key is listed in key order, any other
	// in no fixed order.
	Each(ctx context.Context, t *Table) iter.Seq2[Row, error]
	// Owned returns the rows owned by the sources, by source number. The chunks of a source come before their vectors; the order is
	// otherwise unspecified.
	Owned(ctx context.Context, sources []Row) (map[int64][]Owned, error)
}

// Place is a workspace, or the registry, open for writing. Its View includes the rows already written.
type Place interface {
	View
	// Apply applies all of ops durably, or none of them.
	Apply(ctx context.Context, ops []Op) error
	Close() error
}

// State records the part that a deployment has in a move. Peer names the other side.
type State struct {
	Name Phase
	Peer string
}

// Phase is the name of a State.
type Phase string

// States of a deployment.
const (
	Open    Phase = ""        // it is in use, or empty
	Filling Phase = "filling" // the target of an unfinished move from Peer
	Moved   Phase = "moved"   // its content lives at Peer
)

// Side is a deployment that can be the source or the target of a move. The workspace with an empty uid is the registry.
type Side interface {
	// Name identifies the deployment, without secrets.
	Name() string
	State(ctx context.Context) (State, error)
	// SetState stores the state of the deployment durably. A frozen side stays frozen.
	SetState(ctx context.Context, s State) error

	// Read calls f with a snapshot of a workspace. Read may call f again from the start. An absent workspace is empty.
	Read(ctx context.Context, uid string, f func(View) error) error
	// Write opens a workspace for writing and creates it if it is absent.
	Write(ctx context.Context, uid string) (Place, error)
	// Workspaces lists the stored workspaces.
	Workspaces(ctx context.Context) ([]string, error)
	Remove(ctx context.Context, uid string) error

	// Stamps returns a number for each workspace written to since the first call. The number changes with each write. A workspace
	// without a number has not been written to.
	Stamps(ctx context.Context) (map[string]int64, error)
	// Freeze waits for writes in progress and blocks new writes until thaw is called.
	Freeze(ctx context.Context) (thaw func(), err error)
}

// encode appends an encoding of the row to b. Only equal rows have equal encodings.
func encode(b []byte, r Row) []byte {
	for _, v := range r {
		switch x := v.(type) {
		case nil:
			b = append(b, 0)
		case int64:
			b = binary.LittleEndian.AppendUint64(append(b, 1), uint64(x))
		case float64:
			b = binary.LittleEndian.AppendUint64(append(b, 2), math.Float64bits(x))
		case []byte:
			b = append(binary.LittleEndian.AppendUint64(append(b, 3), uint64(len(x))), x...)
		}
	}
	return b
}

var poly = crc64.MakeTable(crc64.ECMA)

// sums counts rows and adds up their checksums. The result does not depend on the order of the rows.
type sums struct {
	rows int64
	sum  uint64
	buf  []byte
}

func (s *sums) of(r Row) uint64 {
	s.buf = encode(s.buf[:0], r)
	return crc64.Checksum(s.buf, poly)
}

func (s *sums) add(sum uint64) {
	s.rows++
	s.sum += sum*0x9e3779b97f4a7c15 ^ sum>>31
}

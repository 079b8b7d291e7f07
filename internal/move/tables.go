// Package move copies a deployment from one kind of storage to another, row by row and exactly, while it is in use.
//
// Both sides read and write rows of the same tables: a side that keeps something in another form translates. So that what two
// sides hold can be compared, and a copy that was cut off goes on where it stands.
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

// At is the place of a column.
func (t *Table) At(name string) int {
	for i, c := range t.Cols {
		if c.Name == name {
			return i
		}
	}
	panic("move: no column " + name)
}

// numbered reports whether the key is one integer, by which both sides list.
func (t *Table) numbered() bool { return t.Keys == 1 && t.Cols[0].Kind == Int }

// The tables of the registry.
var (
	Tenants = table("tenants", 1, "uid:w org:t id:t state:w error:t created data:b rev wake")
	Records = table("records", 3, "kind:t org:t id:t rev data:b")
	Sending = table("deliveries", 1, `num id:t org:t url:t event:t item:t database:t tenant_uid:t collection:t indexing_status:t status:w attempts error_code:t
		error_message:t last_error:t last_status payload:b created updated next_attempt lease token:t due`)

	// Registry are they in the order of copying.
	Registry = []*Table{Records, Sending, Tenants}
)

// The tables of a workspace. Due times, tokens and leases of sources are left out: nobody holds a claim behind a move.
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

	// Workspace are they in the order of copying: parts come before sources, and the ledger last.
	Workspace = []*Table{Parts, Sources, Values, Epochs, Entities, Aliases, Merges, Relations, Events, Changes, Successions, Ledger}
)

// The tables of what belongs to a source; it changes only together with the row of the source.
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

// Whose tells to which of some sources rows of content belong.
type Whose struct {
	spans []span // of chunks, rising
}

type span struct{ first, last, source int64 }

// NewWhose knows the chunks of sources.
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

// Chunk is the source that a chunk belongs to, 0: none of them.
func (w *Whose) Chunk(num int64) int64 {
	i := sort.Search(len(w.spans), func(i int) bool { return w.spans[i].last >= num })
	if i == len(w.spans) || w.spans[i].first > num {
		return 0
	}
	return w.spans[i].source
}

// Range is the number of a source and those of its first and last chunk, 0 and -1 where it has none.
func Range(source Row) (num, first, last int64) {
	num, first = source[0].(int64), source[firstChunk].(int64)
	if n := source[chunkCount].(int64); n > 0 {
		return num, first, first + n - 1
	}
	return num, 0, -1
}

var firstChunk, chunkCount = Sources.At("first_chunk"), Sources.At("chunks")

// Op puts a row in place of another of the same key; Old or New is nil where there is none.
type Op struct {
	Table    *Table
	Old, New Row
	Owned    []Owned // of a new row of Sources: everything
	Class    int64   // of a row of Sources, that of its partition
}

// View is a workspace, or the registry, as it is read at one moment.
type View interface {
	// Each lists the rows of a table of Workspace or Registry: of one whose key is an integer in its order, else in any.
	Each(ctx context.Context, t *Table) iter.Seq2[Row, error]
	// Owned lists what belongs to sources, by their numbers: of each its chunks before their vectors, else in any order.
	Owned(ctx context.Context, sources []Row) (map[int64][]Owned, error)
}

// Place is a workspace, or the registry, that is written to. Its View sees what was written.
type Place interface {
	View
	// Apply does all of ops, durably, or none.
	Apply(ctx context.Context, ops []Op) error
	Close() error
}

// State is where a deployment stands in a move. Peer names the other side.
type State struct {
	Name Phase
	Peer string
}

// Phase is the name of a State.
type Phase string

// States of a deployment.
const (
	Open    Phase = ""        // it is in use, or empty
	Filling Phase = "filling" // it is the target of a move from Peer that has not ended
	Moved   Phase = "moved"   // its content lives at Peer
)

// Side is a deployment that can be moved from and to. The workspace with an empty uid is the registry.
type Side interface {
	// Name says which deployment it is, without secrets.
	Name() string
	State(ctx context.Context) (State, error)
	// SetState stores where the deployment stands, durably. A side that is frozen stays so.
	SetState(ctx context.Context, s State) error

	// Read calls f with a workspace as it is now; f may be called again, from the start. A workspace that is absent is empty.
	Read(ctx context.Context, uid string, f func(View) error) error
	// Write opens a workspace for writing, making it where it is absent.
	Write(ctx context.Context, uid string) (Place, error)
	// Workspaces lists those that are stored.
	Workspaces(ctx context.Context) ([]string, error)
	Remove(ctx context.Context, uid string) error

	// Stamps returns a number for each workspace that was written to since the first call, another one after each change;
	// those that are absent were not written to.
	Stamps(ctx context.Context) (map[string]int64, error)
	// Freeze waits for writes that are under way and lets no others begin until thaw is called.
	Freeze(ctx context.Context) (thaw func(), err error)
}

// encode appends a row in a form that is equal only for equal rows.
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

// sums counts rows and adds up their checksums, in whatever order they come.
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

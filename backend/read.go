package backend

import (
	"cmp"
	"context"
	"sort"
	"time"
)

// Read is the half of a [Store] that looks items and chunks up. No method changes
// anything, and each answers from one moment. Methods that name or list several things
// leave out those whose bytes are damaged, as if they were not there, and return the
// rest with a [*DamageError].
type Read interface {
	// Sources returns the newest versions of ids, nil where there is none.
	Sources(ctx context.Context, part Partition, ids []string) ([]*Source, error)
	// SourcesByNum returns versions, nil where gone.
	SourcesByNum(ctx context.Context, nums []int64) ([]*Source, error)
	// FindSubs returns the sub-tenants in which id exists in a class.
	FindSubs(ctx context.Context, class Class, id string) ([]string, error)
	// Content reads a blob.
	Content(ctx context.Context, source int64, kind ContentKind) ([]byte, error)
	// List returns a page and the total over all pages.
	List(ctx context.Context, q ListQuery) ([]*Source, int, error)
	// Sessions returns the named sessions of a partition with names above after, by name.
	Sessions(ctx context.Context, q SessionsQuery) ([]SessionInfo, error)
	// SessionSources returns newest versions of a named session by Time, those without one
	// first, then by Num.
	SessionSources(ctx context.Context, q SessionQuery) ([]*Source, error)
	// Chunks returns visible chunks in the order asked, without those that are
	// gone, not yet visible, or expired by now. Vectors are left out. The rows may
	// be shared with other calls and must not be changed; the slice is the caller's.
	Chunks(ctx context.Context, nums []int64, now time.Time) ([]*Hydrated, error)
	// SourceChunks returns chunks of a version with ordinals in [from, to), by
	// ordinal, whatever its state; vectors when asked.
	SourceChunks(ctx context.Context, source int64, from, to int, vectors bool) ([]Chunk, error)
	// ChunkNums maps chunk keys of a partition to visible Nums, 0 where there is none.
	ChunkNums(ctx context.Context, part Partition, keys []string) ([]int64, error)
	// Subs lists the sub-tenants that hold sources, by name.
	Subs(ctx context.Context) ([]SubInfo, error)
	// Stats counts a class.
	Stats(ctx context.Context, class Class) (Stats, error)
}

// ListQuery asks for newest versions of a partition, newest UpdatedAt first,
// then ID.
type ListQuery struct {
	Part   Partition
	IDs    []string // only these; nil: all
	States []State  // only those in one of these; nil: in any
	Filter Filter   // with no [IDTag] in All
	Offset int
	Limit  int
	Now    time.Time // sources expired by now are left out
	// Behind asks for those behind a place of the list alone, and Ahead for the last Limit of those ahead of one; at most one is set, and then Offset is 0.
	// Total is of the whole list all the same. A place need not be that of a source that is there.
	Behind, Ahead *ListPlace
}

// ListPlace is a place in a list: that of a source with this UpdatedAt and ID.
type ListPlace struct {
	Updated time.Time
	ID      string
}

// Compare orders places as a list does: the newest first, then by ID.
func (p *ListPlace) Compare(o *ListPlace) int {
	return cmp.Or(o.Updated.Compare(p.Updated), cmp.Compare(p.ID, o.ID))
}

// Window returns from where to where of a list of n are asked for, where place tells of the place of each.
func (q *ListQuery) Window(n int, place func(i int) ListPlace) (from, to int) {
	search := func(p *ListPlace, behind bool) int { // the first that is behind p, or not ahead of it
		return sort.Search(n, func(i int) bool {
			at := place(i)
			c := at.Compare(p)
			return c > 0 || !behind && c == 0
		})
	}
	limit := max(q.Limit, 0)
	switch {
	case q.Behind != nil:
		from = search(q.Behind, true)
	case q.Ahead != nil:
		to = search(q.Ahead, false)
		return max(to-limit, 0), to
	default:
		from = min(max(q.Offset, 0), n)
	}
	return from, from + min(limit, n-from)
}

// SessionsQuery asks for named sessions.
type SessionsQuery struct {
	Part  Partition
	After string // only names above
	Limit int
	Now   time.Time // sources expired by now are left out
}

// SessionInfo describes a named session by the newest versions in it.
type SessionInfo struct {
	Session     string
	Sources     int
	First, Last time.Time // of the sources' Time; zero: none has one
}

// SessionQuery asks for the sources of a session.
type SessionQuery struct {
	Part      Partition
	Session   string    // not empty
	AfterTime time.Time // with AfterNum: only those behind the source of this Time and Num
	AfterNum  int64     // 0: from the start
	Limit     int
	Now       time.Time // sources expired by now are left out
}

// Hydrated is a chunk with the version it belongs to.
type Hydrated struct {
	Chunk
	Src *Source
}

// SubInfo counts what a sub-tenant holds. Sources that are deleted or expired
// do not count.
type SubInfo struct {
	Sub       string
	Knowledge int
	Memory    int
	Raw       int
}

// Stats counts visible chunks and live sources of a class over all sub-tenants.
type Stats struct {
	Chunks, Sources int
}

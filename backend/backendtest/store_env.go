package backendtest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

const dim = 16 // of sample vectors

var (
	notes = backend.Partition{Class: backend.Memory, Sub: "notes"}
	files = backend.Partition{Class: backend.Knowledge, Sub: "notes"}
	other = backend.Partition{Class: backend.Memory, Sub: "other"}
)

// storeEnv holds the store under test.
type storeEnv struct {
	backend.Store
	t      *testing.T
	h      StoresHarness
	dir    string
	uid    string
	stores backend.Stores
	claims int
	damage Spoil // in tests of damage
}

func openStore(t *testing.T, h StoresHarness) *storeEnv {
	e := &storeEnv{t: t, h: h, dir: t.TempDir(), uid: UID(t.Name())}
	e.open()
	return e
}

func (e *storeEnv) open() {
	e.stores = e.h.Open(e.t, e.dir)
	closeAtEnd(e.t, e.stores)
	s, err := e.stores.OpenStore(e.t.Context(), e.uid)
	require.NoError(e.t, err)
	closeAtEnd(e.t, s)
	e.Store = s
}

// reopen closes the store and its backend, and opens both again.
func (e *storeEnv) reopen() {
	e.t.Helper()
	require.NoError(e.t, e.Store.Close())
	require.NoError(e.t, e.stores.Close())
	e.open()
}

// item is a source together with the chunks and the graph that a worker stores for it.
type item struct {
	backend.Source
	blobs     []backend.Blob
	texts     []string    // one chunk each
	vectors   [][]float32 // of the chunks; nil: Vector(text)
	mentions  []backend.Mention
	relations []backend.Relation
	aliases   []backend.Alias
}

// memory returns a memory of the partition notes with one chunk per text.
func memory(id string, texts ...string) item {
	return item{
		Source: backend.Source{Part: notes, ID: id, Title: "title of " + id, CreatedAt: at(0), UpdatedAt: at(0)},
		texts:  texts,
	}
}

func (it item) in(part backend.Partition) item { it.Part = part; return it }
func (it item) tagged(tags ...uint64) item     { it.Tags = tags; return it }
func (it item) expires(at time.Time) item      { it.ExpiresAt = at; return it }
func (it item) updated(at time.Time) item      { it.UpdatedAt = at; return it }
func (it item) mention(chunk int, key string) item {
	it.mentions = append(it.mentions[:len(it.mentions):len(it.mentions)],
		backend.Mention{Chunk: chunk, Key: key, Name: "The " + key, Type: "thing", Weight: 1})
	return it
}

func (it item) relate(r backend.Relation) item {
	it.relations = append(it.relations[:len(it.relations):len(it.relations)], r)
	return it
}

// alias adds the statement that from is another name of into, and a mention of into.
func (it item) alias(from, into string) item {
	it.aliases = append(it.aliases[:len(it.aliases):len(it.aliases)], backend.Alias{From: from, Into: into, Reason: it.ID + " says so", At: at(7)})
	return it.mention(0, into)
}

// likely is like alias, for a statement that is only likely.
func (it item) likely(from, into string) item {
	it = it.alias(from, into)
	it.aliases[len(it.aliases)-1].Likely = true
	return it
}

// chunks returns the chunks of an item. Their keys consist of the item's id and the ordinal, so
// two versions of an item have equal keys.
func (it item) chunks() []backend.Chunk {
	out := make([]backend.Chunk, len(it.texts))
	for i, text := range it.texts {
		out[i] = backend.Chunk{
			Ordinal: i, Key: fmt.Sprintf("%s/%d", it.ID, i), Text: text, Heading: "part",
			Layout: []byte(`{"page":1}`), Vector: Vector(text, dim), Extra: []byte(`{"s":"Anna"}`),
		}
		if it.vectors != nil {
			out[i].Vector = it.vectors[i]
		}
	}
	return out
}

// accept stores items and returns their versions.
func (e *storeEnv) accept(items ...item) []int64 {
	e.t.Helper()
	in := make([]backend.Incoming, len(items))
	for i, it := range items {
		in[i] = backend.Incoming{Source: it.Source, Blobs: it.blobs}
	}
	out, err := e.Accept(e.t.Context(), in)
	require.NoError(e.t, err)
	require.Len(e.t, out, len(items))
	nums := make([]int64, len(out))
	for i, a := range out {
		require.False(e.t, a.Exists)
		require.Positive(e.t, a.Num)
		nums[i] = a.Num
	}
	return nums
}

// claimAll claims all waiting versions under a new token, and returns the token.
func (e *storeEnv) claimAll() (string, []backend.Claim) {
	e.t.Helper()
	e.claims++
	token := fmt.Sprintf("worker-%d", e.claims)
	claims, err := e.Claim(e.t.Context(), token, at(1e6), at(2e6), 1000, 0)
	require.NoError(e.t, err)
	return token, claims
}

// index accepts, claims and indexes items, and returns their versions and the claim.
func (e *storeEnv) index(items ...item) ([]int64, string) {
	e.t.Helper()
	nums := e.accept(items...)
	token, claims := e.claimAll()
	require.Len(e.t, claims, len(items))
	in := make([]backend.Indexed, len(items))
	for i, it := range items {
		in[i] = backend.Indexed{Num: nums[i], Token: token, Chunks: it.chunks()}
	}
	ok, err := e.Index(e.t.Context(), in)
	require.NoError(e.t, err)
	require.NotContains(e.t, ok, false)
	return nums, token
}

// complete accepts, claims, indexes and finishes items.
func (e *storeEnv) complete(items ...item) []int64 {
	e.t.Helper()
	nums, token := e.index(items...)
	in := make([]backend.Finished, len(items))
	for i, it := range items {
		in[i] = backend.Finished{
			Num: nums[i], Token: token, State: backend.Completed,
			Mentions: it.mentions, Relations: it.relations, Aliases: it.aliases,
		}
	}
	ok, err := e.Finish(e.t.Context(), in)
	require.NoError(e.t, err)
	require.NotContains(e.t, ok, false)
	return nums
}

// source returns the newest version of an id.
func (e *storeEnv) source(part backend.Partition, id string) *backend.Source {
	e.t.Helper()
	out, err := e.Sources(e.t.Context(), part, []string{id})
	require.NoError(e.t, err)
	require.Len(e.t, out, 1)
	return out[0]
}

// newest returns the newest version of an id, or the zero Version if there is none.
func (e *storeEnv) newest(part backend.Partition, id string) backend.Version {
	e.t.Helper()
	if src := e.source(part, id); src != nil {
		return src.Version()
	}
	return backend.Version{}
}

// version returns the version with a Num, or nil if it is gone.
func (e *storeEnv) version(num int64) *backend.Source {
	e.t.Helper()
	out, err := e.SourcesByNum(e.t.Context(), []int64{num})
	require.NoError(e.t, err)
	require.Len(e.t, out, 1)
	return out[0]
}

// chunkNums returns the Nums of the visible chunks of an item. It requires one for each text.
func (e *storeEnv) chunkNums(it item) []int64 {
	e.t.Helper()
	var keys []string
	for _, c := range it.chunks() {
		keys = append(keys, c.Key)
	}
	nums, err := e.ChunkNums(e.t.Context(), it.Part, keys)
	require.NoError(e.t, err)
	require.Len(e.t, nums, len(keys))
	return nums
}

// visible returns the texts of the visible chunks of an item.
func (e *storeEnv) visible(it item) []string {
	e.t.Helper()
	hs, err := e.Chunks(e.t.Context(), e.chunkNums(it), at(0))
	require.NoError(e.t, err)
	texts := []string{}
	for _, h := range hs {
		texts = append(texts, h.Text)
	}
	return texts
}

// changes returns the feed after a sequence number.
func (e *storeEnv) changes(after uint64) []backend.Change {
	e.t.Helper()
	return feedAfter(e.t, e.Store, after, 100)
}

// feedAfter reads the feed to its end in steps, and checks the rules that every feed keeps.
func feedAfter(t testing.TB, s backend.Store, after uint64, limit int) []backend.Change {
	t.Helper()
	var out []backend.Change
	last := after
	for {
		step, err := s.Changes(t.Context(), last, limit)
		require.NoError(t, err)
		if len(step) == 0 {
			break
		}
		for _, c := range step {
			require.Greater(t, c.Seq, last, "sequence numbers rise")
			last = c.Seq
		}
		out = append(out, step...)
	}
	require.LessOrEqual(t, last, max(after, s.LastSeq()))
	if c, ok := s.(backend.FeedCounter); ok {
		require.GreaterOrEqual(t, c.ChangesAfter(after), uint64(len(out)), "changes are counted")
		require.Zero(t, c.ChangesAfter(s.LastSeq()))
	}
	return out
}

// list returns the ids of a page and the total number of matches.
func (e *storeEnv) list(q backend.ListQuery) ([]string, int) {
	e.t.Helper()
	page, total, err := e.List(e.t.Context(), q)
	require.NoError(e.t, err)
	ids := []string{}
	for _, src := range page {
		ids = append(ids, src.ID)
	}
	return ids, total
}

// entity returns the entity of notes that has a key, or nil if there is none.
func (e *storeEnv) entity(key string) *backend.Entity {
	e.t.Helper()
	out, err := e.EntitiesByKey(e.t.Context(), notes, []string{key})
	require.NoError(e.t, err)
	require.Len(e.t, out, 1)
	return out[0]
}

// relationsRaw returns the Raw of the relations that q finds.
func (e *storeEnv) relationsRaw(q backend.RelationQuery) []string {
	e.t.Helper()
	raws := []string{}
	for _, r := range e.relations(q) {
		raws = append(raws, r.Raw)
	}
	return raws
}

func (e *storeEnv) relations(q backend.RelationQuery) []*backend.Relation {
	e.t.Helper()
	if q.Part.Class == 0 {
		q.Part = notes
	}
	if q.Limit == 0 {
		q.Limit = 1000
	}
	rs, err := e.Relations(e.t.Context(), q)
	require.NoError(e.t, err)
	return rs
}

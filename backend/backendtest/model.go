package backendtest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/inmem"
)

// runStoreModel runs the same random operations on the store under test and on the oracle, and compares
// them. Two sets of inmem indexes follow their feeds, and must give equal answers.
func runStoreModel(t *testing.T, h StoresHarness) {
	seeds, ops := modelSize(360)
	for seed := range seeds {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			t.Parallel()
			e := openStore(t, h)
			m := newModel(t, uint64(seed), e.Store)
			m.reopen = func() { e.reopen(); m.got = e.Store }
			indexes := newOracleIndex(t).IndexSet
			m.indexes = func() backend.IndexSet { return indexes }
			m.run(ops)
		})
	}
}

// model runs the same operations on two stores: got is under test, want is the oracle.
type model struct {
	t         *testing.T
	rng       *rand.Rand
	got, want backend.Store
	reopen    func()                  // reopens got
	indexes   func() backend.IndexSet // following got
	oracle    backend.IndexSet        // following want
	now       time.Time
	log       []string
	names     [2]map[int64]string // of versions, in got and want
	versions  [2][]int64
	toWant    mapping
	merges    [2][]int64
	held      []heldClaim
	seen      []expected
	serial    int
	did       map[string]int // counts operations that had an effect, to prove that a run tests something
}

// heldClaim is a claim that a worker took. The worker may have lost it since.
type heldClaim struct {
	nums    [2]int64
	token   string
	id      string
	indexed bool
	chunks  int
}

var (
	modelIDs    = []string{"a", "b", "c", "d", "e", "f"}
	modelKeys   = []string{"k0", "k1", "k2", "k3", "k4", "k5"}
	modelValues = []string{"v0", "v1"}
)

func newModel(t *testing.T, seed uint64, got backend.Store) *model {
	b := inmem.New()
	w, err := b.OpenWorkspace(t.Context(), UID("model"))
	require.NoError(t, err)
	return &model{
		t: t, rng: newRand(seed), got: got, want: w.Store(), oracle: w, now: at(0),
		names:  [2]map[int64]string{{}, {}},
		toWant: mapping{chunks: map[int64]int64{}, sources: map[int64]int64{}}, did: map[string]int{},
	}
}

func (m *model) run(ops int) {
	defer func() {
		if m.t.Failed() {
			m.t.Logf("operations:\n%s", strings.Join(m.log, "\n"))
		}
	}()
	for n := 0; n < ops || n < 4*ops && m.lacks() != ""; n++ {
		m.step()
	}
	m.checkStore()
	m.checkIndexes()
	require.Empty(m.t, m.lacks(), "a run without it tests little: %v", m.did)
}

// lacks returns an effect that no operation had yet, or nothing.
func (m *model) lacks() string {
	effects := []string{"index", "finish", "lost", "mention", "relation", "retired", "stated", "unstated", "visible", "place", "reported", "expected", "conflict", "vectors"}
	if _, tells := m.got.(backend.FinishReporter); tells {
		effects = append(effects, "reported graph", "folded")
	}
	if _, ends := m.got.(backend.ClaimEnder); ends {
		effects = append(effects, "claim ended")
	}
	for _, effect := range effects {
		if m.did[effect] == 0 {
			return effect
		}
	}
	return ""
}

func (m *model) note(format string, args ...any) {
	m.log = append(m.log, fmt.Sprintf("%3d %s: ", len(m.log), m.now.Format("15:04:05"))+fmt.Sprintf(format, args...))
}

func (m *model) step() {
	m.t.Helper()
	m.now = m.now.Add(time.Duration(m.rng.IntN(20)) * time.Second)
	steps := []struct {
		weight int
		f      func()
	}{
		{16, m.accept}, {4, m.place}, {5, m.claim}, {9, m.indexSome}, {9, m.finishSome}, {20, m.work}, {3, m.giveBack}, {3, m.requeue}, {4, m.remove}, {1, m.removeSub},
		{2, m.expire}, {8, m.metadata}, {4, m.merge}, {2, m.undo}, {2, m.acknowledge}, {2, m.compact}, {2, m.set}, {6, m.putVectors}, {2, m.missing}, {1, m.dropLane},
		{2, m.restart}, {3, m.followOne}, {6, m.checkStore}, {3, m.checkIndexes},
	}
	total := 0
	for _, s := range steps {
		total += s.weight
	}
	n := m.rng.IntN(total)
	for _, s := range steps {
		if n -= s.weight; n < 0 {
			s.f()
			return
		}
	}
}

// sameOutcome requires that two errors are of one kind, and reports whether both calls succeeded.
func (m *model) sameOutcome(got, want error) bool {
	m.t.Helper()
	for _, kind := range []error{backend.ErrNotFound, backend.ErrExists, backend.ErrConflict} {
		require.Equal(m.t, errors.Is(want, kind), errors.Is(got, kind), "got error %v, want %v", got, want)
	}
	require.Equal(m.t, want == nil, got == nil, "got error %v, want %v", got, want)
	return want == nil
}

func (m *model) part() backend.Partition { return pick(m.rng, modelQueries.parts) }

// followOne lets a random index of got apply all changes of its store.
func (m *model) followOne() {
	m.note("one index follows")
	m.follow(pick(m.rng, m.indexes().Indexes()), m.got)
}

// follow lets an index apply all changes of a store. It resets an index that missed tombstones.
func (m *model) follow(sh backend.Index, s backend.Store) {
	m.t.Helper()
	ctx := m.t.Context()
	for limit := 1 + m.rng.IntN(30); ; {
		changes, err := s.Changes(ctx, sh.Applied(), limit)
		if errors.Is(err, backend.ErrFeedGone) {
			m.note("  it missed tombstones")
			require.NoError(m.t, sh.Reset(ctx))
			continue
		}
		require.NoError(m.t, err)
		if len(changes) == 0 {
			return
		}
		require.NoError(m.t, sh.Apply(ctx, changes))
	}
}

func (m *model) checkStore() {
	m.t.Helper()
	m.note("compare stores")
	u := universe{parts: modelQueries.parts, ids: modelIDs, entities: modelKeys, values: modelValues, now: m.now}
	var dumps [2]string
	for side, s := range []backend.Store{m.got, m.want} {
		u.versions = m.versions[side]
		u.name = func(n int64) string { return m.names[side][n] }
		dumps[side] = dump(m.t, s, u)
	}
	require.Equal(m.t, dumps[1], dumps[0])
	m.did["visible"] += strings.Count(dumps[1], "  visible ")
	m.did["retired"] += strings.Count(dumps[1], "false until 2")
	m.did["stated"] += strings.Count(dumps[1], "undone false stated true")
	m.did["unstated"] += strings.Count(dumps[1], "undone true stated true")
}

func (m *model) checkIndexes() {
	m.t.Helper()
	ctx := m.t.Context()
	m.note("compare indexes")
	for _, sh := range m.indexes().Indexes() {
		m.follow(sh, m.got)
	}
	for _, sh := range m.oracle.Indexes() {
		m.follow(sh, m.want)
	}
	m.toWant.entities = map[int64]int64{}
	for _, p := range modelQueries.parts {
		got, err := m.got.EntitiesByKey(ctx, p, modelKeys)
		require.NoError(m.t, err)
		want, err := m.want.EntitiesByKey(ctx, p, modelKeys)
		require.NoError(m.t, err)
		for i := range want {
			require.Equal(m.t, want[i] == nil, got[i] == nil)
			if want[i] != nil {
				m.toWant.entities[got[i].Num] = want[i].Num
			}
		}
	}
	compareIndexes(m.t, m.indexes(), m.oracle, modelQueries, m.toWant, "indexes")
}

package backendtest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
)

// Damage is what happens to stored rows without the store's knowledge, as by a fault of the disk or by somebody who edits them.
type Damage struct {
	Kind   DamageKind
	Source int64  // the version whose rows are damaged, or are those of its partition
	Key    string // the entity whose rows are damaged
}

// DamageKind says which rows are damaged, and how.
type DamageKind string

// Kinds of damage. Rows that are unreadable are still found by their keys; rows that are gone are not.
const (
	UnreadableSource   DamageKind = "a version cannot be read"
	UnreadableWaiting  DamageKind = "a version that waits cannot be read"
	GoneSource         DamageKind = "a version is gone"
	StraySource        DamageKind = "a version is in no partition"
	UnreadablePart     DamageKind = "a partition cannot be read"
	GonePart           DamageKind = "a partition is gone"
	WrongPartCounts    DamageKind = "a partition counts wrongly"
	UnreadableChunk    DamageKind = "a chunk cannot be read"
	GoneChunk          DamageKind = "a chunk is gone"
	UnreadableVector   DamageKind = "a vector cannot be read"
	UnreadableContent  DamageKind = "content cannot be read"
	UnreadableMentions DamageKind = "mentions cannot be read"
	GoneMentions       DamageKind = "mentions are gone"
	GoneEdge           DamageKind = "the edge from an entity to a version is gone"
	WrongEdge          DamageKind = "an edge counts wrongly"
	UnreadableFacts    DamageKind = "facts cannot be read"
	OtherFacts         DamageKind = "facts have other numbers"
	StrayFacts         DamageKind = "facts are about an entity that is not there"
	StrayAlias         DamageKind = "a stated alias is of no version"
	WrongEntity        DamageKind = "an entity counts wrongly"
	StrayEntity        DamageKind = "the root of an entity is not there"
	GoneEntity         DamageKind = "an entity is gone"
	GoneChange         DamageKind = "changes are gone"
	UnreadableValue    DamageKind = "values cannot be read"
)

// Spoil damages rows of a store and reports whether it could: there may be no such rows in this store.
type Spoil func(t testing.TB, s backend.Store, d Damage) bool

// spoil damages rows and opens the store again, so that no cache has what was there before. If the damage cannot be, the test is skipped.
func (e *storeEnv) spoil(ds ...Damage) {
	e.t.Helper()
	for _, d := range ds {
		if !e.damage(e.t, e.Store, d) {
			e.t.Skip("there is no such damage")
		}
	}
	e.reopen()
}

// findings returns what a verification of the store reports.
func (e *storeEnv) findings() (found []string) {
	e.t.Helper()
	v, ok := e.Store.(backend.Verifier)
	if !ok {
		return nil
	}
	_, err := v.Verify(e.t.Context(), func(f backend.Finding) { found = append(found, f.What) })
	require.NoError(e.t, err)
	return found
}

// runDamage tests what a store does whose rows are damaged.
func runDamage(t *testing.T, h StoresHarness, spoil Spoil) {
	each := func(name string, ds map[string][]Damage, f func(*storeEnv, []Damage)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for what, ds := range ds {
				t.Run(what, func(t *testing.T) {
					t.Parallel()
					e := openStore(t, h)
					e.damage = spoil
					f(e, ds)
				})
			}
		})
	}
	each("DamagedItemIsDeleted", deletedDamages, testDamagedDeleted)
	each("DamageIsLeftOut", one(readDamages...), testDamageLeftOut)
	each("DamagedItemWaits", one(UnreadableWaiting, StraySource, UnreadablePart, GonePart, UnreadableContent), testDamagedWaits)
	each("DamagedItemExpires", one(UnreadableSource, StraySource, UnreadablePart, GonePart, GoneChunk), testDamagedExpires)
	each("DamagedSubIsDeleted", one(UnreadableSource, UnreadableMentions, UnreadableFacts, UnreadableChunk, GoneChunk, GoneEntity, StrayEntity), testDamagedSub)
	each("DamagedValue", one(UnreadableValue), testDamagedValue)
	for _, order := range [][]int{{0, 1}, {1, 0}} {
		each(fmt.Sprint("DamageBesideMerges", order), one(UnreadableSource, UnreadableMentions, GoneMentions, GoneEdge), func(e *storeEnv, ds []Damage) { testDamageBesideMerges(e, ds, order) })
	}
}

// one returns each kind of damage alone, by its name.
func one(kinds ...DamageKind) map[string][]Damage {
	out := make(map[string][]Damage, len(kinds))
	for _, k := range kinds {
		out[string(k)] = []Damage{{Kind: k}}
	}
	return out
}

// of returns damages of the rows of a version, and of an entity where they name none.
func of(ds []Damage, source int64, key string) []Damage {
	out := make([]Damage, len(ds))
	for i, d := range ds {
		d.Source = source
		if d.Key == "" {
			d.Key = key
		}
		out[i] = d
	}
	return out
}

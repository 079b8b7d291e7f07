package sqlite

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
)

// spoils are the statements for the kinds of damage, {num} being the version and {key} the entity.
var spoils = map[backendtest.DamageKind]string{
	backendtest.UnreadableSource:   "UPDATE sources SET tags = x'0011' WHERE num = {num}",
	backendtest.UnreadableWaiting:  "UPDATE sources SET tags = x'0011' WHERE num = {num}",
	backendtest.GoneSource:         "DELETE FROM sources WHERE num = {num}",
	backendtest.StraySource:        "UPDATE sources SET part = 7777 WHERE num = {num}",
	backendtest.UnreadablePart:     "UPDATE parts SET class = 'x' WHERE id = (SELECT part FROM sources WHERE num = {num})",
	backendtest.GonePart:           "DELETE FROM parts WHERE id = (SELECT part FROM sources WHERE num = {num})",
	backendtest.WrongPartCounts:    "UPDATE counters SET items = 77, chunks = 1 WHERE id > 0",
	backendtest.UnreadableChunk:    "UPDATE chunks SET text = text || '.' WHERE source = {num}",
	backendtest.GoneChunk:          "DELETE FROM chunks WHERE source = {num}",
	backendtest.UnreadableVector:   "UPDATE vectors SET data = x'00' WHERE chunk IN (SELECT num FROM chunks WHERE source = {num})",
	backendtest.UnreadableContent:  "UPDATE blobs SET data = x'00' WHERE id >> 3 = {num}",
	backendtest.UnreadableMentions: "UPDATE mentions SET data = x'00' WHERE source = {num}",
	backendtest.GoneMentions:       "DELETE FROM mentions WHERE source = {num}",
	backendtest.GoneEdge:           "DELETE FROM entity_sources WHERE source = {num} AND entity = (SELECT num FROM entities WHERE key = {key} AND part = {part})",
	backendtest.WrongEdge:          "UPDATE entity_sources SET count = 'x' WHERE source = {num}",
	backendtest.UnreadableFacts:    "UPDATE relations SET predicate = 7 WHERE source = {num}",
	backendtest.OtherFacts:         "UPDATE relations SET num = num + 1000 WHERE source = {num}",
	backendtest.StrayFacts:         "UPDATE relations SET from_id = 7777 WHERE source = {num}",
	backendtest.StrayAlias:         "UPDATE stated_aliases SET source = 7777 WHERE source = {num}",
	backendtest.WrongEntity:        "UPDATE entities SET uses = uses + 7, mentions = 'x'",
	backendtest.StrayEntity:        "UPDATE entities SET root = 7777 WHERE key = {key} AND part = {part}",
	backendtest.GoneEntity:         "DELETE FROM entities WHERE key = {key} AND part = {part}",
	backendtest.GoneChange:         "DELETE FROM changes WHERE source = {num}",
	backendtest.UnreadableValue:    "UPDATE vals SET data = x'00'",
}

func TestDamage(t *testing.T) {
	t.Parallel()
	open := func(t testing.TB, dir string) backend.Stores {
		d, err := Open(t.Context(), dir, nil)
		require.NoError(t, err)
		return d
	}
	backendtest.RunDamage(t, backendtest.StoresHarness{Open: open}, func(t testing.TB, s backend.Store, d backendtest.Damage) bool {
		sql := spoils[d.Kind]
		if sql == "" {
			return false
		}
		num := fmt.Sprint(d.Source)
		sql = strings.NewReplacer("{num}", num, "{key}", "'"+d.Key+"'", "{part}", "(SELECT part FROM sources WHERE num = "+num+")").Replace(sql)
		require.NoError(t, s.(*store).change(t.Context(), func(t *tx) error { return t.c.do(sql) }))
		return true
	})
}

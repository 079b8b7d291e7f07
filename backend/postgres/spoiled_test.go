package postgres

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
)

// spoils are the statements for the kinds of damage, {num} being the version and {key} the entity. Values of a wrong type cannot be stored.
var spoils = map[backendtest.DamageKind]string{
	backendtest.UnreadableSource:   "UPDATE sources SET state = 77 WHERE ws = $1 AND num = {num}",
	backendtest.GoneSource:         "DELETE FROM sources WHERE ws = $1 AND num = {num}",
	backendtest.StraySource:        "UPDATE sources SET part = 7777 WHERE ws = $1 AND num = {num}",
	backendtest.UnreadablePart:     "UPDATE parts SET class = 77 WHERE ws = $1 AND id = (SELECT part FROM sources WHERE ws = $1 AND num = {num})",
	backendtest.GonePart:           "DELETE FROM parts WHERE ws = $1 AND id = (SELECT part FROM sources WHERE ws = $1 AND num = {num})",
	backendtest.WrongPartCounts:    "UPDATE parts SET items = 77, chunks = -1 WHERE ws = $1",
	backendtest.UnreadableChunk:    "UPDATE chunks SET text = text || '.' WHERE ws = $1 AND source = {num}",
	backendtest.GoneChunk:          "DELETE FROM chunks WHERE ws = $1 AND source = {num}",
	backendtest.UnreadableVector:   "UPDATE vectors SET data = '.' WHERE ws = $1 AND chunk IN (SELECT num FROM chunks WHERE ws = $1 AND source = {num})",
	backendtest.UnreadableContent:  "UPDATE blobs SET data = '.' WHERE ws = $1 AND source = {num}",
	backendtest.UnreadableMentions: "UPDATE mentions SET data = '.' WHERE ws = $1 AND source = {num}",
	backendtest.GoneMentions:       "DELETE FROM mentions WHERE ws = $1 AND source = {num}",
	backendtest.GoneEdge:           "DELETE FROM entity_sources WHERE ws = $1 AND source = {num} AND entity = (SELECT num FROM entities WHERE ws = $1 AND key = {key} AND part = {part})",
	backendtest.WrongEdge:          "UPDATE entity_sources SET count = 0 WHERE ws = $1 AND source = {num}",
	backendtest.OtherFacts:         "UPDATE relations SET num = num + 1000 WHERE ws = $1 AND source = {num}",
	backendtest.StrayFacts:         "UPDATE relations SET from_id = 7777 WHERE ws = $1 AND source = {num}",
	backendtest.StrayAlias:         "UPDATE stated_aliases SET source = 7777 WHERE ws = $1 AND source = {num}",
	backendtest.WrongEntity:        "UPDATE entities SET uses = uses + 7, mentions = 77 WHERE ws = $1",
	backendtest.StrayEntity:        "UPDATE entities SET root = 7777 WHERE ws = $1 AND key = {key} AND part = {part}",
	backendtest.GoneEntity:         "DELETE FROM entities WHERE ws = $1 AND key = {key} AND part = {part}",
	backendtest.GoneChange:         "DELETE FROM changes WHERE ws = $1 AND source = {num}",
	backendtest.UnreadableValue:    "UPDATE vals SET data = '.' WHERE ws = $1",
}

func TestDamage(t *testing.T) {
	open := func(t testing.TB, _ string) backend.Stores { return openTest(t, "stores", nil) }
	backendtest.RunDamage(t, backendtest.StoresHarness{Open: open}, func(t testing.TB, s backend.Store, d backendtest.Damage) bool {
		sql := spoils[d.Kind]
		if sql == "" {
			return false
		}
		num := fmt.Sprint(d.Source)
		sql = strings.NewReplacer("{num}", num, "{key}", "'"+d.Key+"'", "{part}", "(SELECT part FROM sources WHERE ws = $1 AND num = "+num+")").Replace(sql)
		require.NoError(t, s.(*store).change(t.Context(), func(t *tx) error { return t.c.do(sql) }))
		return true
	})
}

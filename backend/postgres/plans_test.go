package postgres

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
)

// TestReadsByKeysArePlannedOnce checks that the server keeps the plans of reads by keys. Planning a statement on partitioned tables takes
// longer than such a read, and clients that wait for items read them many times a second. The plan is made while the tables are nearly
// empty, so it must be one that stays good.
func TestReadsByKeysArePlannedOnce(t *testing.T) {
	name := onceName(t)
	d, err := Open(t.Context(), database(t, name)+"&pool_max_conns=1", &Options{Poll: time.Hour})
	require.NoError(t, err)
	defer d.Close()
	ctx := t.Context()
	opened, err := d.OpenStore(ctx, backendtest.UID(name))
	require.NoError(t, err)
	s := opened.(*store)
	in := placedMemory("a")
	_, err = s.Place(ctx, []backend.Placed{in})
	require.NoError(t, err)
	found, err := s.Sources(ctx, in.Part, []string{in.ID})
	require.NoError(t, err)
	require.NotNil(t, found[0])
	changes, err := s.Changes(ctx, 0, 100)
	require.NoError(t, err)
	require.NotEmpty(t, changes)
	require.NotEmpty(t, changes[0].Rows)
	num := []int64{changes[0].Rows[0].Chunk}

	type plan struct {
		name, sql       string
		args            int
		generic, custom int64
	}
	const reads = 20
	readAll := func(times int) map[string]plan {
		for range times {
			_, err := s.Sources(ctx, in.Part, []string{in.ID})
			require.NoError(t, err)
			_, err = s.SourcesByNum(ctx, []int64{found[0].Num})
			require.NoError(t, err)
			_, err = s.Chunks(ctx, num, time.Now())
			require.NoError(t, err)
			_, err = s.Changes(ctx, 0, 100)
			require.NoError(t, err)
		}
		plans := map[string]plan{}
		require.NoError(t, d.with(ctx, everything, func(c *conn) error {
			return c.each(ctx, "SELECT name, statement, cardinality(parameter_types), generic_plans, custom_plans FROM pg_prepared_statements", func(r *row) error {
				plans[r.str(1)] = plan{r.str(0), r.str(1), int(r.int(2)), r.int(3), r.int(4)}
				return nil
			})
		}))
		return plans
	}
	before := readAll(youngCalls)
	after := readAll(reads)
	const source, part, older = "(ws = $1) AND (num = k.num)", "(ws = $1) AND (id = s.part)", "(ws = $1) AND (num = s.older)"
	for of, conds := range map[string][]string{ // by a part of the statement: conditions of the indexes
		"s.id_hash BETWEEN": {"(ws = $1) AND (sub_hash = $3) AND (class = $2)", "(ws = $1) AND (id_hash >= k.id_hash) AND (id_hash <= k.id_hash)", older},
		sourceOfKey:         {source, part, older},
		"c.num = k.num":     {"(ws = $1) AND (num = k.num)", "(ws = $1) AND (num = c.source)", part, older},
		"v.lane = $4":       {"(ws = $1) AND (num >= $2) AND (num <= $3)", "(ws = $1) AND (chunk = c.num) AND (lane = $4)"},
		"FROM changes WHERE ws = $1 AND seq > $2": {"(ws = $1) AND (seq > $2)", "(ws = $1) AND (num = changes.source)", part},
		"SELECT seq FROM ledgers":                 {"ws = $1"},
	} {
		t.Run(of, func(t *testing.T) {
			n := 0
			for _, p := range after {
				if !strings.Contains(p.sql, of) {
					continue
				}
				n++
				assert.Equal(t, before[p.sql].custom, p.custom, "plans for one call")
				assert.GreaterOrEqual(t, p.generic, before[p.sql].generic+reads)
				out := ""
				require.NoError(t, d.queryKeys(ctx, ofWorkspace(s.ws), func(c *conn) error {
					c.scope = nil
					out = ""
					nulls := strings.Repeat(", NULL", p.args)
					return c.each(ctx, fmt.Sprintf("EXPLAIN (COSTS OFF) EXECUTE %s(%d%s)", p.name, s.ws, strings.TrimPrefix(nulls, ", NULL")), func(r *row) error {
						out += r.str(0) + "\n"
						return nil
					})
				}))
				assert.NotContains(t, out, "Seq Scan")
				for _, cond := range conds {
					assert.Contains(t, out, "Index Cond: ("+cond+")")
				}
				assert.Equal(t, len(conds), strings.Count(out, "Index Cond"), out)
			}
			assert.Equal(t, 1, n, "statements")
		})
	}
}

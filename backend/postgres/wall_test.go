package postgres

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/contextmem/contextmem/backend"
	"github.com/contextmem/contextmem/backend/backendtest"
)

// countUnscoped counts the rows of a table in a scope, with a statement that names no workspace or organisation.
func countUnscoped(t *testing.T, d *DB, s scope, table string) (n int64) {
	t.Helper()
	s.args = nil
	require.NoError(t, d.query(t.Context(), s, func(c *conn) error {
		_, err := c.one(t.Context(), "SELECT count(*) FROM "+table, func(r *row) error {
			n = r.int(0)
			return nil
		})
		return err
	}))
	return n
}

// TestQueryWithoutAScope checks that row-level security hides the rows of other workspaces and organisations from a
// statement without a condition on them.
func TestQueryWithoutAScope(t *testing.T) {
	d := openTest(t, t.Name(), nil)
	defer d.Close()
	ctx := t.Context()
	stores := make(map[string]*store)
	for i, uid := range []string{backendtest.UID("mine"), backendtest.UID("theirs")} {
		s, err := d.OpenStore(ctx, uid)
		require.NoError(t, err)
		stores[uid] = s.(*store)
		for j := range i + 1 {
			_, err = s.Place(ctx, []backend.Placed{{
				Incoming: backend.Incoming{Source: backend.Source{Part: backend.Partition{Class: backend.Memory, Sub: "s"}, ID: string(rune('a' + j)), Tags: []uint64{1}},
					Blobs: []backend.Blob{{Kind: backend.Original, Data: []byte("secret")}}},
				Chunks: []backend.Chunk{{Key: string(rune('a' + j)), Text: "secret", Vector: []float32{1}}}, Event: true,
			}})
			require.NoError(t, err)
		}
	}
	mine, theirs := stores[backendtest.UID("mine")], stores[backendtest.UID("theirs")]
	for _, table := range []string{"sources", "chunks", "vectors", "blobs", "tags", "changes", "events"} {
		t.Run(table, func(t *testing.T) {
			assert.EqualValues(t, 1, countUnscoped(t, d, mine.scope, table))
			assert.EqualValues(t, 2, countUnscoped(t, d, theirs.scope, table))
			assert.Zero(t, countUnscoped(t, d, everything, table), "of no workspace")
			assert.Zero(t, countUnscoped(t, d, scope{setting: "contextmem.none", value: "1"}, table), "nothing said")
		})
	}
	t.Run("a partition by its own name", func(t *testing.T) {
		n := int64(0)
		for _, part := range []string{"chunks_00", "chunks_01", "chunks_02"} {
			n += countUnscoped(t, d, mine.scope, part)
		}
		assert.EqualValues(t, 1, n)
	})
	t.Run("a row of another cannot be written", func(t *testing.T) {
		err := d.write(ctx, mine.scope, func(c *conn) error {
			c.scope = nil
			return c.do("INSERT INTO vals (ws, name_hash, crc, data) VALUES ($1, '', 0, '')", theirs.ws)
		})
		require.ErrorContains(t, err, "row-level security")
	})
	t.Run("nor changed", func(t *testing.T) {
		require.NoError(t, d.write(ctx, mine.scope, func(c *conn) error {
			c.scope = nil
			n, err := c.exec(ctx, "UPDATE chunks SET ordinal = 7")
			assert.EqualValues(t, 1, n)
			return err
		}))
	})
	for _, org := range []string{"a", "b", "b"} {
		uid := backendtest.UID(org + time.Now().String())
		require.NoError(t, d.reg.CreateTenant(ctx, backend.Tenant{Org: org, ID: uid, UID: uid, State: backend.TenantReady}, 0))
		require.NoError(t, d.reg.WriteRecords(ctx, []backend.RecordWrite{{Record: backend.Record{Kind: "key", Org: org, ID: uid}}}))
		require.NoError(t, d.reg.AddDeliveries(ctx, []backend.Delivery{{ID: uid, Org: org, Status: backend.DeliveryPending}}))
	}
	for _, table := range []string{"tenants", "records", "deliveries"} {
		t.Run(table, func(t *testing.T) {
			assert.EqualValues(t, 1, countUnscoped(t, d, ofOrg("a"), table))
			assert.EqualValues(t, 2, countUnscoped(t, d, ofOrg("b"), table))
			assert.EqualValues(t, 3, countUnscoped(t, d, everything, table))
			assert.Zero(t, countUnscoped(t, d, mine.scope, table))
		})
	}
}

func TestRoleThatBypassesRowSecurity(t *testing.T) {
	pg := sharedServer(t)
	url := database(t, t.Name())
	_, err := pg.SQL("postgres", "CREATE ROLE free LOGIN BYPASSRLS")
	require.NoError(t, err)
	_, err = Open(t.Context(), withUser(t, url, "free"), nil)
	require.ErrorContains(t, err, `row-level security does not bind the role "free"`)
}

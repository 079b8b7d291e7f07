package wire

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWordsOfTheGenerations(t *testing.T) {
	t.Parallel()
	for library, rest := range map[string]string{
		"tenant not found":                           "database not found",
		"Sub-tenants of the tenant":                  "Collections of the database",
		`searched sub-tenant "my tenant \" tenants"`: `searched collection "my tenant \" tenants"`,
		"tenant_id: must name a tenant":              "tenant_id: must name a database",
		"nothing to say":                             "nothing to say",
	} {
		require.Equal(t, rest, Databases(library))
		require.Equal(t, library, Tenants(rest))
	}
}

package wire

import (
	"strings"

	"github.com/contextmem/contextmem/internal/lazyregexp"
)

// The second generation of REST calls a tenant a database, and a sub-tenant a collection. The library and the first generation do not.
// The expressions match what is quoted too, so that a name in a message stays as it is.
var (
	tenantWords   = lazyregexp.New(`"(?:[^"\\]|\\.)*"|\b([Ss]ub-)?[Tt]enants?\b`)
	databaseWords = lazyregexp.New(`"(?:[^"\\]|\\.)*"|\b(?:[Dd]atabase|[Cc]ollection)s?\b`)
)

var (
	toDatabases = strings.NewReplacer("Sub-tenant", "Collection", "sub-tenant", "collection", "Tenant", "Database", "tenant", "database")
	toTenants   = strings.NewReplacer("Collection", "Sub-tenant", "collection", "sub-tenant", "Database", "Tenant", "database", "tenant")
)

// WhereIDsAre ends the message of the second generation about an id that names no item, whose field is "id".
const WhereIDsAre = " in the collection: POST /context/list returns the ids that it has"

// Databases returns a message of the library in the words of the second generation.
func Databases(message string) string { return reword(message, tenantWords, toDatabases) }

// Tenants returns a message of the second generation in the words of the library.
func Tenants(message string) string { return reword(message, databaseWords, toTenants) }

func reword(message string, words *lazyregexp.Regexp, to *strings.Replacer) string {
	return words.Compiled().ReplaceAllStringFunc(message, func(s string) string {
		if s[0] == '"' {
			return s
		}
		return to.Replace(s)
	})
}

package httpapi

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEraseOverREST: what is erased cannot be found again, the rest stays, and the receipt is verified until it is changed.
func TestEraseOverREST(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	rememberAnna(t, f)
	ext(t, f, "POST", "/ext/remember", `{"database": "acme", "collection": "bob", "memories": [{"source_id": "b", "user_name": "Anna", "text": "Anna sails."}, {"source_id": "k", "text": "Bob rows."}]}`)
	there := func(sub, id string) bool {
		w := f.do(t, "GET", "/context/inspect?database=acme&collection="+sub+"&id="+id, "")
		return w.Code == http.StatusOK
	}
	verify := func(receipt map[string]any) int {
		b, err := json.Marshal(receipt)
		require.NoError(t, err)
		return f.do(t, "POST", "/ext/erase/verify", string(b)).Code
	}

	r := ext(t, f, "POST", "/ext/erase", `{`+scopeOfAnna+`, "ids": ["a", "nobody"]}`)
	assert.Equal(t, []any{"acme", "anna", 1.0, []any{"a", "nobody"}, []any{}}, []any{r["database"], r["collection"], r["items"], r["ids"], r["remains"]})
	assert.Equal(t, []bool{false, true, true}, []bool{there("anna", "a"), there("anna", "b"), there("bob", "b")})
	assert.Equal(t, http.StatusOK, verify(r))
	r["items"] = 2
	assert.Equal(t, http.StatusBadRequest, verify(r))

	r = ext(t, f, "POST", "/ext/erase", `{"database": "acme", "user_name": "Anna", "all_collections": true}`)
	assert.Equal(t, []any{"", "Anna", 4.0}, []any{r["collection"], r["user_name"], r["items"]})
	assert.Equal(t, []bool{false, false, true}, []bool{there("anna", "b"), there("bob", "b"), there("bob", "k")})
	assert.Equal(t, http.StatusOK, verify(r))

	r = ext(t, f, "POST", "/ext/erase", `{"database": "acme", "collection": "bob", "all": true}`)
	assert.Equal(t, 1.0, r["items"])
	assert.False(t, there("bob", "k"))

	for body, says := range map[string]string{
		`{` + scopeOfAnna + `}`:                                         `field \"ids\": names nothing to erase`,
		`{` + scopeOfAnna + `, "ids": []}`:                              `field \"ids\": needs at least one id`,
		`{` + scopeOfAnna + `, "all": true, "user_name": "Anna"}`:       `field \"all\": can't be given beside`,
		`{` + scopeOfAnna + `, "ids": ["a"], "user_name": "Anna"}`:      `field \"user_name\": can't be given beside`,
		`{` + scopeOfAnna + `, "all": true, "all_collections": true}`:   `field \"all_collections\": can't be given beside collection`,
		`{"database": "nowhere", "all": true, "all_collections": true}`: `not found`,
	} {
		w := f.do(t, "POST", "/ext/erase", body)
		assert.Contains(t, []int{http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusNotFound}, w.Code, body)
		assert.Contains(t, w.Body.String(), says, body)
	}
	delete(r, "org_id")
	assert.Equal(t, http.StatusBadRequest, verify(r))
}

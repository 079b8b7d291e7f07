package httpapi

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMergesOverREST: a merge makes two names one entity, is listed, and is undone once.
func TestMergesOverREST(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	ext(t, f, "POST", "/ext/remember", `{`+scopeOfAnna+`, "memories": [{"source_id": "a", "infer": true, "user_name": "Anna", "text": "I work at Acme Corporation."},
		{"source_id": "b", "infer": true, "user_name": "Anna", "text": "Bernd Maier works at Acme Industries."}]}`)
	names := func() (out []string) {
		for _, e := range ext(t, f, "GET", "/ext/entities?prefix=acme&database=acme&collection=anna", "")["entities"].([]any) {
			out = append(out, e.(map[string]any)["name"].(string))
		}
		return out
	}
	apart := names()
	require.Len(t, apart, 2)
	m := ext(t, f, "POST", "/ext/entities/merges", `{`+scopeOfAnna+`, "from": "ACME Corporation", "into": "Acme Industries", "reason": "renamed"}`)
	assert.Equal(t, []any{"renamed", false, false}, []any{m["reason"], m["stated"], m["undone"]})
	assert.Len(t, names(), 1)
	assert.Equal(t, http.StatusConflict, f.do(t, "POST", "/ext/entities/merges", `{`+scopeOfAnna+`, "from": "acme corporation", "into": "acme industries"}`).Code)
	assert.Equal(t, []any{m}, ext(t, f, "GET", "/ext/entities/merges?database=acme&collection=anna", "")["merges"])
	assert.Empty(t, ext(t, f, "GET", "/ext/entities/merges?database=acme&collection=anna&type=knowledge", "")["merges"])

	undo := fmt.Sprintf("/ext/entities/merges/%v/undo", m["merge_id"])
	assert.Equal(t, http.StatusNotFound, f.do(t, "POST", undo, `{"database": "acme", "collection": "bob"}`).Code, "of another collection")
	ext(t, f, "POST", undo, `{`+scopeOfAnna+`}`)
	assert.Equal(t, apart, names())
	assert.Equal(t, http.StatusConflict, f.do(t, "POST", undo, `{`+scopeOfAnna+`}`).Code)
	m["undone"] = true
	assert.Equal(t, []any{m}, ext(t, f, "GET", "/ext/entities/merges?database=acme&collection=anna", "")["merges"])
	for path, body := range map[string]string{"/ext/entities/merges": `{` + scopeOfAnna + `, "from": "nobody", "into": "acme industries"}`, "/ext/entities/merges/99/undo": `{` + scopeOfAnna + `}`} {
		assert.Equal(t, http.StatusNotFound, f.do(t, "POST", path, body).Code, path)
	}
	assert.Equal(t, http.StatusBadRequest, f.do(t, "POST", "/ext/entities/merges/first/undo", `{`+scopeOfAnna+`}`).Code)
}
